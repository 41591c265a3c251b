//! Robust kernel k-means (Du et al. 2015) on the mean of the kernels: the sum of distances, not of
//! squared ones, to the centres. Every sample pulls at its centre with 1/(2·distance), so that one
//! far away does not drag it along.

use super::Spec;
use super::problem::Problem;
use super::partition::{self, Robust, fit_mean};
use crate::error::Result;
use super::Solution;

pub(super) const METHOD: Spec = Spec {
    name: "rkkm",
    doc: "robust kernel k-means: distances to the centres, not squared ones, on the mean of the kernels (Du et al. 2015)",
    iteration: "a sweep over all samples",
    learns_weights: false,
    has_similarity: false,
    has_embedding: false,
    memory: |n, c, _| partition::memory_required(n, c),
    fit: |problem, _| fit(problem),
};

fn fit(problem: Problem<'_, '_>) -> Result<Solution> {
    fit_mean(problem, |space| Robust::for_spread(space.spread2()), f64::sqrt)
}
