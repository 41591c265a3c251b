//! The result of a fit: what the method found, and all that is needed to apply it to other samples.

use crate::error::Result;
use crate::kernel::{self, Gram, Source};
use crate::memory;
use crate::method::{self, Problem, Solution};
use crate::monitor::{self, Control, Limit, ProgressFn};
use crate::resources;
use crate::settings::{Method, Settings};
use crate::threads;
use std::ops::Deref;
use std::time::Instant;

/// A kernel as it entered the fit. With its weight, that of the solution, it is all that a sample
/// that comes later needs: k(x, y) is its function of the anchors' features, times the scale.
#[derive(Clone, Debug)]
pub struct FittedKernel {
    /// Where its entries come from: its function and the anchors, unless the caller gave it.
    pub source: Source,
    /// What they were multiplied by.
    pub scale: f64,
}

/// The result of a fit.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The method that was run.
    pub method: Method,
    /// One for each weight.
    pub kernels: Vec<FittedKernel>,
    /// Worker threads used.
    pub threads: usize,
    /// Wall-clock seconds of the whole fit.
    pub total_seconds: f64,
    /// Estimate, made before the fit, of the most memory it needs beyond the kernels, in bytes.
    pub memory_required: usize,
    solution: Solution,
}

impl Fit {
    /// Fits `kernels`, of which there is at least one. `earlier` is the result from which the option
    /// `warm_start` starts.
    pub(crate) fn new(
        kernels: &[Gram<'_>],
        clusters: usize,
        settings: &Settings,
        earlier: Option<&Self>,
        control: &Control,
        progress: Option<ProgressFn<'_>>,
    ) -> Result<Self> {
        let samples = kernels[0].samples();
        let memory_required = method::memory_required(samples, clusters, settings);
        let bytes = memory_required.saturating_add(kernel::bytes_held(kernels));
        resources::check_limit(bytes, settings)?;
        method::check(clusters, settings)?;
        let threads = resources::workers(samples, settings);
        let small = resources::small_memory(samples, clusters).saturating_add(256 * kernels.len());
        let _reserve = threads::set_aside(small, threads)?;
        let started = Instant::now();
        let limit = Limit::of_fit(settings.time_limit);
        // Another method has nothing to start from.
        let earlier = earlier.filter(|earlier| earlier.method == settings.method);
        let solution =
            monitor::monitored(threads, limit, control, progress, |monitor, report| {
                let problem = Problem { kernels, clusters, settings, monitor, report };
                method::solve(problem, earlier.map(|earlier| &earlier.solution))
            })??;
        let mut fitted = memory::with_capacity(kernels.len(), "kernels of the result")?;
        fitted.extend(kernels.iter().map(|kernel| FittedKernel {
            source: kernel.source().clone(),
            scale: kernel.scale(settings.normalize),
        }));
        let total_seconds = started.elapsed().as_secs_f64();
        let method = settings.method;
        Ok(Self { method, kernels: fitted, threads, total_seconds, memory_required, solution })
    }
}

impl Deref for Fit {
    type Target = Solution;

    fn deref(&self) -> &Solution {
        &self.solution
    }
}
