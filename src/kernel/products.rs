//! Inner products and squared distances of all pairs of samples, by matrix products.
//!
//! Blocks of columns have a fixed size and are computed each by one thread, so that every bit
//! is the same for any number of threads.

use super::Features;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, mirror};
use crate::memory;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use rayon::prelude::*;

/// Samples in one block of a product.
const BLOCK: usize = 128;

/// Rows and columns of the tiles in which memory is transposed.
const TILE: usize = 32;

/// Squared distances below this multiple of the squared norms are computed from differences.
const NEAR: f64 = 1e-6;

/// Samples as the columns of a matrix.
pub(super) struct Samples {
    columns: Matrix,
}

impl Samples {
    /// Copies and checks. Features whose largest is outside of 1e-30 to 1e30 are divided by it,
    /// since their products could leave the range of numbers.
    pub fn new(features: Features<'_>) -> Result<Self> {
        features.check()?;
        let Features { values, samples, features: count, sample_stride, feature_stride } = features;
        let mut columns = Matrix::zeros(count, samples, "a copy of the features")?;
        let copy = |(block, out): (usize, &mut [f64])| {
            let first = block * TILE;
            let width = out.len() / count;
            for tile in (0..count).step_by(TILE) {
                for i in 0..width {
                    let start = (first + i) * sample_stride;
                    for j in tile..(tile + TILE).min(count) {
                        out[i * count + j] = values[start + j * feature_stride];
                    }
                }
            }
            let largest = out.iter().fold(0.0_f64, |largest, v| largest.max(v.abs()));
            match out.iter().position(|v| !v.is_finite()) {
                Some(at) => Err((first + at / count, at % count, out[at])),
                None => Ok(largest),
            }
        };
        let found: Vec<_> =
            columns.values_mut().par_chunks_mut(count * TILE).enumerate().map(copy).collect();
        let mut largest = 0.0_f64;
        for block in found {
            let not_finite = |(row, col, value)| {
                let what = "features".to_owned();
                Error::NotFinite { what, row, col, value }
            };
            largest = largest.max(block.map_err(not_finite)?);
        }
        if largest > 0.0 && !(1e-30..=1e30).contains(&largest) {
            columns.values_mut().iter_mut().for_each(|v| *v /= largest);
        }
        Ok(Self { columns })
    }

    fn count(&self) -> usize {
        self.columns.cols()
    }

    /// The Gram matrix, exactly symmetric: entry (i, j) is xᵢᵀxⱼ.
    pub fn gram(&self) -> Result<Matrix> {
        let mut gram = self.lower_products("the inner products of the features")?;
        mirror(gram.values_mut(), self.count());
        Ok(gram)
    }

    /// Squared distances; those with i ≥ j are in the lower triangle, the rest is not for use.
    ///
    /// Distances do not see a shift, but |xᵢ|² + |xⱼ|² − 2xᵢᵀxⱼ does: it is accurate to about
    /// 1e-16 of the squared norms, which centring makes as small as it can. What still comes
    /// out below 1e-6 of them is computed from differences, so that the relative error of a
    /// squared distance stays below about 1e-9 and equal samples are at distance 0 exactly.
    pub fn into_squared_distances(mut self) -> Result<Matrix> {
        self.centre()?;
        let count = self.count();
        let mut distances = self.lower_products("the distances of the samples")?;
        let norms: Vec<f64> = (0..count).map(|i| distances.get(i, i)).collect();
        let columns = &self.columns;
        distances.values_mut().par_chunks_mut(count).enumerate().for_each(|(j, column)| {
            for (i, entry) in column.iter_mut().enumerate().skip(j) {
                let both = norms[i] + norms[j];
                *entry = both - 2.0 * *entry;
                if *entry <= NEAR * both {
                    *entry = squared_distance(columns.col(i), columns.col(j));
                }
            }
        });
        Ok(distances)
    }

    /// Subtracts the mean sample.
    fn centre(&mut self) -> Result<()> {
        let mut mean = memory::filled(self.columns.rows(), 0.0, "means of the features")?;
        for i in 0..self.count() {
            for (mean, value) in mean.iter_mut().zip(self.columns.col(i)) {
                *mean += value;
            }
        }
        let count = self.count() as f64;
        mean.iter_mut().for_each(|mean| *mean /= count);
        self.columns.values_mut().par_chunks_mut(mean.len()).for_each(|sample| {
            for (value, mean) in sample.iter_mut().zip(&mean) {
                *value -= mean;
            }
        });
        Ok(())
    }

    /// XᵀX from the diagonal blocks downwards.
    fn lower_products(&self, what: &'static str) -> Result<Matrix> {
        let count = self.count();
        let samples = self.columns.view();
        let mut products = Matrix::zeros(count, count, what)?;
        products.values_mut().par_chunks_mut(count * BLOCK).enumerate().for_each(|(block, out)| {
            let (first, width) = (block * BLOCK, out.len() / count);
            let out = MatMut::from_column_major_slice_mut(out, count, width);
            matmul(
                out.subrows_mut(first, count - first),
                Accum::Replace,
                samples.subcols(first, count - first).transpose(),
                samples.subcols(first, width),
                1.0,
                Par::Seq,
            );
        });
        Ok(products)
    }
}

impl Features<'_> {
    /// Every entry is inside of `values`.
    fn check(&self) -> Result<()> {
        for (what, given) in [("n_samples", self.samples), ("n_features", self.features)] {
            if given == 0 {
                let what = format!("{what} of the features");
                return Err(Error::Dimension {
                    what,
                    given,
                    expected: "at least 1 expected".into(),
                });
            }
        }
        for (what, count) in
            [("a kernel of n_samples squared", self.samples), ("the feature matrix", self.features)]
        {
            if count.checked_mul(self.samples).is_none() {
                return Err(Error::TooLarge { what: what.to_owned() });
            }
        }
        let reach = |count: usize, stride: usize| (count - 1).checked_mul(stride);
        let last = reach(self.samples, self.sample_stride)
            .zip(reach(self.features, self.feature_stride))
            .and_then(|(sample, feature)| sample.checked_add(feature));
        if last.is_none_or(|last| last >= self.values.len()) {
            let Self { samples, features, sample_stride, feature_stride, .. } = self;
            let needed = last.and_then(|last| last.checked_add(1));
            let needed = needed.map_or("more than can be addressed".to_owned(), |n| n.to_string());
            return Err(Error::Dimension {
                what: "number of values of the features".to_owned(),
                given: self.values.len(),
                expected: format!(
                    "{needed} expected for {samples} samples of {features} features with \
                     sample_stride = {sample_stride} and feature_stride = {feature_stride}"
                ),
            });
        }
        Ok(())
    }
}

fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<4>(), y.as_chunks::<4>());
    for (x, y) in x.iter().zip(y) {
        for lane in 0..4 {
            lanes[lane] += (x[lane] - y[lane]).powi(2);
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| (x - y).powi(2)).sum();
    lanes.into_iter().sum::<f64>() + rest
}
