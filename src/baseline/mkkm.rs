//! Multiple kernel k-means (Huang, Chuang and Chen 2012, with hard memberships): kernel k enters with
//! w_k², Σ w = 1. For fixed clusters the best w_k is proportional to 1/(within-cluster cost of
//! kernel k); for fixed weights the clusters come from kernel k-means.

use super::partition::{Partition, Squared, alternate, best_of_restarts, equal};
use crate::error::Result;
use crate::mixture::Mixed;
use crate::problem::Problem;
use crate::result::Fit;
use crate::solver::weights::{self, HALF};

pub(crate) fn fit(problem: Problem<'_, '_>) -> Result<Fit> {
    let mixture = problem.mixture();
    let mut mixed = Mixed::new(problem.samples())?;
    let mix = |weights: &[f64], mixed: &mut Mixed| {
        let squares: Vec<f64> = weights.iter().map(|w| w * w).collect();
        mixture.mix(&squares, 0.0, mixed)
    };
    let reweight = |partition: &Partition, weights: &[f64]| {
        let mut costs: Vec<f64> = Vec::with_capacity(weights.len());
        for k in 0..weights.len() {
            costs.push(partition.own_distances(mixture.kernel(k))?.iter().sum());
        }
        // Σ w²h with Σ w = 1 is Σ vh with Σ √v = 1.
        let better = match problem.options.learn_weights {
            true => weights::optimal(&costs, HALF).iter().map(|v| v.sqrt()).collect(),
            false => weights.to_vec(),
        };
        let objective = better.iter().zip(&costs).map(|(w, cost)| w * w * cost).sum();
        Ok((better, objective))
    };
    best_of_restarts(problem, |restart| {
        let weights = equal(mixture.kernels());
        alternate(problem, restart, weights, &mut mixed, mix, |_| Squared, reweight)
    })
}
