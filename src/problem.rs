//! What a method works on.

use crate::error::Result;
use crate::matrix::Kernel;
use crate::mixture::Mixture;
use crate::monitor::{Monitor, Report};
use crate::options::Options;

/// Kernels, of which there is at least one, the number of clusters, checked options, and the
/// line to the host.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'p, 'a> {
    pub(crate) kernels: &'p [Kernel<'a>],
    pub(crate) clusters: usize,
    pub(crate) options: &'p Options,
    pub(crate) monitor: &'p Monitor<'p>,
    pub(crate) report: Report<'p>,
}

impl<'p, 'a> Problem<'p, 'a> {
    pub(crate) fn samples(&self) -> usize {
        self.kernels[0].samples()
    }

    /// The kernels with the scales the options ask for.
    pub(crate) fn mixture(&self) -> Result<Mixture<'p, 'a>> {
        Mixture::new(self.kernels, self.options.normalize)
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
pub(crate) use timed;
