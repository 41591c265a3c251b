//! SCMK: Algorithm 2 of the paper, of which SCSK, Algorithm 1, is the case of one kernel.
//!
//! ```text
//! min  Tr(K_w − 2K_wZ + ZᵀK_wZ) + α|Z|² + β Tr(PᵀLP)
//! s.t. Zᵀ1 = 1, Z ≥ 0, PᵀP = I, K_w = Σ w_i K^i, Σ √w_i = 1, w ≥ 0,  L = D − (Z+Zᵀ)/2
//! ```
//!
//! Each of the three steps is an exact minimisation, so the objective never rises. Weights by agreement
//! come first and stay, with Σ w_i = 1; there are two steps then, and without β one.

use super::Spec;
use super::problem::{Problem, timed};
use super::reading::{self, Reading};
use super::solution::{Certified, Remark, Seconds, Solution, WarmStart};
use crate::blend::{MixedKernel, WeightedKernels};
use crate::error::{Error, Result};
use crate::matrix::{Column, Similarity};
use crate::memory;
use crate::monitor::Step;
use crate::outcome::Outcome;
use crate::settings::{Laplacian, Settings, Weighting};
use crate::spectral::eigen::Vectors;
use crate::spectral::graph::Graph;
use crate::steps::agreement;
use crate::steps::embedding::{self, Embedding, WHILE_MOVING};
use crate::steps::similarity::{self, Blocks, Quadratic, Update};
use crate::steps::weights::{self, HALF};
use crate::threads;

pub(super) const METHOD: Spec = Spec {
    name: "scmk",
    doc: "similarity, clusters and weights of the kernels together, sum(w) = 1, or by option weighting sum(sqrt(w)) = 1; with one kernel it is SCSK (Kang et al. 2017)",
    iteration: "similarity, weights and embedding once each",
    learns_weights: true,
    has_similarity: true,
    has_embedding: true,
    memory: memory_required,
    fit,
};

/// α relative to max|K_w| + α below which it is lost in the rounding of the kernel.
const LEAST_ALPHA: f64 = 1e-13;

/// K_w, two generations of Z and the graph, each at worst n×n, and the earlier Z of a warm start; a
/// dense eigendecomposition where that is the way; the panels of the worker threads and the
/// eigenvectors. A sparse Z needs less.
fn memory_required(samples: usize, clusters: usize, settings: &Settings) -> usize {
    let squares = if embedding::dense_is_faster(samples, clusters) { 7 } else { 4 }
        + usize::from(settings.warm_start);
    let panels = 8 * similarity::group::size(samples) * threads::count(settings.threads);
    let vectors = 12 * (clusters + clusters / 8 + 4);
    samples.saturating_mul(squares * samples + panels + vectors).saturating_mul(size_of::<f64>())
}

/// Fits the model. It starts from scratch, or from an earlier solution.
fn fit(problem: Problem<'_, '_>, earlier: Option<&Solution>) -> Result<Solution> {
    let mut solver = Solver::new(problem)?;
    let mut state = State {
        mixed: MixedKernel::new(problem.samples())?,
        weights: solver.equal_weights()?,
        last: None,
        trace: Vec::new(),
        stopping: StoppingRule::new(problem.settings.tolerance, earlier),
    };
    let outcome = match solver.run(earlier, &mut state) {
        Err(Error::Stopped { by }) => by,
        outcome => outcome?,
    };
    solver.finish(state, outcome)
}

/// The graph that labels would be read from, which at the start does not depend on the number of clusters,
/// for weights that are given or else found, and these weights.
pub(crate) fn graph(
    problem: Problem<'_, '_>,
    weights: Option<Vec<f64>>,
) -> Result<(Graph, Vec<f64>)> {
    let mut solver = Solver::new(problem)?;
    let weights = weights.map_or_else(|| solver.first_weights(None), Ok)?;
    let mut mixed = MixedKernel::new(problem.samples())?;
    solver.mix(&weights, &mut mixed)?;
    let (update, ..) = solver.similarity_step(None, &mixed)?;
    Ok((reading::graph(&update.similarity, problem.clusters, problem.settings)?, weights))
}

/// A complete iterate: what is left when the fit stops.
struct Iterate {
    similarity: Similarity,
    weights: Vec<f64>,
    /// P, unless nothing asks for it: β is 0, and labels are read from another graph.
    embedding: Option<Embedding>,
    /// Tr(K_w − 2K_wZ + ZᵀK_wZ).
    fidelity: f64,
    objective: f64,
    /// How much Z has changed, relative to it.
    change: f64,
    /// Relative to max|K_w| + α.
    gap: f64,
    /// The α and the β that Z was found with, and the weights and the P.
    alpha: f64,
    beta: f64,
    certified: Certified,
}

/// Where a fit stands.
struct State {
    mixed: MixedKernel,
    weights: Vec<f64>,
    /// The last complete iterate.
    last: Option<Iterate>,
    trace: Vec<f64>,
    stopping: StoppingRule,
}

/// When to stop: the objective has settled, and so has Z, of which the changes still to come are
/// estimated. They fall by about the same factor in every iteration.
struct StoppingRule {
    tolerance: f64,
    /// The factor, as far as it is known.
    factor: f64,
    /// The factor of the last two changes, of this fit or of the one it started from.
    seen: f64,
    last_change: f64,
}

impl StoppingRule {
    /// How much larger the factor of an earlier fit may have become with other options, and how
    /// small it is taken to be at least.
    const OTHER_OPTIONS: f64 = 3.0;
    const LEAST_FACTOR: f64 = 0.03;

    fn new(tolerance: f64, earlier: Option<&Solution>) -> Self {
        let seen = earlier.map(|earlier| earlier.warm_start).unwrap_or_default().factor;
        let factor = (Self::OTHER_OPTIONS * seen).clamp(Self::LEAST_FACTOR, 1.0);
        Self { tolerance, factor, seen, last_change: f64::INFINITY }
    }

    /// Whether to stop after the step from one iterate to the next.
    fn is_met(&mut self, before: f64, next: &Iterate) -> bool {
        if self.last_change.is_finite() {
            self.factor = next.change / self.last_change;
            self.seen = self.factor;
        }
        self.last_change = next.change;
        let fall = (before - next.objective).abs();
        fall <= self.tolerance * next.objective.abs() && self.still_to_come() <= self.tolerance
    }

    fn still_to_come(&self) -> f64 {
        // A slow fall cannot be relied on.
        let reliable = self.factor < 0.3;
        self.last_change * if reliable { self.factor / (1.0 - self.factor) } else { 1.0 }
    }
}

struct Solver<'s, 'a> {
    problem: Problem<'s, 'a>,
    weighted: WeightedKernels<'s, 'a>,
    seconds: Seconds,
    /// The option, unless it adapts.
    beta: f64,
    remarks: Vec<Remark>,
}

impl<'s, 'a> Solver<'s, 'a> {
    fn new(problem: Problem<'s, 'a>) -> Result<Self> {
        Ok(Self {
            problem,
            weighted: problem.weighted()?,
            seconds: Seconds::default(),
            beta: problem.settings.beta,
            remarks: Vec::new(),
        })
    }

    /// Weights, then Algorithm 2 for one β or, if that adapts, for several.
    fn run(&mut self, earlier: Option<&Solution>, state: &mut State) -> Result<Outcome> {
        state.weights = timed!(self.seconds.weights, self.first_weights(earlier))?;
        if self.problem.settings.adapt_beta {
            return self.adapt(earlier, state);
        }
        self.alternate(earlier, state)
    }

    fn equal_weights(&self) -> Result<Vec<f64>> {
        let power = match self.problem.settings.weighting {
            Weighting::Agreement => 1.0,
            Weighting::Model => HALF,
        };
        weights::equal(self.weighted.kernels(), power)
    }

    fn first_weights(&mut self, earlier: Option<&Solution>) -> Result<Vec<f64>> {
        let Problem { settings, clusters, views, monitor, .. } = self.problem;
        let earlier = earlier.filter(|earlier| {
            let WarmStart { weighting, normalize, .. } = earlier.warm_start;
            weighting == settings.weighting
                && (weighting == Weighting::Model || normalize == settings.normalize)
        });
        match earlier {
            Some(earlier) if settings.learn_weights && self.weighted.kernels() > 1 => {
                memory::copied(&earlier.weights, "weights")
            }
            None if self.learns_by_agreement() => {
                let found = agreement::weights(&self.weighted, views, clusters, monitor)?;
                if found.is_none() {
                    memory::push(&mut self.remarks, Remark::NoAgreement, "remarks")?;
                }
                found.map_or_else(|| self.equal_weights(), Ok)
            }
            _ => self.equal_weights(),
        }
    }

    /// Fits for one β after the other until the graph falls into exactly c parts of more than one
    /// sample: a larger β pulls it further apart.
    fn adapt(&mut self, earlier: Option<&Solution>, state: &mut State) -> Result<Outcome> {
        /// Factor between two β until there are too few parts for one and too many for another.
        const FACTOR: f64 = 4.0;
        const MOST: usize = 40;
        let (n, clusters) = (self.problem.samples(), self.problem.clusters);
        // Entries of P are about √(c/n), so that β counts by c/n.
        let first = self.problem.settings.alpha * n as f64 / (100 * clusters) as f64;
        self.beta = if self.beta > 0.0 { self.beta } else { first };
        let (mut below, mut above) = (None, None);
        let mut best: Option<(usize, f64)> = None;
        for round in 0..MOST {
            let outcome = match round {
                0 => self.alternate(earlier, state)?,
                _ => self.alternate_again(state)?,
            };
            let Some(last) = &state.last else { return Ok(outcome) };
            let parts = Graph::new(&last.similarity)?.parts()?;
            let whole = parts.smallest()? > 1;
            if parts.count == clusters && whole {
                return Ok(outcome);
            }
            // A sample on its own is no cluster: the pull was too strong.
            if parts.count < clusters {
                below = Some(self.beta);
                if best.is_none_or(|(count, _)| parts.count >= count) {
                    best = Some((parts.count, self.beta));
                }
            } else {
                above = Some(self.beta);
            }
            self.beta = match (below, above) {
                (Some(below), Some(above)) if above / below < 1.0 + 1e-3 => break,
                (Some(below), Some(above)) => f64::sqrt(below * above),
                (Some(below), None) => below * FACTOR,
                (None, Some(above)) => above / FACTOR,
                (None, None) => break,
            };
            if !(1e-9 * first..=1e9 * first).contains(&self.beta) {
                break;
            }
        }
        // What comes nearest without falling into too many.
        if let Some((_, beta)) = best {
            self.beta = beta;
        }
        let outcome = self.alternate_again(state)?;
        let parts = match &state.last {
            Some(last) => Graph::new(&last.similarity)?.parts()?.count,
            None => 0,
        };
        memory::push(&mut self.remarks, Remark::NotDivided { parts, clusters }, "remarks")?;
        Ok(outcome)
    }

    /// Algorithm 2: Z, w and P in turn until nothing moves. What is complete when it stops is in
    /// `state`.
    fn alternate(&mut self, earlier: Option<&Solution>, state: &mut State) -> Result<Outcome> {
        timed!(self.seconds.weights, self.mix(&state.weights, &mut state.mixed))?;
        // Pure self-expression (β = 0) with equal weights is the start: the same input gives
        // the same answer, which a random Z would not.
        let start = match earlier {
            Some(earlier) => self.resume(earlier, state)?,
            None => self.iterate(None, &mut state.weights, &mut state.mixed)?,
        };
        let start = &*state.last.insert(start);
        // With neither a pull nor weights to learn, the start is the minimiser already.
        if earlier.is_none() && !self.alternates() {
            self.complete_iteration(start.objective, &mut state.trace)?;
            return Ok(self.problem.monitor.stop().unwrap_or(Outcome::Converged));
        }
        self.alternate_on(state)
    }

    /// Goes on for another β, of which the objective is another one.
    fn alternate_again(&mut self, state: &mut State) -> Result<Outcome> {
        if let Some(mut last) = state.last.take() {
            let norm2 = last.similarity.norm2();
            last.objective = self.objective(last.fidelity, norm2, last.embedding.as_ref());
            state.last = Some(last);
        }
        state.trace.clear();
        self.alternate_on(state)
    }

    /// Z, w and P in turn from the last iterate, for as many iterations as the options allow.
    fn alternate_on(&mut self, state: &mut State) -> Result<Outcome> {
        let Some(mut last) = state.last.as_ref() else { return Ok(Outcome::Converged) };
        // Ends: each pass adds to the trace, or is the last.
        while state.trace.len() < self.problem.settings.max_iterations {
            self.problem.monitor.go_on()?;
            let next = self.iterate(Some(last), &mut state.weights, &mut state.mixed)?;
            if next.objective > last.objective && !state.trace.is_empty() {
                // All that is left to gain is below rounding: the iterate before is as good.
                return Ok(Outcome::Converged);
            }
            let converged = state.stopping.is_met(last.objective, &next);
            let before = state.last.replace(next);
            let next = state.last.as_mut().expect("it has just been put there");
            let pull = before.and_then(|before| before.embedding).map(|before| before.vectors);
            next.certified.embedding = pull.filter(|_| self.beta > 0.0);
            last = next;
            self.complete_iteration(last.objective, &mut state.trace)?;
            if converged {
                return Ok(Outcome::Converged);
            }
        }
        Ok(Outcome::IterationLimit)
    }

    /// Whether a step depends on the outcome of another one.
    fn alternates(&self) -> bool {
        self.beta > 0.0 || self.learns_weights()
    }

    /// Whether weights are a step of the iteration.
    fn learns_weights(&self) -> bool {
        let Settings { learn_weights, weighting, .. } = *self.problem.settings;
        learn_weights && weighting == Weighting::Model && self.weighted.kernels() > 1
    }

    /// Whether they come before it.
    fn learns_by_agreement(&self) -> bool {
        let Settings { learn_weights, weighting, .. } = *self.problem.settings;
        learn_weights && weighting == Weighting::Agreement && self.weighted.kernels() > 1
    }

    /// Whether something asks for P: the pull of β, or the labels.
    fn needs_embedding(&self) -> bool {
        self.beta > 0.0 || reading::is_of_the_model(self.problem.settings)
    }

    fn complete_iteration(&self, objective: f64, trace: &mut Vec<f64>) -> Result<()> {
        memory::push(trace, objective, "trace")?;
        (self.problem.report)(self.problem.monitor.complete_iteration(trace.len(), objective));
        Ok(())
    }

    /// One outer iteration from `before`, or the start: Z, then w and K_w, then P.
    fn iterate(
        &mut self,
        before: Option<&Iterate>,
        weights: &mut Vec<f64>,
        mixed: &mut MixedKernel,
    ) -> Result<Iterate> {
        let seen = memory::copied(weights, "weights")?;
        let (update, alpha, gap) =
            timed!(self.seconds.similarity, self.similarity_step(before, mixed))?;
        let Update { similarity, norm2, off_diagonal2, change2, .. } = update;
        let fidelity =
            timed!(self.seconds.weights, self.weights_step(&similarity, weights, mixed))?;
        let warm = before.and_then(|before| before.embedding.as_ref()?.basis.as_ref());
        let embedding = match self.needs_embedding() {
            true => {
                Some(timed!(self.seconds.embedding, self.embedding_step(&similarity, warm, mixed))?)
            }
            false => None,
        };
        Ok(Iterate {
            weights: memory::copied(weights, "weights")?,
            fidelity,
            objective: self.objective(fidelity, norm2, embedding.as_ref()),
            // Relative to the off-diagonal part, the only one that reaches L: at small α the
            // diagonal is nearly all of Z and would hide any change.
            change: (change2 / off_diagonal2.max(1e-24 * norm2)).sqrt(),
            gap,
            alpha,
            beta: self.beta,
            certified: Certified { weights: seen, embedding: None },
            similarity,
            embedding,
        })
    }

    /// Z for K_w and the P of `before`. Also returns the α that it was found with, and the worst
    /// duality gap relative to max|K_w| + α.
    fn similarity_step(
        &self,
        before: Option<&Iterate>,
        mixed: &MixedKernel,
    ) -> Result<(Update, f64, f64)> {
        let Settings { alpha, kkt_tolerance, .. } = *self.problem.settings;
        let beta = self.beta;
        let pull = before.and_then(|before| Some(&before.embedding.as_ref()?.vectors));
        let pull = pull.filter(|_| beta > 0.0);
        // Below, α is lost in the rounding of the kernel.
        let alpha = alpha.max(LEAST_ALPHA * mixed.unit);
        let problem = Quadratic::new(
            Blocks { anchors: &mixed.kernel, targets: &mixed.kernel },
            alpha / mixed.unit,
            pull.map(|embedding| (beta / mixed.unit, embedding)),
            kkt_tolerance * (mixed.size / mixed.unit),
        )?;
        // The weights that follow the start move Z further than its last digits.
        let problem =
            if before.is_none() && self.learns_weights() { problem.loosely() } else { problem };
        let earlier = before.map(|before| &before.similarity);
        let update = similarity::solve(&problem, earlier, self.problem.monitor)?;
        let gap = (update.gap + problem.rounding()) * (mixed.unit / mixed.size);
        Ok((update, alpha, gap))
    }

    /// Updates w and K_w for Z; returns Tr(K_w − 2K_wZ + ZᵀK_wZ).
    fn weights_step(
        &self,
        similarity: &Similarity,
        weights: &mut Vec<f64>,
        mixed: &mut MixedKernel,
    ) -> Result<f64> {
        self.problem.monitor.begin(Step::Weights, 1);
        let costs = self.weighted.costs(similarity, self.problem.monitor)?;
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
        warm: Option<&Vectors>,
        mixed: &MixedKernel,
    ) -> Result<Embedding> {
        let graph = Graph::new(similarity)?;
        let how = (Laplacian::Unnormalized, WHILE_MOVING);
        reading::embed(self.problem, &graph, how, warm, &mixed.kernel)
    }

    fn mix(&self, weights: &[f64], mixed: &mut MixedKernel) -> Result<()> {
        self.problem.monitor.begin(Step::Weights, 1);
        self.weighted.mix(weights, self.problem.settings.alpha, mixed, self.problem.monitor)
    }

    fn objective(&self, fidelity: f64, norm2: f64, embedding: Option<&Embedding>) -> f64 {
        let pull = embedding.map_or(0.0, |embedding| self.beta * embedding.value());
        fidelity + self.problem.settings.alpha * norm2 + pull
    }

    /// The iterate an earlier fit ended with.
    fn resume(&mut self, earlier: &Solution, state: &State) -> Result<Iterate> {
        let Some(similarity) = &earlier.similarity else {
            return Err(Error::State("the earlier fit has no similarity to start from"));
        };
        let similarity = similarity.try_clone()?;
        let warm = earlier.embedding.as_ref().map(Vectors::from_columns).transpose()?;
        let embedding = match self.needs_embedding() {
            true => Some(timed!(
                self.seconds.embedding,
                self.embedding_step(&similarity, warm.as_ref(), &state.mixed)
            )?),
            false => None,
        };
        // What it cost holds for the weights and scales it had.
        let same = earlier.warm_start.normalize == self.problem.settings.normalize
            && earlier.weights == state.weights;
        let fidelity = match same {
            true => earlier.warm_start.fidelity,
            false => {
                let monitor = self.problem.monitor;
                let costs =
                    timed!(self.seconds.weights, self.weighted.costs(&similarity, monitor))?;
                state.weights.iter().zip(&costs).map(|(w, h)| w * h).sum()
            }
        };
        Ok(Iterate {
            weights: memory::copied(&state.weights, "weights")?,
            fidelity,
            objective: self.objective(fidelity, similarity.norm2(), embedding.as_ref()),
            change: f64::INFINITY,
            gap: f64::INFINITY,
            alpha: self.problem.settings.alpha,
            beta: self.beta,
            certified: Certified { weights: Vec::new(), embedding: None },
            similarity,
            embedding,
        })
    }

    /// What a fit leaves that was stopped before its first iterate was complete: Z = I and the
    /// first c unit vectors, feasible but empty of meaning.
    fn nothing(&self, weights: Vec<f64>) -> Result<Iterate> {
        let n = self.problem.samples();
        let mut columns = memory::with_capacity(n, "similarity")?;
        for i in 0..n {
            columns.push(Column::unit(i)?);
        }
        let alpha = self.problem.settings.alpha;
        Ok(Iterate {
            similarity: Similarity::from_columns(n, columns),
            weights,
            embedding: Some(reading::nothing(self.problem)?),
            fidelity: 0.0,
            objective: alpha * n as f64,
            change: f64::INFINITY,
            gap: f64::INFINITY,
            alpha,
            beta: self.beta,
            certified: Certified { weights: Vec::new(), embedding: None },
        })
    }

    /// Reads the labels and hands over the result.
    fn finish(mut self, state: State, outcome: Outcome) -> Result<Solution> {
        let State { mixed, weights, last, mut trace, stopping } = state;
        let mut last = match last {
            Some(last) => last,
            None => self.nothing(weights)?,
        };
        let warm_start = WarmStart {
            fidelity: last.fidelity,
            normalize: self.problem.settings.normalize,
            weighting: self.problem.settings.weighting,
            factor: stopping.seen,
        };
        let (problem, seconds) = (self.problem, &mut self.seconds);
        let (z, p) = (&last.similarity, last.embedding.take());
        let reading = match reading::read(problem, z, p, &mixed.kernel, seconds)? {
            Some(reading) => reading,
            // Z alone is no complete iterate.
            None => {
                trace.clear();
                last = self.nothing(last.weights)?;
                let (z, p) = (&last.similarity, last.embedding.take());
                let nothing = reading::read(problem, z, p, &mixed.kernel, &mut self.seconds)?;
                nothing.ok_or(Error::State("a fit that was stopped has something to show"))?
            }
        };
        let Reading { labels, embedding, eigengap, stability } = reading;
        let Iterate { similarity, weights, objective, certified, .. } = last;
        // A stop that came while the labels were read counts too.
        let outcome = self.problem.monitor.stop().unwrap_or(outcome);
        Ok(Solution {
            weights,
            similarity: Some(similarity),
            kkt_residual: Some(last.gap),
            alpha_used: Some(last.alpha),
            beta_used: Some(last.beta),
            certified: Some(certified).filter(|certified| !certified.weights.is_empty()),
            embedding_residual: Some(embedding.residual),
            components: Some(embedding.components),
            embedding: Some(embedding.vectors),
            eigengap,
            stability,
            remarks: self.remarks,
            trace,
            warm_start,
            ..Solution::new(labels, objective, outcome, self.seconds)
        })
    }
}
