//! The Z-step: every target t is reconstructed from the anchors A, exactly,
//!
//! ```text
//! min zᵀ(αI + K_AA)z + (β/2·d_t − 2K_At)ᵀz   over the simplex,   d_tj = |P_t − P_j|²
//! ```
//!
//! (equation (11) of the paper, where targets and anchors are the samples; K is K_w, centred, in
//! units in which max|K_w| + α = 1). With b = β/4·d_t + K_Ap − K_At for an anchor p, the *pivot* of
//! the target, that is
//!
//! ```text
//! min (z − e_p)ᵀK(z − e_p) + αzᵀz + 2bᵀz,
//! ```
//!
//! which is what all methods here solve: a sample that is an anchor is its own pivot and has no more
//! than the pull of the embedding in b. No single method is fast for all α. Where the support of a column is small, [`active_set`] solves
//! the equations on the support exactly and corrects the support; where it is a large part of
//! all samples, [`projected_cg`] takes preconditioned conjugate gradient steps for many columns at
//! once, one matrix product a step; where it is nearly all of them, [`full_support`] finds the few zeros.
//! All stop on the same certificate, the duality gap.

mod active_set;
mod factor;
mod full_support;
pub(crate) mod group;
mod plan;
mod preconditioner;
mod product;
mod projected_cg;

use crate::error::Result;
use crate::matrix::{Column, Matrix, Similarity};
use crate::memory;
use crate::monitor::{Monitor, Step};
use crate::vector;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use plan::Plan;
use std::cmp::Ordering;

/// Conjugate steps after which the equations on the support are tried: about what solving them
/// costs.
const PATIENT_STEPS: usize = 60;

/// The blocks of K_w, divided by `unit` = max|K_w| + α. K_AA is centred, K_AA·1 = 0; what that takes
/// from its rows is taken from those of K_AT too.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'a> {
    /// K_AA.
    pub(crate) anchors: &'a Matrix,
    /// K_AT: a column for each target. In a fit it is the same matrix.
    pub(crate) targets: &'a Matrix,
}

/// The shared part of the problems of all targets.
pub(crate) struct Quadratic<'a> {
    /// K_AA.
    kernel: &'a Matrix,
    /// K_AT, unless the targets are the anchors.
    cross: Option<&'a Matrix>,
    /// The pivots of targets that are no anchors.
    pivots: Vec<usize>,
    /// α / unit.
    alpha: f64,
    /// β / unit and P; absent for pure self-expression, and where targets are no anchors.
    pull: Option<(f64, &'a Matrix)>,
    /// Largest allowed gap, and the gap to aim for.
    tolerance: f64,
    target: f64,
    /// The diagonal of the kernel.
    diagonal: Vec<f64>,
}

/// What a Z-step leaves behind.
pub(crate) struct Update {
    pub(crate) similarity: Similarity,
    /// Worst relative duality gap of a column.
    pub(crate) gap: f64,
    /// |Z − Z_before|², |Z|² and |Z without its diagonal|².
    pub(crate) change2: f64,
    pub(crate) norm2: f64,
    pub(crate) off_diagonal2: f64,
}

impl<'a> Quadratic<'a> {
    pub(crate) fn new(
        blocks: Blocks<'a>,
        alpha: f64,
        pull: Option<(f64, &'a Matrix)>,
        tolerance: f64,
    ) -> Result<Self> {
        let kernel = blocks.anchors;
        let cross = Some(blocks.targets).filter(|targets| !std::ptr::eq(*targets, kernel));
        let mut diagonal = memory::with_capacity(kernel.cols(), "diagonal of the kernel")?;
        diagonal.extend((0..kernel.cols()).map(|i| kernel.get(i, i)));
        // f is strongly convex, |z − z*|² ≤ gap/α, and at small α the graph lives in entries of the
        // order of α: there `tolerance` alone would not settle them.
        let target = tolerance.min(1e-6 * alpha / kernel.cols() as f64).max(1e-14);
        let pivots = Vec::new();
        let mut problem = Self { kernel, cross, pivots, alpha, pull, tolerance, target, diagonal };
        if let Some(cross) = cross {
            let nearest = |t: usize| (0..problem.anchors()).min_by(problem.closer_to(t));
            let mut pivots = memory::with_capacity(cross.cols(), "pivots")?;
            pivots.extend((0..cross.cols()).map(|t| nearest(t).unwrap_or(0)));
            problem.pivots = pivots;
        }
        Ok(problem)
    }

    /// The same problem for a solution that is soon to be replaced by a better one.
    pub(crate) fn loosely(mut self) -> Self {
        self.tolerance = self.tolerance.max(1e-3 * self.alpha);
        self.target = self.tolerance;
        self
    }

    fn anchors(&self) -> usize {
        self.kernel.rows()
    }

    fn targets(&self) -> usize {
        self.cross.unwrap_or(self.kernel).cols()
    }

    /// The pivot of target `t`: itself, or the nearest anchor.
    fn pivot(&self, t: usize) -> usize {
        if self.cross.is_some() { self.pivots[t] } else { t }
    }

    /// Orders anchors by their distance to target `t` in kernel space.
    fn closer_to(&self, t: usize) -> impl Fn(&usize, &usize) -> Ordering + '_ {
        let row = self.cross.unwrap_or(self.kernel).col(t);
        move |&a, &b| {
            let distance = |j: usize| self.diagonal[j] - 2.0 * row[j];
            distance(a).total_cmp(&distance(b)).then(a.cmp(&b))
        }
    }

    /// The linear terms b of a group of targets.
    fn linear_columns(&self, group: &[usize], panel: &mut [f64]) -> Result<()> {
        let n = self.anchors();
        if let Some(cross) = self.cross {
            for (column, &t) in panel.chunks_exact_mut(n).zip(group) {
                let difference = self.kernel.col(self.pivot(t)).iter().zip(cross.col(t));
                column.iter_mut().zip(difference).for_each(|(b, (own, other))| *b = own - other);
            }
            return Ok(());
        }
        let Some((beta, embedding)) = self.pull else {
            panel.fill(0.0);
            return Ok(());
        };
        let mut own = Matrix::zeros(embedding.cols(), group.len(), "pull of the embedding")?;
        let mut squares = memory::filled(n, 0.0, "pull of the embedding")?;
        for k in 0..embedding.cols() {
            let column = embedding.col(k);
            squares.iter_mut().zip(column).for_each(|(square, value)| *square += value * value);
            group.iter().enumerate().for_each(|(j, &i)| own.col_mut(j)[k] = column[i]);
        }
        let out = MatMut::from_column_major_slice_mut(&mut *panel, n, group.len());
        matmul(out, Accum::Replace, embedding.view(), own.view(), 1.0, Par::Seq);
        for (column, &i) in panel.chunks_exact_mut(n).zip(group) {
            for (value, square) in column.iter_mut().zip(&squares) {
                let distance2 = square + squares[i] - 2.0 * *value;
                *value = 0.25 * beta * distance2.max(0.0);
            }
        }
        Ok(())
    }

    /// What the rounding of the pull may hide of a gap. It is next to nothing unless β is far above the
    /// kernel.
    pub(crate) fn rounding(&self) -> f64 {
        let Some((beta, embedding)) = self.pull else { return 0.0 };
        let length2 =
            |i: usize| -> f64 { (0..embedding.cols()).map(|k| embedding.get(i, k).powi(2)).sum() };
        let longest2 = (0..embedding.rows()).map(length2).fold(0.0, f64::max);
        // A distance is a sum of products of that size, of which 2β/4 counts in each of two entries.
        let terms = (embedding.cols() + 4) as f64;
        terms * f64::EPSILON * beta * 2.0 * longest2
    }

    /// The relative duality gap gᵀz − min g from half of the gradient g.
    fn gap(z: &[f64], half_gradient: &[f64]) -> f64 {
        2.0 * (vector::dot(z, half_gradient) - vector::min(half_gradient)).max(0.0)
    }
}

/// Solves all columns, starting from those of `before` or, without them, from scratch.
pub(crate) fn solve(
    problem: &Quadratic<'_>,
    before: Option<&Similarity>,
    monitor: &Monitor<'_>,
) -> Result<Update> {
    let plan = Plan::new(problem, before, monitor)?;
    solve_as_planned(problem, before, &plan, monitor)
}

fn solve_as_planned(
    problem: &Quadratic<'_>,
    before: Option<&Similarity>,
    plan: &Plan,
    monitor: &Monitor<'_>,
) -> Result<Update> {
    let n = problem.targets();
    monitor.begin(Step::Similarity, n);
    let order = group::order(problem, monitor)?;
    let groups = |k: usize| order.chunks(group::size(n)).nth(k).unwrap_or_default();
    let blocks = memory::par_map(n.div_ceil(group::size(n)), "similarity", |k| {
        monitor.go_on()?;
        let solved = SolvedGroup::solve(problem, before, plan, groups(k), monitor)?;
        monitor.advance(groups(k).len());
        Ok(solved)
    })?;
    let mut columns = memory::with_capacity(n, "similarity")?;
    columns.resize_with(n, Column::default);
    let mut update = Update {
        similarity: Similarity::default(),
        gap: 0.0,
        change2: 0.0,
        norm2: 0.0,
        off_diagonal2: 0.0,
    };
    for (block, group) in blocks.into_iter().flatten().zip(order.chunks(group::size(n))) {
        group.iter().zip(block.columns).for_each(|(&sample, column)| columns[sample] = column);
        update.gap = update.gap.max(block.gap);
        update.change2 += block.change2;
        update.norm2 += block.norm2;
        update.off_diagonal2 += block.off_diagonal2;
    }
    update.similarity = Similarity::from_columns(problem.anchors(), columns);
    Ok(update)
}

#[derive(Default)]
struct SolvedGroup {
    columns: Vec<Column>,
    gap: f64,
    change2: f64,
    norm2: f64,
    off_diagonal2: f64,
}

impl SolvedGroup {
    /// Solves the columns `open` of a group by conjugate gradients. What is badly conditioned and has not
    /// arrived after a while has found most of its support by then, and the equations on it finish
    /// the work.
    fn descend(
        problem: &Quadratic<'_>,
        plan: &Plan,
        (group, linear): (&[usize], &[f64]),
        z: &mut [f64],
        gaps: &mut [f64],
        mut open: Vec<usize>,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let own;
        let preconditioner = match &plan.preconditioner {
            Some(preconditioner) => preconditioner,
            // Nobody expected wide columns: rare enough for each block to see for itself.
            None => {
                own = preconditioner::Preconditioner::new(problem, monitor)?;
                &own
            }
        };
        for most_steps in [PATIENT_STEPS, usize::MAX] {
            let mut panels =
                projected_cg::Panels::new(problem, preconditioner, (group, linear), z, open.len())?;
            panels.descend(&mut open, gaps, most_steps, monitor)?;
            drop(panels);
            if open.is_empty() {
                break;
            }
            let mut active_sets = active_set::ActiveSets::new(problem, 3 * plan.limit)?;
            for &j in &open {
                let one = &[(j, group[j])];
                active_sets.solve(one, active_set::Start::Support, linear, z, gaps, monitor)?;
            }
            open.retain(|&j| gaps[j] > problem.tolerance);
        }
        Ok(())
    }

    fn solve(
        problem: &Quadratic<'_>,
        before: Option<&Similarity>,
        plan: &Plan,
        group: &[usize],
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let (n, width) = (problem.anchors(), group.len());
        let mut linear = memory::filled(n * width, 0.0, "linear terms")?;
        problem.linear_columns(group, &mut linear)?;
        let mut z = memory::filled(n * width, 0.0, "columns of Z")?;
        let mut gaps = memory::filled(width, f64::INFINITY, "gaps")?;
        let mut narrow = memory::with_capacity(width, "columns of Z")?;
        for (j, z) in z.chunks_exact_mut(n).enumerate() {
            match before {
                Some(before) => before.columns()[group[j]].scatter(z),
                None => z.fill(1.0 / n as f64),
            }
            let fits = before.is_none_or(|before| before.columns()[group[j]].nnz() <= plan.widest);
            if fits && plan.start > 0 {
                narrow.push((j, group[j]));
            }
        }
        let start = match before {
            Some(_) => active_set::Start::Support,
            None => active_set::Start::Neighbours(plan.start.min(n - 1)),
        };
        let mut active_sets = active_set::ActiveSets::new(problem, plan.limit)?;
        for lot in narrow.chunks(active_set::LOT) {
            active_sets.solve(lot, start, &linear, &mut z, &mut gaps, monitor)?;
        }
        drop(active_sets);
        if let Some(full_support) = &plan.full_support {
            let mut zeros = full_support::Zeros::default();
            for (j, z) in z.chunks_exact_mut(n).enumerate() {
                full_support.solve(problem, group[j], z, &mut zeros, monitor)?;
            }
        }
        // What is solved already is certified by the first product of conjugate gradients, and ends there.
        let mut open = memory::with_capacity(width, "columns of Z")?;
        open.extend((0..width).filter(|&j| gaps[j] > problem.tolerance));
        if !open.is_empty() {
            Self::descend(problem, plan, (group, &linear), &mut z, &mut gaps, open, monitor)?;
        }
        let mut block =
            Self { columns: memory::with_capacity(width, "columns of Z")?, ..Self::default() };
        let mut old = memory::filled(n, 0.0, "a column of Z")?;
        for (j, z) in z.chunks_exact(n).enumerate() {
            if let Some(before) = before {
                before.columns()[group[j]].scatter(&mut old);
            }
            block.change2 += z.iter().zip(&old).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            let norm2 = vector::dot(z, z);
            block.norm2 += norm2;
            block.off_diagonal2 += z
                .iter()
                .enumerate()
                .filter(|&(i, _)| problem.cross.is_some() || i != group[j])
                .map(|(_, v)| v * v)
                .sum::<f64>();
            block.gap = block.gap.max(gaps[j]);
            block.columns.push(Column::from_dense(z)?);
        }
        Ok(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{RngCore, SeedableRng};

    /// A centred kernel of random points with max|K| + alpha = 1, and a random "embedding".
    fn random(n: usize, dims: usize, seed: u64) -> (Matrix, Matrix) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut number = || (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        let points: Vec<f64> = (0..n * dims).map(|_| number()).collect();
        let mean = |k: usize| (0..n).map(|i| points[i * dims + k]).sum::<f64>() / n as f64;
        let means: Vec<f64> = (0..dims).map(mean).collect();
        let mut kernel = Matrix::zeros(n, n, "test").unwrap();
        for j in 0..n {
            for i in 0..n {
                let product = |k: usize| {
                    (points[i * dims + k] - means[k]) * (points[j * dims + k] - means[k])
                };
                kernel.col_mut(j)[i] = (0..dims).map(product).sum();
            }
        }
        let largest = vector::max_abs(kernel.values());
        kernel.values_mut().iter_mut().for_each(|v| *v /= 2.0 * largest);
        let mut embedding = Matrix::zeros(n, 2, "test").unwrap();
        embedding.values_mut().iter_mut().for_each(|v| *v = number());
        (kernel, embedding)
    }

    /// The blocks of a fit.
    fn square(kernel: &Matrix) -> Blocks<'_> {
        Blocks { anchors: kernel, targets: kernel }
    }

    /// The blocks of the first `count` samples as anchors and of all others as targets, centred.
    fn split(kernel: &Matrix, count: usize) -> (Matrix, Matrix) {
        let block = |cols: std::ops::Range<usize>| {
            let mut block = Matrix::zeros(count, cols.len(), "test").unwrap();
            cols.clone().for_each(|j| {
                block.col_mut(j - cols.start).copy_from_slice(&kernel.col(j)[..count]);
            });
            block
        };
        let (mut own, mut cross) = (block(0..count), block(count..kernel.cols()));
        let means: Vec<f64> = (0..count).map(|j| vector::sum(own.col(j)) / count as f64).collect();
        let grand = vector::sum(&means) / count as f64;
        for j in 0..count {
            let shifts = means.iter().map(|mean| mean + means[j] - grand);
            own.col_mut(j).iter_mut().zip(shifts).for_each(|(entry, shift)| *entry -= shift);
        }
        for t in 0..cross.cols() {
            cross.col_mut(t).iter_mut().zip(&means).for_each(|(entry, mean)| *entry -= mean);
        }
        (own, cross)
    }

    /// Solves a small dense linear system by elimination with pivoting.
    fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        let m = b.len();
        for k in 0..m {
            let pivot = (k..m).max_by(|&x, &y| a[x][k].abs().total_cmp(&a[y][k].abs())).unwrap();
            a.swap(k, pivot);
            b.swap(k, pivot);
            for i in k + 1..m {
                let factor = a[i][k] / a[k][k];
                let pivot_row = a[k].clone();
                a[i].iter_mut().zip(&pivot_row).for_each(|(x, p)| *x -= factor * p);
                b[i] -= factor * b[k];
            }
        }
        for k in (0..m).rev() {
            b[k] = (b[k] - (k + 1..m).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
        }
        b
    }

    /// The minimiser of column `i`, by trying every support.
    fn by_enumeration(problem: &Quadratic<'_>, i: usize) -> Vec<f64> {
        let n = problem.anchors();
        let mut pull = vec![0.0; n];
        problem.linear_columns(&[i], &mut pull).unwrap();
        let value = |z: &[f64]| {
            let mut f = 0.0;
            for a in 0..n {
                for b in 0..n {
                    f += z[a] * problem.kernel.get(a, b) * z[b];
                }
                f += problem.alpha * z[a] * z[a]
                    + 2.0 * (pull[a] - problem.kernel.get(a, problem.pivot(i))) * z[a];
            }
            f
        };
        let mut best = (f64::INFINITY, Vec::new());
        for mask in 1u32..1 << n {
            let support: Vec<usize> = (0..n).filter(|k| mask >> k & 1 == 1).collect();
            let m = support.len();
            let mut a = vec![vec![0.0; m + 1]; m + 1];
            let mut b = vec![0.0; m + 1];
            for (x, &row) in support.iter().enumerate() {
                for (y, &col) in support.iter().enumerate() {
                    a[x][y] = problem.kernel.get(row, col);
                }
                a[x][x] += problem.alpha;
                a[x][m] = 1.0;
                a[m][x] = 1.0;
                b[x] = problem.kernel.get(row, problem.pivot(i)) - pull[row];
            }
            b[m] = 1.0;
            let solution = eliminate(a, b);
            if solution[..m].iter().all(|&v| v >= -1e-12) {
                let mut z = vec![0.0; n];
                support.iter().zip(&solution).for_each(|(&row, &v)| z[row] = v);
                let f = value(&z);
                if f < best.0 {
                    best = (f, z);
                }
            }
        }
        best.1
    }

    fn dense(column: &Column, n: usize) -> Vec<f64> {
        let mut out = vec![0.0; n];
        column.scatter(&mut out);
        out
    }

    /// All methods, each forced to solve every column.
    fn methods(problem: &Quadratic<'_>) -> [(&'static str, Plan); 3] {
        let n = problem.anchors();
        let preconditioner = || {
            Some(monitor::idle(|monitor| {
                preconditioner::Preconditioner::new(problem, monitor).unwrap()
            }))
        };
        let full_support =
            monitor::idle(|monitor| full_support::FullSupport::new(problem, monitor).unwrap());
        assert!(full_support.is_some());
        let cg = Plan {
            widest: 0,
            limit: 0,
            start: 0,
            preconditioner: preconditioner(),
            full_support: None,
        };
        [
            (
                "active set",
                Plan { widest: n, limit: n, start: 3, preconditioner: None, full_support: None },
            ),
            (
                "full support",
                Plan {
                    widest: 0,
                    limit: 0,
                    start: 0,
                    preconditioner: preconditioner(),
                    full_support,
                },
            ),
            ("projected cg", cg),
        ]
    }

    #[test]
    fn the_inverse_alone_finds_columns_with_few_zeros() {
        // More samples than a panel of the factor.
        let (kernel, embedding) = random(300, 6, 9);
        for beta in [0.0, 0.3] {
            let pull = (beta > 0.0).then_some((beta, &embedding));
            let problem = Quadratic::new(square(&kernel), 20.0, pull, 1e-12).unwrap();
            monitor::idle(|monitor| {
                let inverse = full_support::FullSupport::new(&problem, monitor).unwrap().unwrap();
                let (mut z, mut b) = (vec![0.0; 300], vec![0.0; 300]);
                let mut zeros = 0;
                for i in 0..300 {
                    let found =
                        inverse.solve(&problem, i, &mut z, &mut Default::default(), monitor);
                    assert!(found.unwrap(), "column {i}");
                    problem.linear_columns(&[i], &mut b).unwrap();
                    zeros += z.iter().filter(|&&v| v == 0.0).count();
                    assert!((vector::sum(&z) - 1.0).abs() < 1e-14);
                    let gradient: Vec<f64> = (0..300)
                        .map(|row| {
                            let product = vector::dot(kernel.col(row), &z);
                            product + 20.0 * z[row] + b[row] - kernel.get(row, i)
                        })
                        .collect();
                    let gap = Quadratic::gap(&z, &gradient);
                    assert!(gap < 1e-13, "column {i}: gap {gap}");
                }
                assert!(zeros > 300 && zeros < 300 * 100, "{zeros} zeros");
            });
        }
    }

    #[test]
    fn all_methods_find_the_minimum_that_trying_every_support_finds() {
        for seed in 0..6 {
            for alpha in [1e-4, 0.02, 0.5] {
                let (kernel, embedding) = random(7, 3, seed);
                for beta in [0.0, 0.1] {
                    let pull = (beta > 0.0).then_some((beta, &embedding));
                    let problem = Quadratic::new(square(&kernel), alpha, pull, 1e-13).unwrap();
                    for (name, plan) in &methods(&problem) {
                        let solved = monitor::idle(|monitor| {
                            solve_as_planned(&problem, None, plan, monitor).unwrap()
                        });
                        assert!(solved.gap <= 1e-13, "{name}: gap {}", solved.gap);
                        // f is strongly convex.
                        let bound = (1e-13 / alpha).sqrt();
                        for (i, column) in solved.similarity.columns().iter().enumerate() {
                            let expected = by_enumeration(&problem, i);
                            for (a, b) in dense(column, 7).iter().zip(&expected) {
                                assert!((a - b).abs() < bound, "{name} alpha {alpha}: {a} and {b}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn targets_that_are_no_anchors_are_reconstructed_optimally() {
        for (n, anchors, dims) in [(40, 7, 3), (400, 150, 5)] {
            let (kernel, _) = random(n, dims, 11);
            let (own, cross) = split(&kernel, anchors);
            for alpha in [1e-4, 0.02, 5.0] {
                let blocks = Blocks { anchors: &own, targets: &cross };
                let problem = Quadratic::new(blocks, alpha, None, 1e-11).unwrap();
                let solved = monitor::idle(|monitor| solve(&problem, None, monitor).unwrap());
                assert!(solved.gap <= 1e-11, "alpha {alpha}: gap {}", solved.gap);
                assert_eq!(solved.similarity.anchors(), anchors);
                assert_eq!(solved.similarity.targets(), n - anchors);
                for (t, column) in solved.similarity.columns().iter().enumerate() {
                    // The certificate from the problem itself, in which there is no pivot.
                    let z = dense(column, anchors);
                    let gradient: Vec<f64> = (0..anchors)
                        .map(|i| vector::dot(own.col(i), &z) + alpha * z[i] - cross.get(i, t))
                        .collect();
                    assert!((vector::sum(&z) - 1.0).abs() < 1e-12);
                    let gap = Quadratic::gap(&z, &gradient);
                    assert!(gap <= 2e-11, "alpha {alpha}, target {t}: gap {gap}");
                    if anchors == 7 {
                        let expected = by_enumeration(&problem, t);
                        let distance = |(a, b): (&f64, &f64)| (a - b).abs();
                        let most = z.iter().zip(&expected).map(distance).fold(0.0, f64::max);
                        assert!(most < (2e-11 / alpha).sqrt(), "alpha {alpha}: {most}");
                    }
                }
            }
        }
    }

    #[test]
    fn anchors_given_as_targets_are_reconstructed_as_in_a_fit() {
        let n = 150;
        let (kernel, _) = random(n, 4, 12);
        let copy = kernel.clone();
        for alpha in [1e-3, 0.1, 10.0] {
            let fit = Quadratic::new(square(&kernel), alpha, None, 1e-12).unwrap();
            let blocks = Blocks { anchors: &kernel, targets: &copy };
            let cross = Quadratic::new(blocks, alpha, None, 1e-12).unwrap();
            let [fit, cross] =
                [fit, cross].map(|problem| monitor::idle(|m| solve(&problem, None, m).unwrap()));
            for (a, b) in fit.similarity.columns().iter().zip(cross.similarity.columns()) {
                let (a, b) = (dense(a, n), dense(b, n));
                let distance2: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum();
                assert!(distance2 <= 4.0 * 1e-12 / alpha, "alpha {alpha}: {distance2}");
            }
        }
    }

    #[test]
    fn a_long_projected_gradient_run_finds_nothing_better() {
        let n = 60;
        let (kernel, embedding) = random(n, 10, 5);
        for alpha in [1e-3, 0.1, 5.0] {
            let pull = Some((0.05, &embedding));
            let problem = Quadratic::new(square(&kernel), alpha, pull, 1e-11).unwrap();
            let solved = monitor::idle(|monitor| solve(&problem, None, monitor).unwrap());
            assert!(solved.gap <= 1e-11, "alpha {alpha}: gap {}", solved.gap);
            let i = 17;
            let mut pull = vec![0.0; n];
            problem.linear_columns(&[i], &mut pull).unwrap();
            let gradient = |z: &[f64], row: usize| {
                let product: f64 = (0..n).map(|j| kernel.get(row, j) * z[j]).sum();
                product + alpha * z[row] + pull[row] - kernel.get(row, i)
            };
            let mut z = vec![1.0 / n as f64; n];
            for _ in 0..200_000 / n {
                let step = 1.0 / (alpha + 30.0 * kernel.get(0, 0).abs().max(0.1));
                let g: Vec<f64> = (0..n).map(|row| gradient(&z, row)).collect();
                z.iter_mut().zip(&g).for_each(|(z, g)| *z -= step * g);
                // Projection by bisection on the level.
                let (mut low, mut high) = (-10.0, 10.0);
                for _ in 0..60 {
                    let level = 0.5 * (low + high);
                    let sum: f64 = z.iter().map(|z| (z - level).max(0.0)).sum();
                    if sum > 1.0 { low = level } else { high = level }
                }
                z.iter_mut().for_each(|z| *z = (*z - low).max(0.0));
            }
            let value = |z: &[f64]| -> f64 {
                (0..n).map(|row| z[row] * (gradient(z, row) + pull[row] - kernel.get(row, i))).sum()
            };
            let ours = dense(&solved.similarity.columns()[i], n);
            assert!(value(&ours) <= value(&z) + 1e-12, "{} and {}", value(&ours), value(&z));
        }
    }

    #[test]
    fn columns_lie_on_the_simplex_and_warm_starts_reach_the_same_point() {
        let n = 150;
        let (kernel, embedding) = random(n, 4, 9);
        for alpha in [1e-5, 1e-2, 1.0, 100.0] {
            let problem = Quadratic::new(square(&kernel), alpha, None, 1e-10).unwrap();
            let pulled =
                Quadratic::new(square(&kernel), alpha, Some((0.3, &embedding)), 1e-10).unwrap();
            let (cold, warm) = monitor::idle(|monitor| {
                let cold = solve(&problem, None, monitor).unwrap();
                let other = solve(&pulled, Some(&cold.similarity), monitor).unwrap();
                let warm = solve(&problem, Some(&other.similarity), monitor).unwrap();
                (cold, warm)
            });
            assert!(
                cold.gap <= 1e-10 && warm.gap <= 1e-10,
                "alpha {alpha}: {} {}",
                cold.gap,
                warm.gap
            );
            for (a, b) in cold.similarity.columns().iter().zip(warm.similarity.columns()) {
                let (a, b) = (dense(a, n), dense(b, n));
                assert!((a.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(a.iter().all(|&v| v >= 0.0));
                let distance2: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum();
                // f is strongly convex: |a − b|² is at most twice the gap over alpha.
                assert!(distance2 <= 4.0 * 1e-10 / alpha, "alpha {alpha}: {distance2}");
            }
            assert!(cold.gap <= 1e-10 && warm.gap <= 1e-10);
        }
    }

    #[test]
    fn results_have_the_same_bits_for_any_number_of_threads() {
        let (kernel, embedding) = random(200, 5, 3);
        for alpha in [1e-3, 1.0] {
            let pull = Some((0.1, &embedding));
            let problem = Quadratic::new(square(&kernel), alpha, pull, 1e-9).unwrap();
            let mut solved = [1, 2, 8].map(|threads| {
                monitor::idle_on(threads, |monitor| {
                    solve(&problem, None, monitor).unwrap().similarity
                })
            });
            solved.sort_by_key(Similarity::nnz);
            assert!(solved[0] == solved[1] && solved[1] == solved[2]);
        }
    }
}
