//! Every allocation of a run fails once, and from there on: the call answers that memory is
//! lacking, or the right answer, and works when it is made again. The same is done to the C library
//! by `make test-allocation`; here the allocator under the library counts and fails itself.

use scmk::{Allocator, Control, Error, Features, Model};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// The system's allocator, of which some calls fail while it is armed.
struct Failing;

static ARMED: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicUsize = AtomicUsize::new(0);
static FIRST: AtomicUsize = AtomicUsize::new(usize::MAX);
static LAST: AtomicUsize = AtomicUsize::new(usize::MAX);

fn fails() -> bool {
    ARMED.load(SeqCst) && {
        let call = CALLS.fetch_add(1, SeqCst);
        (FIRST.load(SeqCst)..=LAST.load(SeqCst)).contains(&call)
    }
}

/// Runs `work` with the allocations from `first` to `last` failing; also returns how many it made.
fn with_failures<R>(first: usize, last: usize, work: impl FnOnce() -> R) -> (R, usize) {
    FIRST.store(first, SeqCst);
    LAST.store(last, SeqCst);
    CALLS.store(0, SeqCst);
    ARMED.store(true, SeqCst);
    let result = work();
    ARMED.store(false, SeqCst);
    (result, CALLS.load(SeqCst))
}

// SAFETY: passes everything on, or answers that there is no memory.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        if fails() { null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        if fails() { null_mut() } else { unsafe { System.realloc(block, layout, size) } }
    }
}

#[global_allocator]
static ALLOCATOR: Allocator<Failing> = Allocator::new(Failing);

/// Tests of one process take turns.
static TURN: Mutex<()> = Mutex::new(());

const SAMPLES: usize = 18;

/// Clusters three groups of points; the labels, and the bits of the objective.
fn whole_run(method: &str) -> Result<(Vec<i32>, u64), Error> {
    let x: [f64; SAMPLES] =
        std::array::from_fn(|i| (i % 3) as f64 * 5.0 + (i * 7 % 11) as f64 / 11.0);
    let view =
        Features { values: &x, samples: SAMPLES, features: 1, sample_stride: 1, feature_stride: 1 };
    let mut model = Model::new(SAMPLES, 3)?;
    model.set(|options| {
        options.set_text("method", method)?;
        options.set_int("threads", 2)?;
        options.set_int("restarts", 2)?;
        options.set_int("max_iterations", 2)
    })?;
    model.add_features(view, "gaussian(t=0.5); linear")?;
    let fit = model.fit(&Control::default(), None)?;
    Ok((fit.labels.clone(), fit.objective.to_bits()))
}

fn sweep(method: &str, step: usize) {
    let _turn = TURN.lock().unwrap();
    let (expected, calls) = with_failures(usize::MAX, usize::MAX, || whole_run(method));
    let expected = expected.unwrap();
    let (mut lacking, mut points) = (0, 0);
    for k in (0..calls + 3).step_by(step) {
        for last in [k, usize::MAX] {
            points += 1;
            match with_failures(k, last, || whole_run(method)).0 {
                Ok(answer) => assert!(answer == expected, "{method}, allocation {k}"),
                Err(Error::OutOfMemory { .. }) => lacking += 1,
                Err(other) => panic!("{method}, allocation {k}: {other}"),
            }
        }
        assert!(whole_run(method).unwrap() == expected, "{method} after allocation {k}");
    }
    // Or nothing was tested.
    assert!(calls > 100 && lacking > 10, "{calls} allocations, {lacking} of {points}");
}

#[test]
fn scmk_survives_every_failed_allocation() {
    sweep("scmk", 3);
}

#[test]
fn the_other_methods_survive_failed_allocations() {
    for method in ["kkm", "sc", "rkkm", "mkkm", "aasc", "rmkkm"] {
        sweep(method, 7);
    }
}

#[test]
fn what_is_set_aside_is_far_from_used_up() {
    let _turn = TURN.lock().unwrap();
    let calls = with_failures(usize::MAX, usize::MAX, || whole_run("scmk")).1;
    for k in (0..calls).step_by(31) {
        let _ = with_failures(k, usize::MAX, || whole_run("scmk"));
    }
    let deepest = Allocator::deepest();
    assert!(deepest > 0 && deepest < 1 << 20, "{deepest} bytes of at least two million");
}
