//! Kernel k-means (Schölkopf, Smola and Müller 1998) on the mean of the kernels: the sum of squared
//! distances to the centres, by Lloyd's sweeps, the best of several restarts.

use super::partition::{Run, Space, Squared, best_of_restarts};
use crate::error::Result;
use crate::mixture::Mixed;
use crate::problem::Problem;
use crate::result::Fit;

pub(crate) fn fit(problem: Problem<'_, '_>) -> Result<Fit> {
    let weights = equal(problem.kernels.len());
    let mut mixed = Mixed::new(problem.samples())?;
    problem.mixture().mix(&weights, 0.0, &mut mixed)?;
    let space = Space::new(&mixed.kernel)?;
    best_of_restarts(problem, |restart| {
        let descent = space.descend(space.start(problem, restart)?, &Squared, problem)?;
        Ok(Run {
            labels: descent.partition.labels,
            weights: weights.clone(),
            trace: descent.trace.iter().map(|cost| cost * mixed.unit).collect(),
            converged: descent.converged,
        })
    })
}

/// The weights of a mean.
pub(super) fn equal(kernels: usize) -> Vec<f64> {
    vec![1.0 / kernels as f64; kernels]
}
