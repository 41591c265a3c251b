//! Handles: a model's "address" is a ticket, a slot number with a generation, so that a stale,
//! doubled or invented handle is recognised without ever being dereferenced.

use crate::error::{Error, Result};
use crate::memory;
use crate::model::Model;
use crate::monitor::Control;
use crate::sync::{Arc, AtomicBool, Mutex, MutexGuard, RwLock, global};
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{PoisonError, TryLockError};

/// A model: kernels, options and, after a fit, its result. The pointer is a ticket, not an
/// address: nothing can be read through it, and a ticket is never issued twice.
#[allow(non_camel_case_types)]
pub struct scmk_model {
    _opaque: [u8; 0],
}

/// The host's progress function with its argument.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    pub(super) function:
        unsafe extern "C" fn(*mut c_void, *const std::ffi::c_char, i64, f64, f64) -> i32,
    pub(super) user: *mut c_void,
}

// SAFETY: the library hands `user` back and never looks through it; scmk_set_progress makes the
// caller promise that it may be used on any thread that makes a call on the model.
unsafe impl Send for Progress {}

/// The text of an error, kept where it needs no memory of its own: thousands of models may each have
/// one when there is none left.
pub(super) struct Message([u8; Self::ROOM]);

/// The length of the longest beginning of `text` that has whole characters and at most `most` bytes.
pub(super) fn whole_characters(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0)
}

impl Message {
    /// More than the longest message has.
    const ROOM: usize = 512;

    pub(super) const fn none() -> Self {
        Self([0; Self::ROOM])
    }

    /// Takes over as much as there is room for, whole characters, and a NUL.
    pub(super) fn set(&mut self, text: &str) {
        let kept = &text.as_bytes()[..whole_characters(text, Self::ROOM - 1)];
        self.0[..kept.len()].copy_from_slice(kept);
        self.0[kept.len()..].fill(0);
    }

    pub(super) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        self.as_c_str().to_string_lossy().into_owned()
    }
}

/// What a call on a model works with.
pub(super) struct State {
    pub(super) model: Model<'static>,
    pub(super) progress: Option<Progress>,
}

/// A living model in the table.
pub(super) struct Entry {
    /// Emptied by destroy, so that a call which found the entry just before finds nothing in it.
    state: Mutex<Option<State>>,
    /// Outside of the lock: cancelling is for the time the lock is held.
    pub(super) control: Control,
    message: Mutex<Message>,
    poisoned: AtomicBool,
    /// Whether a call has the state. The lock would say so too, but only by taking it, and whoever
    /// came meanwhile would be told that the model is busy.
    busy: AtomicBool,
}

/// The lock on a model's state for the length of one call.
pub(super) struct Entered<'e> {
    state: MutexGuard<'e, Option<State>>,
    busy: &'e AtomicBool,
}

impl Entered<'_> {
    pub(super) fn state(&mut self) -> Result<&mut State> {
        self.state.as_mut().ok_or(Error::InvalidHandle)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.busy.store(false, SeqCst);
    }
}

impl Entry {
    fn lock(&self) -> Result<Entered<'_>> {
        let state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::WouldBlock) => return Err(Error::Busy),
            // Whether a panic spoilt the model is what `poisoned` says.
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
        };
        self.busy.store(true, SeqCst);
        Ok(Entered { state, busy: &self.busy })
    }

    /// Takes the model for one call; refused while another call has it or after a panic.
    pub(super) fn enter(&self) -> Result<Entered<'_>> {
        self.refuse_if_poisoned()?;
        let mut entered = self.lock()?;
        // The call that held the lock until now may have been the one that panicked.
        self.refuse_if_poisoned()?;
        entered.state()?;
        Ok(entered)
    }

    pub(super) fn refuse_if_poisoned(&self) -> Result<()> {
        if self.poisoned.load(SeqCst) {
            return Err(Error::Panic {
                message: "an earlier call on this model failed, it can only be destroyed".into(),
            });
        }
        Ok(())
    }

    /// Notes down why a call failed. After a panic the model is not to be used any more.
    pub(super) fn note(&self, error: &Error) {
        self.message.lock().unwrap_or_else(PoisonError::into_inner).set(&error.to_string());
        if matches!(error, Error::Panic { .. }) {
            self.poisoned.store(true, SeqCst);
        }
    }

    /// The text of the last failed call; while a call is running, that the model is busy.
    pub(super) fn message(&self) -> String {
        if self.busy.load(SeqCst) {
            return Error::Busy.to_string();
        }
        self.message.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

struct Slot {
    generation: usize,
    entry: Option<Arc<Entry>>,
}

struct Table {
    slots: Vec<Slot>,
    free: Vec<usize>,
}

global!(TABLE: RwLock<Table> = RwLock::new(Table::new()));

// A ticket from its highest bit down: tag, generation, slot, and a 1. The last bit makes it odd,
// unlike any allocation; with 64 bits the tag makes it an address that no program has.
const TAG_BITS: u32 = if usize::BITS == 64 { 8 } else { 0 };
const TAG: usize = if TAG_BITS == 0 { 0 } else { 0x5C };
const SLOT_BITS: u32 = usize::BITS * 3 / 8;
const GENERATION_BITS: u32 = usize::BITS - TAG_BITS - SLOT_BITS - 1;
const LAST_GENERATION: usize = (1 << GENERATION_BITS) - 1;

fn ticket(slot: usize, generation: usize) -> usize {
    let tag = TAG.checked_shl(usize::BITS - TAG_BITS).unwrap_or(0);
    tag | generation << (SLOT_BITS + 1) | slot << 1 | 1
}

impl Table {
    const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    fn insert(&mut self, entry: Arc<Entry>) -> Result<usize> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.slots.len() >> SLOT_BITS != 0 => {
                return Err(Error::State("too many models are alive: destroy some first"));
            }
            None => {
                // Room for it to be given back too: that may not fail.
                memory::reserve(&mut self.free, self.slots.len() + 1, "a model")?;
                memory::push(&mut self.slots, Slot { generation: 0, entry: None }, "a model")?;
                self.slots.len() - 1
            }
        };
        self.slots[slot].entry = Some(entry);
        Ok(ticket(slot, self.slots[slot].generation))
    }

    /// The slot of a ticket that is alive.
    fn slot(&self, given: usize) -> Result<usize> {
        let slot = given >> 1 & ((1 << SLOT_BITS) - 1);
        match self.slots.get(slot) {
            Some(Slot { generation, entry: Some(_) }) if ticket(slot, *generation) == given => {
                Ok(slot)
            }
            _ => Err(Error::InvalidHandle),
        }
    }

    fn find(&self, given: usize) -> Result<Arc<Entry>> {
        self.slots[self.slot(given)?].entry.clone().ok_or(Error::InvalidHandle)
    }

    fn remove(&mut self, given: usize) -> Result<()> {
        let slot = self.slot(given)?;
        self.slots[slot].entry = None;
        // A slot that has used up its generations is retired: better 24 lost bytes than a stale
        // handle that works.
        if self.slots[slot].generation < LAST_GENERATION {
            self.slots[slot].generation += 1;
            self.free.push(slot);
        }
        Ok(())
    }
}

/// Enters a model into the table.
pub(super) fn insert(model: Model<'static>) -> Result<*mut scmk_model> {
    let entry = memory::shared(
        Entry {
            state: Mutex::new(Some(State { model, progress: None })),
            control: Control::default(),
            message: Mutex::new(Message::none()),
            poisoned: AtomicBool::new(false),
            busy: AtomicBool::new(false),
        },
        "a model",
    )?;
    let ticket = TABLE.write().unwrap_or_else(PoisonError::into_inner).insert(entry)?;
    Ok(ptr::without_provenance_mut(ticket))
}

/// The entry of a handle.
pub(super) fn find(model: *const scmk_model) -> Result<Arc<Entry>> {
    if model.is_null() {
        return Err(Error::NullArgument { argument: "model" });
    }
    TABLE.read().unwrap_or_else(PoisonError::into_inner).find(model.addr())
}

/// Takes a model out of the table, unless a call is using it.
pub(super) fn remove(model: *const scmk_model) -> Result<State> {
    let entry = find(model)?;
    let state = entry.lock()?.state.take().ok_or(Error::InvalidHandle)?;
    TABLE.write().unwrap_or_else(PoisonError::into_inner).remove(model.addr())?;
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Arc<Entry> {
        Arc::new(Entry {
            state: Mutex::new(None),
            control: Control::default(),
            message: Mutex::new(Message::none()),
            poisoned: AtomicBool::new(false),
            busy: AtomicBool::new(false),
        })
    }

    #[test]
    fn a_reused_slot_does_not_revive_an_old_handle() {
        let mut table = Table::new();
        let first = table.insert(entry()).unwrap();
        table.remove(first).unwrap();
        let second = table.insert(entry()).unwrap();
        assert_eq!(table.slots.len(), 1);
        assert_ne!(first, second);
        assert!(matches!(table.find(first), Err(Error::InvalidHandle)));
        assert_eq!(table.remove(first), Err(Error::InvalidHandle));
        assert!(table.find(second).is_ok());
    }

    #[test]
    fn a_slot_without_further_generations_is_retired() {
        let mut table = Table::new();
        let first = table.insert(entry()).unwrap();
        table.slots[0].generation = LAST_GENERATION;
        let last = ticket(0, LAST_GENERATION);
        assert!(table.find(first).is_err());
        table.remove(last).unwrap();
        assert_eq!(table.insert(entry()), Ok(ticket(1, 0)));
        assert!(table.find(last).is_err());
    }

    #[test]
    fn a_handle_looks_like_no_real_address() {
        let mut table = Table::new();
        for _ in 0..100 {
            let ticket = table.insert(entry()).unwrap();
            assert_eq!(ticket & 1, 1);
            #[cfg(target_pointer_width = "64")]
            assert_eq!(ticket >> 56, TAG);
            // Every other value that differs in one bit is no handle, or another living one.
            for bit in 0..usize::BITS {
                let other = ticket ^ (1 << bit);
                if let Ok(slot) = table.slot(other) {
                    assert_eq!(other, super::ticket(slot, 0));
                }
            }
        }
        for random in [1, 8, 4096, usize::MAX, usize::MAX / 2] {
            assert!(table.find(random).is_err());
        }
    }
}
