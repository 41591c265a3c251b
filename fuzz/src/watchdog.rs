//! Ends the process when a call takes too long: nothing else would tell of a loop that never ends
//! and asks nobody.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// When the call has to be over, in milliseconds since the start; 0 while none is watched.
static DEADLINE: AtomicU64 = AtomicU64::new(0);
static WHAT: Mutex<String> = Mutex::new(String::new());

fn start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(|| {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(Duration::from_millis(50));
                let deadline = DEADLINE.load(SeqCst);
                if deadline != 0 && now() > deadline {
                    let what = WHAT.lock().unwrap_or_else(PoisonError::into_inner);
                    crate::fail(&format!("too slow: {what}"), file!(), line!());
                }
            }
        });
        Instant::now()
    })
}

fn now() -> u64 {
    start().elapsed().as_millis() as u64
}

/// Makes a call that may take so many seconds.
pub fn within<R>(seconds: f64, what: &str, call: impl FnOnce() -> R) -> R {
    *WHAT.lock().unwrap_or_else(PoisonError::into_inner) = format!("{what}, {seconds} s allowed");
    DEADLINE.store(now() + (seconds * 1e3) as u64, SeqCst);
    let result = call();
    DEADLINE.store(0, SeqCst);
    result
}

/// Makes a call that may take so many seconds of this thread's processor time, which other work on
/// the machine does not add to.
pub fn quickly<R>(seconds: f64, what: &str, call: impl FnOnce() -> R) -> R {
    let before = processor_seconds();
    let result = call();
    let taken = processor_seconds() - before;
    crate::ensure!(taken <= seconds, "{what} took {taken} s of {seconds}");
    result
}

fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for one time.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
