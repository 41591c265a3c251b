//! A dense column-major matrix whose allocation can fail.

use crate::error::Result;
use crate::memory;
use faer::{MatMut, MatRef};
use rayon::prelude::*;
use std::fmt;

/// Rows and columns of the tiles in which a matrix is mirrored.
const TILE: usize = 32;

/// A dense matrix, column-major and contiguous.
#[derive(Clone, PartialEq)]
pub struct Matrix {
    values: Vec<f64>,
    rows: usize,
    cols: usize,
}

impl fmt::Debug for Matrix {
    /// Its size: the entries of one would fill many screens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Matrix({} x {})", self.rows, self.cols)
    }
}

impl Matrix {
    /// A matrix of zeros; `what` names it should memory run out.
    pub fn zeros(rows: usize, cols: usize, what: &'static str) -> Result<Self> {
        Ok(Self { values: memory::filled(rows * cols, 0.0, what)?, rows, cols })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All entries, column after column.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All entries, column after column.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Column `j`.
    pub fn col(&self, j: usize) -> &[f64] {
        &self.values[j * self.rows..(j + 1) * self.rows]
    }

    /// Column `j`.
    pub fn col_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.values[j * self.rows..(j + 1) * self.rows]
    }

    /// Entry (i, j).
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.values[i + j * self.rows]
    }

    /// A view for faer.
    pub(crate) fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.rows, self.cols)
    }

    /// A mutable view for faer.
    pub(crate) fn view_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_mut(&mut self.values, self.rows, self.cols)
    }
}

/// Works on the rows of a matrix, `size` at a time, on all threads.
pub(crate) fn par_row_chunks(
    matrix: MatMut<'_, f64>,
    size: usize,
    work: &(impl Fn(MatMut<'_, f64>) -> Result<()> + Sync),
) -> Result<()> {
    let chunks = matrix.nrows().div_ceil(size);
    if chunks <= 1 {
        return work(matrix);
    }
    let (upper, lower) = matrix.split_at_row_mut(chunks / 2 * size);
    let halves =
        rayon::join(|| par_row_chunks(upper, size, work), || par_row_chunks(lower, size, work));
    halves.0.and(halves.1)
}

/// Copies the lower triangle of a square matrix to the upper one.
pub(crate) fn mirror(values: &mut [f64], order: usize) {
    for first in (0..order).step_by(TILE) {
        let width = TILE.min(order - first);
        let (left, right) = values.split_at_mut((first + width) * order);
        let source = &mut left[first * order..];
        for j in 0..width {
            for i in j + 1..width {
                source[first + j + i * order] = source[first + i + j * order];
            }
        }
        let source = &*source;
        right.par_chunks_mut(order * TILE).enumerate().for_each(|(tile, target)| {
            let row = first + width + tile * TILE;
            for (i, column) in target.chunks_mut(order).enumerate() {
                for j in 0..width {
                    column[first + j] = source[row + i + j * order];
                }
            }
        });
    }
}
