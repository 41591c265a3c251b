//! A few vectors of length n side by side, stored sample by sample: the layout that both
//! sparse products (one contiguous row for each neighbour) and dense ones like.

use super::smallest_of;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::memory;
use crate::monitor::Monitor;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Samples handled by one task; sums over samples add up the tasks in order.
const CHUNK: usize = 512;

const WHAT: &str = "eigenvectors";

/// n×width, row-major.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    values: Vec<f64>,
    width: usize,
}

impl Vectors {
    pub(crate) fn zeros(samples: usize, width: usize) -> Result<Self> {
        Ok(Self { values: memory::filled(samples * width, 0.0, WHAT)?, width })
    }

    /// The columns of a matrix.
    pub(crate) fn from_columns(matrix: &Matrix) -> Result<Self> {
        let mut block = Self::zeros(matrix.rows(), matrix.cols())?;
        for (i, row) in block.rows_mut().enumerate() {
            row.iter_mut().enumerate().for_each(|(k, value)| *value = matrix.get(i, k));
        }
        Ok(block)
    }

    pub(crate) fn try_clone(&self) -> Result<Self> {
        let mut values = memory::with_capacity(self.values.len(), WHAT)?;
        values.extend_from_slice(&self.values);
        Ok(Self { values, width: self.width })
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn samples(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..][..self.width]
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.width)
    }

    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.values.chunks_exact_mut(self.width)
    }

    /// The squared length of each column.
    pub(crate) fn lengths2(&self) -> Result<Vec<f64>> {
        let mut sums = memory::filled(self.width, 0.0, WHAT)?;
        for row in self.rows() {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value * value);
        }
        Ok(sums)
    }

    /// The transpose, width×n column-major, for faer.
    pub(crate) fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.width, self.samples())
    }

    /// selfᵀ·other.
    pub(crate) fn inner(&self, other: &Self) -> Result<Mat<f64>> {
        let chunks = self.samples().div_ceil(CHUNK);
        let parts = memory::par_map(chunks, WHAT, |chunk| {
            let (first, rows) = (chunk * CHUNK, CHUNK.min(self.samples() - chunk * CHUNK));
            let own = self.view().subcols(first, rows);
            let others = other.view().subcols(first, rows).transpose();
            let mut product = memory::mat(self.width, other.width, WHAT)?;
            matmul(product.as_mut(), Accum::Replace, own, others, 1.0, Par::Seq);
            Ok(product)
        })?;
        let mut sum = memory::mat(self.width, other.width, WHAT)?;
        for part in parts.into_iter().flatten() {
            sum += part;
        }
        Ok(sum)
    }

    /// self·coefficients, or with `onto`, onto + factor·self·coefficients.
    pub(crate) fn combine(
        &self,
        coefficients: MatRef<'_, f64>,
        onto: Option<(&Self, f64)>,
    ) -> Result<Self> {
        let width = coefficients.ncols();
        let (mut out, factor) = match onto {
            Some((onto, factor)) => (onto.try_clone()?, factor),
            None => (Self::zeros(self.samples(), width)?, 1.0),
        };
        out.values
            .par_chunks_mut(CHUNK * width)
            .zip(self.values.par_chunks(CHUNK * self.width))
            .for_each(|(out, own)| {
                let own = MatRef::from_column_major_slice(own, self.width, own.len() / self.width);
                let rows = out.len() / width;
                let out = MatMut::from_column_major_slice_mut(out, width, rows);
                matmul(out, Accum::Add, coefficients.transpose(), own, factor, Par::Seq);
            });
        Ok(out)
    }

    /// The columns of self, then those of other.
    pub(crate) fn beside(&self, other: &Self) -> Result<Self> {
        let width = self.width + other.width;
        let mut values = memory::with_capacity(self.samples() * width, WHAT)?;
        for (a, b) in self.rows().zip(other.rows()) {
            values.extend_from_slice(a);
            values.extend_from_slice(b);
        }
        Ok(Self { values, width })
    }

    /// An orthonormal basis of the columns; directions that are there already, to rounding, are
    /// dropped. Also tells whether the columns were orthonormal before.
    pub(crate) fn orthonormalized(&self, monitor: &Monitor<'_>) -> Result<(Self, bool)> {
        let mut gram = self.inner(self)?;
        let width = self.width;
        let inverse = |k: usize| if gram[(k, k)] > 0.0 { 1.0 / gram[(k, k)].sqrt() } else { 0.0 };
        let mut lengths = memory::with_capacity(width, WHAT)?;
        lengths.extend((0..width).map(inverse));
        for j in 0..width {
            for i in 0..width {
                gram[(i, j)] *= lengths[i] * lengths[j];
            }
        }
        let (values, vectors) = smallest_of(gram.as_ref(), width, monitor)?;
        let largest = values.last().copied().unwrap_or(0.0);
        let skipped = values.iter().filter(|&&v| v <= 1e-13 * largest || v <= 0.0).count();
        let kept = values.len() - skipped;
        let was_orthonormal = largest < 1.0 + 1e-12 && values[0] > 1.0 - 1e-12;
        if kept == 0 {
            return Ok((Self::default(), true));
        }
        let mut transform = memory::mat(width, kept, WHAT)?;
        for k in 0..kept {
            for i in 0..width {
                transform[(i, k)] =
                    vectors[(i, skipped + k)] / values[skipped + k].sqrt() * lengths[i];
            }
        }
        Ok((self.combine(transform.as_ref(), None)?, was_orthonormal))
    }
}
