//! Affinity aggregation for spectral clustering (Huang, Chuang and Chen 2012): affinity k enters with
//! v_k², Σ v = 1. For fixed weights the embedding F holds the smallest eigenvectors of the
//! Laplacian of Σ v_k² W_k; for a fixed F the weights minimise Σ v_k² Tr(FᵀL_kF).
//!
//! With the unnormalised Laplacian (FᵀF = I) both steps are exact and the objective falls by
//! theory; the weights are then v_k ∝ 1/Tr(FᵀL_kF). With the symmetric one (FᵀDF = I, the
//! publication's) the weights also obey Σ v_k² Tr(FᵀD_kF) = c. That keeps the trace of FᵀDF and
//! not FᵀDF itself, so that the next embedding may be worse: the fit then ends with the one before.

use super::Spec;
use super::partition::equal;
use super::problem::{Problem, timed};
use super::spectral::{self, Embedded};
use super::{Seconds, Solution};
use crate::blend::WeightedKernels;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::memory;
use crate::monitor::Step;
use crate::outcome::Outcome;
use crate::settings::Laplacian;
use crate::steps::weights::{self, HALF};
use crate::vector;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};

/// Columns handled by one task. Fixed, so that results do not depend on the number of threads.
const BLOCK: usize = 64;

pub(super) const METHOD: Spec = Spec {
    name: "aasc",
    doc: "affinity aggregation for spectral clustering: affinity k enters with w_k^2, sum(w) = 1 (Huang et al. 2012)",
    iteration: "embedding and weights once each",
    learns_weights: true,
    has_similarity: false,
    has_embedding: true,
    memory: |n, c, _| spectral::memory_required(n, c),
    fit: |problem, _| fit(problem),
};

fn fit(problem: Problem<'_, '_>) -> Result<Solution> {
    let Problem { settings, monitor, report, .. } = problem;
    let weighted = problem.weighted()?;
    let mut seconds = Seconds::default();
    let mut weights = equal(weighted.kernels())?;
    let mut next = equal(weighted.kernels())?;
    let mut squares = equal(weighted.kernels())?;
    let mut best: Option<Embedded> = None;
    let mut trace: Vec<f64> = Vec::new();
    // Ends: each pass adds to the trace, which is cut at max_iterations.
    let mut alternate = || loop {
        monitor.go_on()?;
        if trace.len() >= settings.max_iterations {
            break Ok(Outcome::IterationLimit);
        }
        squares.iter_mut().zip(&next).for_each(|(square, v)| *square = v * v);
        let embed = || spectral::embed(problem, &weighted, &squares, best.as_ref());
        let embedded = timed!(seconds.embedding, embed())?;
        let last = trace.last().copied().unwrap_or(f64::INFINITY);
        let objective = embedded.objective;
        if objective > last {
            break Ok(Outcome::Converged);
        }
        memory::push(&mut trace, objective, "trace")?;
        report(monitor.complete_iteration(trace.len(), objective));
        weights.copy_from_slice(&next);
        let embedded = best.insert(embedded);
        let settled = last - objective <= settings.tolerance * objective;
        if settled || !settings.learn_weights || weights.len() == 1 || objective == 0.0 {
            break Ok(Outcome::Converged);
        }
        monitor.begin(Step::Weights, 1);
        let costs = timed!(seconds.weights, Costs::new(problem, &weighted, embedded))?;
        next = match settings.laplacian {
            Laplacian::Unnormalized => {
                let mut next = weights::optimal(&costs.cuts, HALF)?;
                next.iter_mut().for_each(|v| *v = v.sqrt());
                next
            }
            Laplacian::Symmetric => costs.aggregate(&weights)?,
        };
        // An affinity that falls apart into c parts draws the objective to zero, of which no
        // change is small: its weights settle long before.
        let moved = weights.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if moved <= settings.tolerance {
            break Ok(Outcome::Converged);
        }
    };
    let outcome = match alternate() {
        Err(Error::Stopped { by }) => by,
        outcome => outcome?,
    };
    spectral::finish(problem, best, weights, trace, outcome, seconds)
}

/// What an embedding F costs in each affinity.
struct Costs {
    /// Tr(FᵀL_kF).
    cuts: Vec<f64>,
    /// Tr(FᵀD_kF).
    volumes: Vec<f64>,
}

impl Costs {
    fn new(
        problem: Problem<'_, '_>,
        weighted: &WeightedKernels<'_, '_>,
        embedded: &Embedded,
    ) -> Result<Self> {
        let n = problem.samples();
        let mut f = Matrix::zeros(n, problem.clusters, "embedding")?;
        f.values_mut().copy_from_slice(embedded.embedding.vectors.values());
        if problem.settings.laplacian == Laplacian::Symmetric {
            // From eigenvectors of the normalised Laplacian to generalised ones.
            for k in 0..f.cols() {
                for (value, &degree) in f.col_mut(k).iter_mut().zip(embedded.graph.degrees()) {
                    *value *= if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 };
                }
            }
        }
        // One product for all kernels, a panel of its columns at a time: |f_i − f_j|²/2 and
        // |f_i|² are then weighted by each of the kernels.
        let mut lengths = memory::filled(n, 0.0, "embedding")?;
        for k in 0..f.cols() {
            lengths.iter_mut().zip(f.col(k)).for_each(|(length, v)| *length += v * v);
        }
        let blocks = memory::par_map(n.div_ceil(BLOCK), "costs of the kernels", |block| {
            let first = block * BLOCK;
            let width = BLOCK.min(n - first);
            let mut panel = memory::filled(n * width, 0.0, "embedding product")?;
            let out = MatMut::from_column_major_slice_mut(&mut panel, n, width);
            let rows = f.view().subrows(first, width);
            matmul(out, Accum::Replace, f.view(), rows.transpose(), -1.0, Par::Seq);
            for (j, column) in panel.chunks_exact_mut(n).enumerate() {
                for (value, length) in column.iter_mut().zip(&lengths) {
                    *value += 0.5 * (length + lengths[first + j]);
                }
                column[first + j] = 0.0;
            }
            let mut affinities = memory::filled(n, 0.0, "affinities")?;
            let mut parts = memory::with_capacity(weighted.kernels(), "costs of the kernels")?;
            let mut scratch = Vec::new();
            for kernel in problem.kernels {
                problem.monitor.go_on()?;
                let mut sums = (0.0, 0.0);
                for (j, column) in (first..).zip(panel.chunks_exact(n)) {
                    affinities.fill(0.0);
                    let entries = kernel.raw_col(j, &mut scratch)?;
                    vector::axpy_positive(1.0 / kernel.sum_unit(), entries, &mut affinities);
                    affinities[j] = 0.0;
                    sums.0 += vector::dot(&affinities, column);
                    sums.1 += vector::sum(&affinities) * lengths[j];
                }
                parts.push(sums);
            }
            Ok(parts)
        })?;
        let none = || memory::filled(weighted.kernels(), 0.0, "costs of the kernels");
        let mut costs = Self { cuts: none()?, volumes: none()? };
        for block in blocks.into_iter().flatten() {
            for (k, (cut, volume)) in block.into_iter().enumerate() {
                let (kernel, scale) = weighted.kernel(k);
                let scale = scale * kernel.sum_unit() / embedded.unit;
                costs.cuts[k] += cut * scale;
                costs.volumes[k] += volume * scale;
            }
        }
        costs.cuts.iter_mut().for_each(|cut| *cut = cut.max(0.0));
        Ok(costs)
    }

    /// The weights v ≥ 0 that minimise Σ v_k² cut_k while Σ v_k² volume_k stays as it is and
    /// Σ v_k at least 1, scaled to Σ v = 1. In u_k² = v_k² volume_k the problem is linear over a
    /// convex set; its solution has v_k ∝ 1/(volume_k (cut_k/volume_k − λ)) with one unknown λ
    /// below every ratio, and the sum of v rises as λ falls.
    ///
    /// An affinity without edges has no volume, hence no say: its weight is 0.
    fn aggregate(&self, now: &[f64]) -> Result<Vec<f64>> {
        let ratio = |(cut, volume): (&f64, &f64)| cut / volume;
        let edged = || self.cuts.iter().zip(&self.volumes).filter(|(_, volume)| **volume > 0.0);
        let least = edged().map(ratio).fold(f64::INFINITY, f64::min);
        let most = edged().map(ratio).fold(0.0, f64::max);
        let volume: f64 = now.iter().zip(&self.volumes).map(|(v, volume)| v * v * volume).sum();
        let mut v = memory::copied(now, "weights")?;
        if !(most > least && volume > 0.0 && volume.is_finite()) {
            return Ok(v);
        }
        // v for λ = least − (most − least)·e^x, with the volume kept; returns its sum.
        let mut weigh = |x: f64| -> f64 {
            let below = (most - least) * x.exp();
            for ((v, cut), volume) in v.iter_mut().zip(&self.cuts).zip(&self.volumes) {
                let weight = 1.0 / (volume * (cut / volume - least + below));
                *v = if *volume > 0.0 { weight } else { 0.0 };
            }
            let own: f64 = v.iter().zip(&self.volumes).map(|(v, volume)| v * v * volume).sum();
            v.iter_mut().for_each(|v| *v *= (volume / own).sqrt());
            v.iter().sum()
        };
        let (mut low, mut high) = (-35.0, 35.0);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            *(if weigh(middle) < 1.0 { &mut low } else { &mut high }) = middle;
        }
        let sum = weigh(high);
        v.iter_mut().for_each(|v| *v /= sum);
        Ok(v)
    }
}
