//! What the spectral methods share: kernels as affinities, and an embedding read like theirs.
//!
//! Affinities cannot be negative, entries of a kernel can: those count as no affinity.

use super::partition::unassigned;
use super::problem::{Problem, timed};
use super::solution::{Seconds, Solution};
use crate::blend::{MixedKernel, WeightedKernels};
use crate::error::Result;
use crate::labels;
use crate::monitor::Step;
use crate::outcome::Outcome;
use crate::settings::Laplacian;
use crate::spectral::graph::{Graph, Parts};
use crate::spectral::ward;
use crate::steps::embedding::{
    self, AT_THE_END, EigenMethod, EigenSettings, Embedding, MOST_DENSE,
};

/// Bytes a fit needs at most beyond the kernels: the affinities, the mixed kernel, a dense
/// eigendecomposition where that is the way, and eigenvectors.
pub(crate) fn memory_required(samples: usize, clusters: usize) -> usize {
    let squares = if samples <= MOST_DENSE { 6 } else { 2 };
    let vectors = 12 * (clusters + clusters / 8 + 4);
    samples.saturating_mul(squares * samples + vectors).saturating_mul(size_of::<f64>())
}

/// Residual of an eigenvector relative to the largest degree, where the distance to the other
/// eigenvalues is looked at too. Eigenvalues are accurate to its square.
const TOLERANCE: f64 = 1e-8;

/// The affinity graph for some weights, and its embedding.
pub(super) struct Embedded {
    pub(super) graph: Graph,
    pub(super) embedding: Embedding,
    /// What the affinities were divided by.
    pub(super) unit: f64,
    /// Tr(FᵀLF) of the embedding F.
    pub(super) objective: f64,
}

/// Embeds Σ (coefficient · kernel).
pub(super) fn embed(
    problem: Problem<'_, '_>,
    weighted: &WeightedKernels<'_, '_>,
    coefficients: &[f64],
    earlier: Option<&Embedded>,
) -> Result<Embedded> {
    let (affinities, unit) = weighted.affinities(coefficients, problem.monitor)?;
    let graph = Graph::of_affinities(affinities)?;
    let laplacian = problem.settings.laplacian;
    let (clusters, monitor) = (problem.clusters, problem.monitor);
    // Parts in excess of the clusters are merged by their means in the space of the kernel.
    let group = |parts: Parts| {
        let mut mixed = MixedKernel::new(problem.samples())?;
        weighted.mix(coefficients, 0.0, &mut mixed, monitor)?;
        ward::merge(&parts, clusters, &mixed.kernel, monitor)
    };
    let warm = earlier.and_then(|earlier| earlier.embedding.basis.as_ref());
    // Kernels are full matrices. Where their eigenvalues lie close together the iteration takes
    // longer than a decomposition: BA, 1404 samples, 0.3 s for one kernel and 2 s for another,
    // against 0.7 s.
    let by = match embedding::fastest(problem.samples(), clusters) {
        EigenMethod::Iteration if problem.samples() <= MOST_DENSE => EigenMethod::Either(30),
        by => by,
    };
    let tolerance = if by == EigenMethod::Iteration { AT_THE_END } else { TOLERANCE };
    let how = EigenSettings { laplacian, tolerance, by, beyond: 0 };
    let embedding = embedding::solve(&graph, clusters, group, how, warm, monitor)?;
    let of_unit = if laplacian == Laplacian::Unnormalized { unit } else { 1.0 };
    let objective = embedding.value() * of_unit;
    Ok(Embedded { graph, embedding, unit, objective })
}

/// Reads the labels and hands over the result; without an embedding, because the fit was
/// stopped, there is one cluster.
pub(super) fn finish(
    problem: Problem<'_, '_>,
    last: Option<Embedded>,
    weights: Vec<f64>,
    trace: Vec<f64>,
    outcome: Outcome,
    mut seconds: Seconds,
) -> Result<Solution> {
    problem.monitor.begin(Step::Labels, 1);
    let stopped_or = |outcome| problem.monitor.stop().unwrap_or(outcome);
    let Some(Embedded { mut embedding, objective, .. }) = last else {
        return unassigned(problem, weights, stopped_or(outcome));
    };
    embedding::unit_rows(&mut embedding.vectors);
    let read = || match &embedding.groups {
        Some(groups) => groups.labels(),
        None => {
            let Problem { clusters, settings, monitor, .. } = problem;
            labels::of_embedding(&embedding.vectors, clusters, settings, monitor)
        }
    };
    let labels = timed!(seconds.labels, read())?;
    // A stop that came while the labels were read counts too.
    let outcome = stopped_or(outcome);
    Ok(Solution {
        weights,
        trace,
        embedding_residual: Some(embedding.residual),
        components: Some(embedding.components),
        embedding: Some(embedding.vectors),
        ..Solution::new(labels, objective, outcome, seconds)
    })
}
