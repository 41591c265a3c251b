//! Robust multiple kernel k-means (Du et al. 2015): the sum of distances to the centres in the space
//! of Σ w_k K_k, with Σ w_k^γ = 1. For fixed clusters the squared distances are weighted as in
//! robust kernel k-means, and the weights of the kernels have a closed form.

use super::partition::{
    self, Loss, Partition, Robust, Space, alternate, best_of_restarts, unassigned,
};
use super::problem::Problem;
use super::{Solution, Spec};
use crate::blend::MixedKernel;
use crate::error::{Error, Result};
use crate::memory;
use crate::steps::weights;
use crate::vector;

pub(super) const METHOD: Spec = Spec {
    iteration: "clusters and weights once each",
    learns_weights: true,
    ..partition::spec(
        "rmkkm",
        "robust multiple kernel k-means: sum(w^gamma) = 1, option gamma (Du et al. 2015)",
        |problem, _| fit(problem),
    )
};

fn fit(problem: Problem<'_, '_>) -> Result<Solution> {
    let weighted = problem.weighted()?;
    let gamma = problem.settings.gamma;
    let equal = weights::equal(weighted.kernels(), gamma)?;
    let mut mixed = MixedKernel::new(problem.samples())?;
    let mix = |weights: &[f64], mixed: &mut MixedKernel| {
        weighted.mix(weights, 0.0, mixed, problem.monitor)
    };
    match mix(&equal, &mut mixed) {
        Err(Error::Stopped { by }) => return unassigned(problem, equal, by),
        mixed => mixed?,
    }
    // One guard for the whole fit: with one of its own for every mixed kernel the objective could rise.
    let loss = Robust::for_spread(mixed.unit * Space::new(&mixed.kernel)?.spread2());
    let reweight = |partition: &Partition, weights: &[f64]| {
        let mut distances = memory::with_capacity(weights.len(), "distances")?;
        for k in 0..weights.len() {
            distances.push(partition.own_distances(weighted.kernel(k), problem.monitor)?);
        }
        let mixed_distance2 = |weights: &[f64], i: usize| -> f64 {
            let mixed = weights
                .iter()
                .zip(&distances)
                .map(|(w, distances): (_, &Vec<f64>)| w * distances[i]);
            mixed.sum()
        };
        let samples = 0..partition.labels.len();
        let better = if problem.settings.learn_weights {
            let mut pulls = memory::with_capacity(samples.len(), "distances")?;
            pulls.extend(samples.clone().map(|i| loss.pull(mixed_distance2(weights, i))));
            let mut costs = memory::with_capacity(weights.len(), "weights")?;
            costs.extend(distances.iter().map(|distances| vector::dot(&pulls, distances)));
            weights::optimal(&costs, gamma)?
        } else {
            memory::copied(weights, "weights")?
        };
        let objective = samples.map(|i| loss.cost(mixed_distance2(&better, i))).sum();
        Ok((better, objective))
    };
    let scaled = |unit: f64| loss.in_units_of(unit);
    let first = memory::copied(&equal, "weights")?;
    best_of_restarts(problem, first, |restart| {
        let weights = memory::copied(&equal, "weights")?;
        alternate(problem, restart, weights, &mut mixed, mix, scaled, reweight)
    })
}
