//! The library's own worker threads: started for one call and joined before it returns.
//!
//! Nothing outlives a call, so that a host may fork, unload the library or exit between calls.
//! rayon's global pool is never used; code that runs inside [`run`] uses rayon's parallel
//! iterators, which stay in the pool they are called from.

mod mailbox;
#[allow(unsafe_code)]
mod native;

use crate::arithmetic::Environment;
use crate::error::{Error, Result};
use crate::memory;
use crate::panics;
use crate::reserve;
pub(crate) use mailbox::Mailbox;
use native::Team;
use std::cell::Cell;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// How many threads `threads` = `requested` means on this machine.
pub(crate) fn count(requested: usize) -> usize {
    match requested {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get).min(1024),
        some => some,
    }
}

/// Runs `work` on `threads` workers while the calling thread waits.
pub(crate) fn run<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R> {
    in_pool(threads, |pool| {
        // `install` would need a thread-local variable of the calling thread, which may be ending.
        let mut answer = None;
        pool.in_place_scope(|scope| scope.spawn(|_| answer = Some(work())));
        answer.expect("the scope has passed on a panic of the work")
    })
}

/// As [`run`]; the calling thread meanwhile handles the events that the work sends, and `None`
/// whenever nothing has come for `interval`.
pub(crate) fn run_with_events<E: Send, R: Send>(
    threads: usize,
    interval: Duration,
    mut handle: impl FnMut(Option<E>),
    work: impl FnOnce(&dyn Fn(E)) -> R + Send,
) -> Result<R> {
    in_pool(threads, |pool| {
        let (events, mut answer) = (Mailbox::new(), None);
        let (to, slot) = (&events, &mut answer);
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                // Closes it on a panic of the work too, which leaving the scope passes on.
                let open = to.open();
                *slot = Some(work(&|event| to.send(event)));
                drop(open);
            });
            // Ends: the worker closes the mailbox when its work is done, also by a panic.
            loop {
                match events.receive(interval) {
                    mailbox::Received::Letter(event) => handle(Some(event)),
                    mailbox::Received::Nothing => handle(None),
                    mailbox::Received::Closed => break,
                }
            }
        });
        answer.expect("the scope has passed on a panic of the work")
    })
}

/// Sets memory aside for a call that needs about `bytes` in small pieces and works on so many threads.
pub(crate) fn set_aside(bytes: usize, threads: usize) -> Result<reserve::SetAside> {
    reserve::set_aside(bytes, threads, |work| run_one(work))
}

/// Runs `work` on a thread of its own while the calling thread waits.
fn run_one(work: impl FnOnce() + Send) -> Result<()> {
    let ready = AtomicBool::new(false);
    {
        let mut team = Team::new(1)?;
        let started = team.start(0, || {
            ready.store(native::has_memory(), Relaxed);
            if ready.load(Relaxed) {
                work();
            }
        });
        started.map_err(|error| not_started(1, &error))?;
    }
    match ready.load(Relaxed) {
        true => Ok(()),
        false => Err(NO_MEMORY),
    }
}

const NO_MEMORY: Error = Error::OutOfMemory { bytes: native::STACK, what: "a worker thread" };

/// Why threads could not be started: the system says the same for both reasons.
fn not_started(threads: usize, error: &dyn std::fmt::Display) -> Error {
    match memory::with_capacity::<u8>(threads.saturating_mul(native::STACK), "worker threads") {
        Ok(_) => Error::Threads { threads, reason: error.to_string() },
        Err(lacking) => lacking,
    }
}

/// Runs `work` with a pool of so many workers.
///
/// A fuzzer calls thousands of times a second: there, and only there, pools are kept.
#[cfg(fuzzing)]
#[allow(clippy::disallowed_methods)]
fn in_pool<R>(threads: usize, work: impl FnOnce(&rayon::ThreadPool) -> R) -> Result<R> {
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering::SeqCst;
    static KEPT: [OnceLock<rayon::ThreadPool>; 3] = [const { OnceLock::new() }; 3];
    static TAKEN: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];
    struct GiveBack<'t>(&'t AtomicBool);
    impl Drop for GiveBack<'_> {
        fn drop(&mut self) {
            self.0.store(false, SeqCst);
        }
    }
    // A call from a progress function must not wait for the worker that waits for it.
    let free = TAKEN.get(threads).filter(|taken| !taken.swap(true, SeqCst));
    let Some((kept, taken)) = KEPT.get(threads).zip(free) else {
        return in_own_pool(threads, work);
    };
    let _give_back = GiveBack(taken);
    let pool = kept.get_or_init(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("a few threads")
    });
    let (mark, share) = (panics::inherit(), reserve::inherit());
    pool.broadcast(|_| {
        mark();
        share();
    });
    Ok(work(pool))
}

/// Runs `work` with a pool of so many workers, which end with it.
#[cfg(not(fuzzing))]
fn in_pool<R>(threads: usize, work: impl FnOnce(&rayon::ThreadPool) -> R) -> Result<R> {
    in_own_pool(threads, work)
}

#[allow(clippy::disallowed_methods)]
fn in_own_pool<R>(threads: usize, work: impl FnOnce(&rayon::ThreadPool) -> R) -> Result<R> {
    let (mark, share) = (&panics::inherit(), &reserve::inherit());
    let (arrivals, arrived) = (Mailbox::with_room(threads)?, &mut 0);
    // Goes after the pool, whose threads end with it, and waits for them.
    let mut team = Team::new(threads)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .spawn_handler(|thread| {
            let arrivals = &arrivals;
            *arrived += 1;
            team.start(thread.index(), move || {
                // Before anything that has a thread-local variable.
                let ready = native::has_memory();
                arrivals.send(ready);
                if ready {
                    Environment::ours().enter();
                    mark();
                    share();
                    thread.run();
                }
            })
        })
        .build()
        .map_err(|error| not_started(threads, &error))?;
    for _ in 0..*arrived {
        if !matches!(arrivals.receive(Duration::MAX), mailbox::Received::Letter(true)) {
            drop(pool);
            return Err(NO_MEMORY);
        }
    }
    Ok(work(&pool))
}

/// Whether the calling thread, which may be new to the library, can have thread-local variables.
pub(crate) fn caller_has_memory() -> bool {
    thread_local! {
        /// No destructor: it can be had at any time.
        static KNOWN: Cell<bool> = const { Cell::new(false) };
    }
    KNOWN.get() || {
        let ready = native::has_memory();
        KNOWN.set(ready);
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_on_as_many_threads_as_asked_for() {
        for threads in [1, 2, 8] {
            assert_eq!(run(threads, rayon::current_num_threads).unwrap(), threads);
        }
    }

    #[test]
    fn events_are_handled_on_the_calling_thread() {
        let caller = std::thread::current().id();
        let (mut events, mut ticks) = (Vec::new(), 0);
        let answer = run_with_events(
            2,
            Duration::from_millis(5),
            |event| {
                assert_eq!(std::thread::current().id(), caller);
                match event {
                    Some(event) => events.push(event),
                    None => ticks += 1,
                }
            },
            |send| {
                send(1);
                std::thread::sleep(Duration::from_millis(80));
                send(2);
                7
            },
        );
        assert_eq!(answer, Ok(7));
        assert_eq!(events, [1, 2]);
        assert!(ticks >= 1);
    }

    #[test]
    fn a_panic_of_the_work_reaches_the_caller() {
        let message = panics::caught(|| run(2, || panic!("boom"))).unwrap_err();
        assert!(message.starts_with("boom at"), "{message}");
        let tick = Duration::from_millis(1);
        let bang = |_: &dyn Fn(())| panic!("bang");
        let message = panics::caught(|| run_with_events(2, tick, |_| {}, bang)).unwrap_err();
        assert!(message.starts_with("bang at"), "{message}");
    }
}
