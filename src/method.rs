//! Runs the method that the options ask for.

use crate::baseline;
use crate::error::{Error, Result};
use crate::labels;
use crate::matrix::Kernel;
use crate::monitor::{self, Control, Limit, ProgressFn};
use crate::options::{Labels, Method, Options};
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
    let samples = kernels[0].samples();
    let memory_required = memory_required(samples, clusters, options);
    let held = kernels.iter().fold(0, |sum: usize, kernel| sum.saturating_add(kernel.bytes()));
    check_limit(memory_required.saturating_add(held), options)?;
    check_reading(clusters, options)?;
    let threads = threads(samples, options);
    let small = small_memory(samples, clusters).saturating_add(256 * kernels.len());
    let _boat = lifeboat::launch(small, threads)?;
    let started = Instant::now();
    let limit = Limit::of_fit(options.time_limit);
    let mut fit = monitor::monitored(threads, limit, control, progress, |monitor, report| {
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
    fit.check_finite()?;
    Ok(fit)
}

/// Refuses what would take more bytes than the option `memory_limit` allows, the kernels that the
/// library holds included.
pub(crate) fn check_limit(bytes: usize, options: &Options) -> Result<()> {
    if options.memory_limit > 0 && bytes > options.memory_limit {
        let what = "kernels and working memory, more than the option memory_limit allows";
        return Err(Error::OutOfMemory { bytes, what });
    }
    Ok(())
}

/// Refuses ways of reading labels that could not be interrupted.
fn check_reading(clusters: usize, options: &Options) -> Result<()> {
    let reads = matches!(options.method, Method::Scmk | Method::Sc | Method::Aasc);
    let rotates = matches!(options.labels, Labels::Rotation | Labels::Qr);
    if reads && rotates && clusters > labels::MOST_ROTATED {
        return Err(Error::InvalidArgument {
            name: "labels".to_owned(),
            value: format!("'{}'", options.labels.name()),
            allowed: format!("kmeans for more than {} clusters", labels::MOST_ROTATED),
        });
    }
    Ok(())
}

/// Workers for so many samples: no more than there is work for, since each of them sets memory
/// aside. Results do not depend on it.
pub(crate) fn threads(samples: usize, options: &Options) -> usize {
    /// Samples that keep a worker busy.
    const SAMPLES: usize = 16;
    threads::count(options.threads).min(samples.div_ceil(SAMPLES))
}
