//! Columns with a small support: an active-set method.
//!
//! On a face of the simplex (a support S) the problem is a linear system with the Cholesky
//! factor of (αI + K)_SS. Supports are corrected in blocks: every entry that comes out negative
//! leaves at once, the samples that violate optimality most enter several at a time. That takes
//! a handful of rounds where one-at-a-time changes take dozens, but it may cycle; when the
//! objective fails to fall, the classical one-at-a-time rule with a ratio test takes over, which
//! cannot. The factor is computed anew in each round: for the sizes in question that is faster
//! than updating it, since it runs in blocked code.

use super::Quadratic;
use super::leading::Leading;
use crate::error::Result;
use crate::matrix::Similarity;
use crate::memory;
use crate::vector;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{MatMut, MatRef, Par, Spec};

/// Rounds after which a column is handed to the other method: never seen to happen.
const MOST_ROUNDS: usize = 300;

/// Steps of the other method where its preconditioner catches all that matters.
const STEPS: f64 = 13.0;

/// Samples used to find out how large supports are before a cold start.
const PILOTS: usize = 8;

/// What is decided once for all columns.
pub(super) struct Plan {
    /// Largest support solved here at first; larger ones go to the other method.
    pub(super) cap: usize,
    /// Neighbours a cold column starts with; 0 sends all columns to the other method.
    pub(super) start: usize,
    /// The other method's preconditioner, where columns are known to be wide.
    pub(super) leading: Option<Leading>,
}

impl Plan {
    pub(super) fn new(problem: &Quadratic<'_>, before: Option<&Similarity>) -> Result<Self> {
        let n = problem.samples();
        // Where a few factorizations of s³/3 operations (about eight from scratch, two from a
        // good start) cost as much as the other method's products, 2n² operations a column and
        // step at about six times the speed.
        let factorizations = if before.is_some() { 2.0 } else { 8.0 };
        let cap = |steps: f64| {
            let cap = (2.0 / factorizations * steps * (n as f64).powi(2)).cbrt() as usize;
            cap.max(32)
        };
        let easy = Self { cap: cap(STEPS), start: 0, leading: None };
        let narrow = match before {
            Some(before) => before.columns().iter().all(|column| column.nnz() <= easy.cap),
            None => true,
        };
        let start = if before.is_some() { 1 } else { easy.pilot(problem)? };
        if narrow && start > 0 {
            return Ok(Self { start, ..easy });
        }
        // What the leading part leaves over slows the other method down.
        let leading = Leading::new(problem)?;
        let steps = STEPS + 3.0 * leading.remaining_condition(problem).sqrt();
        let mut plan = Self { cap: cap(steps.min(200.0)), start: 1, leading: Some(leading) };
        if before.is_none() {
            plan.start = if plan.cap > easy.cap { plan.pilot(problem)? } else { 0 };
        }
        Ok(plan)
    }

    /// Solves a few columns from scratch and returns how many neighbours to start the others
    /// with; 0 if supports are too large.
    fn pilot(&self, problem: &Quadratic<'_>) -> Result<usize> {
        let n = problem.samples();
        let pilots = PILOTS.min(n);
        let mut sizes = Vec::new();
        let (mut pull, mut z) = (vec![0.0; n], vec![0.0; n]);
        for i in (0..pilots).map(|pilot| pilot * n / pilots) {
            problem.pull_columns(i, &mut pull);
            let solved = Faces::new(problem, self.cap)?.solve(i, &pull, Some(32.min(n)), &mut z)?;
            if solved.is_some() {
                sizes.push(z.iter().filter(|&&v| v > 0.0).count());
            }
        }
        let mean = sizes.iter().sum::<usize>() / sizes.len().max(1);
        let start = (mean + mean / 4 + 1).min(n);
        Ok(if 2 * sizes.len() < pilots || start > self.cap { 0 } else { start })
    }
}

/// Scratch memory for columns solved one after the other.
pub(super) struct Faces<'p> {
    problem: &'p Quadratic<'p>,
    /// Largest support.
    cap: usize,
    /// The current support, rising.
    support: Vec<usize>,
    /// The solution on the support.
    solution: Vec<f64>,
    /// Half of the gradient at the solution, all n entries.
    gradient: Vec<f64>,
    /// Order of candidates.
    order: Vec<usize>,
    factor: Vec<f64>,
    sides: Vec<f64>,
    scratch: MemBuffer,
}

/// A feasible point on its support with what is known about it.
struct Point {
    support: Vec<usize>,
    values: Vec<f64>,
    objective: f64,
    gap: f64,
}

impl<'p> Faces<'p> {
    pub(super) fn new(problem: &'p Quadratic<'p>, cap: usize) -> Result<Self> {
        let n = problem.samples();
        let most = cap.min(n);
        let request =
            llt::factor::cholesky_in_place_scratch::<f64>(most, Par::Seq, Spec::default())
                .or(llt::solve::solve_in_place_scratch::<f64>(most, 2, Par::Seq));
        Ok(Self {
            problem,
            cap,
            support: memory::with_capacity(most, "support")?,
            solution: memory::with_capacity(most, "support")?,
            gradient: memory::filled(n, 0.0, "gradient")?,
            order: memory::with_capacity(n, "candidates")?,
            factor: memory::filled(most * most, 0.0, "factor")?,
            sides: memory::filled(2 * most, 0.0, "right-hand sides")?,
            scratch: MemBuffer::try_new(request).map_err(|_| crate::Error::OutOfMemory {
                bytes: request.size_bytes(),
                what: "scratch of the factorization",
            })?,
        })
    }

    /// Solves column `i` and returns its gap; `None` if its support is too large for this
    /// method. The start is the support of `z` or, if a number is given, so many neighbours.
    /// Afterwards `z` is feasible in any case: the solution, or the best point found.
    pub(super) fn solve(
        &mut self,
        i: usize,
        pull: &[f64],
        neighbours: Option<usize>,
        z: &mut [f64],
    ) -> Result<Option<f64>> {
        self.support.clear();
        match neighbours {
            Some(count) => self.nearest(i, count),
            None => {
                let positive = z.iter().enumerate().filter(|entry| *entry.1 > 0.0);
                self.support.extend(positive.map(|entry| entry.0));
            }
        }
        let mut best: Option<Point> = None;
        let mut cycling = false;
        for _ in 0..MOST_ROUNDS {
            if !self.purge(i, pull) {
                break;
            }
            let point = self.evaluate(i, pull);
            cycling = best.as_ref().is_some_and(|best| {
                point.objective >= best.objective - 1e-15 * best.objective.abs()
            });
            if cycling {
                break;
            }
            let done = point.gap <= self.problem.target();
            best = Some(point);
            if done || !self.enter_violators(usize::MAX) {
                break;
            }
        }
        let Some(mut best) = best else { return Ok(None) };
        if cycling && best.gap > self.problem.tolerance {
            self.one_at_a_time(i, pull, &mut best);
        }
        z.fill(0.0);
        for (&row, &value) in best.support.iter().zip(&best.values) {
            z[row] = value;
        }
        Ok((best.gap <= self.problem.tolerance).then_some(best.gap))
    }

    /// Starts from sample `i` and its nearest neighbours in kernel space.
    fn nearest(&mut self, i: usize, count: usize) {
        let n = self.problem.samples();
        let kernel = self.problem.kernel;
        let row = kernel.col(i);
        let distance =
            |j: usize| if j == i { f64::NEG_INFINITY } else { kernel.get(j, j) - 2.0 * row[j] };
        self.order.clear();
        self.order.extend(0..n);
        if count < n {
            self.order.select_nth_unstable_by(count - 1, |&a, &b| {
                distance(a).total_cmp(&distance(b)).then(a.cmp(&b))
            });
        }
        self.support.extend_from_slice(&self.order[..count]);
        self.support.sort_unstable();
    }

    /// Solves on the support, dropping what comes out negative until nothing does. False if
    /// the system cannot be solved here.
    fn purge(&mut self, i: usize, pull: &[f64]) -> bool {
        loop {
            if self.support.len() > self.cap || !self.solve_face(i, pull) {
                return false;
            }
            if self.solution.iter().all(|&v| v > 0.0) {
                return true;
            }
            let mut kept = self.solution.iter().map(|&v| v > 0.0);
            self.support.retain(|_| kept.next() == Some(true));
        }
    }

    /// Minimises over the hyperplane Σz = 1 on the support, signs ignored.
    fn solve_face(&mut self, i: usize, pull: &[f64]) -> bool {
        let (kernel, alpha) = (self.problem.kernel, self.problem.alpha);
        let s = self.support.len();
        for (k, &col) in self.support.iter().enumerate() {
            let column = kernel.col(col);
            let out = &mut self.factor[k * s..(k + 1) * s];
            for (value, &row) in out[k..].iter_mut().zip(&self.support[k..]) {
                *value = column[row];
            }
            out[k] += alpha;
        }
        // z = e_i + δ where i is in the support: at small α, δ is all that matters, and solving
        // for it directly keeps its digits.
        let own = self.support.binary_search(&i).ok();
        let (ones, right) = self.sides[..2 * s].split_at_mut(s);
        ones.fill(1.0);
        let column = kernel.col(i);
        for (side, &row) in right.iter_mut().zip(&self.support) {
            *side = if own.is_some() { -pull[row] } else { column[row] - pull[row] };
        }
        if let Some(k) = own {
            right[k] -= alpha;
        }
        let stack = MemStack::new(&mut self.scratch);
        let factor = MatMut::from_column_major_slice_mut(&mut self.factor[..s * s], s, s);
        let regularization = Default::default();
        if llt::factor::cholesky_in_place(factor, regularization, Par::Seq, stack, Spec::default())
            .is_err()
        {
            return false;
        }
        let factor = MatRef::from_column_major_slice(&self.factor[..s * s], s, s);
        let sides = MatMut::from_column_major_slice_mut(&mut self.sides[..2 * s], s, 2);
        llt::solve::solve_in_place(factor, sides, Par::Seq, stack);
        let (ones, right) = self.sides[..2 * s].split_at(s);
        let missing = if own.is_some() { 0.0 } else { 1.0 } - vector::sum(right);
        let multiplier = missing / vector::sum(ones);
        self.solution.clear();
        self.solution.extend(right.iter().zip(ones).map(|(v, u)| v + multiplier * u));
        if let Some(k) = own {
            self.solution[k] += 1.0;
        }
        self.solution.iter().all(|v| v.is_finite())
    }

    /// The gradient, gap and objective at the solution on the support.
    fn evaluate(&mut self, i: usize, pull: &[f64]) -> Point {
        let (kernel, alpha) = (self.problem.kernel, self.problem.alpha);
        self.gradient.copy_from_slice(pull);
        let mut terms: Vec<(f64, usize)> =
            self.solution.iter().copied().zip(self.support.iter().copied()).collect();
        match self.support.binary_search(&i) {
            Ok(k) => terms[k].0 -= 1.0,
            Err(k) => terms.insert(k, (-1.0, i)),
        }
        vector::axpy_columns(&terms, kernel.values(), &mut self.gradient);
        let (mut level, mut pulled, mut own) = (0.0, 0.0, 0.0);
        for (&row, &value) in self.support.iter().zip(&self.solution) {
            self.gradient[row] += alpha * value;
            level += value * self.gradient[row];
            pulled += value * pull[row];
            if row == i {
                own = value;
            }
        }
        Point {
            support: self.support.clone(),
            values: self.solution.clone(),
            // (z−e_i)ᵀK(z−e_i) + αzᵀz + 2bᵀz, free of the large constant K_ii.
            objective: level - self.gradient[i] + alpha * own + pulled,
            gap: 2.0 * (level - vector::min(&self.gradient)).max(0.0),
        }
    }

    /// Adds the samples that violate optimality most, `most` of them at the most; false if
    /// there are none. On the support the gradient is constant but for rounding; what lies
    /// within that rounding is no violation.
    fn enter_violators(&mut self, most: usize) -> bool {
        let support = self.support.iter().map(|&row| self.gradient[row]);
        let level = support.fold(f64::INFINITY, f64::min);
        self.order.clear();
        let gradient = &self.gradient;
        self.order.extend((0..gradient.len()).filter(|&j| gradient[j] < level));
        let mut next = 0;
        self.order.retain(|&j| {
            while next < self.support.len() && self.support[next] < j {
                next += 1;
            }
            next == self.support.len() || self.support[next] != j
        });
        if self.order.is_empty() {
            return false;
        }
        let count = self.order.len().min(most).min((self.support.len() / 4).max(8));
        if count < self.order.len() {
            self.order.select_nth_unstable_by(count - 1, |&a, &b| {
                gradient[a].total_cmp(&gradient[b]).then(a.cmp(&b))
            });
        }
        self.support.extend_from_slice(&self.order[..count]);
        self.support.sort_unstable();
        true
    }

    /// From `point`, the classical rule: one sample enters, a ratio test says which leave. The
    /// objective falls strictly, so that no support comes twice.
    fn one_at_a_time(&mut self, i: usize, pull: &[f64], point: &mut Point) {
        for _ in 0..MOST_ROUNDS {
            self.support.clone_from(&point.support);
            self.solution.clone_from(&point.values);
            self.evaluate(i, pull);
            if !self.enter_violators(1) {
                return;
            }
            let mut current: Vec<f64> = self
                .support
                .iter()
                .map(|row| point.support.binary_search(row).map_or(0.0, |k| point.values[k]))
                .collect();
            loop {
                if self.support.len() > self.cap || !self.solve_face(i, pull) {
                    return;
                }
                let blocking =
                    |(k, &v): (usize, &f64)| (v <= 0.0).then(|| (current[k] / (current[k] - v), k));
                let step = self.solution.iter().enumerate().filter_map(blocking);
                let Some((step, leaving)) = step.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
                if !step.is_finite() {
                    return;
                }
                for (value, target) in current.iter_mut().zip(&self.solution) {
                    *value += step * (target - *value);
                }
                current.remove(leaving);
                self.support.remove(leaving);
            }
            let next = self.evaluate(i, pull);
            if next.objective >= point.objective {
                return;
            }
            *point = next;
            if point.gap <= self.problem.target() {
                return;
            }
        }
    }
}
