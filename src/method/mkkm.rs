//! Multiple kernel k-means (Huang, Chuang and Chen 2012, with hard memberships): kernel k enters with
//! w_k², Σ w = 1. For fixed clusters the best w_k is proportional to 1/(within-cluster cost of
//! kernel k); for fixed weights the clusters come from kernel k-means.

use super::partition::{self, Partition, Squared, alternate, best_of_restarts, equal};
use super::problem::Problem;
use super::{Solution, Spec};
use crate::blend::MixedKernel;
use crate::error::Result;
use crate::memory;
use crate::steps::weights::{self, HALF};

pub(super) const METHOD: Spec = Spec {
    iteration: "clusters and weights once each",
    learns_weights: true,
    ..partition::spec(
        "mkkm",
        "multiple kernel k-means: kernel k enters with w_k^2, sum(w) = 1 (Huang et al. 2012)",
        |problem, _| fit(problem),
    )
};

fn fit(problem: Problem<'_, '_>) -> Result<Solution> {
    let weighted = problem.weighted()?;
    let mut mixed = MixedKernel::new(problem.samples())?;
    let mix = |weights: &[f64], mixed: &mut MixedKernel| {
        let mut squares = memory::copied(weights, "weights")?;
        squares.iter_mut().for_each(|w| *w *= *w);
        weighted.mix(&squares, 0.0, mixed, problem.monitor)
    };
    let reweight = |partition: &Partition, weights: &[f64]| {
        let mut costs: Vec<f64> = memory::with_capacity(weights.len(), "weights")?;
        for k in 0..weights.len() {
            let distances = partition.own_distances(weighted.kernel(k), problem.monitor)?;
            costs.push(distances.iter().sum());
        }
        // Σ w²h with Σ w = 1 is Σ vh with Σ √v = 1.
        let mut better = match problem.settings.learn_weights {
            true => weights::optimal(&costs, HALF)?,
            false => memory::copied(weights, "weights")?,
        };
        if problem.settings.learn_weights {
            better.iter_mut().for_each(|v| *v = v.sqrt());
        }
        let objective = better.iter().zip(&costs).map(|(w, cost)| w * w * cost).sum();
        Ok((better, objective))
    };
    best_of_restarts(problem, equal(weighted.kernels())?, |restart| {
        let weights = equal(weighted.kernels())?;
        alternate(problem, restart, weights, &mut mixed, mix, |_| Squared, reweight)
    })
}
