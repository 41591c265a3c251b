//! Progress, cancellation and time: what the host sees of a running fit.

use crate::error::Result;
use crate::result::Outcome;
use crate::threads::{self, Mailbox};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Shared between the thread that fits and those that may stop it.
#[derive(Debug, Default)]
pub struct Control {
    cancel: AtomicBool,
}

impl Control {
    /// Asks the fit in progress to stop; may be called from any thread.
    pub fn cancel(&self) {
        self.cancel.store(true, Relaxed);
    }

    /// Forgets an earlier [`Control::cancel`].
    pub fn reset(&self) {
        self.cancel.store(false, Relaxed);
    }
}

/// The part of a fit that is running.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
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
    const ALL: [Self; 5] =
        [Self::Similarity, Self::Embedding, Self::Weights, Self::Labels, Self::Iteration];

    /// The step in one word, NUL-terminated for C.
    pub fn name(self) -> &'static std::ffi::CStr {
        match self {
            Self::Similarity => c"similarity",
            Self::Embedding => c"embedding",
            Self::Weights => c"weights",
            Self::Labels => c"labels",
            Self::Iteration => c"iteration",
        }
    }
}

/// How far a fit has come.
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

/// Called on the thread that fits: after each iteration, and about ten times a second in
/// between. Returning true stops the fit.
pub type ProgressFn<'f> = &'f mut dyn FnMut(Progress) -> bool;

/// The solver's side: asks whether to stop, tells how far it is.
pub(crate) struct Monitor<'c> {
    control: &'c Control,
    deadline: Option<Instant>,
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
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(Outcome::TimeLimit)
        } else {
            None
        }
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

/// Runs `work` on worker threads with a monitor; `progress` is called on this thread.
pub(crate) fn monitored<R: Send>(
    threads: usize,
    time_limit: f64,
    control: &Control,
    progress: Option<ProgressFn<'_>>,
    work: impl FnOnce(&Monitor<'_>, Report<'_>) -> R + Send,
) -> Result<R> {
    let monitor = Monitor {
        control,
        deadline: (time_limit > 0.0)
            .then(|| Instant::now().checked_add(Duration::from_secs_f64(time_limit)))
            .flatten(),
        step: AtomicUsize::new(Step::Similarity as usize),
        iteration: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        total: AtomicUsize::new(0),
        objective: AtomicU64::new(f64::NAN.to_bits()),
    };
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

/// Runs `work` with a monitor that nobody watches.
#[cfg(test)]
pub(crate) fn idle<R: Send>(work: impl FnOnce(&Monitor<'_>) -> R + Send) -> R {
    idle_on(2, work)
}

/// As [`idle`], on so many threads.
#[cfg(test)]
pub(crate) fn idle_on<R: Send>(threads: usize, work: impl FnOnce(&Monitor<'_>) -> R + Send) -> R {
    monitored(threads, 0.0, &Control::default(), None, |monitor, _| work(monitor))
        .expect("threads start")
}
