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

use crate::error::{Error, Result};
use crate::labels;
use crate::matrix::{Column, Matrix, Similarity};
use crate::memory;
use crate::mixture::{Mixed, Mixture};
use crate::monitor::Step;
use crate::options::{self, Method, Options};
use crate::problem::{Problem, timed};
use crate::result::{Certified, Course, Fit, Outcome, Seconds};
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
    Solver { problem, mixture: problem.mixture()?, seconds: Seconds::default() }.run(earlier)
}

/// A complete iterate: what is left when the fit stops.
struct Iterate {
    similarity: Similarity,
    weights: Vec<f64>,
    embedding: Embedding,
    /// Tr(K_w − 2K_wZ + ZᵀK_wZ).
    fidelity: f64,
    objective: f64,
    /// Relative to max|K_w| + α.
    gap: f64,
    /// The α that Z was found with, the weights, and the P unless there was no pull.
    alpha: f64,
    seen: Vec<f64>,
    pulled: Option<Matrix>,
}

/// Where a fit stands.
struct State {
    mixed: Mixed,
    weights: Vec<f64>,
    /// The last complete iterate.
    now: Option<Iterate>,
    trace: Vec<f64>,
    course: Course,
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
        // Another method has no Z to start from, and weights of another kind.
        let earlier = earlier.filter(|earlier| earlier.method == Method::Scmk);
        let mut state = State {
            mixed: Mixed::new(self.mixture.samples())?,
            weights: self.first_weights(earlier)?,
            now: None,
            trace: Vec::new(),
            course: earlier.map(|earlier| earlier.course).unwrap_or_default(),
        };
        let outcome = match self.alternate(earlier, &mut state) {
            Err(Error::Stopped { by }) => by,
            outcome => outcome?,
        };
        self.finish(state, outcome)
    }

    fn first_weights(&self, earlier: Option<&Fit>) -> Result<Vec<f64>> {
        match earlier {
            Some(earlier) if self.learns_weights() => memory::copied(&earlier.weights, "weights"),
            _ => weights::equal(self.mixture.kernels(), HALF),
        }
    }

    /// Algorithm 2: Z, w and P in turn until nothing moves. What is complete when it stops is in
    /// `state`.
    fn alternate(&mut self, earlier: Option<&Fit>, state: &mut State) -> Result<Outcome> {
        timed!(self.seconds.weights, self.mix(&state.weights, &mut state.mixed))?;
        // Pure self-expression (β = 0) with equal weights is the start: the same input gives
        // the same answer, which a random Z would not.
        let start = match earlier {
            Some(earlier) if earlier.similarity.is_some() => self.resume(earlier, state)?,
            _ => self.iterate(None, &mut state.weights, &mut state.mixed)?.0,
        };
        let mut now = &mut *state.now.insert(start);
        // With neither a pull nor weights to learn, the start is the minimiser already.
        if earlier.is_none() && !self.alternates() {
            self.complete_iteration(now, &mut state.trace)?;
            return Ok(self.problem.monitor.stop().unwrap_or(Outcome::Converged));
        }
        let mut factor = (OTHER_OPTIONS * state.course.factor).clamp(LEAST_FACTOR, 1.0);
        let mut last_change = f64::INFINITY;
        let Options { tolerance, max_iterations, .. } = *self.problem.options;
        // Ends: each pass adds to the trace, or is the last.
        while state.trace.len() < max_iterations {
            self.problem.monitor.go_on()?;
            let (next, change) = self.iterate(Some(now), &mut state.weights, &mut state.mixed)?;
            if next.objective > now.objective && !state.trace.is_empty() {
                // All that is left to gain is below rounding: the iterate before is as good.
                return Ok(Outcome::Converged);
            }
            if last_change.is_finite() {
                factor = change / last_change;
                state.course.factor = factor;
            }
            let fall = (now.objective - next.objective).abs();
            let settled = fall <= tolerance * next.objective.abs()
                && still_to_come(change, factor) <= tolerance;
            last_change = change;
            let before = state.now.replace(next).map(|before| before.embedding.vectors);
            now = state.now.as_mut().expect("it has just been put there");
            now.pulled = before.filter(|_| self.problem.options.beta > 0.0);
            self.complete_iteration(now, &mut state.trace)?;
            if settled {
                return Ok(Outcome::Converged);
            }
        }
        Ok(Outcome::IterationLimit)
    }

    /// Whether a step depends on the outcome of another one.
    fn alternates(&self) -> bool {
        self.problem.options.beta > 0.0 || self.learns_weights()
    }

    fn learns_weights(&self) -> bool {
        self.problem.options.learn_weights && self.mixture.kernels() > 1
    }

    fn complete_iteration(&self, now: &Iterate, trace: &mut Vec<f64>) -> Result<()> {
        memory::push(trace, now.objective, "trace")?;
        let progress = self.problem.monitor.complete_iteration(trace.len(), now.objective);
        (self.problem.report)(progress);
        Ok(())
    }

    /// The iterate an earlier fit ended with.
    fn resume(&mut self, earlier: &Fit, state: &State) -> Result<Iterate> {
        let similarity = match &earlier.similarity {
            Some(similarity) => similarity.try_clone()?,
            None => return Err(Error::State("the earlier fit has no similarity to start from")),
        };
        let warm = earlier.embedding.as_ref().map(Block::from_columns).transpose()?;
        let embedding = timed!(
            self.seconds.embedding,
            self.embedding_step(&similarity, WHILE_MOVING, warm.as_ref(), &state.mixed)
        )?;
        let norm2: f64 =
            similarity.columns().iter().flat_map(|c| c.iter()).map(|(_, v)| v * v).sum();
        // What it cost holds for the weights and scales it had.
        let same = earlier.course.normalize == self.problem.options.normalize
            && earlier.weights == state.weights;
        let fidelity = match same {
            true => earlier.course.fidelity,
            false => {
                let monitor = self.problem.monitor;
                let costs = timed!(self.seconds.weights, self.mixture.costs(&similarity, monitor))?;
                state.weights.iter().zip(&costs).map(|(w, h)| w * h).sum()
            }
        };
        let objective = self.objective(fidelity, norm2, &embedding);
        let weights = memory::copied(&state.weights, "weights")?;
        let (gap, alpha) = (f64::INFINITY, self.problem.options.alpha);
        let (seen, pulled) = (Vec::new(), None);
        Ok(Iterate {
            similarity,
            weights,
            embedding,
            fidelity,
            objective,
            gap,
            alpha,
            seen,
            pulled,
        })
    }

    fn objective(&self, fidelity: f64, norm2: f64, embedding: &Embedding) -> f64 {
        let Options { alpha, beta, .. } = self.problem.options;
        fidelity + alpha * norm2 + beta * embedding.value
    }

    /// One outer iteration from `before`, or the start: Z, then w and K_w, then P. Also returns
    /// the relative change of Z.
    fn iterate(
        &mut self,
        before: Option<&Iterate>,
        weights: &mut Vec<f64>,
        mixed: &mut Mixed,
    ) -> Result<(Iterate, f64)> {
        let Options { alpha, beta, kkt_tolerance, .. } = *self.problem.options;
        let pull = before.map(|before| &before.embedding.vectors).filter(|_| beta > 0.0);
        // Below, α is lost in the rounding of the kernel.
        let alpha = alpha.max(LEAST_ALPHA * mixed.unit);
        let problem = Quadratic::new(
            &mixed.kernel,
            alpha / mixed.unit,
            pull.map(|embedding| (beta / mixed.unit, embedding)),
            kkt_tolerance * (mixed.size / mixed.unit),
        )?;
        // The weights that follow the start move Z further than its last digits.
        let problem =
            if before.is_none() && self.learns_weights() { problem.loosely() } else { problem };
        let earlier = before.map(|before| &before.similarity);
        let update = timed!(
            self.seconds.similarity,
            similarity::solve(&problem, earlier, self.problem.monitor)
        )?;
        let gap = (update.gap + problem.rounding()) * (mixed.unit / mixed.size);
        let seen = memory::copied(weights, "weights")?;
        let Update { similarity, norm2, off_diagonal2, change2, .. } = update;

        let fidelity = timed!(self.seconds.weights, self.weight_step(&similarity, weights, mixed))?;

        let warm = before.and_then(|before| before.embedding.basis.as_ref());
        let embedding = timed!(
            self.seconds.embedding,
            self.embedding_step(&similarity, WHILE_MOVING, warm, mixed)
        )?;

        let objective = self.objective(fidelity, norm2, &embedding);
        // Relative to the off-diagonal part, the only one that reaches L: at small α the
        // diagonal is nearly all of Z and would hide any change.
        let change = (change2 / off_diagonal2.max(1e-24 * norm2)).sqrt();
        let weights = memory::copied(weights, "weights")?;
        Ok((
            Iterate {
                similarity,
                weights,
                embedding,
                fidelity,
                objective,
                gap,
                alpha,
                seen,
                pulled: None,
            },
            change,
        ))
    }

    fn mix(&self, weights: &[f64], mixed: &mut Mixed) -> Result<()> {
        self.problem.monitor.begin(Step::Weights, 1);
        self.mixture.mix(weights, self.problem.options.alpha, mixed, self.problem.monitor)
    }

    /// Updates w and K_w for Z; returns Tr(K_w − 2K_wZ + ZᵀK_wZ).
    fn weight_step(
        &self,
        similarity: &Similarity,
        weights: &mut Vec<f64>,
        mixed: &mut Mixed,
    ) -> Result<f64> {
        self.problem.monitor.begin(Step::Weights, 1);
        let costs = self.mixture.costs(similarity, self.problem.monitor)?;
        if self.learns_weights() {
            *weights = weights::optimal(&costs, HALF)?;
            self.mix(weights, mixed)?;
        }
        Ok(weights.iter().zip(&costs).map(|(w, h)| w * h).sum())
    }

    /// P for the Laplacian of the model.
    fn embedding_step(
        &self,
        similarity: &Similarity,
        tolerance: f64,
        warm: Option<&Block>,
        mixed: &Mixed,
    ) -> Result<Embedding> {
        self.embed(similarity, (Kind::Model, tolerance), warm, mixed)
    }

    fn embed(
        &self,
        similarity: &Similarity,
        (kind, tolerance): (Kind, f64),
        warm: Option<&Block>,
        mixed: &Mixed,
    ) -> Result<Embedding> {
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
        let alpha = self.problem.options.alpha;
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
            fidelity: 0.0,
            objective: alpha * n as f64,
            gap: f64::INFINITY,
            alpha,
            seen: Vec::new(),
            pulled: None,
        })
    }

    /// Reads the labels and hands over the result.
    fn finish(mut self, state: State, outcome: Outcome) -> Result<Fit> {
        let State { mixed, weights, now, trace, mut course } = state;
        let last = match now {
            Some(last) => last,
            None => self.nothing(weights)?,
        };
        course.fidelity = last.fidelity;
        course.normalize = self.problem.options.normalize;
        let Iterate { similarity, weights, mut embedding, objective, gap, alpha, .. } = last;
        let certified = Certified { weights: last.seen, embedding: last.pulled };
        let kind = match self.problem.options.embedding {
            options::Embedding::Model => Kind::Model,
            options::Embedding::Normalized => Kind::Normalized,
        };
        // Settles the last digits of P, or embeds anew. A fit that was stopped keeps what it has.
        if embedding.residual > AT_THE_END || kind != Kind::Model {
            let warm = embedding.basis.as_ref().filter(|_| kind == Kind::Model);
            let again = || self.embed(&similarity, (kind, AT_THE_END), warm, &mixed);
            match timed!(self.seconds.embedding, again()) {
                Err(Error::Stopped { .. }) => {}
                better => embedding = better?,
            }
        }
        if kind == Kind::Normalized {
            embedding::unit_rows(&mut embedding.vectors);
        }
        self.problem.monitor.begin(Step::Labels, 1);
        let labels = timed!(self.seconds.labels, self.labels(&embedding))?;
        // A stop that came while the labels were read counts too.
        let outcome = self.problem.monitor.stop().unwrap_or(outcome);
        Ok(Fit {
            weights,
            similarity: Some(similarity),
            kkt_residual: Some(gap),
            alpha_used: Some(alpha),
            certified: Some(certified).filter(|certified| !certified.weights.is_empty()),
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
