//! Spectral clustering (Ng, Jordan and Weiss 2002) with the mean of the kernels as affinities: the c
//! smallest eigenvectors of a Laplacian, rows of unit length, then k-means.

use super::partition::equal;
use super::spectral;
use crate::error::Result;
use crate::problem::{Problem, timed};
use crate::result::{Fit, Outcome, Seconds};

pub(crate) fn fit(problem: Problem<'_, '_>) -> Result<Fit> {
    let weights = equal(problem.kernels.len());
    let mut seconds = Seconds::default();
    let embed = || spectral::embed(problem, &problem.mixture(), &weights, None);
    let embedded = timed!(seconds.embedding, embed())?;
    let trace: Vec<f64> = embedded.iter().map(|embedded| embedded.objective).collect();
    if let Some(&objective) = trace.first() {
        (problem.report)(problem.monitor.complete_iteration(1, objective));
    }
    spectral::finish(problem, embedded, weights, trace, Outcome::Converged, seconds)
}
