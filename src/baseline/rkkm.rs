//! Robust kernel k-means (Du et al. 2015) on the mean of the kernels: the sum of distances, not of
//! squared ones, to the centres. Every sample pulls at its centre with 1/(2·distance), so that one
//! far away does not drag it along.

use super::kkm::equal;
use super::partition::{Robust, Run, Space, best_of_restarts};
use crate::error::Result;
use crate::mixture::Mixed;
use crate::problem::Problem;
use crate::result::Fit;

pub(crate) fn fit(problem: Problem<'_, '_>) -> Result<Fit> {
    let weights = equal(problem.kernels.len());
    let mut mixed = Mixed::new(problem.samples())?;
    problem.mixture().mix(&weights, 0.0, &mut mixed)?;
    let space = Space::new(&mixed.kernel)?;
    let loss = Robust::for_spread(space.spread2());
    best_of_restarts(problem, |restart| {
        let descent = space.descend(space.start(problem, restart)?, &loss, problem)?;
        Ok(Run {
            labels: descent.partition.labels,
            weights: weights.clone(),
            trace: descent.trace.iter().map(|cost| cost * mixed.unit.sqrt()).collect(),
            converged: descent.converged,
        })
    })
}
