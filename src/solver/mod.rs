//! The solver: Algorithm 2 of the paper, of which Algorithm 1 is the case of one kernel.
//!
//! ```text
//! min  Tr(K_w − 2K_wZ + ZᵀK_wZ) + α|Z|² + β Tr(PᵀLP)
//! s.t. Zᵀ1 = 1, Z ≥ 0, PᵀP = I, K_w = Σ w_i K^i, Σ √w_i = 1, w ≥ 0,  L = D − (Z+Zᵀ)/2
//! ```
//!
//! Each of the three steps is an exact minimisation, so the objective never rises.

mod eigen;
mod embedding;
mod graph;
mod mixture;
mod monitor;
mod similarity;
mod ward;
mod weights;

pub use monitor::{Control, Progress, ProgressFn, Step};

use crate::error::{Error, Result};
use crate::labels;
use crate::matrix::{Column, Kernel, Matrix, Similarity};
use crate::memory;
use crate::options::{self, Options};
use crate::result::{Fit, Outcome, Seconds};
use crate::threads;
use eigen::Block;
use embedding::{AT_THE_END, Embedding, Kind, WHILE_MOVING};
use graph::{Graph, Parts};
use mixture::{Mixed, Mixture};
use monitor::{Monitor, Report};
use similarity::{Quadratic, Update};
use std::time::Instant;

/// α relative to max|K_w| + α below which it is lost in the rounding of the kernel.
const LEAST_ALPHA: f64 = 1e-13;

/// Bytes a fit needs at most beyond the kernels, from sizes and options alone: K_w, two
/// generations of Z and the graph, each at worst n×n; a dense eigendecomposition where that is
/// the way; the panels of the worker threads and the eigenvectors. A sparse Z needs less.
pub(crate) fn memory_required(samples: usize, clusters: usize, options: &Options) -> usize {
    let squares = if embedding::dense_is_faster(samples, clusters) { 7 } else { 4 };
    let panels = 8 * similarity::BLOCK * threads::count(options.threads);
    let vectors = 12 * (clusters + clusters / 8 + 4);
    samples.saturating_mul(squares * samples + panels + vectors).saturating_mul(size_of::<f64>())
}

/// Fits the model to `kernels`, of which there is at least one.
pub(crate) fn fit(
    kernels: &[Kernel<'_>],
    clusters: usize,
    options: &Options,
    control: &Control,
    progress: Option<ProgressFn<'_>>,
) -> Result<Fit> {
    let samples = kernels[0].samples();
    let memory_required = memory_required(samples, clusters, options);
    if options.memory_limit > 0 && memory_required > options.memory_limit {
        let what = "a fit, more than the option memory_limit allows";
        return Err(Error::OutOfMemory { bytes: memory_required, what });
    }
    let threads = threads::count(options.threads);
    let started = Instant::now();
    let mut fit =
        monitor::monitored(threads, options.time_limit, control, progress, |monitor, report| {
            let mixture = Mixture::new(kernels, options.normalize);
            let seconds = Seconds::default();
            Solver { mixture, clusters, options, monitor, report, seconds }.run()
        })??;
    fit.seconds.total = started.elapsed().as_secs_f64();
    fit.threads = threads;
    fit.memory_required = memory_required;
    Ok(fit)
}

/// A complete iterate: what is left when the fit stops.
struct Iterate {
    similarity: Similarity,
    weights: Vec<f64>,
    embedding: Embedding,
    objective: f64,
    gap: f64,
}

struct Solver<'s, 'a> {
    mixture: Mixture<'s, 'a>,
    clusters: usize,
    options: &'s Options,
    monitor: &'s Monitor<'s>,
    report: Report<'s>,
    seconds: Seconds,
}

/// Runs a step and adds its time to the clock.
macro_rules! timed {
    ($clock:expr, $step:expr) => {{
        let started = Instant::now();
        let result = $step;
        $clock += started.elapsed().as_secs_f64();
        result
    }};
}

impl Solver<'_, '_> {
    fn run(mut self) -> Result<Fit> {
        let mut mixed = Mixed::new(self.mixture.samples())?;
        let mut weights = weights::equal(self.mixture.kernels());
        timed!(self.seconds.weights, self.mix(&weights, &mut mixed))?;

        // Pure self-expression (β = 0) with equal weights is the start: the same input gives
        // the same answer, which a random Z would not.
        let mut now = match self.iterate(None, &mut weights, &mut mixed)? {
            Some((start, _)) => start,
            None => {
                let nothing = self.nothing(weights)?;
                return self.finish(nothing, Vec::new(), &mixed, None);
            }
        };
        let mut trace = memory::with_capacity(self.options.max_iterations.min(1024), "trace")?;
        let outcome = loop {
            if let Some(outcome) = self.monitor.stop() {
                break outcome;
            }
            if trace.len() >= self.options.max_iterations {
                break Outcome::IterationLimit;
            }
            let Some((next, change)) = self.iterate(Some(&now), &mut weights, &mut mixed)? else {
                continue;
            };
            if next.objective > now.objective && !trace.is_empty() {
                // All that is left to gain is below rounding: the iterate before is as good.
                break Outcome::Converged;
            }
            let fall = now.objective - next.objective;
            let settled = fall <= self.options.tolerance * next.objective.abs()
                && change <= self.options.tolerance;
            now = next;
            trace.push(now.objective);
            (self.report)(self.monitor.complete_iteration(trace.len(), now.objective));
            if settled {
                break Outcome::Converged;
            }
        };
        self.finish(now, trace, &mixed, Some(outcome))
    }

    /// One outer iteration from `before`, or the start: Z, then w and K_w, then P. Also returns
    /// the relative change of Z. `None` when the monitor asked to stop.
    fn iterate(
        &mut self,
        before: Option<&Iterate>,
        weights: &mut Vec<f64>,
        mixed: &mut Mixed,
    ) -> Result<Option<(Iterate, f64)>> {
        let pull =
            before.map(|before| &before.embedding.vectors).filter(|_| self.options.beta > 0.0);
        let problem = Quadratic {
            kernel: &mixed.kernel,
            alpha: (self.options.alpha / mixed.unit).max(LEAST_ALPHA),
            pull: pull.map(|embedding| (self.options.beta / mixed.unit, embedding)),
            tolerance: self.options.kkt_tolerance,
        };
        let earlier = before.map(|before| &before.similarity);
        let step =
            timed!(self.seconds.similarity, similarity::solve(&problem, earlier, self.monitor));
        let Some(update) = step? else { return Ok(None) };
        let Update { similarity, gap, .. } = update;

        let fidelity = timed!(self.seconds.weights, self.weight_step(&similarity, weights, mixed))?;

        let warm = before.and_then(|before| before.embedding.basis.as_ref());
        let step = timed!(
            self.seconds.embedding,
            self.embedding_step(&similarity, (Kind::Model, WHILE_MOVING), warm, mixed)
        );
        let Some(embedding) = step? else { return Ok(None) };

        let objective =
            fidelity + self.options.alpha * update.norm2 + self.options.beta * embedding.value;
        // Relative to the off-diagonal part, the only one that reaches L: at small α the
        // diagonal is nearly all of Z and would hide any change.
        let size2 = update.off_diagonal2.max(1e-24 * update.norm2);
        let change = (update.change2 / size2).sqrt();
        let weights = weights.clone();
        Ok(Some((Iterate { similarity, weights, embedding, objective, gap }, change)))
    }

    fn mix(&self, weights: &[f64], mixed: &mut Mixed) -> Result<()> {
        self.monitor.begin(Step::Weights, 1);
        self.mixture.mix(weights, self.options.alpha, mixed)
    }

    /// Updates w and K_w for Z; returns Tr(K_w − 2K_wZ + ZᵀK_wZ).
    fn weight_step(
        &self,
        similarity: &Similarity,
        weights: &mut Vec<f64>,
        mixed: &mut Mixed,
    ) -> Result<f64> {
        self.monitor.begin(Step::Weights, 1);
        let costs = self.mixture.costs(similarity)?;
        if self.options.learn_weights && costs.len() > 1 {
            *weights = weights::optimal(&costs);
            self.mix(weights, mixed)?;
        }
        Ok(weights.iter().zip(&costs).map(|(w, h)| w * h).sum())
    }

    fn embedding_step(
        &self,
        similarity: &Similarity,
        (kind, tolerance): (Kind, f64),
        warm: Option<&Block>,
        mixed: &Mixed,
    ) -> Result<Option<Embedding>> {
        let graph = Graph::new(similarity)?;
        let (clusters, kernel) = (self.clusters, &mixed.kernel);
        embedding::solve(&graph, clusters, kernel, kind, tolerance, warm, self.monitor)
    }

    /// What a fit leaves that was stopped before its first iterate was complete: Z = I and the
    /// first c unit vectors, feasible but empty of meaning.
    fn nothing(&self, weights: Vec<f64>) -> Result<Iterate> {
        let n = self.mixture.samples();
        let mut columns = memory::with_capacity(n, "similarity")?;
        for i in 0..n {
            columns.push(Column::unit(i)?);
        }
        let mut vectors = Matrix::zeros(n, self.clusters, "embedding")?;
        (0..self.clusters).for_each(|k| vectors.col_mut(k)[k] = 1.0);
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
            objective: self.options.alpha * n as f64,
            gap: f64::INFINITY,
        })
    }

    /// Reads the labels and hands over the result.
    fn finish(
        mut self,
        last: Iterate,
        trace: Vec<f64>,
        mixed: &Mixed,
        outcome: Option<Outcome>,
    ) -> Result<Fit> {
        let outcome = outcome.or_else(|| self.monitor.stop()).unwrap_or(Outcome::Cancelled);
        let Iterate { similarity, weights, mut embedding, objective, gap } = last;
        let kind = match self.options.embedding {
            options::Embedding::Model => Kind::Model,
            options::Embedding::Normalized => Kind::Normalized,
        };
        // Settles the last digits of P, or embeds anew. A fit that was stopped keeps what it has.
        if self.monitor.stop().is_none() && (embedding.residual > AT_THE_END || kind != Kind::Model)
        {
            let warm = embedding.basis.as_ref().filter(|_| kind == Kind::Model);
            let step = timed!(
                self.seconds.embedding,
                self.embedding_step(&similarity, (kind, AT_THE_END), warm, mixed)
            );
            embedding = step?.unwrap_or(embedding);
        }
        self.monitor.begin(Step::Labels, 1);
        let labels = timed!(self.seconds.labels, self.labels(&embedding))?;
        Ok(Fit {
            labels,
            weights,
            similarity,
            trace,
            objective,
            kkt_residual: gap,
            embedding_residual: embedding.residual,
            components: embedding.components,
            embedding: embedding.vectors,
            outcome,
            seconds: self.seconds,
            threads: 0,
            memory_required: 0,
        })
    }

    fn labels(&self, embedding: &Embedding) -> Result<Vec<i32>> {
        if let Some(groups) = &embedding.groups {
            let mut labels = memory::with_capacity(groups.of.len(), "labels")?;
            labels.extend(groups.of.iter().map(|&group| group as i32));
            return Ok(labels);
        }
        let Options { labels, mut restarts, seed, .. } = *self.options;
        // A fit that was stopped still owes the labels of its iterate: one start has to do.
        let stopped = self.monitor.stop().is_some();
        if stopped {
            restarts = 1;
        }
        let stop = || !stopped && self.monitor.stop().is_some();
        labels::read(&embedding.vectors, self.clusters, labels, restarts, seed, &stop)
    }
}
