//! The result of a fit: what the method found, and all that is needed to apply it to other samples.

use crate::error::{Error, Result};
use crate::kernel::{self, Gram, Source};
use crate::memory;
use crate::method::{self, Problem, Remark, Solution};
use crate::monitor::{self, Control, Limit, ProgressFn};
use crate::quality::{self, Quality};
use crate::resources;
use crate::settings::{Method, Settings};
use crate::suggest::{self, Suggestion};
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
    /// Number of clusters, chosen if it was not given.
    pub clusters: usize,
    /// One for each weight.
    pub kernels: Vec<FittedKernel>,
    /// How the number of clusters was chosen, if it was.
    pub suggestion: Option<Suggestion>,
    /// What it is worth.
    pub quality: Quality,
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
        views: &[usize],
        clusters: usize,
        settings: &Settings,
        earlier: Option<&Self>,
        control: &Control,
        progress: Option<ProgressFn<'_>>,
    ) -> Result<Self> {
        let samples = kernels[0].samples();
        let choose = clusters == 0;
        let clusters = if choose { suggest::most(samples) } else { clusters };
        let suggesting = if choose { suggest::memory_required(kernels, samples) } else { 0 };
        let memory_required =
            method::memory_required(samples, clusters, settings).saturating_add(suggesting);
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
        let (clusters, suggestion, solution, quality) =
            monitor::monitored(threads, limit, control, progress, |monitor, report| {
                let mut problem = Problem { kernels, views, clusters, settings, monitor, report };
                let mut suggestion = None;
                if choose {
                    match suggest::score(problem, 2) {
                        // Stopped before it was known: the fit stops too, and has one cluster.
                        Err(Error::Stopped { .. }) => problem.clusters = 1,
                        found => problem.clusters = suggestion.insert(found?).best,
                    }
                }
                let earlier = earlier.filter(|earlier| earlier.clusters == problem.clusters);
                let mut solution =
                    method::solve(problem, earlier.map(|earlier| &earlier.solution))?;
                if suggestion.as_ref().is_some_and(|suggestion| suggestion.best == 1) {
                    memory::push(&mut solution.remarks, Remark::NoStructure, "remarks")?;
                }
                let quality = quality::judge(problem, &solution)?;
                Result::Ok((problem.clusters, suggestion, solution, quality))
            })??;
        let mut fitted = memory::with_capacity(kernels.len(), "kernels of the result")?;
        fitted.extend(kernels.iter().map(|kernel| FittedKernel {
            source: kernel.source().clone(),
            scale: kernel.scale(settings.normalize),
        }));
        let total_seconds = started.elapsed().as_secs_f64();
        let method = settings.method;
        Ok(Self {
            method,
            clusters,
            kernels: fitted,
            suggestion,
            quality,
            threads,
            total_seconds,
            memory_required,
            solution,
        })
    }
}

impl Deref for Fit {
    type Target = Solution;

    fn deref(&self) -> &Solution {
        &self.solution
    }
}
