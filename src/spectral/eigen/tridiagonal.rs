//! A symmetric matrix as QTQᵀ with T tridiagonal, by Householder reflections.
//!
//! The usual blocked reduction: the reflections of a panel of columns are applied to the rest of the
//! matrix in one product. Half of the work is a product of the matrix with one vector for each
//! column, limited by the memory, and shared among threads here; between columns it can be stopped.
//! (faer's reduction takes 0.35 s for 1000 rows, on one thread and without a way out.)

use crate::error::Result;
use crate::matrix::{Matrix, par_row_chunks};
use crate::memory;
use crate::monitor::Monitor;
use crate::vector;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Columns whose reflections are applied together.
const PANEL: usize = 32;

/// Columns handled by one task at least: one takes less time than a task for a few.
const CHUNK: usize = 64;

/// Vectors to which all reflections are applied by one task.
const VECTORS: usize = 8;

/// Q and T.
pub(super) struct Tridiagonal {
    pub(super) diagonal: Vec<f64>,
    pub(super) below: Vec<f64>,
    /// Column k holds, below the diagonal, the vector v of reflection I − τvvᵀ; its first entry
    /// is 1.
    reflections: Matrix,
    factors: Vec<f64>,
}

impl Tridiagonal {
    /// Of a matrix of which only the lower triangle is read.
    pub(super) fn new(lower: MatRef<'_, f64>, monitor: &Monitor<'_>) -> Result<Self> {
        let n = lower.nrows();
        let mut rest = Matrix::zeros(n, n, "eigendecomposition")?;
        for j in 0..n {
            for i in j..n {
                rest.col_mut(j)[i] = lower[(i, j)];
                rest.col_mut(i)[j] = lower[(i, j)];
            }
        }
        let mut diagonal = memory::filled(n, 0.0, "eigendecomposition")?;
        let mut below = memory::filled(n.saturating_sub(1), 0.0, "eigendecomposition")?;
        let mut factors = memory::filled(n, 0.0, "eigendecomposition")?;
        let mut panel = Panel::new(n)?;
        let mut column = memory::filled(n, 0.0, "eigendecomposition")?;
        for k in 0..n {
            monitor.go_on()?;
            column[k..].copy_from_slice(&rest.col(k)[k..]);
            panel.bring_up_to_date(k, &mut column);
            diagonal[k] = column[k];
            if k + 1 == n {
                break;
            }
            let (end, factor) = reflect(&mut column[k + 1..]);
            below[k] = end;
            factors[k] = factor;
            panel.append(&rest, k + 1, &column, factor);
            rest.col_mut(k)[k + 1..].copy_from_slice(&column[k + 1..]);
            if panel.width == PANEL {
                panel.apply(&mut rest, k + 1);
            }
        }
        Ok(Self { diagonal, below, reflections: rest, factors })
    }

    /// Multiplies with Q from the left.
    pub(super) fn rotate(&self, vectors: &mut Mat<f64>, monitor: &Monitor<'_>) -> Result<()> {
        let n = self.diagonal.len();
        par_row_chunks(vectors.as_mut().transpose_mut(), VECTORS, &|chunk| {
            let mut chunk = chunk.transpose_mut();
            for k in (0..n.saturating_sub(1)).rev() {
                let (v, factor) = (&self.reflections.col(k)[k + 1..], self.factors[k]);
                for vector in chunk.as_mut().col_iter_mut() {
                    if let Some(vector) = vector.try_as_col_major_mut() {
                        let vector = &mut vector.as_slice_mut()[k + 1..];
                        vector::axpy(-factor * vector::dot(v, vector), v, vector);
                    }
                }
            }
            monitor.go_on()
        })
    }
}

/// Turns x into the vector v, v₀ = 1, of the reflection I − τvvᵀ that leaves of x only its first
/// entry; returns that entry and τ.
fn reflect(x: &mut [f64]) -> (f64, f64) {
    let first = x[0];
    let tail2 = vector::dot(&x[1..], &x[1..]);
    if tail2 == 0.0 {
        x.fill(0.0);
        x[0] = 1.0;
        return (first, 0.0);
    }
    let end = -(first * first + tail2).sqrt().copysign(first);
    let scale = 1.0 / (first - end);
    x[1..].iter_mut().for_each(|value| *value *= scale);
    x[0] = 1.0;
    (end, (end - first) / end)
}

/// Reflections that have not been applied yet: the matrix still lacks −VWᵀ − WVᵀ.
struct Panel {
    v: Matrix,
    w: Matrix,
    width: usize,
}

impl Panel {
    fn new(n: usize) -> Result<Self> {
        let v = Matrix::zeros(n, PANEL, "eigendecomposition")?;
        let w = Matrix::zeros(n, PANEL, "eigendecomposition")?;
        Ok(Self { v, w, width: 0 })
    }

    /// Applies the reflections to column `k`, from the diagonal on.
    fn bring_up_to_date(&self, k: usize, column: &mut [f64]) {
        for i in 0..self.width {
            let (v, w) = (&self.v.col(i)[k..], &self.w.col(i)[k..]);
            vector::axpy(-w[0], v, &mut column[k..]);
            vector::axpy(-v[0], w, &mut column[k..]);
        }
    }

    /// Appends the reflection I − τvvᵀ, v from row `start` on.
    fn append(&mut self, rest: &Matrix, start: usize, v: &[f64], factor: f64) {
        let (old, v) = (self.width, &v[start..]);
        self.v.col_mut(old).fill(0.0);
        self.v.col_mut(old)[start..].copy_from_slice(v);
        self.w.col_mut(old).fill(0.0);
        let (before, w) = self.w.values_mut().split_at_mut(old * rest.rows());
        let w = &mut w[start..rest.rows()];
        w.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(|(j, w)| {
            *w = vector::dot(&rest.col(start + j)[start..], v);
        });
        for (i, earlier_w) in before.chunks_exact(rest.rows()).enumerate() {
            let (earlier_v, earlier_w) = (&self.v.col(i)[start..], &earlier_w[start..]);
            let (along_v, along_w) = (vector::dot(earlier_v, v), vector::dot(earlier_w, v));
            vector::axpy(-along_w, earlier_v, w);
            vector::axpy(-along_v, earlier_w, w);
        }
        w.iter_mut().for_each(|value| *value *= factor);
        vector::axpy(-0.5 * factor * vector::dot(w, v), v, w);
        self.width += 1;
    }

    /// Applies the reflections to what is left of the matrix from row and column `start` on.
    fn apply(&mut self, rest: &mut Matrix, start: usize) {
        let n = rest.rows();
        let (v, w) =
            (self.v.view().subrows(start, n - start), self.w.view().subrows(start, n - start));
        let columns = &mut rest.values_mut()[start * n..];
        columns.par_chunks_mut(CHUNK * n).enumerate().for_each(|(chunk, out)| {
            let (first, count) = (chunk * CHUNK, out.len() / n);
            let mut out = MatMut::from_column_major_slice_mut(out, n, count);
            let mut out = out.as_mut().subrows_mut(start, n - start);
            for (a, b) in [(v, w), (w, v)] {
                let b = b.subrows(first, count).transpose();
                matmul(out.as_mut(), Accum::Add, a, b, -1.0, Par::Seq);
            }
        });
        self.width = 0;
    }
}
