//! The leading part of the kernel, K ≈ GGᵀ + σI with few columns, as a preconditioner.
//!
//! Kernels have few large eigenvalues. With them known, (αI + K)_SS is inverted on any support S
//! up to the small ones by the Woodbury identity,
//!
//! ```text
//! (sI + G_S G_Sᵀ)⁻¹ = (I − G_S C⁻¹ G_Sᵀ)/s,   C = sI + G_Sᵀ G_S,   s = α + σ,
//! ```
//!
//! where C has as many rows as G has columns, and follows a change of S entry by entry.

use super::Quadratic;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::memory;
use crate::monitor::Monitor;
use crate::spectral::eigen::{Vectors, decompose};
use crate::vector::{self, LANES, vectorized};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par, Spec};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

/// Most columns of G. Where eigenvalues fall slowly, more of them cost more than they save (TR45,
/// α = 0.01: 24 takes two thirds of the time of 48); where they fall fast, fewer are needed.
const MOST: usize = 24;

/// Passes of the subspace iteration: the eigenpairs need not be accurate.
const PASSES: usize = 3;

/// Rounds of dropping negative entries before a direction is projected as it is.
const MOST_PURGES: usize = 8;

/// Rounds of taking back what the model wants back. Solving the model to its end costs less than
/// another product with the kernel.
const MOST_ROUNDS: usize = 8;

/// K ≈ GGᵀ + σI.
pub(super) struct Preconditioner {
    /// G, sample by sample.
    rows: Vectors,
    /// G, column by column.
    columns: Matrix,
    /// α, and what stands for the rest of K.
    shift: f64,
}

impl Preconditioner {
    pub(super) fn new(problem: &Quadratic<'_>, monitor: &Monitor<'_>) -> Result<Self> {
        let n = problem.anchors();
        let width = MOST.min(n);
        let mut basis = Vectors::zeros(n, width)?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0x1EAD);
        for value in basis.values_mut() {
            *value = (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        }
        for _ in 0..PASSES {
            monitor.go_on()?;
            basis = apply(problem.kernel, &basis)?.orthonormalized(monitor)?.0;
            if basis.width() == 0 {
                break;
            }
        }
        let mut rest = 0.0;
        if basis.width() > 0 {
            let (values, vectors) =
                decompose(basis.inner(&apply(problem.kernel, &basis)?)?.as_ref())?;
            // What is far below α is no trouble to the iteration; the smallest of a full basis
            // stands for all that did not fit.
            let small = values.iter().filter(|&&v| v <= 0.003 * problem.alpha).count();
            let first = if values.len() == MOST { small.max(1) } else { small };
            rest = if first > 0 { values[first - 1].max(0.0) } else { 0.0 };
            let rank = values.len() - first;
            let mut scaled = memory::mat(values.len(), rank, "preconditioner")?;
            for k in 0..rank {
                for i in 0..values.len() {
                    scaled[(i, k)] = vectors[(i, first + k)] * (values[first + k] - rest).sqrt();
                }
            }
            basis = if rank == 0 {
                Vectors::default()
            } else {
                basis.combine(scaled.as_ref(), None)?
            };
        }
        let mut columns = Matrix::zeros(n, basis.width(), "preconditioner")?;
        for k in 0..basis.width() {
            let column = columns.col_mut(k).iter_mut();
            column.enumerate().for_each(|(i, value)| *value = basis.row(i)[k]);
        }
        Ok(Self { rows: basis, columns, shift: problem.alpha + rest })
    }

    fn row(&self, i: usize) -> &[f64] {
        self.rows.row(i)
    }

    fn rank(&self) -> usize {
        self.rows.width()
    }
}

/// kernel · x.
pub(super) fn apply(kernel: &Matrix, x: &Vectors) -> Result<Vectors> {
    const CHUNK: usize = 64;
    let (n, width) = (x.samples(), x.width());
    let mut y = Vectors::zeros(n, width)?;
    y.values_mut().par_chunks_mut(CHUNK * width).enumerate().for_each(|(chunk, out)| {
        let count = out.len() / width;
        let columns = kernel.view().subcols(chunk * CHUNK, count);
        let out = MatMut::from_column_major_slice_mut(out, width, count);
        matmul(out, Accum::Replace, x.view(), columns, 1.0, Par::Seq);
    });
    Ok(y)
}

/// A support with its C, kept up to date: minimises the model of the objective in which the
/// kernel is its leading part.
pub(super) struct SupportModel {
    /// 1 for each sample of the support, 0 for the others, and how many there are.
    free: Vec<f64>,
    count: usize,
    /// C, its factor, and the sum of the rows of G in the support.
    gram: Vec<f64>,
    factor: Vec<f64>,
    sums: Vec<f64>,
    /// Right-hand sides and solutions.
    first: Vec<f64>,
    second: Vec<f64>,
    scratch: MemBuffer,
}

/// Vectors of n entries that the columns of a group use one after the other.
pub(super) struct Workspace {
    /// Gradient above the level on the support, what leaves outside of it.
    slope: Vec<f64>,
    /// G·(Gᵀd).
    image: Vec<f64>,
    terms: Vec<(f64, usize)>,
    /// Rows of G.
    rows: Vec<f64>,
    /// 1 for each sample that is to be in the support, 0 for the others.
    wanted: Vec<f64>,
}

impl Workspace {
    pub(super) fn new(preconditioner: &Preconditioner, samples: usize) -> Result<Self> {
        Ok(Self {
            slope: memory::filled(samples, 0.0, "preconditioner")?,
            image: memory::filled(samples, 0.0, "preconditioner")?,
            terms: memory::with_capacity(preconditioner.rank(), "preconditioner")?,
            rows: memory::with_capacity(samples * preconditioner.rank(), "preconditioner")?,
            wanted: memory::filled(samples, 0.0, "preconditioner")?,
        })
    }
}

impl SupportModel {
    pub(super) fn new(preconditioner: &Preconditioner, samples: usize) -> Result<Self> {
        let rank = preconditioner.rank();
        let mut gram = memory::filled(rank * rank, 0.0, "preconditioner")?;
        (0..rank).for_each(|k| gram[k * rank + k] = preconditioner.shift);
        let request =
            llt::factor::cholesky_in_place_scratch::<f64>(rank, Par::Seq, Spec::default())
                .or(llt::solve::solve_in_place_scratch::<f64>(rank, 1, Par::Seq));
        Ok(Self {
            free: memory::filled(samples, 0.0, "preconditioner")?,
            count: 0,
            gram,
            factor: memory::filled(rank * rank, 0.0, "preconditioner")?,
            sums: memory::filled(rank, 0.0, "preconditioner")?,
            first: memory::filled(rank, 0.0, "preconditioner")?,
            second: memory::filled(rank, 0.0, "preconditioner")?,
            scratch: memory::scratch(request, "preconditioner")?,
        })
    }

    /// The minimiser z + d of the model on the simplex: d is sought on the samples that are
    /// positive or want to be; those that come out negative are dropped until none does, those that
    /// the model's gradient then asks for are taken back, and so on. Leaves d in `direction`;
    /// returns whether the support is the same as in the last call and did not change in this one.
    pub(super) fn minimise(
        &mut self,
        preconditioner: &Preconditioner,
        z: &[f64],
        gradient: &[f64],
        direction: &mut [f64],
        work: &mut Workspace,
    ) -> bool {
        let (sum, positive) = vector::sum_where_positive(gradient, z);
        let level = sum / positive as f64;
        want_downhill(z, gradient, level, &mut work.wanted);
        let mut same = !self.choose(preconditioner, work);
        for _ in 0..MOST_ROUNDS {
            let mut kappa = 0.0;
            for _ in 0..MOST_PURGES {
                kappa = self.solve_model(preconditioner, z, gradient, level, work);
                let (top, scale) = (kappa + level, 1.0 / preconditioner.shift);
                let inside = Inside { gradient, image: &work.image, top, scale };
                let least = place(&self.free, z, inside, direction, &mut work.wanted);
                if least >= 0.0 {
                    break;
                }
                same = false;
                self.choose(preconditioner, work);
            }
            let highest = kappa + level - 1e-12 * preconditioner.shift;
            let outside =
                Outside { gradient, image: &work.image, shift: preconditioner.shift, highest };
            want_back(&self.free, z, outside, &mut work.wanted);
            if !self.choose(preconditioner, work) {
                break;
            }
            same = false;
        }
        same
    }

    /// Puts the samples that are wanted into the support and the others out of it; returns whether
    /// that is a change.
    fn choose(&mut self, preconditioner: &Preconditioner, work: &mut Workspace) -> bool {
        let rank = preconditioner.rank();
        let (changes, count) = compare(&work.wanted, &self.free);
        if changes == 0 {
            return false;
        }
        self.count = count;
        if changes > count / 4 {
            // One product is faster than as many updates.
            self.free.copy_from_slice(&work.wanted);
            work.rows.clear();
            for (i, _) in self.free.iter().enumerate().filter(|(_, free)| **free > 0.0) {
                work.rows.extend_from_slice(preconditioner.row(i));
            }
            let rows = MatRef::from_column_major_slice(&work.rows, rank, count);
            let gram = MatMut::from_column_major_slice_mut(&mut self.gram, rank, rank);
            matmul(gram, Accum::Replace, rows, rows.transpose(), 1.0, Par::Seq);
            (0..rank).for_each(|k| self.gram[k * rank + k] += preconditioner.shift);
            self.sums.fill(0.0);
            work.rows
                .chunks_exact(rank.max(1))
                .for_each(|row| vector::axpy(1.0, row, &mut self.sums));
        } else {
            for i in 0..self.free.len() {
                let change = work.wanted[i] - self.free[i];
                if change != 0.0 {
                    self.free[i] = work.wanted[i];
                    self.update(preconditioner.row(i), change);
                }
            }
        }
        self.factorize(rank);
        true
    }

    /// Adds a row of G to C, or takes it out.
    fn update(&mut self, row: &[f64], sign: f64) {
        vector::axpy(sign, row, &mut self.sums);
        for (k, column) in self.gram.chunks_exact_mut(row.len().max(1)).enumerate() {
            vector::axpy(sign * row[k], row, column);
        }
    }

    fn factorize(&mut self, rank: usize) {
        if rank == 0 {
            return;
        }
        self.factor.copy_from_slice(&self.gram);
        let factor = MatMut::from_column_major_slice_mut(&mut self.factor, rank, rank);
        let stack = MemStack::new(&mut self.scratch);
        let regularization = Default::default();
        let spec = Spec::default();
        if llt::factor::cholesky_in_place(factor, regularization, Par::Seq, stack, spec).is_err() {
            // Rounding of many updates has spoilt C. A factor so large leaves the gradient.
            self.factor.fill(0.0);
            (0..rank).for_each(|k| self.factor[k * rank + k] = 1e150);
        }
    }

    /// Leaves G·(Gᵀd) in the workspace, where d = (κ1 − φ − G·Gᵀd)/s on the support, φ being the
    /// gradient above `level`, and d = −z elsewhere, with a sum of zero; returns κ.
    fn solve_model(
        &mut self,
        preconditioner: &Preconditioner,
        z: &[f64],
        gradient: &[f64],
        level: f64,
        work: &mut Workspace,
    ) -> f64 {
        let (rank, shift) = (preconditioner.rank(), preconditioner.shift);
        let (total, missing) = slopes(&self.free, z, gradient, (level, shift), &mut work.slope);
        for k in 0..rank {
            self.first[k] = -vector::dot(preconditioner.columns.col(k), &work.slope);
        }
        self.second.copy_from_slice(&self.sums);
        if rank > 0 {
            let factor = MatRef::from_column_major_slice(&self.factor, rank, rank);
            for side in [&mut self.first, &mut self.second] {
                let side = MatMut::from_column_major_slice_mut(side, rank, 1);
                let stack = MemStack::new(&mut self.scratch);
                llt::solve::solve_in_place(factor, side, Par::Seq, stack);
            }
        }
        let rest = self.count as f64 - vector::dot(&self.sums, &self.second);
        let kappa = (shift * missing + total + vector::dot(&self.sums, &self.first)) / rest;
        vector::axpy(kappa, &self.second, &mut self.first);
        work.terms.clear();
        work.terms.extend(self.first.iter().copied().zip(0..rank));
        work.image.fill(0.0);
        let columns = preconditioner.columns.values();
        vector::axpy_columns(&work.terms, columns, z.len(), 0, &mut work.image);
        kappa
    }
}

/// What d is made of on the support: (top − gradient − image)·scale.
#[derive(Clone, Copy)]
struct Inside<'c> {
    gradient: &'c [f64],
    image: &'c [f64],
    top: f64,
    scale: f64,
}

/// The model's gradient where d = −z: gradient − shift·z + image. It is `highest` on the support, but
/// for rounding.
#[derive(Clone, Copy)]
struct Outside<'c> {
    gradient: &'c [f64],
    image: &'c [f64],
    shift: f64,
    highest: f64,
}

vectorized! {
    /// Wants what is positive, or lower than the level.
    fn want_downhill<'a>(z: &'a [f64], gradient: &'a [f64], level: f64, wanted: &'a mut [f64]) -> () {
        let (z, gradient) = (&z[..wanted.len()], &gradient[..wanted.len()]);
        for i in 0..wanted.len() {
            wanted[i] = if (z[i] > 0.0) | (gradient[i] < level) { 1.0 } else { 0.0 };
        }
    }
}

vectorized! {
    /// Writes d, and wants those of the support that it leaves non-negative; returns the least z + d.
    fn place<'a>(
        free: &'a [f64],
        z: &'a [f64],
        inside: Inside<'a>,
        direction: &'a mut [f64],
        wanted: &'a mut [f64]
    ) -> f64 {
        let n = direction.len();
        let (free, z, wanted) = (&free[..n], &z[..n], &mut wanted[..n]);
        let (gradient, image) = (&inside.gradient[..n], &inside.image[..n]);
        for i in 0..n {
            let value = (inside.top - gradient[i] - image[i]) * inside.scale;
            direction[i] = if free[i] > 0.0 { value } else { -z[i] };
            wanted[i] = if (free[i] > 0.0) & (z[i] + direction[i] >= 0.0) { 1.0 } else { 0.0 };
        }
        let mut least: f64 = 0.0;
        for i in 0..n {
            let value = z[i] + direction[i];
            least = if value < least { value } else { least };
        }
        least
    }
}

vectorized! {
    /// Wants the support, and what the model's gradient asks for.
    fn want_back<'a>(
        free: &'a [f64],
        z: &'a [f64],
        outside: Outside<'a>,
        wanted: &'a mut [f64]
    ) -> () {
        let n = wanted.len();
        let (free, z) = (&free[..n], &z[..n]);
        let (gradient, image) = (&outside.gradient[..n], &outside.image[..n]);
        for i in 0..n {
            let slope = gradient[i] - outside.shift * z[i] + image[i];
            wanted[i] = if (free[i] > 0.0) | (slope < outside.highest) { 1.0 } else { 0.0 };
        }
    }
}

vectorized! {
    /// In how many entries the two differ, and how many are wanted.
    fn compare<'a>(wanted: &'a [f64], free: &'a [f64]) -> (usize, usize) {
        let (mut changes, mut count) = ([0.0; LANES], [0.0; LANES]);
        let (wants, rest) = pulp::as_arrays::<LANES, _>(wanted);
        let (frees, other) = pulp::as_arrays::<LANES, _>(&free[..wanted.len()]);
        let frees = &frees[..wants.len()];
        for i in 0..wants.len() {
            for k in 0..LANES {
                changes[k] += (wants[i][k] - frees[i][k]).abs();
                count[k] += wants[i][k];
            }
        }
        for i in 0..rest.len() {
            changes[i] += (rest[i] - other[i]).abs();
            count[i] += rest[i];
        }
        (changes.iter().sum::<f64>() as usize, count.iter().sum::<f64>() as usize)
    }
}

vectorized! {
    /// Writes the gradient above the level on the support and shift·z outside of it; returns the sum of
    /// the former, and that of z outside.
    fn slopes<'a>(
        free: &'a [f64],
        z: &'a [f64],
        gradient: &'a [f64],
        level_and_shift: (f64, f64),
        slope: &'a mut [f64]
    ) -> (f64, f64) {
        let (level, shift) = level_and_shift;
        let n = slope.len();
        let (free, z, gradient) = (&free[..n], &z[..n], &gradient[..n]);
        let (mut total, mut missing) = ([0.0; LANES], [0.0; LANES]);
        let whole = n - n % LANES;
        for start in (0..whole).step_by(LANES) {
            for k in 0..LANES {
                let i = start + k;
                let inside = free[i] > 0.0;
                let above = gradient[i] - level;
                slope[i] = if inside { above } else { shift * z[i] };
                total[k] += if inside { above } else { 0.0 };
                missing[k] += if inside { 0.0 } else { z[i] };
            }
        }
        for i in whole..n {
            let inside = free[i] > 0.0;
            let above = gradient[i] - level;
            slope[i] = if inside { above } else { shift * z[i] };
            total[0] += if inside { above } else { 0.0 };
            missing[0] += if inside { 0.0 } else { z[i] };
        }
        (total.iter().sum(), missing.iter().sum())
    }
}
