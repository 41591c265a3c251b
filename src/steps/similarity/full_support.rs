//! Columns whose support is nearly everything: their zeros are the unknowns.
//!
//! K is centred, so with M the inverse of K + αI without its constant part, M1 = 0, the minimiser of
//! column j with a sum of 1 and no other constraint is
//!
//! ```text
//! z = e_j − M(αe_j + b_j),
//! ```
//!
//! and holding the entries N at zero adds Mλ, where λ is nonzero on N only and M_NN λ = −z_N. N is
//! changed in blocks: what is negative enters, what has a negative multiplier leaves, until neither
//! happens. One factorization and one product with the kernel, for the certificate, do what takes
//! conjugate gradients seven to nine products.

use super::Quadratic;
use super::factor::{Factor, SIDES, Sides};
use super::preconditioner::apply;
use crate::error::Result;
use crate::matrix::{Matrix, par_row_chunks};
use crate::memory;
use crate::monitor::Monitor;
use crate::spectral::eigen::Vectors;
use crate::vector;
use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, MatMut, Par, Spec};
use rayon::prelude::*;

/// Columns of the factor found together, and of the inverse by one task.
const PANEL: usize = 128;
const CHUNK: usize = 64;

/// Changes of the zeros after which a column is left to conjugate gradients.
const MOST_CHANGES: usize = 20;

/// M, and M times what the pull is made of.
pub(super) struct FullSupport {
    inverse: Matrix,
    /// β/4, and M(|p|², P), sample by sample.
    pull: Option<(f64, Vectors)>,
}

impl FullSupport {
    /// `None` if the matrix cannot be factorized.
    pub(super) fn new(problem: &Quadratic<'_>, monitor: &Monitor<'_>) -> Result<Option<Self>> {
        let n = problem.anchors();
        let Some(factor) = factorize(problem, monitor)? else { return Ok(None) };
        let mut inverse = Matrix::zeros(n, n, "inverse of the kernel")?;
        let factor = factor.view();
        inverse.values_mut().par_chunks_mut(CHUNK * n).enumerate().try_for_each(
            |(chunk, columns)| {
                monitor.go_on()?;
                columns.fill(-1.0 / n as f64);
                let count = columns.len() / n;
                for (k, column) in columns.chunks_exact_mut(n).enumerate() {
                    column[chunk * CHUNK + k] += 1.0;
                }
                let mut columns = MatMut::from_column_major_slice_mut(columns, n, count);
                solve_lower_triangular_in_place(factor, columns.as_mut(), Par::Seq);
                solve_upper_triangular_in_place(factor.transpose(), columns.as_mut(), Par::Seq);
                Ok(())
            },
        )?;
        let pull = match problem.pull {
            None => None,
            Some((beta, embedding)) => {
                let mut parts = Vectors::zeros(n, 1 + embedding.cols())?;
                for (i, row) in parts.rows_mut().enumerate() {
                    for k in 0..embedding.cols() {
                        row[1 + k] = embedding.get(i, k);
                        row[0] += row[1 + k] * row[1 + k];
                    }
                }
                Some((0.25 * beta, apply(&inverse, &parts)?))
            }
        };
        Ok(Some(Self { inverse, pull }))
    }

    /// The minimiser of the column of sample `j`, to rounding. Returns whether it was found; if not,
    /// what is there is on the simplex.
    pub(super) fn solve(
        &self,
        problem: &Quadratic<'_>,
        j: usize,
        z: &mut [f64],
        zeros: &mut Zeros,
        monitor: &Monitor<'_>,
    ) -> Result<bool> {
        let n = z.len();
        for (z, m) in z.iter_mut().zip(self.inverse.col(j)) {
            *z = -problem.alpha * m;
        }
        z[j] += 1.0;
        if let (Some((quarter, images)), Some((_, embedding))) = (&self.pull, problem.pull) {
            memory::refill(&mut zeros.own, embedding.cols(), 0.0, "pull of the embedding")?;
            zeros.own.iter_mut().enumerate().for_each(|(k, own)| *own = embedding.get(j, k));
            for (z, image) in z.iter_mut().zip(images.rows()) {
                *z -= quarter * (image[0] - 2.0 * vector::dot(&image[1..], &zeros.own));
            }
        }
        memory::refill(&mut zeros.free, n, 0.0, "columns of Z")?;
        zeros.free.copy_from_slice(z);
        let found = zeros.settle(&self.inverse, z, monitor)?;
        z.iter_mut().for_each(|value| *value = value.max(0.0));
        let total = vector::sum(z);
        if !(total > 0.0 && total.is_finite()) {
            // An inverse spoilt by rounding.
            z.fill(1.0 / n as f64);
            return Ok(false);
        }
        z.iter_mut().for_each(|value| *value /= total);
        Ok(found)
    }
}

/// L with LLᵀ = K + αI in its lower triangle, panel by panel.
fn factorize(problem: &Quadratic<'_>, monitor: &Monitor<'_>) -> Result<Option<Matrix>> {
    let n = problem.anchors();
    let mut factor = Matrix::zeros(n, n, "inverse of the kernel")?;
    factor.values_mut().par_chunks_mut(n).enumerate().for_each(|(j, column)| {
        column[j..].copy_from_slice(&problem.kernel.col(j)[j..]);
        column[j] += problem.alpha;
    });
    let spec = Spec::default();
    let request = llt::factor::cholesky_in_place_scratch::<f64>(PANEL, Par::Seq, spec);
    let mut scratch = memory::scratch(request, "inverse of the kernel")?;
    for start in (0..n).step_by(PANEL) {
        monitor.go_on()?;
        let (width, end) = (PANEL.min(n - start), (start + PANEL).min(n));
        let (panel, rest) = factor.values_mut().split_at_mut(end * n);
        let panel = &mut panel[start * n..];
        let mut panel = MatMut::from_column_major_slice_mut(panel, n, width);
        let (mut top, mut low) =
            panel.as_mut().subrows_mut(start, n - start).split_at_row_mut(width);
        let stack = MemStack::new(&mut scratch);
        let regularization = Default::default();
        let whole =
            llt::factor::cholesky_in_place(top.as_mut(), regularization, Par::Seq, stack, spec);
        if whole.is_err() {
            return Ok(None);
        }
        let top = top.as_ref();
        par_row_chunks(low.as_mut(), PANEL, &|rows| {
            solve_lower_triangular_in_place(top, rows.transpose_mut(), Par::Seq);
            Ok(())
        })?;
        let low = low.as_ref();
        rest.par_chunks_mut(CHUNK * n).enumerate().for_each(|(chunk, columns)| {
            let (first, count) = (chunk * CHUNK, columns.len() / n);
            let columns = MatMut::from_column_major_slice_mut(columns, n, count);
            let columns = columns.subrows_mut(end + first, n - end - first);
            let rows = low.subrows(first, count).transpose();
            let below = low.subrows(first, n - end - first);
            matmul(columns, Accum::Add, below, rows, -1.0, Par::Seq);
        });
    }
    Ok(Some(factor))
}

/// The entries of a column that are held at zero.
#[derive(Default)]
pub(super) struct Zeros {
    /// The minimiser that holds none.
    free: Vec<f64>,
    held: Vec<usize>,
    next: Vec<usize>,
    multipliers: Vec<f64>,
    factor: Factor,
    sides: Sides,
    own: Vec<f64>,
}

impl Zeros {
    /// Finds the zeros of the column whose free minimiser is there, and leaves it in `z`.
    fn settle(&mut self, inverse: &Matrix, z: &mut [f64], monitor: &Monitor<'_>) -> Result<bool> {
        let n = z.len();
        self.held.clear();
        self.multipliers.clear();
        for _ in 0..MOST_CHANGES {
            // Held entries are exactly 0 here, others may have turned negative.
            self.next.clear();
            memory::reserve(&mut self.next, n, "columns of Z")?;
            let mut multipliers = self.held.iter().zip(&self.multipliers).peekable();
            for (i, value) in z.iter().enumerate() {
                let multiplier = multipliers.next_if(|(held, _)| **held == i);
                if multiplier.map_or(*value < 0.0, |(_, multiplier)| *multiplier > 0.0) {
                    self.next.push(i);
                }
            }
            if self.next == self.held {
                return Ok(true);
            }
            std::mem::swap(&mut self.held, &mut self.next);
            if self.held.len() > n / 2 || !self.solve_multipliers(inverse, monitor)? {
                return Ok(false);
            }
            z.copy_from_slice(&self.free);
            for (&i, &multiplier) in self.held.iter().zip(&self.multipliers) {
                vector::axpy(multiplier, inverse.col(i), z);
            }
            self.held.iter().for_each(|&i| z[i] = 0.0);
        }
        Ok(false)
    }

    /// M_NN λ = −z_N. False if that cannot be solved.
    fn solve_multipliers(&mut self, inverse: &Matrix, monitor: &Monitor<'_>) -> Result<bool> {
        let order = self.held.len();
        self.factor.clear();
        for start in (0..order).step_by(SIDES) {
            monitor.go_on()?;
            let count = SIDES.min(order - start);
            memory::refill(&mut self.sides, start + count, [0.0; SIDES], "multipliers")?;
            let mut diagonal = [0.0; SIDES];
            for (k, diagonal) in diagonal.iter_mut().enumerate().take(count) {
                let column = inverse.col(self.held[start + k]);
                for (side, &i) in self.sides.iter_mut().zip(&self.held[..start + k]) {
                    side[k] = column[i];
                }
                *diagonal = column[self.held[start + k]];
            }
            if !self.factor.append(&mut self.sides, &diagonal[..count])? {
                return Ok(false);
            }
        }
        memory::refill(&mut self.sides, order, [0.0; SIDES], "multipliers")?;
        for (side, &i) in self.sides.iter_mut().zip(&self.held) {
            side[0] = -self.free[i];
        }
        self.factor.forward(0, 0, &mut self.sides);
        self.multipliers.clear();
        memory::reserve(&mut self.multipliers, order, "multipliers")?;
        self.multipliers.extend(self.sides.iter().map(|side| side[0]));
        self.factor.backward(&mut self.multipliers);
        Ok(true)
    }
}
