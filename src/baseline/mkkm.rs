//! Multiple kernel k-means (Huang, Chuang and Chen 2012, with hard memberships): kernel k enters with
//! w_k², Σ w = 1. For fixed clusters the best w_k is proportional to 1/(within-cluster cost of
//! kernel k); for fixed weights the clusters come from kernel k-means.

use super::partition::{Partition, Squared, alternate, best_of_restarts, equal};
use crate::error::Result;
use crate::memory;
use crate::mixture::Mixed;
use crate::problem::Problem;
use crate::result::Fit;
use crate::solver::weights::{self, HALF};

pub(crate) fn fit(problem: Problem<'_, '_>) -> Result<Fit> {
    let mixture = problem.mixture()?;
    let mut mixed = Mixed::new(problem.samples())?;
    let mix = |weights: &[f64], mixed: &mut Mixed| {
        let mut squares = memory::copied(weights, "weights")?;
        squares.iter_mut().for_each(|w| *w *= *w);
        mixture.mix(&squares, 0.0, mixed, problem.monitor)
    };
    let reweight = |partition: &Partition, weights: &[f64]| {
        let mut costs: Vec<f64> = memory::with_capacity(weights.len(), "weights")?;
        for k in 0..weights.len() {
            let distances = partition.own_distances(mixture.kernel(k), problem.monitor)?;
            costs.push(distances.iter().sum());
        }
        // Σ w²h with Σ w = 1 is Σ vh with Σ √v = 1.
        let mut better = match problem.options.learn_weights {
            true => weights::optimal(&costs, HALF)?,
            false => memory::copied(weights, "weights")?,
        };
        if problem.options.learn_weights {
            better.iter_mut().for_each(|v| *v = v.sqrt());
        }
        let objective = better.iter().zip(&costs).map(|(w, cost)| w * w * cost).sum();
        Ok((better, objective))
    };
    best_of_restarts(problem, equal(mixture.kernels())?, |restart| {
        let weights = equal(mixture.kernels())?;
        alternate(problem, restart, weights, &mut mixed, mix, |_| Squared, reweight)
    })
}
