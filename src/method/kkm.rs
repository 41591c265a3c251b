//! Kernel k-means (Schölkopf, Smola and Müller 1998) on the mean of the kernels: the sum of squared
//! distances to the centres, by Lloyd's sweeps, the best of several restarts.

use super::Spec;
use super::problem::Problem;
use super::partition::{self, Squared, fit_mean};
use crate::error::Result;
use super::Solution;

pub(super) const METHOD: Spec = Spec {
    name: "kkm",
    doc: "kernel k-means: squared distances to the centres, on the mean of the kernels (Schoelkopf et al. 1998)",
    iteration: "a sweep over all samples",
    learns_weights: false,
    has_similarity: false,
    has_embedding: false,
    memory: |n, c, _| partition::memory_required(n, c),
    fit: |problem, _| fit(problem),
};

fn fit(problem: Problem<'_, '_>) -> Result<Solution> {
    fit_mean(problem, |_| Squared, |unit| unit)
}
