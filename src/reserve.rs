//! Memory for what cannot do without it.
//!
//! A Rust program aborts when an allocation fails that nobody expected to fail. Large buffers are
//! asked for by [`memory`](crate::memory) and may fail; but a string, a task of the thread pool or a
//! small matrix inside a dependency may not, and a guest must not take its host down with it.
//! [`Allocator`], which the C library installs, therefore tells the two apart: what may not fail is
//! served, when the system has nothing left, from memory that was set aside before. That is a
//! *reserve*, as large as a call may need, set aside when the call starts (and if it cannot be had,
//! the call fails cleanly), and a small store for calls that need little. Neither is touched, and so
//! takes no real memory, before it is needed. By then the next large buffer fails too, and the call
//! ends with an error.
//!
//! The buffer in which products pack their operands is one of these allocations, four megabytes for
//! each thread, so it always comes from the reserve: there is no second copy of it. How large it is, the
//! first call finds out.
//!
//! Nothing here takes a lock: a host may fork at any moment.

use crate::error::{Error, Result};
use crate::panics;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use std::alloc::{GlobalAlloc, Layout, System, alloc, dealloc};
use std::cell::{Cell, UnsafeCell};
use std::ptr::{copy_nonoverlapping, null_mut, write_bytes};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

/// Alignment from which a request may be that of a product's buffer.
const PAGE: usize = 4096;

/// Calls that can have a reserve at the same time; further ones go without.
const RESERVES: usize = 256;

/// Stands for "no reserve" in a thread.
const NONE: usize = RESERVES;

thread_local! {
    /// Whether this thread is ready for an allocation to fail.
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
    /// The reserve of the call this thread works for.
    static CURRENT: Cell<usize> = const { Cell::new(NONE) };
}

/// Blocks that were served from a reserve or the store because the system had none, page-aligned ones
/// not counted: as long as there is none, giving back memory need not look for them.
static RESCUED: AtomicUsize = AtomicUsize::new(0);

/// What is set aside for such a buffer at least.
const LEAST_SLAB: usize = 4 << 20;

/// Size of a product's buffer for one thread; 0 before it is known.
static SLAB: AtomicUsize = AtomicUsize::new(0);

/// Whether [`Allocator`] is the allocator of this program.
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Most bytes of a reserve that were ever handed out in small pieces.
static DEEPEST: AtomicUsize = AtomicUsize::new(0);

/// Runs `work`, in which an allocation that fails is reported and not fatal.
pub(crate) fn may_fail<R>(work: impl FnOnce() -> R) -> R {
    let before = MAY_FAIL.replace(true);
    let result = work();
    MAY_FAIL.set(before);
    result
}

/// The allocator of the C library: the system's, with something set aside for bad times. See the
/// module's description; a Rust program may install it too.
#[derive(Debug, Default)]
pub struct Allocator<A = System>(A);

impl<A> Allocator<A> {
    /// On top of another allocator.
    pub const fn new(system: A) -> Self {
        Self(system)
    }
}

impl Allocator {
    /// Most bytes that a call needed so far of what was set aside for it.
    #[doc(hidden)]
    pub fn deepest() -> usize {
        DEEPEST.load(Relaxed)
    }
}

/// Whether a request is that of a product's buffer.
fn is_slab(layout: Layout) -> bool {
    INSTALLED.store(true, Relaxed);
    let ours = CURRENT.get() != NONE && !MAY_FAIL.get() && layout.size() >= 1 << 20;
    if ours {
        SLAB.fetch_max(layout.size(), Relaxed);
    }
    ours
}

/// Memory for a request that the system could not serve.
fn rescue(layout: Layout) -> *mut u8 {
    if MAY_FAIL.get() {
        return null_mut();
    }
    let mut found = reserve(CURRENT.get()).map_or(null_mut(), |reserve| reserve.take(layout));
    if found.is_null() {
        found = STORE.take(layout);
    }
    if !found.is_null() && layout.align() < PAGE {
        RESCUED.fetch_add(1, Relaxed);
    }
    found
}

/// Whether a block may have been rescued.
fn may_be_ours(layout: Layout) -> bool {
    layout.align() >= PAGE || RESCUED.load(Relaxed) > 0
}

fn is_ours(block: *mut u8) -> bool {
    STORE.holds(block) || ALL.iter().any(|reserve| reserve.holds(block))
}

/// Takes a rescued block back; false if it is none.
fn give_back(block: *mut u8, layout: Layout) -> bool {
    if STORE.holds(block) {
        STORE.give_back(block, layout);
    } else if let Some(reserve) = ALL.iter().find(|reserve| reserve.holds(block)) {
        reserve.give_up();
    } else {
        return false;
    }
    if layout.align() < PAGE {
        RESCUED.fetch_sub(1, Relaxed);
    }
    true
}

// SAFETY: every block comes from the inner allocator, or from a part of a reserve or the store that
// nobody else has; it goes back where it came from. Nothing here unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Allocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() >= PAGE && is_slab(layout) {
            let found = reserve(CURRENT.get()).map_or(null_mut(), |reserve| reserve.take(layout));
            if !found.is_null() {
                return found;
            }
        }
        // SAFETY: the caller's promise is passed on.
        let found = unsafe { self.0.alloc(layout) };
        if found.is_null() { rescue(layout) } else { found }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        let found = unsafe { self.0.alloc_zeroed(layout) };
        if !found.is_null() {
            return found;
        }
        let found = rescue(layout);
        if !found.is_null() {
            // SAFETY: a rescued block is as large as the layout says.
            unsafe { write_bytes(found, 0, layout.size()) };
        }
        found
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !may_be_ours(layout) || !give_back(block, layout) {
            // SAFETY: the block is not rescued, so it came from the inner allocator.
            unsafe { self.0.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let rescued = may_be_ours(layout) && is_ours(block);
        if !rescued {
            // SAFETY: the block is not rescued; the caller's promise is passed on.
            let found = unsafe { self.0.realloc(block, layout, size) };
            if !found.is_null() {
                return found;
            }
        }
        // SAFETY: the caller promises a valid size for this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let found = if rescued {
            // SAFETY: the caller's promise is passed on.
            unsafe { self.alloc(wanted) }
        } else {
            rescue(wanted)
        };
        if !found.is_null() {
            // SAFETY: both blocks have at least so many bytes, and are different.
            unsafe { copy_nonoverlapping(block, found, layout.size().min(size)) };
            // SAFETY: the old block is given back where it came from.
            unsafe { self.dealloc(block, layout) };
        }
        found
    }
}

/// Memory set aside for one call, handed out from its beginning on and never twice.
struct Reserve {
    /// The guard and the blocks handed out; the last one to go gives it back. 0: not in use.
    users: AtomicUsize,
    base: AtomicUsize,
    size: AtomicUsize,
    top: AtomicUsize,
    /// Bytes handed out in small pieces.
    small: AtomicUsize,
}

impl Reserve {
    const fn new() -> Self {
        Self {
            users: AtomicUsize::new(0),
            base: AtomicUsize::new(0),
            size: AtomicUsize::new(0),
            top: AtomicUsize::new(0),
            small: AtomicUsize::new(0),
        }
    }

    fn holds(&self, block: *mut u8) -> bool {
        let size = self.size.load(Acquire);
        block.addr().wrapping_sub(self.base.load(Relaxed)) < size
    }

    fn take(&self, layout: Layout) -> *mut u8 {
        // Whoever takes works for a call that is running: it is not given back meanwhile.
        if self.size.load(Acquire) == 0 {
            return null_mut();
        }
        let base = self.base.load(Relaxed);
        let mut start = 0;
        let taken = self.top.fetch_update(AcqRel, Acquire, |top| {
            start = (base + top).next_multiple_of(layout.align()) - base;
            let end = start.checked_add(layout.size())?;
            (end <= self.size.load(Relaxed)).then_some(end)
        });
        if taken.is_err() {
            return null_mut();
        }
        self.users.fetch_add(1, Relaxed);
        if layout.align() < PAGE {
            let small = layout.size() + self.small.fetch_add(layout.size(), Relaxed);
            DEEPEST.fetch_max(small, Relaxed);
        }
        std::ptr::with_exposed_provenance_mut(base + start)
    }

    fn give_up(&self) {
        if self.users.fetch_sub(1, AcqRel) != 1 {
            return;
        }
        let (base, size) = (self.base.load(Relaxed), self.size.swap(0, AcqRel));
        self.users.store(0, Release);
        // SAFETY: this memory was allocated with this layout in `open`, and nobody uses it any more.
        unsafe { unmap(std::ptr::with_exposed_provenance_mut(base), size) };
    }
}

static ALL: [Reserve; RESERVES] = [const { Reserve::new() }; RESERVES];

fn reserve(number: usize) -> Option<&'static Reserve> {
    ALL.get(number)
}

/// Memory straight from the system, which it goes back to at once. (From malloc, buffers of a few
/// megabytes that come and go would make the host's heap keep them.)
#[cfg(unix)]
fn map(bytes: usize) -> *mut u8 {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, wherever there is room.
    let base = unsafe { libc::mmap(null_mut(), bytes, access, kind, -1, 0) };
    if base == libc::MAP_FAILED { null_mut() } else { base.cast() }
}

#[cfg(unix)]
unsafe fn unmap(base: *mut u8, bytes: usize) {
    // SAFETY: the caller promises what `map` gave for so many bytes.
    unsafe { libc::munmap(base.cast(), bytes) };
}

#[cfg(not(unix))]
fn map(bytes: usize) -> *mut u8 {
    // SAFETY: the size is not zero.
    may_fail(|| unsafe { alloc(Layout::from_size_align_unchecked(bytes, PAGE)) })
}

#[cfg(not(unix))]
unsafe fn unmap(base: *mut u8, bytes: usize) {
    // SAFETY: the caller promises what `map` gave for so many bytes.
    unsafe { dealloc(base, Layout::from_size_align_unchecked(bytes, PAGE)) };
}

/// A call's reserve: for the thread that set it aside, and for those that [`inherit`] from it.
pub(crate) struct SetAside {
    number: usize,
    outer: usize,
}

/// Sets memory aside for a call that needs about `bytes` in small pieces and works on so many
/// threads. `run` does some work on a thread of its own.
pub(crate) fn set_aside(
    bytes: usize,
    threads: usize,
    run: impl FnOnce(&(dyn Fn() + Sync)) -> Result<()>,
) -> Result<SetAside> {
    learn(run)?;
    let slab = SLAB.load(Relaxed).max(LEAST_SLAB);
    open(slab.saturating_mul(threads).saturating_add(bytes))
}

fn open(bytes: usize) -> Result<SetAside> {
    let outer = CURRENT.get();
    let without = || Ok(SetAside { number: NONE, outer });
    if !INSTALLED.load(Relaxed) {
        return without();
    }
    let lacking = Error::OutOfMemory { bytes, what: "the working memory of a call" };
    let Ok(layout) = Layout::from_size_align(bytes.max(1), PAGE) else { return Err(lacking) };
    let free = |reserve: &&Reserve| reserve.users.compare_exchange(0, 1, Acquire, Relaxed).is_ok();
    let Some(number) = ALL.iter().position(|reserve| free(&reserve)) else {
        return without();
    };
    let reserve = &ALL[number];
    let base = map(layout.size());
    if base.is_null() {
        reserve.users.store(0, Release);
        return Err(lacking);
    }
    reserve.base.store(base.expose_provenance(), Relaxed);
    reserve.top.store(0, Relaxed);
    reserve.small.store(0, Relaxed);
    reserve.size.store(layout.size(), Release);
    CURRENT.set(number);
    Ok(SetAside { number, outer })
}

impl Drop for SetAside {
    fn drop(&mut self) {
        CURRENT.set(self.outer);
        if let Some(reserve) = reserve(self.number) {
            reserve.give_up();
        }
    }
}

/// Gives a worker thread the reserve of the current thread, by calling the result there.
pub(crate) fn inherit() -> impl Fn() + Send + Sync {
    let number = CURRENT.get();
    move || CURRENT.set(number)
}

/// Finds out once how large a product's buffer is, by asking for one.
fn learn(run: impl FnOnce(&(dyn Fn() + Sync)) -> Result<()>) -> Result<()> {
    static LEARNT: AtomicBool = AtomicBool::new(false);
    if LEARNT.load(Acquire) {
        return Ok(());
    }
    look_for_allocator();
    if INSTALLED.load(Relaxed) {
        let _reserve = open(4 * LEAST_SLAB)?;
        let (mark, share) = (panics::inherit(), inherit());
        run(&|| {
            mark();
            share();
            let mut out = Mat::<f64>::zeros(64, 64);
            let one = Mat::<f64>::identity(64, 64);
            matmul(out.as_mut(), Accum::Replace, one.as_ref(), one.as_ref(), 1.0, Par::Seq);
        })?;
    }
    LEARNT.store(true, Release);
    Ok(())
}

/// Allocates something that [`Allocator`], if it is installed, takes note of.
fn look_for_allocator() {
    let layout = Layout::new::<Page>();
    // SAFETY: the layout's size is not zero, and what was allocated is given back.
    may_fail(|| unsafe {
        let found = std::hint::black_box(alloc(layout));
        if !found.is_null() {
            dealloc(found, layout);
        }
    });
}

#[repr(align(4096))]
struct Page(#[allow(dead_code)] [u8; PAGE]);

/// Small blocks for calls that have no reserve: 64 rows of 64 pieces.
struct Store {
    /// A bit for each piece in use, row by row.
    used: [AtomicU64; 64],
    pieces: UnsafeCell<[Page; STORED / PAGE]>,
}

const PIECE: usize = 256;
const STORED: usize = 64 * 64 * PIECE;

// SAFETY: the pieces are only handed out, each to one owner at a time by its bit.
unsafe impl Sync for Store {}

static STORE: Store = Store {
    used: [const { AtomicU64::new(0) }; 64],
    pieces: UnsafeCell::new([const { Page([0; PAGE]) }; STORED / PAGE]),
};

impl Store {
    fn base(&self) -> *mut u8 {
        self.pieces.get().cast()
    }

    fn holds(&self, block: *mut u8) -> bool {
        block.addr().wrapping_sub(self.base().addr()) < STORED
    }

    /// The bits of a block at the start of a row; `None` if no row is long enough.
    fn bits(layout: Layout) -> Option<(usize, u64)> {
        let pieces = layout.size().div_ceil(PIECE).max(1);
        let fits = pieces <= 64 && layout.align() <= PIECE;
        fits.then(|| (pieces, u64::MAX >> (64 - pieces)))
    }

    fn take(&self, layout: Layout) -> *mut u8 {
        let Some((pieces, bits)) = Self::bits(layout) else { return null_mut() };
        for (row, used) in self.used.iter().enumerate() {
            let mut first = 0;
            let taken = used.fetch_update(AcqRel, Acquire, |used| {
                first = (0..=64 - pieces).find(|first| used & (bits << first) == 0)?;
                Some(used | bits << first)
            });
            if taken.is_ok() {
                // SAFETY: the offset lies within the pieces.
                return unsafe { self.base().add((row * 64 + first) * PIECE) };
            }
        }
        null_mut()
    }

    fn give_back(&self, block: *mut u8, layout: Layout) {
        let piece = (block.addr() - self.base().addr()) / PIECE;
        if let Some((_, bits)) = Self::bits(layout) {
            self.used[piece / 64].fetch_and(!(bits << (piece % 64)), Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_hands_out_no_piece_twice_and_takes_all_back() {
        static STORE: Store = Store {
            used: [const { AtomicU64::new(0) }; 64],
            pieces: UnsafeCell::new([const { Page([0; PAGE]) }; STORED / PAGE]),
        };
        for size in [1, PIECE, PIECE + 1, 5000, 64 * PIECE] {
            let layout = Layout::from_size_align(size, 16).unwrap();
            let mut blocks = Vec::new();
            loop {
                let block = STORE.take(layout);
                if block.is_null() {
                    break;
                }
                assert!(STORE.holds(block) && STORE.holds(block.wrapping_add(size - 1)));
                blocks.push(block);
            }
            let per_row = 64 / size.div_ceil(PIECE);
            assert_eq!(blocks.len(), 64 * per_row);
            blocks.sort_unstable();
            assert!(blocks.windows(2).all(|pair| pair[1].addr() - pair[0].addr() >= size));
            blocks.into_iter().for_each(|block| STORE.give_back(block, layout));
            assert!(STORE.used.iter().all(|row| row.load(Relaxed) == 0));
        }
        assert!(STORE.take(Layout::from_size_align(64 * PIECE + 1, 1).unwrap()).is_null());
    }
}
