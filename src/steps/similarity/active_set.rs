//! Columns with a small support: an active-set method.
//!
//! With z = e_p + Σ u_j (e_j − e_p), p the pivot of the target, its column becomes min ½uᵀQu + gᵀu over u ≥ 0. The
//! u_j that are allowed to be positive are the candidates, and a factor of Q on them
//! ([`factor`](super::factor)) solves for all at once. Those that come out negative are barred:
//! held at zero by multipliers, which a small system of their own finds, so that the large factor
//! stays. Samples that violate optimality most become candidates several at a time. That takes
//! about four gradients a column from scratch and one from a good start. It may cycle: when the
//! objective fails to fall, the column goes on carefully from its best point, by the classical
//! rule that lets one candidate in at a time and bars only what a ratio test meets on the way.
//!
//! The columns of a group go through these rounds together: their supports overlap, and what one
//! of them reads of the kernel is still in the cache for the next.

use super::Quadratic;
use super::factor::{Factor, SIDES, Sides};
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::vector;

/// Rounds after which a column is handed to the other method.
const MOST_ROUNDS: usize = 500;

/// Rows of the kernel that are multiplied at a time: what a group's supports have of them fits
/// into the second-level cache.
const TILE: usize = 128;

/// Columns that go through the rounds together. Measured with 4000 samples, a kernel that no cache
/// holds: four take three quarters of the time of one; with more, their factors push each other
/// out of the cache.
pub(super) const LOT: usize = 4;

/// Where columns start.
#[derive(Clone, Copy)]
pub(super) enum Start {
    /// At the positive entries of what is there.
    Support,
    /// At so many nearest neighbours in kernel space.
    Neighbours(usize),
}

/// Scratch memory for groups of columns solved one after the other.
pub(super) struct ActiveSets<'p> {
    problem: &'p Quadratic<'p>,
    /// Most candidates of a column.
    cap: usize,
    active_sets: Vec<ActiveSet>,
    /// Samples in some order.
    order: Vec<usize>,
    /// Gradients that the last columns took.
    rounds: usize,
}

impl<'p> ActiveSets<'p> {
    pub(super) fn new(problem: &'p Quadratic<'p>, cap: usize) -> Result<Self> {
        let mut active_sets = memory::with_capacity(LOT, "supports")?;
        active_sets.resize_with(LOT, ActiveSet::default);
        let order = memory::with_capacity(problem.anchors(), "candidates")?;
        Ok(Self { problem, cap, active_sets, order, rounds: 0 })
    }

    /// Gradients that the last columns took.
    pub(super) fn rounds(&self) -> usize {
        self.rounds
    }

    /// Solves at most [`LOT`] columns, given by their places in the panels `linear` and `z` and their
    /// targets. Leaves in `z` the solution, or the best point found, or what was there, and in
    /// `gaps` how good it is.
    pub(super) fn solve(
        &mut self,
        lot: &[(usize, usize)],
        start: Start,
        linear: &[f64],
        z: &mut [f64],
        gaps: &mut [f64],
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let n = self.problem.anchors();
        let column = |place: usize| place * n..(place + 1) * n;
        for (set, &(place, target)) in self.active_sets.iter_mut().zip(lot) {
            let pivot = self.problem.pivot(target);
            match start {
                Start::Support => {
                    let z = &z[column(place)];
                    self.order.clear();
                    self.order.extend((0..n).filter(|&j| z[j] > 0.0 && j != pivot));
                    // What may have to leave comes last: it is cheaper to bar there.
                    self.order.sort_unstable_by(|&a, &b| z[b].total_cmp(&z[a]).then(a.cmp(&b)));
                }
                Start::Neighbours(count) => {
                    nearest(self.problem, target, count, &mut self.order);
                }
            }
            set.begin(pivot);
            set.open = self.order.len() <= self.cap
                && set.enter(self.problem, &linear[column(place)], &self.order, monitor)?;
        }
        for round in 0..MOST_ROUNDS {
            self.rounds = round;
            let mut working = false;
            for set in &mut self.active_sets[..lot.len()] {
                set.open = set.open && set.settle(monitor)?;
                working |= set.open;
            }
            if !working {
                break;
            }
            // The gradients take the place of the points, which come back at the end.
            for (set, &(place, _)) in self.active_sets.iter().zip(lot) {
                if set.open {
                    z[column(place)].copy_from_slice(&linear[column(place)]);
                }
            }
            for from in (0..n).step_by(TILE) {
                let to = (from + TILE).min(n);
                for (set, &(place, _)) in self.active_sets.iter().zip(lot) {
                    if set.open {
                        let tile = &mut z[place * n + from..place * n + to];
                        let kernel = self.problem.kernel.values();
                        vector::axpy_tile(&set.terms, kernel, n, from, tile);
                    }
                }
            }
            for (set, &(place, _)) in self.active_sets.iter_mut().zip(lot) {
                if !set.open {
                    continue;
                }
                let (linear, gradient) = (&linear[column(place)], &mut z[column(place)]);
                set.touched = true;
                set.open = match set.judge(self.problem, linear, gradient) {
                    Verdict::Better => {
                        set.violators(gradient, &mut self.order)
                            && set.candidates.len() + self.order.len() <= self.cap
                            && set.enter(self.problem, linear, &self.order, monitor)?
                    }
                    Verdict::Cycling => set.start_carefully(self.problem, linear, monitor)?,
                    Verdict::Final => false,
                };
            }
        }
        for (set, &(place, _)) in self.active_sets.iter().zip(lot) {
            // One that could not be begun leaves its point, and what is known about it.
            if set.touched {
                gaps[place] = set.best.gap;
                let z = &mut z[column(place)];
                z.fill(0.0);
                for &(value, row) in &set.best.entries {
                    z[row] = value;
                }
            }
        }
        Ok(())
    }
}

/// The `count` anchors nearest to a target in kernel space, but for its pivot, nearest first.
fn nearest(problem: &Quadratic<'_>, target: usize, count: usize, order: &mut Vec<usize>) {
    let (closer, pivot) = (problem.closer_to(target), problem.pivot(target));
    order.clear();
    order.extend((0..problem.anchors()).filter(|&j| j != pivot));
    if count < order.len() {
        if count > 0 {
            order.select_nth_unstable_by(count - 1, &closer);
        }
        order.truncate(count);
    }
    order.sort_unstable_by(closer);
}

/// Forward substitution for at most [`SIDES`] vectors; see [`Factor::forward`].
fn substitute(
    factor: &Factor,
    (zeros, from): (usize, usize),
    vectors: &mut [&mut Vec<f64>],
    sides: &mut Sides,
) -> Result<()> {
    memory::refill(sides, factor.order(), [0.0; SIDES], "right-hand sides")?;
    for (k, vector) in vectors.iter().enumerate() {
        sides.iter_mut().zip(&**vector).for_each(|(side, value)| side[k] = *value);
    }
    factor.forward(zeros, from, sides);
    for (k, vector) in vectors.iter_mut().enumerate() {
        sides.iter().zip(&mut **vector).for_each(|(side, value)| *value = side[k]);
    }
    Ok(())
}

/// What a gradient says about a point.
enum Verdict {
    /// It is the best so far; others may be better.
    Better,
    /// It should have been better than the last one, but is not.
    Cycling,
    /// There is nothing left to gain, or none to be had here.
    Final,
}

/// A feasible point with what is known about it.
struct Point {
    entries: Vec<(f64, usize)>,
    objective: f64,
    gap: f64,
}

/// One column on its way.
#[derive(Default)]
struct ActiveSet {
    /// The pivot of the column, and its row of the kernel at the candidates.
    pivot: usize,
    row: Vec<f64>,
    /// Still being solved.
    open: bool,
    /// Whether the panel holds a gradient instead of the point.
    touched: bool,
    /// Whether one candidate enters at a time.
    careful: bool,
    /// Samples whose u may be positive, in the order in which they came.
    candidates: Vec<usize>,
    factor: Factor,
    /// Places of candidates that are held at zero.
    barred: Vec<usize>,
    /// L⁻¹(−g), and L⁻¹e for each barred candidate.
    first: Vec<f64>,
    holds: Vec<Vec<f64>>,
    /// Factor of the inner products of the sides of the barred.
    schur: Factor,
    /// u at the candidates.
    solution: Vec<f64>,
    /// z − e_p as terms of a sum of columns.
    terms: Vec<(f64, usize)>,
    best: Point,
    /// Scratch.
    multipliers: Vec<f64>,
    sides: Sides,
}

impl Default for Point {
    fn default() -> Self {
        Self { entries: Vec::new(), objective: f64::INFINITY, gap: f64::INFINITY }
    }
}

impl ActiveSet {
    fn begin(&mut self, pivot: usize) {
        self.pivot = pivot;
        self.touched = false;
        self.careful = false;
        self.best.entries.clear();
        self.best.objective = f64::INFINITY;
        self.best.gap = f64::INFINITY;
        self.reset();
    }

    /// Forgets the candidates.
    fn reset(&mut self) {
        self.row.clear();
        self.candidates.clear();
        self.factor.clear();
        self.barred.clear();
        self.first.clear();
        self.holds.clear();
    }

    /// Makes candidates of `samples`, those that are barred among them free again. False if the
    /// system cannot be solved.
    fn enter(
        &mut self,
        problem: &Quadratic<'_>,
        linear: &[f64],
        samples: &[usize],
        monitor: &Monitor<'_>,
    ) -> Result<bool> {
        if 2 * self.barred.len() > self.candidates.len() {
            // More is held than it would cost to start anew.
            self.order_for_restart(samples)?;
            let all = std::mem::take(&mut self.candidates);
            self.reset();
            return self.append(problem, linear, &all, monitor);
        }
        let candidates = &self.candidates;
        for k in (0..self.barred.len()).rev() {
            if samples.contains(&candidates[self.barred[k]]) {
                self.barred.swap_remove(k);
                self.holds.swap_remove(k);
            }
        }
        let mut fresh = memory::with_capacity(samples.len(), "candidates")?;
        fresh.extend(samples.iter().filter(|j| !candidates.contains(j)));
        self.append(problem, linear, &fresh, monitor)
    }

    /// Leaves in `candidates` those that are not barred, and `samples`, each of them once: one that
    /// is zero though nothing holds it there may violate optimality too.
    fn order_for_restart(&mut self, samples: &[usize]) -> Result<()> {
        let mut held = memory::filled(self.candidates.len(), false, "candidates")?;
        self.barred.iter().for_each(|&place| held[place] = true);
        let mut held = held.into_iter();
        self.candidates.retain(|_| held.next() == Some(false));
        memory::reserve(&mut self.candidates, samples.len(), "candidates")?;
        for sample in samples {
            if !self.candidates.contains(sample) {
                self.candidates.push(*sample);
            }
        }
        Ok(())
    }

    /// Appends candidates to the system.
    fn append(
        &mut self,
        problem: &Quadratic<'_>,
        linear: &[f64],
        fresh: &[usize],
        monitor: &Monitor<'_>,
    ) -> Result<bool> {
        let (kernel, alpha) = (problem.kernel, problem.alpha);
        let old = self.candidates.len();
        let total = old + fresh.len();
        let own = problem.diagonal[self.pivot];
        let own_row = kernel.col(self.pivot);
        memory::extend(&mut self.candidates, fresh, "candidates")?;
        memory::reserve(&mut self.row, fresh.len(), "candidates")?;
        self.row.extend(fresh.iter().map(|&j| own_row[j]));
        // Q_jk = K_jk − K_pj − K_pk + K_pp + α(1 + [j = k]).
        for start in (old..total).step_by(SIDES) {
            monitor.go_on()?;
            let count = SIDES.min(total - start);
            memory::refill(&mut self.sides, start + count, [0.0; SIDES], "factor")?;
            let mut diagonal = [0.0; SIDES];
            for (k, diagonal) in diagonal.iter_mut().enumerate().take(count) {
                let j = self.candidates[start + k];
                let column = kernel.col(j);
                let base = own + alpha - self.row[start + k];
                for place in 0..start + k {
                    let entry = column[self.candidates[place]] - self.row[place] + base;
                    self.sides[place][k] = entry;
                }
                *diagonal = column[j] + alpha - self.row[start + k] + base;
            }
            if !self.factor.append(&mut self.sides, &diagonal[..count])? {
                return Ok(false);
            }
        }
        // What has been solved with the factor follows it.
        memory::reserve(&mut self.first, fresh.len(), "right-hand sides")?;
        self.first.extend(fresh.iter().map(|&j| alpha + linear[self.pivot] - linear[j]));
        for hold in &mut self.holds {
            memory::reserve(hold, fresh.len(), "right-hand sides")?;
            hold.resize(total, 0.0);
        }
        let mut all = memory::with_capacity(1 + self.holds.len(), "right-hand sides")?;
        all.push(&mut self.first);
        all.extend(&mut self.holds);
        for lot in all.chunks_mut(SIDES) {
            monitor.go_on()?;
            substitute(&self.factor, (0, old), lot, &mut self.sides)?;
        }
        self.schur.clear();
        self.extend_schur(0, monitor)
    }

    /// Solves for u, barring what comes out negative until nothing does. False if the system
    /// cannot be solved here.
    fn settle(&mut self, monitor: &Monitor<'_>) -> Result<bool> {
        let order = self.candidates.len();
        let mut current = Vec::new();
        if self.careful {
            memory::reserve(&mut current, order, "solution")?;
            let value = |j: &usize| self.best.entries.iter().find(|entry| entry.1 == *j);
            current.extend(self.candidates.iter().map(|j| value(j).map_or(0.0, |entry| entry.0)));
        }
        // Ends: each pass bars one more of the candidates at least, or is the last.
        loop {
            monitor.go_on()?;
            // Multipliers: the barred candidates come out as zero.
            let held = self.barred.len();
            memory::refill(&mut self.sides, held, [0.0; SIDES], "multipliers")?;
            for (side, hold) in self.sides.iter_mut().zip(&self.holds) {
                side[0] = -vector::dot(&self.first, hold);
            }
            self.schur.forward(0, 0, &mut self.sides);
            self.multipliers.clear();
            memory::reserve(&mut self.multipliers, held, "multipliers")?;
            self.multipliers.extend(self.sides.iter().map(|side| side[0]));
            self.schur.backward(&mut self.multipliers);
            self.solution.clear();
            memory::extend(&mut self.solution, &self.first, "solution")?;
            for (value, hold) in self.multipliers.iter().zip(&self.holds) {
                vector::axpy(*value, hold, &mut self.solution);
            }
            self.factor.backward(&mut self.solution);
            self.barred.iter().for_each(|&place| self.solution[place] = 0.0);
            let negative = |&place: &usize| self.solution[place] < 0.0;
            memory::reserve(&mut self.barred, order - held, "barred candidates")?;
            if self.careful {
                // From the point where it stands as far as the first that would turn negative.
                let ratio = |place: usize| {
                    (current[place] / (current[place] - self.solution[place]), place)
                };
                let ratios = (0..order).filter(negative).map(ratio);
                if let Some((step, leaving)) = ratios.min_by(|a, b| a.0.total_cmp(&b.0)) {
                    for (value, target) in current.iter_mut().zip(&self.solution) {
                        *value += step * (target - *value);
                    }
                    current[leaving] = 0.0;
                    self.barred.push(leaving);
                }
            } else {
                self.barred.extend((0..order).filter(negative));
            }
            if self.barred.len() == held {
                break;
            }
            if !self.bar(held, monitor)? {
                return Ok(false);
            }
        }
        let total: f64 = self.solution.iter().sum();
        self.terms.clear();
        memory::reserve(&mut self.terms, order + 1, "support")?;
        let support = self.solution.iter().copied().zip(self.candidates.iter().copied());
        self.terms.extend(support.filter(|term| term.0 > 0.0));
        self.terms.push((-total, self.pivot));
        Ok(total.is_finite() && total < 1.0)
    }

    /// Prepares to hold the barred from number `first` on.
    fn bar(&mut self, first: usize, monitor: &Monitor<'_>) -> Result<bool> {
        let order = self.candidates.len();
        memory::reserve(&mut self.holds, self.barred.len() - first, "barred candidates")?;
        for &place in &self.barred[first..] {
            let mut hold = memory::filled(order, 0.0, "right-hand sides")?;
            hold[place] = 1.0;
            self.holds.push(hold);
        }
        let lots = self.holds[first..].chunks_mut(SIDES).zip(self.barred[first..].chunks(SIDES));
        for (lot, places) in lots {
            monitor.go_on()?;
            let zeros = places.iter().copied().min().unwrap_or(0);
            let mut all = memory::with_capacity(lot.len(), "right-hand sides")?;
            all.extend(lot);
            substitute(&self.factor, (zeros, zeros), &mut all, &mut self.sides)?;
        }
        self.extend_schur(first, monitor)
    }

    /// Brings the inner products of the barred up to date from number `first` on.
    fn extend_schur(&mut self, first: usize, monitor: &Monitor<'_>) -> Result<bool> {
        let held = self.barred.len();
        for start in (first..held).step_by(SIDES) {
            monitor.go_on()?;
            let count = SIDES.min(held - start);
            memory::refill(&mut self.sides, start + count, [0.0; SIDES], "multipliers")?;
            let mut diagonal = [0.0; SIDES];
            for (k, diagonal) in diagonal.iter_mut().enumerate().take(count) {
                let own = &self.holds[start + k];
                for (side, hold) in self.sides.iter_mut().zip(&self.holds[..start + k]) {
                    side[k] = vector::dot(own, hold);
                }
                *diagonal = vector::dot(own, own);
            }
            if !self.schur.append(&mut self.sides, &diagonal[..count])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Completes the gradient, of which the kernel's part and the linear term are there, and compares
    /// the point with the best one.
    fn judge(&mut self, problem: &Quadratic<'_>, linear: &[f64], gradient: &mut [f64]) -> Verdict {
        let alpha = problem.alpha;
        // From z − e_p to z.
        let own = self.terms.len() - 1;
        self.terms[own].0 += 1.0;
        let (mut level, mut pulled) = (0.0, 0.0);
        for &(value, row) in &self.terms {
            gradient[row] += alpha * value;
            level += value * gradient[row];
            pulled += value * linear[row];
        }
        // (z−e_p)ᵀK(z−e_p) + αzᵀz + 2bᵀz, free of the large constant K_pp.
        let objective = level - gradient[self.pivot] + alpha * self.terms[own].0 + pulled;
        let gap = 2.0 * (level - vector::min(gradient)).max(0.0);
        let best = &mut self.best;
        if objective >= best.objective - 1e-15 * best.objective.abs() {
            let enough = self.careful || best.gap <= problem.tolerance;
            return if enough { Verdict::Final } else { Verdict::Cycling };
        }
        best.objective = objective;
        best.gap = gap;
        std::mem::swap(&mut best.entries, &mut self.terms);
        if gap > problem.target { Verdict::Better } else { Verdict::Final }
    }

    /// Goes back to the best point, to go on from there one step at a time.
    fn start_carefully(
        &mut self,
        problem: &Quadratic<'_>,
        linear: &[f64],
        monitor: &Monitor<'_>,
    ) -> Result<bool> {
        self.careful = true;
        self.best.objective = f64::INFINITY;
        let own = self.pivot;
        let mut support = memory::with_capacity(self.best.entries.len(), "support")?;
        support.extend(self.best.entries.iter().map(|entry| entry.1).filter(|&j| j != own));
        self.reset();
        self.append(problem, linear, &support, monitor)
    }

    /// Leaves in `order` the samples that violate optimality most; false if there are none. On the
    /// support the gradient is constant but for rounding; what lies within that rounding is no
    /// violation.
    fn violators(&self, gradient: &[f64], order: &mut Vec<usize>) -> bool {
        let entries = &self.best.entries;
        let level = entries.iter().map(|&(_, row)| gradient[row]).fold(f64::INFINITY, f64::min);
        order.clear();
        order.extend((0..gradient.len()).filter(|&j| gradient[j] < level));
        let most = if self.careful { 1 } else { (7 * entries.len() / 10).max(8) };
        let worse = |&a: &usize, &b: &usize| gradient[a].total_cmp(&gradient[b]).then(a.cmp(&b));
        if most < order.len() {
            order.select_nth_unstable_by(most - 1, worse);
            order.truncate(most);
        }
        order.sort_unstable_by(worse);
        !order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_candidate_enters_twice_when_a_column_starts_anew() {
        let mut set =
            ActiveSet { candidates: vec![4, 7, 2, 9], barred: vec![1, 3], ..Default::default() };
        // 2 is free but zero, 7 was barred, 5 is new.
        set.order_for_restart(&[2, 7, 5]).unwrap();
        assert_eq!(set.candidates, [4, 2, 7, 5]);
    }
}
