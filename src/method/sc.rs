//! Spectral clustering (Ng, Jordan and Weiss 2002) with the mean of the kernels as affinities: the c
//! smallest eigenvectors of a Laplacian, rows of unit length, then k-means.

use super::Spec;
use super::partition::equal;
use super::problem::{Problem, timed};
use super::spectral::{self, Embedded};
use super::{Seconds, Solution};
use crate::error::{Error, Result};
use crate::memory;
use crate::outcome::Outcome;

pub(super) const METHOD: Spec = Spec {
    name: "sc",
    doc: "spectral clustering with the mean kernel as affinities, option laplacian (Ng et al. 2002)",
    iteration: "the embedding, once",
    learns_weights: false,
    has_similarity: false,
    has_embedding: true,
    memory: |n, c, _| spectral::memory_required(n, c),
    fit: |problem, _| fit(problem),
};

fn fit(problem: Problem<'_, '_>) -> Result<Solution> {
    let weights = equal(problem.kernels.len())?;
    let mut seconds = Seconds::default();
    let embed = || spectral::embed(problem, &problem.weighted()?, &weights, None);
    let (embedded, outcome) = match timed!(seconds.embedding, embed()) {
        Err(Error::Stopped { by }) => (None, by),
        embedded => (Some(embedded?), Outcome::Converged),
    };
    let mut trace = Vec::new();
    if let Some(Embedded { objective, .. }) = embedded {
        memory::push(&mut trace, objective, "trace")?;
        (problem.report)(problem.monitor.complete_iteration(1, objective));
    }
    spectral::finish(problem, embedded, weights, trace, outcome, seconds)
}
