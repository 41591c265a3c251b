//! Robust multiple kernel k-means (Du et al. 2015): the sum of distances to the centres in the space
//! of Σ w_k K_k, with Σ w_k^γ = 1. For fixed clusters the squared distances are weighted as in
//! robust kernel k-means, and the weights of the kernels have a closed form.

use super::partition::{Loss, Partition, Robust, Space, alternate, best_of_restarts};
use crate::error::Result;
use crate::mixture::Mixed;
use crate::problem::Problem;
use crate::result::Fit;
use crate::solver::weights;
use crate::vector;

pub(crate) fn fit(problem: Problem<'_, '_>) -> Result<Fit> {
    let mixture = problem.mixture();
    let gamma = problem.options.gamma;
    let equal = weights::equal(mixture.kernels(), gamma);
    let mut mixed = Mixed::new(problem.samples())?;
    let mix = |weights: &[f64], mixed: &mut Mixed| mixture.mix(weights, 0.0, mixed);
    mix(&equal, &mut mixed)?;
    // One guard for the whole fit: with one of its own for every mixture the objective could rise.
    let loss = Robust::for_spread(mixed.unit * Space::new(&mixed.kernel)?.spread2());
    let reweight = |partition: &Partition, weights: &[f64]| {
        let mut distances = Vec::with_capacity(weights.len());
        for k in 0..weights.len() {
            distances.push(partition.own_distances(mixture.kernel(k))?);
        }
        let mixed_distance2 = |weights: &[f64], i: usize| -> f64 {
            weights.iter().zip(&distances).map(|(w, distances)| w * distances[i]).sum()
        };
        let samples = 0..partition.labels.len();
        let better = if problem.options.learn_weights {
            let pulls: Vec<f64> =
                samples.clone().map(|i| loss.pull(mixed_distance2(weights, i))).collect();
            let cost = |distances: &Vec<f64>| vector::dot(&pulls, distances);
            weights::optimal(&distances.iter().map(cost).collect::<Vec<_>>(), gamma)
        } else {
            weights.to_vec()
        };
        let objective = samples.map(|i| loss.cost(mixed_distance2(&better, i))).sum();
        Ok((better, objective))
    };
    let scaled = |unit: f64| loss.in_units_of(unit);
    best_of_restarts(problem, |restart| {
        alternate(problem, restart, equal.clone(), &mut mixed, mix, scaled, reweight)
    })
}
