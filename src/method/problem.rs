//! What a method works on.

use crate::blend::WeightedKernels;
use crate::error::Result;
use crate::kernel::Gram;
use crate::monitor::{Monitor, Report};
use crate::settings::Settings;

/// Kernels, of which there is at least one, the number of clusters, checked settings, and the
/// line to the host.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'p, 'a> {
    pub(crate) kernels: &'p [Gram<'a>],
    /// The view of each kernel, rising from 0.
    pub(crate) views: &'p [usize],
    pub(crate) clusters: usize,
    pub(crate) settings: &'p Settings,
    pub(crate) monitor: &'p Monitor<'p>,
    pub(crate) report: Report<'p>,
}

impl<'p, 'a> Problem<'p, 'a> {
    pub(crate) fn samples(&self) -> usize {
        self.kernels[0].samples()
    }

    /// The kernels with the scales that the settings ask for.
    pub(crate) fn weighted(&self) -> Result<WeightedKernels<'p, 'a>> {
        WeightedKernels::new(self.kernels, self.settings.normalize)
    }
}

/// Runs a step and adds its time to the clock.
macro_rules! timed {
    ($clock:expr, $step:expr) => {{
        let started = std::time::Instant::now();
        let result = $step;
        $clock += started.elapsed().as_secs_f64();
        result
    }};
}
pub(super) use timed;
