//! Runs the method that the options ask for.

use crate::baseline;
use crate::error::{Error, Result};
use crate::matrix::Kernel;
use crate::monitor::{self, Control, ProgressFn};
use crate::options::{Method, Options};
use crate::problem::Problem;
use crate::result::Fit;
use crate::{lifeboat, solver, threads};
use std::time::Instant;

/// Bytes a fit needs at most beyond the kernels, from sizes and options alone.
pub(crate) fn memory_required(samples: usize, clusters: usize, options: &Options) -> usize {
    match options.method {
        Method::Scmk => solver::memory_required(samples, clusters, options),
        Method::Kkm | Method::Rkkm | Method::Mkkm | Method::Rmkkm => {
            baseline::partition_memory(samples, clusters)
        }
        Method::Sc | Method::Aasc => baseline::spectral_memory(samples, clusters),
    }
}

/// Bytes that a call needs at most in pieces too small to be counted: vectors, small matrices, what
/// the thread pool and the libraries underneath allocate.
pub(crate) fn small_memory(samples: usize, clusters: usize) -> usize {
    let basis = 5 * (clusters + clusters / 8 + 4);
    let numbers = 64usize.saturating_mul(samples).saturating_add(8 * basis * basis);
    numbers.saturating_mul(size_of::<f64>()).saturating_add(2 << 20)
}

/// Fits `kernels`, of which there is at least one. `earlier` is the result from which the option
/// `warm_start` starts.
pub(crate) fn fit(
    kernels: &[Kernel<'_>],
    clusters: usize,
    options: &Options,
    earlier: Option<&Fit>,
    control: &Control,
    progress: Option<ProgressFn<'_>>,
) -> Result<Fit> {
    let memory_required = memory_required(kernels[0].samples(), clusters, options);
    if options.memory_limit > 0 && memory_required > options.memory_limit {
        let what = "a fit, more than the option memory_limit allows";
        return Err(Error::OutOfMemory { bytes: memory_required, what });
    }
    let threads = threads::count(options.threads);
    let _boat = lifeboat::launch(small_memory(kernels[0].samples(), clusters), threads)?;
    let started = Instant::now();
    let mut fit =
        monitor::monitored(threads, options.time_limit, control, progress, |monitor, report| {
            let problem = Problem { kernels, clusters, options, monitor, report };
            match options.method {
                Method::Scmk => solver::fit(problem, earlier),
                Method::Kkm => baseline::kkm(problem),
                Method::Sc => baseline::sc(problem),
                Method::Rkkm => baseline::rkkm(problem),
                Method::Mkkm => baseline::mkkm(problem),
                Method::Aasc => baseline::aasc(problem),
                Method::Rmkkm => baseline::rmkkm(problem),
            }
        })??;
    fit.method = options.method;
    fit.seconds.total = started.elapsed().as_secs_f64();
    fit.threads = threads;
    fit.memory_required = memory_required;
    Ok(fit)
}
