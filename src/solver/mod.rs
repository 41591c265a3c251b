//! The solver: Algorithm 2 of the paper, of which Algorithm 1 is the case of one kernel.
//!
//! ```text
//! min  Tr(K_w − 2K_wZ + ZᵀK_wZ) + α|Z|² + β Tr(PᵀLP)
//! s.t. Zᵀ1 = 1, Z ≥ 0, PᵀP = I, K_w = Σ w_i K^i, Σ √w_i = 1, w ≥ 0,  L = D − (Z+Zᵀ)/2
//! ```
//!
//! Each of the three steps is an exact minimisation, so the objective never rises.

mod eigen;
pub(crate) mod embedding;
pub(crate) mod graph;
mod similarity;
mod ward;
pub(crate) mod weights;

use crate::error::Result;
use crate::labels;
use crate::matrix::{Column, Matrix, Similarity};
use crate::memory;
use crate::mixture::{Mixed, Mixture};
use crate::monitor::Step;
use crate::options::{self, Method, Options};
use crate::problem::{Problem, timed};
use crate::result::{Course, Fit, Outcome, Seconds};
use crate::threads;
use eigen::Block;
use embedding::{AT_THE_END, Embedding, Kind, WHILE_MOVING, Way};
use graph::{Graph, Parts};
use similarity::{Quadratic, Update};
use weights::HALF;

/// α relative to max|K_w| + α below which it is lost in the rounding of the kernel.
const LEAST_ALPHA: f64 = 1e-13;

/// Bytes a fit needs at most beyond the kernels, from sizes and options alone: K_w, two
/// generations of Z and the graph, each at worst n×n, and the earlier Z of a warm start; a dense
/// eigendecomposition where that is the way; the panels of the worker threads and the
/// eigenvectors. A sparse Z needs less.
pub(crate) fn memory_required(samples: usize, clusters: usize, options: &Options) -> usize {
    let squares = if embedding::dense_is_faster(samples, clusters) { 7 } else { 4 }
        + usize::from(options.warm_start);
    let panels = 8 * similarity::group::size(samples) * threads::count(options.threads);
    let vectors = 12 * (clusters + clusters / 8 + 4);
    samples.saturating_mul(squares * samples + panels + vectors).saturating_mul(size_of::<f64>())
}

/// Fits the model. It starts from scratch, or from the result of an earlier fit.
pub(crate) fn fit(problem: Problem<'_, '_>, earlier: Option<&Fit>) -> Result<Fit> {
    Solver { problem, mixture: problem.mixture(), seconds: Seconds::default() }.run(earlier)
}

/// A complete iterate: what is left when the fit stops.
struct Iterate {
    similarity: Similarity,
    weights: Vec<f64>,
    embedding: Embedding,
    /// Tr(K_w − 2K_wZ + ZᵀK_wZ).
    fidelity: f64,
    objective: f64,
    gap: f64,
}

/// How far Z is from where it is going: its changes fall by about the same factor in every
/// iteration.
fn still_to_come(change: f64, factor: f64) -> f64 {
    // A slow fall cannot be relied on.
    if factor < 0.3 { change * factor / (1.0 - factor) } else { change }
}

/// How much larger the factor of an earlier fit may have become with other options, and how small it
/// is taken to be at least.
const OTHER_OPTIONS: f64 = 3.0;
const LEAST_FACTOR: f64 = 0.03;

struct Solver<'s, 'a> {
    problem: Problem<'s, 'a>,
    mixture: Mixture<'s, 'a>,
    seconds: Seconds,
}

impl Solver<'_, '_> {
    fn run(mut self, earlier: Option<&Fit>) -> Result<Fit> {
        let mut mixed = Mixed::new(self.mixture.samples())?;
        // Another method has no Z to start from, and weights of another kind.
        let earlier = earlier.filter(|earlier| earlier.method == Method::Scmk);
        let mut course = earlier.map(|earlier| earlier.course).unwrap_or_default();
        let mut weights = match earlier {
            Some(earlier) if self.learns_weights() => earlier.weights.clone(),
            _ => weights::equal(self.mixture.kernels(), HALF),
        };
        timed!(self.seconds.weights, self.mix(&weights, &mut mixed))?;

        // Pure self-expression (β = 0) with equal weights is the start: the same input gives
        // the same answer, which a random Z would not.
        let start = match earlier.and_then(|earlier| earlier.similarity.as_ref()) {
            Some(similarity) => {
                let embedding = earlier.and_then(|earlier| earlier.embedding.as_ref());
                self.resume(similarity, embedding, course.fidelity, &weights, &mixed)?
            }
            None => self.iterate(None, &mut weights, &mut mixed)?.map(|(start, _)| start),
        };
        let Some(mut now) = start else {
            let nothing = self.nothing(weights)?;
            return self.finish(nothing, Vec::new(), course, &mixed, None);
        };
        let mut trace =
            memory::with_capacity(self.problem.options.max_iterations.min(1024), "trace")?;
        // With neither a pull nor weights to learn, the start is the minimiser already.
        let complete = earlier.is_none() && !self.alternates();
        if complete {
            self.complete_iteration(&now, &mut trace);
        }
        let mut factor = (OTHER_OPTIONS * course.factor).clamp(LEAST_FACTOR, 1.0);
        let mut last_change = f64::INFINITY;
        let outcome = loop {
            if let Some(outcome) = self.problem.monitor.stop() {
                break outcome;
            }
            if complete {
                break Outcome::Converged;
            }
            if trace.len() >= self.problem.options.max_iterations {
                break Outcome::IterationLimit;
            }
            let Some((next, change)) = self.iterate(Some(&now), &mut weights, &mut mixed)? else {
                continue;
            };
            if next.objective > now.objective && !trace.is_empty() {
                // All that is left to gain is below rounding: the iterate before is as good.
                break Outcome::Converged;
            }
            if last_change.is_finite() {
                factor = change / last_change;
                course.factor = factor;
            }
            let fall = (now.objective - next.objective).abs();
            let settled = fall <= self.problem.options.tolerance * next.objective.abs()
                && still_to_come(change, factor) <= self.problem.options.tolerance;
            last_change = change;
            now = next;
            self.complete_iteration(&now, &mut trace);
            if settled {
                break Outcome::Converged;
            }
        };
        course.fidelity = now.fidelity;
        self.finish(now, trace, course, &mixed, Some(outcome))
    }

    /// Whether a step depends on the outcome of another one.
    fn alternates(&self) -> bool {
        self.problem.options.beta > 0.0 || self.learns_weights()
    }

    fn learns_weights(&self) -> bool {
        self.problem.options.learn_weights && self.mixture.kernels() > 1
    }

    fn complete_iteration(&self, now: &Iterate, trace: &mut Vec<f64>) {
        trace.push(now.objective);
        let progress = self.problem.monitor.complete_iteration(trace.len(), now.objective);
        (self.problem.report)(progress);
    }

    /// The iterate an earlier fit ended with.
    fn resume(
        &mut self,
        similarity: &Similarity,
        embedding: Option<&Matrix>,
        fidelity: f64,
        weights: &[f64],
        mixed: &Mixed,
    ) -> Result<Option<Iterate>> {
        let similarity = similarity.try_clone()?;
        let warm = embedding.map(Block::from_columns).transpose()?;
        let step = timed!(
            self.seconds.embedding,
            self.embedding_step(&similarity, (Kind::Model, WHILE_MOVING), warm.as_ref(), mixed)
        );
        let Some(embedding) = step? else { return Ok(None) };
        let norm2: f64 =
            similarity.columns().iter().flat_map(|c| c.iter()).map(|(_, v)| v * v).sum();
        let objective = self.objective(fidelity, norm2, &embedding);
        let gap = f64::INFINITY;
        let weights = weights.to_vec();
        Ok(Some(Iterate { similarity, weights, embedding, fidelity, objective, gap }))
    }

    fn objective(&self, fidelity: f64, norm2: f64, embedding: &Embedding) -> f64 {
        let Options { alpha, beta, .. } = self.problem.options;
        fidelity + alpha * norm2 + beta * embedding.value
    }

    /// One outer iteration from `before`, or the start: Z, then w and K_w, then P. Also returns
    /// the relative change of Z. `None` when the monitor asked to stop.
    fn iterate(
        &mut self,
        before: Option<&Iterate>,
        weights: &mut Vec<f64>,
        mixed: &mut Mixed,
    ) -> Result<Option<(Iterate, f64)>> {
        let pull = before
            .map(|before| &before.embedding.vectors)
            .filter(|_| self.problem.options.beta > 0.0);
        let problem = Quadratic::new(
            &mixed.kernel,
            (self.problem.options.alpha / mixed.unit).max(LEAST_ALPHA),
            pull.map(|embedding| (self.problem.options.beta / mixed.unit, embedding)),
            self.problem.options.kkt_tolerance,
        )?;
        // The weights that follow the start move Z further than its last digits.
        let problem =
            if before.is_none() && self.learns_weights() { problem.loosely() } else { problem };
        let earlier = before.map(|before| &before.similarity);
        let step = timed!(
            self.seconds.similarity,
            similarity::solve(&problem, earlier, self.problem.monitor)
        );
        let Some(update) = step? else { return Ok(None) };
        let Update { similarity, gap, .. } = update;

        let step = timed!(self.seconds.weights, self.weight_step(&similarity, weights, mixed));
        let Some(fidelity) = step? else { return Ok(None) };

        let warm = before.and_then(|before| before.embedding.basis.as_ref());
        let step = timed!(
            self.seconds.embedding,
            self.embedding_step(&similarity, (Kind::Model, WHILE_MOVING), warm, mixed)
        );
        let Some(embedding) = step? else { return Ok(None) };

        let objective = self.objective(fidelity, update.norm2, &embedding);
        // Relative to the off-diagonal part, the only one that reaches L: at small α the
        // diagonal is nearly all of Z and would hide any change.
        let size2 = update.off_diagonal2.max(1e-24 * update.norm2);
        let change = (update.change2 / size2).sqrt();
        let weights = weights.clone();
        let next = Iterate { similarity, weights, embedding, fidelity, objective, gap };
        Ok(Some((next, change)))
    }

    fn mix(&self, weights: &[f64], mixed: &mut Mixed) -> Result<()> {
        self.problem.monitor.begin(Step::Weights, 1);
        self.mixture.mix(weights, self.problem.options.alpha, mixed)
    }

    /// Updates w and K_w for Z; returns Tr(K_w − 2K_wZ + ZᵀK_wZ), or `None` when the monitor asked
    /// to stop.
    fn weight_step(
        &self,
        similarity: &Similarity,
        weights: &mut Vec<f64>,
        mixed: &mut Mixed,
    ) -> Result<Option<f64>> {
        self.problem.monitor.begin(Step::Weights, 1);
        let costs = self.mixture.costs(similarity, self.problem.monitor)?;
        let Some(costs) = costs else { return Ok(None) };
        if self.learns_weights() {
            *weights = weights::optimal(&costs, HALF);
            self.mix(weights, mixed)?;
        }
        Ok(Some(weights.iter().zip(&costs).map(|(w, h)| w * h).sum()))
    }

    fn embedding_step(
        &self,
        similarity: &Similarity,
        (kind, tolerance): (Kind, f64),
        warm: Option<&Block>,
        mixed: &Mixed,
    ) -> Result<Option<Embedding>> {
        let graph = Graph::new(similarity)?;
        let (clusters, kernel) = (self.problem.clusters, &mixed.kernel);
        let way = Way { kind, tolerance, by: embedding::fastest(graph.samples(), clusters) };
        embedding::solve(&graph, clusters, kernel, way, warm, self.problem.monitor)
    }

    /// What a fit leaves that was stopped before its first iterate was complete: Z = I and the
    /// first c unit vectors, feasible but empty of meaning.
    fn nothing(&self, weights: Vec<f64>) -> Result<Iterate> {
        let n = self.mixture.samples();
        let mut columns = memory::with_capacity(n, "similarity")?;
        for i in 0..n {
            columns.push(Column::unit(i)?);
        }
        let mut vectors = Matrix::zeros(n, self.problem.clusters, "embedding")?;
        (0..self.problem.clusters).for_each(|k| vectors.col_mut(k)[k] = 1.0);
        let groups = Parts { of: memory::filled(n, 0, "labels")?, count: 1 };
        Ok(Iterate {
            similarity: Similarity::from_columns(columns),
            weights,
            embedding: Embedding {
                vectors,
                components: n,
                groups: Some(groups),
                value: 0.0,
                residual: 0.0,
                basis: None,
            },
            fidelity: f64::INFINITY,
            objective: self.problem.options.alpha * n as f64,
            gap: f64::INFINITY,
        })
    }

    /// Reads the labels and hands over the result.
    fn finish(
        mut self,
        last: Iterate,
        trace: Vec<f64>,
        course: Course,
        mixed: &Mixed,
        outcome: Option<Outcome>,
    ) -> Result<Fit> {
        let Iterate { similarity, weights, mut embedding, objective, gap, .. } = last;
        let kind = match self.problem.options.embedding {
            options::Embedding::Model => Kind::Model,
            options::Embedding::Normalized => Kind::Normalized,
        };
        // Settles the last digits of P, or embeds anew. A fit that was stopped keeps what it has.
        if self.problem.monitor.stop().is_none()
            && (embedding.residual > AT_THE_END || kind != Kind::Model)
        {
            let warm = embedding.basis.as_ref().filter(|_| kind == Kind::Model);
            let step = timed!(
                self.seconds.embedding,
                self.embedding_step(&similarity, (kind, AT_THE_END), warm, mixed)
            );
            embedding = step?.unwrap_or(embedding);
        }
        if kind == Kind::Normalized {
            embedding::unit_rows(&mut embedding.vectors);
        }
        self.problem.monitor.begin(Step::Labels, 1);
        let labels = timed!(self.seconds.labels, self.labels(&embedding))?;
        // A stop that came while the labels were read counts too.
        let outcome = self.problem.monitor.stop().or(outcome).unwrap_or(Outcome::Cancelled);
        Ok(Fit {
            weights,
            similarity: Some(similarity),
            kkt_residual: Some(gap),
            embedding_residual: Some(embedding.residual),
            components: Some(embedding.components),
            embedding: Some(embedding.vectors),
            trace,
            course,
            ..Fit::new(labels, objective, outcome, self.seconds)
        })
    }

    fn labels(&self, embedding: &Embedding) -> Result<Vec<i32>> {
        match &embedding.groups {
            Some(groups) => groups.labels(),
            None => labels::of_embedding(&embedding.vectors, self.problem),
        }
    }
}
