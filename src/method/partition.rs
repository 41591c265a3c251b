//! What the kernel k-means methods share: centres that are weighted means of samples in the space
//! of a kernel, the sweep that reassigns the samples, and the restarts.

use super::problem::Problem;
use super::{Seconds, Solution, Spec};
use crate::blend::MixedKernel;
use crate::error::{Error, Result};
use crate::kernel::Gram;
use crate::labels::assign::{best_columns, fill_empty};
use crate::labels::{self, spread};
use crate::matrix::Matrix;
use crate::memory;
use crate::monitor::{Monitor, Step};
use crate::outcome::Outcome;
use crate::vector;
use rayon::prelude::*;
use std::time::Instant;

/// Bytes a fit needs at most beyond the kernels: the mixed kernel, a product of it with the
/// indicators, a few vectors.
fn memory_required(samples: usize, clusters: usize) -> usize {
    samples.saturating_mul(samples + clusters + 16).saturating_mul(size_of::<f64>())
}

/// A division of the samples into clusters, none of which is empty, and the centre of each: the
/// mean of its samples, weighted by their shares.
#[derive(Debug)]
pub(super) struct Partition {
    pub(super) labels: Vec<usize>,
    /// The share of each sample in its centre; the shares of a cluster sum to 1.
    pub(super) shares: Vec<f64>,
    clusters: usize,
}

impl Partition {
    fn new(labels: Vec<usize>, clusters: usize) -> Result<Self> {
        let shares = memory::filled(labels.len(), 1.0, "shares")?;
        let mut partition = Self { labels, shares, clusters };
        partition.normalise()?;
        Ok(partition)
    }

    fn try_clone(&self) -> Result<Self> {
        let labels = memory::copied(&self.labels, "labels")?;
        Ok(Self { labels, shares: memory::copied(&self.shares, "shares")?, ..*self })
    }

    /// Scales the shares to sum to 1 in each cluster.
    fn normalise(&mut self) -> Result<()> {
        let mut sums = memory::filled(self.clusters, 0.0, "shares")?;
        for (&label, share) in self.labels.iter().zip(&self.shares) {
            sums[label] += share;
        }
        for (&label, share) in self.labels.iter().zip(&mut self.shares) {
            *share /= sums[label];
        }
        Ok(())
    }

    fn members(&self) -> Result<Members> {
        let mut ends = memory::filled(self.clusters, 0, "members")?;
        self.labels.iter().for_each(|&label| ends[label] += 1);
        let mut next = memory::with_capacity(self.clusters, "members")?;
        let mut total = 0;
        for end in &mut ends {
            next.push(total);
            total += *end;
            *end = total;
        }
        let mut all = memory::filled(self.labels.len(), (0.0, 0), "members")?;
        for (i, (&label, &share)) in self.labels.iter().zip(&self.shares).enumerate() {
            all[next[label]] = (share, i);
            next[label] += 1;
        }
        Ok(Members { all, ends })
    }

    /// The squared distance of each sample to its own centre in the space of `kernel` times
    /// `scale`.
    ///
    /// Sums of squared distances between samples: the kernel need not be centred, and nearly flat
    /// ones keep their digits.
    pub(super) fn own_distances(
        &self,
        (kernel, scale): (&Gram<'_>, f64),
        monitor: &Monitor<'_>,
    ) -> Result<Vec<f64>> {
        /// Samples handled by one task.
        const CHUNK: usize = 64;
        let n = self.labels.len();
        let members = self.members()?;
        let unit = kernel.reach();
        let mut diagonal = memory::with_capacity(n, "distances")?;
        diagonal.extend((0..n).map(|i| kernel.reduced_mean(i, i) / unit));
        let mut distances = memory::filled(n, 0.0, "distances")?;
        distances.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, distances)| {
            let mut scratch = Vec::new();
            monitor.go_on()?;
            for (i, distance) in (chunk * CHUNK..).zip(distances) {
                let column = kernel.reduced_col(i, &mut scratch)?;
                let pair =
                    |j: usize| (diagonal[i] - column[j] / unit) + (diagonal[j] - column[j] / unit);
                let own = members.of(self.labels[i]).iter();
                *distance = own.map(|&(share, j)| share * pair(j)).sum();
            }
            Ok(())
        })?;
        for k in 0..self.clusters {
            let spread: f64 = members.of(k).iter().map(|&(share, i)| share * distances[i]).sum();
            for &(_, i) in members.of(k) {
                distances[i] = (distances[i] - 0.5 * spread).max(0.0) * (unit * scale);
            }
        }
        Ok(distances)
    }
}

/// The samples of each cluster with their shares, one cluster after the other.
struct Members {
    all: Vec<(f64, usize)>,
    /// Where each cluster ends.
    ends: Vec<usize>,
}

impl Members {
    fn of(&self, cluster: usize) -> &[(f64, usize)] {
        let start = if cluster == 0 { 0 } else { self.ends[cluster - 1] };
        &self.all[start..self.ends[cluster]]
    }
}

/// What a sample's distance to its centre costs.
pub(super) trait Loss {
    /// The cost of a squared distance.
    fn cost(&self, distance2: f64) -> f64;

    /// How strongly the sample then pulls at its centre: the derivative of the cost.
    fn pull(&self, distance2: f64) -> f64;
}

/// k-means: the squared distance.
pub(super) struct Squared;

impl Loss for Squared {
    fn cost(&self, distance2: f64) -> f64 {
        distance2
    }

    fn pull(&self, _: f64) -> f64 {
        1.0
    }
}

/// Robust k-means: the distance itself. Below `guard` it goes over into a parabola, so that a
/// sample in a centre does not hold it there with infinite force; the sweeps then descend on this
/// cost, which differs from the distance by at most guard/2.
pub(super) struct Robust {
    guard: f64,
}

impl Robust {
    /// Relative to the spread of the samples.
    const GUARD: f64 = 1e-5;

    fn new(guard: f64) -> Self {
        // Samples that are all alike have no spread.
        Self { guard: guard.max(f64::MIN_POSITIVE) }
    }

    /// A guard for samples of this mean squared distance from their common centre.
    pub(super) fn for_spread(spread2: f64) -> Self {
        Self::new(Self::GUARD * spread2.sqrt())
    }

    /// The same cost for squared distances divided by `unit`, itself divided by its root.
    pub(super) fn in_units_of(&self, unit: f64) -> Self {
        Self::new(self.guard / unit.sqrt())
    }
}

impl Loss for Robust {
    fn cost(&self, distance2: f64) -> f64 {
        let distance = distance2.sqrt();
        if distance >= self.guard { distance } else { 0.5 * (distance2 / self.guard + self.guard) }
    }

    fn pull(&self, distance2: f64) -> f64 {
        0.5 / distance2.sqrt().max(self.guard)
    }
}

/// Where a descent ended.
pub(super) struct Descent {
    pub(super) partition: Partition,
    /// The cost after each sweep.
    pub(super) trace: Vec<f64>,
    pub(super) converged: bool,
}

/// The space of a centred kernel.
pub(super) struct Space<'k> {
    kernel: &'k Matrix,
    diagonal: Vec<f64>,
}

impl<'k> Space<'k> {
    pub(super) fn new(kernel: &'k Matrix) -> Result<Self> {
        let n = kernel.rows();
        let mut diagonal = memory::with_capacity(n, "distances")?;
        diagonal.extend((0..n).map(|i| kernel.get(i, i)));
        Ok(Self { kernel, diagonal })
    }

    /// The mean squared distance of the samples from their common centre.
    pub(super) fn spread2(&self) -> f64 {
        vector::sum(&self.diagonal) / self.diagonal.len() as f64
    }

    /// The start of a restart: greedy k-means++, each sample with its nearest centre.
    pub(super) fn start(&self, problem: Problem<'_, '_>, restart: u64) -> Result<Partition> {
        let (n, clusters) = (self.diagonal.len(), problem.clusters);
        let stop = || problem.monitor.stop().is_some();
        let rng = &mut spread::stream(problem.settings.seed, restart);
        let chosen = spread::centres(n, clusters, rng, &stop, |centre, nearest, distances| {
            for (i, distance) in distances.iter_mut().enumerate() {
                *distance = self.distance2(i, centre).min(nearest[i]);
            }
            vector::sum(distances)
        })?;
        let mut scores = Matrix::zeros(n, clusters, "distances")?;
        for (k, &centre) in chosen.iter().enumerate() {
            let column = scores.col_mut(k).iter_mut().enumerate();
            column.for_each(|(i, score)| *score = -self.distance2(i, centre));
        }
        let mut labels = memory::filled(n, 0, "labels")?;
        best_columns(&scores, &mut labels);
        fill_empty(&mut labels, clusters, |i, from, _| scores.get(i, from))?;
        Partition::new(labels, clusters)
    }

    /// The squared distance of two samples; identical ones have 0 exactly.
    fn distance2(&self, i: usize, j: usize) -> f64 {
        let lengths = self.diagonal[i] + self.diagonal[j];
        let distance2 = lengths - 2.0 * self.kernel.get(i, j);
        if distance2 > 1e-14 * lengths { distance2 } else { 0.0 }
    }

    /// Sweeps from `partition` until the labels repeat and the cost has settled: every sample
    /// goes to the nearest centre, then every centre to the best place for its samples.
    pub(super) fn descend(
        &self,
        mut partition: Partition,
        loss: &impl Loss,
        problem: Problem<'_, '_>,
    ) -> Result<Descent> {
        let (n, clusters) = (self.diagonal.len(), partition.clusters);
        let mut scores = Matrix::zeros(n, clusters, "distances")?;
        let mut labels = memory::filled(n, 0, "labels")?;
        let mut nearest = memory::filled(n, 0, "labels")?;
        let mut costs = memory::filled(n, 0.0, "distances")?;
        let mut trace = Vec::new();
        let mut converged = false;
        // Ends: each pass adds to the trace, or is the last.
        while trace.len() < problem.settings.max_iterations && !converged {
            if !trace.is_empty() && problem.monitor.stop().is_some() {
                break;
            }
            self.score(&partition, &mut scores)?;
            best_columns(&scores, &mut labels);
            nearest.copy_from_slice(&labels);
            // Of the samples that can be spared, the one farthest from its centre.
            fill_empty(&mut labels, clusters, |i, from, _| scores.get(i, from) - self.diagonal[i])?;
            for (i, &label) in labels.iter().enumerate() {
                // A sample that fills a cluster is its own centre.
                let own = label != nearest[i];
                costs[i] = if own { 0.0 } else { self.diagonal[i] - scores.get(i, label) }.max(0.0);
            }
            let cost: f64 = costs.iter().map(|&distance2| loss.cost(distance2)).sum();
            let last = trace.last().copied().unwrap_or(f64::INFINITY);
            if cost >= last {
                // What is left to gain is below rounding.
                converged = true;
                break;
            }
            memory::push(&mut trace, cost, "trace")?;
            converged =
                partition.labels == labels && last - cost <= problem.settings.tolerance * cost;
            partition.labels.copy_from_slice(&labels);
            let pulls = partition.shares.iter_mut().zip(&costs);
            pulls.for_each(|(share, &distance2)| *share = loss.pull(distance2));
            partition.normalise()?;
        }
        Ok(Descent { partition, trace, converged })
    }

    /// For every sample and centre 2⟨sample, centre⟩ − |centre|²: the largest belongs to the
    /// nearest centre. One product of the kernel with the shares, whose columns are sparse: every
    /// column of the kernel is read once.
    fn score(&self, partition: &Partition, scores: &mut Matrix) -> Result<()> {
        let n = self.diagonal.len();
        let members = partition.members()?;
        let columns = scores.values_mut().par_chunks_mut(n).enumerate();
        columns.for_each(|(k, column)| {
            let members = members.of(k);
            column.fill(0.0);
            vector::axpy_columns(members, self.kernel.values(), n, 0, column);
            let length2: f64 = members.iter().map(|&(share, i)| share * column[i]).sum();
            column.iter_mut().for_each(|score| *score = 2.0 * *score - length2);
        });
        Ok(())
    }
}

/// What one restart found.
pub(super) struct Run {
    pub(super) labels: Vec<usize>,
    pub(super) weights: Vec<f64>,
    /// The objective after each iteration, the last one included.
    pub(super) trace: Vec<f64>,
    pub(super) converged: bool,
}

impl Run {
    fn objective(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::INFINITY)
    }
}

/// A kernel k-means method on the mean of the kernels.
pub(super) const fn spec(
    name: &'static str,
    doc: &'static str,
    fit: fn(Problem<'_, '_>, Option<&Solution>) -> Result<Solution>,
) -> Spec {
    Spec {
        name,
        doc,
        iteration: "a sweep over all samples",
        learns_weights: false,
        has_similarity: false,
        has_embedding: false,
        memory: |samples, clusters, _| memory_required(samples, clusters),
        fit,
    }
}

/// The weights of a mean.
pub(super) fn equal(kernels: usize) -> Result<Vec<f64>> {
    memory::filled(kernels, 1.0 / kernels as f64, "weights")
}

/// A method on the mean of the kernels. `loss` is the cost in the space of the mixed kernel;
/// `cost_of_unit` what that cost is to be multiplied by when the kernel was divided by a unit.
pub(super) fn fit_mean<L: Loss>(
    problem: Problem<'_, '_>,
    loss: impl Fn(&Space<'_>) -> L,
    cost_of_unit: fn(f64) -> f64,
) -> Result<Solution> {
    let weights = equal(problem.kernels.len())?;
    let mut mixed = MixedKernel::new(problem.samples())?;
    match problem.weighted()?.mix(&weights, 0.0, &mut mixed, problem.monitor) {
        Err(Error::Stopped { by }) => return unassigned(problem, weights, by),
        mixed => mixed?,
    }
    let space = Space::new(&mixed.kernel)?;
    let (loss, factor) = (loss(&space), cost_of_unit(mixed.unit));
    let first = memory::copied(&weights, "weights")?;
    best_of_restarts(problem, first, |restart| {
        let mut descent = space.descend(space.start(problem, restart)?, &loss, problem)?;
        descent.trace.iter_mut().for_each(|cost| *cost *= factor);
        Ok(Run {
            labels: descent.partition.labels,
            weights: memory::copied(&weights, "weights")?,
            trace: descent.trace,
            converged: descent.converged,
        })
    })
}

/// One restart of a method that learns weights: clusters for fixed weights, then weights for fixed
/// clusters, in turn until the objective has settled.
///
/// `mix` mixes the kernels with some weights; `loss` is the cost in the unit of the mixed kernel;
/// `reweight` gives better weights for a partition, and the objective with them.
pub(super) fn alternate<L: Loss>(
    problem: Problem<'_, '_>,
    restart: u64,
    mut weights: Vec<f64>,
    mixed: &mut MixedKernel,
    mix: impl Fn(&[f64], &mut MixedKernel) -> Result<()>,
    loss: impl Fn(f64) -> L,
    reweight: impl Fn(&Partition, &[f64]) -> Result<(Vec<f64>, f64)>,
) -> Result<Run> {
    mix(&weights, mixed)?;
    let mut partition = Space::new(&mixed.kernel)?.start(problem, restart)?;
    let mut trace: Vec<f64> = Vec::new();
    let mut converged = false;
    // Ends: each pass adds to the trace, or is the last.
    while trace.len() < problem.settings.max_iterations && !converged {
        if !trace.is_empty() {
            if problem.monitor.stop().is_some() {
                break;
            }
            mix(&weights, mixed)?;
        }
        let space = Space::new(&mixed.kernel)?;
        let before = partition.try_clone()?;
        let descent = space.descend(partition, &loss(mixed.unit), problem)?;
        let found = descent.partition;
        let (better, objective) = reweight(&found, &weights)?;
        let last = trace.last().copied().unwrap_or(f64::INFINITY);
        if objective > last {
            // What is left to gain is below rounding, of which a distance has the root.
            partition = before;
            converged = true;
            break;
        }
        converged = found.labels == before.labels
            && last - objective <= problem.settings.tolerance * objective;
        memory::push(&mut trace, objective, "trace")?;
        (weights, partition) = (better, found);
    }
    Ok(Run { labels: partition.labels, weights, trace, converged })
}

/// Makes the restarts one after the other, each of them on all threads, and keeps the first of
/// the best. A fit that is stopped keeps what it has.
pub(super) fn best_of_restarts(
    problem: Problem<'_, '_>,
    weights: Vec<f64>,
    mut run: impl FnMut(u64) -> Result<Run>,
) -> Result<Solution> {
    let Problem { settings, monitor, report, .. } = problem;
    let started = Instant::now();
    monitor.begin(Step::Labels, settings.restarts);
    let mut best = match run(0) {
        Err(Error::Stopped { by }) => return unassigned(problem, weights, by),
        first => first?,
    };
    let mut made = 1;
    // Ends: one more restart is made each time, of as many as the option says.
    loop {
        monitor.advance(1);
        report(monitor.complete_iteration(made, best.objective()));
        if made == settings.restarts || monitor.stop().is_some() {
            break;
        }
        match run(made as u64) {
            Err(Error::Stopped { .. }) => break,
            found => {
                let found = found?;
                if found.objective() < best.objective() {
                    best = found;
                }
            }
        }
        made += 1;
    }
    let outcome = match monitor.stop() {
        Some(stopped) => stopped,
        None if best.converged => Outcome::Converged,
        None => Outcome::IterationLimit,
    };
    let mut found = memory::with_capacity(best.labels.len(), "labels")?;
    found.extend(best.labels.iter().map(|&label| label as i32));
    labels::canonical(&mut found)?;
    let seconds = Seconds { labels: started.elapsed().as_secs_f64(), ..Seconds::default() };
    let objective = best.objective();
    let (weights, trace) = (best.weights, best.trace);
    Ok(Solution { weights, trace, ..Solution::new(found, objective, outcome, seconds) })
}

/// What a fit leaves that was stopped before its first assignment: one cluster.
pub(super) fn unassigned(
    problem: Problem<'_, '_>,
    weights: Vec<f64>,
    outcome: Outcome,
) -> Result<Solution> {
    let labels = memory::filled(problem.samples(), 0, "labels")?;
    Ok(Solution { weights, ..Solution::new(labels, f64::NAN, outcome, Seconds::default()) })
}
