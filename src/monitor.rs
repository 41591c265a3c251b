//! Progress, cancellation and time: what the host sees of a running call.
//!
//! Whatever may take longer than a tenth of a second asks its [`Monitor`] again and again whether to
//! go on. A stop travels like an error, by `?`, up to whoever can make something of it: a fit ends
//! with its last complete iterate, any other call fails and leaves everything as it was.

use crate::error::{Error, Result};
use crate::outcome::Outcome;
use crate::threads::{self, Mailbox};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Shared between the thread that works and those that may stop it.
#[derive(Debug, Default)]
pub struct Control {
    cancel: AtomicBool,
}

impl Control {
    /// Asks the call in progress to stop, or the next fit if there is none; may be called from any
    /// thread.
    pub fn cancel(&self) {
        self.cancel.store(true, Relaxed);
    }

    /// Whether a cancel is waiting, which is forgotten then.
    pub(crate) fn take(&self) -> bool {
        self.cancel.swap(false, Relaxed)
    }

    /// Forgets an earlier [`Control::cancel`].
    pub fn reset(&self) {
        self.cancel.store(false, Relaxed);
    }
}

/// When a call has to stop by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit(Option<Instant>);

impl Limit {
    /// The option `time_limit`, in seconds from now; 0 is none.
    pub(crate) fn of_fit(seconds: f64) -> Self {
        let limit = Duration::try_from_secs_f64(seconds).ok().filter(|_| seconds > 0.0);
        // One too short to be told from none is at least a tick of the clock.
        let limit = limit.map(|limit| limit.max(Duration::from_nanos(1)));
        Self(limit.and_then(|limit| Instant::now().checked_add(limit)))
    }

    /// Whether it has come.
    pub(crate) fn is_over(self) -> bool {
        self.0.is_some_and(|limit| Instant::now() >= limit)
    }

    /// The same for calls other than a fit, which have to end in success to be of use: what takes
    /// less than a tenth of a second is never stopped by the clock.
    pub(crate) fn of_call(seconds: f64) -> Self {
        Self::of_fit(if seconds > 0.0 { seconds.max(TICK.as_secs_f64()) } else { 0.0 })
    }
}

/// The part of a call that is running.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
    /// Building or checking kernels.
    Kernels,
    /// Solving for Z.
    Similarity,
    /// Solving for P.
    Embedding,
    /// Solving for w and mixing K_w.
    Weights,
    /// Reading the labels.
    Labels,
    /// An outer iteration is complete.
    Iteration,
}

impl Step {
    const ALL: [Self; 6] = [
        Self::Kernels,
        Self::Similarity,
        Self::Embedding,
        Self::Weights,
        Self::Labels,
        Self::Iteration,
    ];
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What is running.
    pub step: Step,
    /// Complete outer iterations.
    pub iteration: usize,
    /// How much of the step is done, from 0 to 1.
    pub fraction: f64,
    /// The objective after the last complete iteration; NaN before the first.
    pub objective: f64,
}

/// Called on the thread that made the call: after each iteration, and about ten times a second in
/// between. Returning true stops the call.
pub type ProgressFn<'f> = &'f mut dyn FnMut(Progress) -> bool;

/// The solver's side: asks whether to stop, tells how far it is.
pub(crate) struct Monitor<'c> {
    control: &'c Control,
    limit: Limit,
    step: AtomicUsize,
    iteration: AtomicUsize,
    done: AtomicUsize,
    total: AtomicUsize,
    objective: AtomicU64,
}

/// Tells the host of a complete iteration, and returns once the host has seen it: a host that
/// stops the fit after its k-th iteration gets exactly that iterate.
pub(crate) type Report<'r> = &'r dyn Fn(Progress);

const TICK: Duration = Duration::from_millis(100);

impl Monitor<'_> {
    /// Why the solver has to stop now, if it has to.
    pub(crate) fn stop(&self) -> Option<Outcome> {
        if self.control.cancel.load(Relaxed) {
            Some(Outcome::Cancelled)
        } else if self.limit.is_over() {
            Some(Outcome::TimeLimit)
        } else {
            None
        }
    }

    /// Fails with [`Error::Stopped`] if the work has to stop now.
    pub(crate) fn go_on(&self) -> Result<()> {
        self.stop().map_or(Ok(()), |by| Err(Error::Stopped { by }))
    }

    /// A step with `total` units of work begins.
    pub(crate) fn begin(&self, step: Step, total: usize) {
        self.step.store(step as usize, Relaxed);
        self.done.store(0, Relaxed);
        self.total.store(total, Relaxed);
    }

    /// `units` more units of work are done.
    pub(crate) fn advance(&self, units: usize) {
        self.done.fetch_add(units, Relaxed);
    }

    /// An outer iteration is complete.
    pub(crate) fn complete_iteration(&self, iteration: usize, objective: f64) -> Progress {
        self.iteration.store(iteration, Relaxed);
        self.objective.store(objective.to_bits(), Relaxed);
        Progress { step: Step::Iteration, iteration, fraction: 1.0, objective }
    }

    fn snapshot(&self) -> Progress {
        let total = self.total.load(Relaxed).max(1);
        Progress {
            step: Step::ALL[self.step.load(Relaxed)],
            iteration: self.iteration.load(Relaxed),
            fraction: (self.done.load(Relaxed) as f64 / total as f64).min(1.0),
            objective: f64::from_bits(self.objective.load(Relaxed)),
        }
    }
}

impl<'c> Monitor<'c> {
    fn new(control: &'c Control, limit: Limit) -> Self {
        Self {
            control,
            limit,
            step: AtomicUsize::new(Step::Kernels as usize),
            iteration: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
            objective: AtomicU64::new(f64::NAN.to_bits()),
        }
    }
}

/// Runs `work`, on the workers that are there, with what a call may still take once it was asked to
/// stop: for most that is long enough to make something readable of what they have.
pub(crate) fn in_grace<R>(work: impl FnOnce(&Monitor<'_>) -> R) -> R {
    const SECONDS: f64 = 0.2;
    work(&Monitor::new(&Control::default(), Limit::of_fit(SECONDS)))
}

/// Runs `work` on worker threads with a monitor; `progress` is called on this thread.
pub(crate) fn monitored<R: Send>(
    threads: usize,
    limit: Limit,
    control: &Control,
    progress: Option<ProgressFn<'_>>,
    work: impl FnOnce(&Monitor<'_>, Report<'_>) -> R + Send,
) -> Result<R> {
    let monitor = Monitor::new(control, limit);
    let Some(progress) = progress else {
        return threads::run(threads, || work(&monitor, &|_| {}));
    };
    let monitor = &monitor;
    let seen = Mailbox::new();
    let mut panicked = None;
    let result = threads::run_with_events(
        threads,
        TICK,
        |iteration: Option<Progress>| {
            let now = iteration.unwrap_or_else(|| monitor.snapshot());
            if panicked.is_none() {
                // The work waits for the handshake: a callback that panics must not leave it there.
                match catch_unwind(AssertUnwindSafe(|| progress(now))) {
                    Ok(stop) if stop => control.cancel(),
                    Ok(_) => {}
                    Err(payload) => {
                        control.cancel();
                        panicked = Some(payload);
                    }
                }
            }
            if iteration.is_some() {
                seen.send(());
            }
        },
        |send| {
            work(monitor, &|iteration| {
                send(iteration);
                seen.receive(Duration::MAX);
            })
        },
    );
    match panicked {
        Some(payload) => resume_unwind(payload),
        None => result,
    }
}

/// Runs `work` with a monitor that nobody watches: no time limit, no cancel.
pub(crate) fn unwatched<R: Send>(work: impl FnOnce(&Monitor<'_>) -> R + Send) -> Result<R> {
    unwatched_on(threads::count(0), work)
}

fn unwatched_on<R: Send>(threads: usize, work: impl FnOnce(&Monitor<'_>) -> R + Send) -> Result<R> {
    let limit = Limit::of_fit(0.0);
    monitored(threads, limit, &Control::default(), None, |monitor, _| work(monitor))
}

/// [`unwatched`] on two threads, for tests.
#[cfg(test)]
pub(crate) fn idle<R: Send>(work: impl FnOnce(&Monitor<'_>) -> R + Send) -> R {
    idle_on(2, work)
}

/// As [`idle`], on so many threads.
#[cfg(test)]
pub(crate) fn idle_on<R: Send>(threads: usize, work: impl FnOnce(&Monitor<'_>) -> R + Send) -> R {
    unwatched_on(threads, work).expect("threads start")
}
