//! Spectral clustering (Ng, Jordan and Weiss 2002) with the mean of the kernels as affinities: the c
//! smallest eigenvectors of a Laplacian, rows of unit length, then k-means.

use super::partition::equal;
use super::spectral::{self, Embedded};
use crate::error::{Error, Result};
use crate::memory;
use crate::problem::{Problem, timed};
use crate::result::{Fit, Outcome, Seconds};

pub(crate) fn fit(problem: Problem<'_, '_>) -> Result<Fit> {
    let weights = equal(problem.kernels.len())?;
    let mut seconds = Seconds::default();
    let embed = || spectral::embed(problem, &problem.mixture()?, &weights, None);
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
