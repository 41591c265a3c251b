//! The guard: every exported function passes through it. Panics end here, errors become a code
//! and a text, and the host's floating-point environment waits outside.
//!
//! The text of every failed call is kept with the thread; that of a call that got its model also
//! with the model.

use super::handle::{self, Entry, Message, State, scmk_model};
use super::status::{self, SCMK_E_OUT_OF_MEMORY, SCMK_OK, scmk_status};
use crate::arithmetic::Environment;
use crate::error::{Error, Result};
use crate::monitor::Control;
use crate::panics;
use crate::threads;
use std::cell::RefCell;
use std::ffi::c_char;

thread_local! {
    static MESSAGE: RefCell<Message> = const { RefCell::new(Message::none()) };
}

/// The text of this thread's last failed call.
pub(super) fn thread_message() -> String {
    MESSAGE.with_borrow(Message::text)
}

/// The same where it is kept, until the next failed call of this thread.
pub(super) fn thread_message_in_place() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_c_str().as_ptr())
}

fn note(error: &Error) {
    MESSAGE.with_borrow_mut(|message| message.set(&error.to_string()));
}

fn contained<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    panics::caught(work).unwrap_or_else(|message| Err(Error::Panic { message }))
}

fn answered(work: impl FnOnce() -> Result<scmk_status>) -> scmk_status {
    Environment::ours().during(|| {
        if !threads::caller_has_memory() {
            // Not even for a message.
            return SCMK_E_OUT_OF_MEMORY;
        }
        contained(work).unwrap_or_else(|error| {
            note(&error);
            status::of(&error)
        })
    })
}

/// A function that answers a plain value and cannot fail.
pub(super) fn value<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    Environment::ours().during(|| panics::caught(work).unwrap_or(otherwise))
}

/// A call that needs no model.
pub(super) fn call(work: impl FnOnce() -> Result<()>) -> scmk_status {
    answered(|| work().map(|()| SCMK_OK))
}

/// A call on a model that may be in use by another call.
pub(super) fn beside(
    model: *const scmk_model,
    work: impl FnOnce(&Entry) -> Result<()>,
) -> scmk_status {
    call(|| {
        let entry = handle::find(model)?;
        entry.refuse_if_poisoned()?;
        work(&entry)
    })
}

/// A call that has the model to itself.
pub(super) fn on_model(
    model: *const scmk_model,
    work: impl FnOnce(&mut State, &Control) -> Result<()>,
) -> scmk_status {
    answered(|| {
        let entry = handle::find(model)?;
        let mut entered = entry.enter()?;
        let state = entered.state()?;
        Ok(match contained(|| work(state, &entry.control)) {
            Ok(()) => SCMK_OK,
            Err(error) => {
                entry.note(&error);
                note(&error);
                status::of(&error)
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::status::*;
    use super::*;
    use crate::model::Model;

    fn model() -> *mut scmk_model {
        handle::insert(Model::new(5, 2).unwrap()).unwrap()
    }

    fn message(model: *const scmk_model) -> String {
        handle::find(model).unwrap().message()
    }

    #[test]
    fn a_panic_becomes_a_code_and_the_model_can_only_be_destroyed() {
        let (spoilt, other) = (model(), model());
        let status = on_model(spoilt, |_, _| panic!("an invented bug"));
        assert_eq!(status, SCMK_E_PANIC);
        let text = message(spoilt);
        assert!(text.contains("an invented bug at src/ffi/guard.rs:"), "{text}");

        assert_eq!(on_model(spoilt, |_, _| Ok(())), SCMK_E_PANIC);
        assert_eq!(beside(spoilt, |_| Ok(())), SCMK_E_PANIC);
        assert_eq!(message(spoilt), text);
        assert_eq!(on_model(other, |_, _| Ok(())), SCMK_OK);
        assert!(handle::remove(spoilt).is_ok());
        assert_eq!(on_model(spoilt, |_, _| Ok(())), SCMK_E_INVALID_HANDLE);
        assert!(handle::remove(other).is_ok());
    }

    #[test]
    fn a_panic_in_a_worker_thread_is_contained_too() {
        let model = model();
        let status = on_model(model, |_, _| crate::threads::run(2, || panic!("far away")));
        assert_eq!(status, SCMK_E_PANIC);
        assert!(message(model).contains("far away at src/ffi/guard.rs:"), "{}", message(model));
        assert!(handle::remove(model).is_ok());
    }

    #[test]
    fn a_panic_without_a_model_is_contained_too() {
        assert_eq!(call(|| panic!("nowhere")), SCMK_E_PANIC);
        assert!(thread_message().contains("nowhere at src/ffi/guard.rs:"));
        assert_eq!(value(7, || panic!("a value")), 7);
        assert_eq!(call(|| Ok(())), SCMK_OK);
    }

    #[test]
    fn a_second_call_is_refused_at_once_and_spoils_nothing() {
        let model = model();
        let address = model.addr();
        let failed = || Err(Error::State("an earlier failure"));
        assert_eq!(on_model(model, |_, _| failed()), SCMK_E_STATE);
        let status = on_model(model, |_, _| {
            let elsewhere = std::thread::spawn(move || {
                let model = std::ptr::without_provenance_mut(address);
                (on_model(model, |_, _| Ok(())), thread_message(), message(model))
            });
            let busy = Error::Busy.to_string();
            assert_eq!(elsewhere.join().unwrap(), (SCMK_E_BUSY, busy.clone(), busy));
            assert_eq!(on_model(model, |_, _| Ok(())), SCMK_E_BUSY);
            assert_eq!(handle::remove(model).err(), Some(Error::Busy));
            assert_eq!(beside(model, |_| Ok(())), SCMK_OK);
            Ok(())
        });
        assert_eq!(status, SCMK_OK);
        assert_eq!(message(model), "an earlier failure");
        assert!(handle::remove(model).is_ok());
    }

    /// The body of the next test, run in a process of its own.
    #[test]
    #[ignore = "run by contained_panics_print_nothing"]
    fn panics_everywhere() {
        let model = model();
        assert_eq!(call(|| panic!("here")), SCMK_E_PANIC);
        assert_eq!(
            on_model(model, |_, _| crate::threads::run(2, || panic!("there"))),
            SCMK_E_PANIC
        );
    }

    #[test]
    fn contained_panics_print_nothing() {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "ffi::guard::tests::panics_everywhere", "--ignored", "--nocapture"])
            .env("RUST_BACKTRACE", "1")
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&child.stdout);
        assert!(out.contains("1 passed"), "{out}");
        assert_eq!(String::from_utf8_lossy(&child.stderr), "");
    }
}
