//! Features, and inner products and squared distances of samples by matrix products.
//!
//! Blocks of columns have a fixed size and are computed each by one thread, so that every bit
//! is the same for any number of threads.

use super::KernelSpec;
use super::functions::Of;
use super::prepare::{Preparation, Prepared};
use crate::error::{Error, Result};
use crate::matrix::{Matrix, mirror};
use crate::memory;
use crate::monitor::{self, Monitor};
use crate::sync::Arc;
use crate::vector;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// A feature matrix in the caller's memory: entry (sample i, feature j) is
/// `values[i * sample_stride + j * feature_stride]`.
#[derive(Clone, Copy, Debug)]
pub struct Features<'a> {
    /// The caller's memory.
    pub values: &'a [f64],
    /// Number of samples.
    pub samples: usize,
    /// Number of features.
    pub features: usize,
    /// Elements from one sample to the next.
    pub sample_stride: usize,
    /// Elements from one feature to the next.
    pub feature_stride: usize,
}

/// Where the entries of a kernel come from, also those with samples that come later.
#[derive(Clone, Debug)]
pub enum Source {
    /// The caller gave them.
    Given,
    /// A function of features.
    Function {
        /// The function and its parameters.
        spec: KernelSpec,
        /// The samples that the kernel is of.
        anchors: Arc<Samples>,
        /// The squared distance that widths are relative to, for functions of distances.
        unit: f64,
    },
}

/// Samples in one block of a product.
const BLOCK: usize = 128;

/// Features that are multiplied at a time: what stands between two questions whether to go on.
const FEATURES: usize = 4096;

/// Near samples whose distance is computed from differences between two such questions.
const PAIRS: usize = 64;

/// Rows and columns of the tiles in which memory is transposed.
const TILE: usize = 32;

/// Squared distances below this multiple of the squared norms are computed from differences.
const NEAR: f64 = 1e-6;

/// Samples as the columns of a matrix.
#[derive(Debug)]
pub struct Samples {
    columns: Matrix,
    /// What the features were divided by first.
    divisor: f64,
    /// The steps in which they were prepared then.
    prepared: Vec<Prepared>,
    /// What of the divisor products still lack: all, or nothing where a step took the unit away.
    scale: f64,
    /// What was subtracted from each sample in the end.
    shift: Vec<f64>,
}

impl Samples {
    /// Copies and checks; messages call the features those of `view`. Where the largest is outside
    /// of 1e-30 to 1e30, products could leave the range of numbers: they are divided by the power
    /// of two below it.
    pub(super) fn new(features: Features<'_>, view: &str, monitor: &Monitor<'_>) -> Result<Self> {
        let (mut samples, largest) = Self::copied(features, view, monitor)?;
        if largest > 0.0 && !(1e-30..=1e30).contains(&largest) {
            // The exponent alone; the smallest numbers have none of their own.
            let power = f64::from_bits(largest.to_bits() & 0x7ff << 52).max(f64::MIN_POSITIVE);
            (samples.divisor, samples.scale) = (power, power);
            samples.columns.values_mut().iter_mut().for_each(|v| *v /= power);
        }
        Ok(samples)
    }

    /// The steps that suit these samples where others are to choose them.
    pub(super) fn suitable(&self, spec: &KernelSpec, monitor: &Monitor<'_>) -> Result<KernelSpec> {
        spec.with_steps(|step| step.steps(&self.columns, monitor))
    }

    /// Prepares the features.
    pub(super) fn prepare(
        &mut self,
        steps: impl Iterator<Item = &'static Preparation>,
        view: &str,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        for step in steps {
            let learned = step.learn(&self.columns, monitor).map_err(|error| match error {
                Error::Negative { row, col, value, .. } => {
                    let (what, value) = (format!("features of {view}"), value * self.scale);
                    Error::Negative { what, row, col, value }
                }
                other => other,
            })?;
            let Some(learned) = learned else { continue };
            learned.apply(&mut self.columns);
            memory::push(&mut self.prepared, learned, "prepared features")?;
            if step.unitless {
                self.scale = 1.0;
            }
            monitor.go_on()?;
        }
        Ok(())
    }

    /// Other samples, prepared as these are.
    pub(crate) fn others(
        &self,
        features: Features<'_>,
        view: &str,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        if features.features != self.columns.rows() {
            return Err(Error::Dimension {
                what: format!("n_features of {view}"),
                given: features.features,
                expected: format!("the samples of the fit have {}", self.columns.rows()),
            });
        }
        let (mut others, _) = Self::copied(features, view, monitor)?;
        others.columns.values_mut().iter_mut().for_each(|v| *v /= self.divisor);
        self.prepared.iter().for_each(|step| step.apply(&mut others.columns));
        others.centre(&self.shift);
        Ok(others)
    }

    /// A copy, and the largest of the features.
    fn copied(features: Features<'_>, view: &str, monitor: &Monitor<'_>) -> Result<(Self, f64)> {
        features.check()?;
        let Features { values, samples, features: count, sample_stride, feature_stride } = features;
        let mut columns = Matrix::zeros(count, samples, "a copy of the features")?;
        let blocks = samples.div_ceil(TILE);
        // The largest of each block, or the first entry that is not finite.
        let mut found = memory::filled(blocks, Ok(0.0), "a copy of the features")?;
        let copy = |(block, (out, found)): (usize, (&mut [f64], &mut _))| {
            let first = block * TILE;
            let width = out.len() / count;
            for tile in (0..count).step_by(TILE) {
                if tile % FEATURES == 0 {
                    monitor.go_on()?;
                }
                for i in 0..width {
                    let start = (first + i) * sample_stride;
                    for j in tile..(tile + TILE).min(count) {
                        out[i * count + j] = values[start + j * feature_stride];
                    }
                }
            }
            let largest = out.iter().fold(0.0_f64, |largest, v| largest.max(v.abs()));
            *found = match out.iter().position(|v| !v.is_finite()) {
                Some(at) => Err((first + at / count, at % count, out[at])),
                None => Ok(largest),
            };
            Ok(())
        };
        let columns_and_found = columns.values_mut().par_chunks_mut(count * TILE).zip(&mut found);
        columns_and_found.enumerate().try_for_each(copy)?;
        let mut largest = 0.0_f64;
        for block in found {
            let not_finite = |(row, col, value)| {
                let what = format!("features of {view}");
                Error::NotFinite { what, row, col, value }
            };
            largest = largest.max(block.map_err(not_finite)?);
        }
        let shift = memory::filled(count, 0.0, "a copy of the features")?;
        let prepared = Vec::new();
        Ok((Self { columns, divisor: 1.0, prepared, scale: 1.0, shift }, largest))
    }

    /// The samples as they were prepared.
    pub(super) fn columns(&self) -> &Matrix {
        &self.columns
    }

    /// Whether others are the very same.
    pub(super) fn is(&self, others: &Self) -> bool {
        std::ptr::eq(self, others)
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        let numbers = self.columns.values().len() + self.shift.len();
        numbers.saturating_mul(size_of::<f64>())
    }

    /// What the features lack as a factor: 1 unless they are very large or small.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    fn count(&self) -> usize {
        self.columns.cols()
    }

    /// The Gram matrix, exactly symmetric: entry (i, j) is xᵢᵀxⱼ. Where the mean of the samples is
    /// far from the origin, the inner products of the samples less their mean m, and what they lack:
    /// (i, j) lacks aᵢ + aⱼ with aᵢ = mᵀ(xᵢ − m) + |m|²/2. The samples are then centred.
    pub(super) fn gram(&mut self, monitor: &Monitor<'_>) -> Result<(Matrix, Option<Vec<f64>>)> {
        const WHAT: &str = "the inner products of the features";
        /// Mean squared distance from the mean, relative to the mean's from the origin: below, the
        /// origin is far; and further below, samples are the same but for rounding of their mean.
        const FAR: f64 = 1.0 / 16.0;
        const SAME: f64 = 1e-30;
        let mut mean = self.mean(monitor)?;
        let mean2 = vector::dot(&mean, &mean);
        let mut common = None;
        if self.lengths2(monitor)? - mean2 < FAR * mean2 {
            self.centre(&mean);
            if self.lengths2(monitor)? > SAME * mean2 {
                let mut lacking = memory::filled(self.count(), 0.5 * mean2, WHAT)?;
                let of = |i: usize| vector::dot(&mean, self.columns.col(i));
                lacking.iter_mut().enumerate().for_each(|(i, lacking)| *lacking += of(i));
                common = Some(lacking);
            } else {
                mean.iter_mut().for_each(|mean| *mean = -*mean);
                self.centre(&mean);
            }
        }
        let mut gram = self.lower_products(WHAT, monitor)?;
        mirror(gram.values_mut(), self.count());
        Ok((gram, common))
    }

    /// Squared distances; those with i ≥ j are in the lower triangle, the rest is not for use.
    ///
    /// Distances do not see a shift, but |xᵢ|² + |xⱼ|² − 2xᵢᵀxⱼ does: it is accurate to about
    /// 1e-16 of the squared norms, which centring makes as small as it can. What still comes
    /// out below 1e-6 of them is computed from differences, so that the relative error of a
    /// squared distance stays below about 1e-9 and equal samples are at distance 0 exactly.
    /// The samples are then centred.
    pub(super) fn squared_distances(&mut self, monitor: &Monitor<'_>) -> Result<Matrix> {
        let mean = self.mean(monitor)?;
        self.centre(&mean);
        let count = self.count();
        let mut distances = self.lower_products("the distances of the samples", monitor)?;
        let mut norms = memory::with_capacity(count, "the distances of the samples")?;
        norms.extend((0..count).map(|i| distances.get(i, i)));
        let columns = &self.columns;
        distances.values_mut().par_chunks_mut(count).enumerate().try_for_each(|(j, column)| {
            let own = (columns.col(j), norms[j]);
            to_squared_distances(columns, &norms, j, own, &mut column[j..], monitor)
        })?;
        Ok(distances)
    }

    /// Products or squared distances: those of `targets`, aligned with these samples, in columns.
    fn cross(&self, of: Of, targets: &Self, monitor: &Monitor<'_>) -> Result<Matrix> {
        const WHAT: &str = "products with other samples";
        let (rows, columns) = (self.count(), &self.columns);
        let length2 = |sample: &[f64]| vector::dot(sample, sample);
        let mut norms = memory::with_capacity(rows, WHAT)?;
        norms.extend((0..rows).map(|i| length2(columns.col(i))));
        let mut out = Matrix::zeros(rows, targets.count(), WHAT)?;
        let blocks = out.values_mut().par_chunks_mut(rows * BLOCK).enumerate();
        blocks.try_for_each(|(block, out)| {
            let (first, width) = (block * BLOCK, out.len() / rows);
            let others = targets.columns.view().subcols(first, width);
            let product = MatMut::from_column_major_slice_mut(&mut *out, rows, width);
            multiply(columns.view(), others, product, monitor)?;
            if of == Of::SquaredDistances {
                for (column, j) in out.chunks_exact_mut(rows).zip(first..) {
                    let own = targets.columns.col(j);
                    let own = (own, length2(own));
                    to_squared_distances(columns, &norms, 0, own, column, monitor)?;
                }
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// The length of each sample, before it was shifted.
    fn lengths(&self) -> Result<Vec<f64>> {
        let mut lengths = memory::with_capacity(self.count(), "lengths of the samples")?;
        let unshifted = |(value, shift): (&f64, &f64)| (value + shift).powi(2);
        let length = |i: usize| {
            self.columns.col(i).iter().zip(&self.shift).map(unshifted).sum::<f64>().sqrt()
        };
        lengths.extend((0..self.count()).map(length));
        Ok(lengths)
    }

    /// Adds to products with `targets` what they lack because the samples are shifted.
    fn add_shift(&self, targets: &Self, products: &mut Matrix) -> Result<()> {
        let shift = &self.shift;
        let mut lacking = memory::filled(self.count(), vector::dot(shift, shift), "products")?;
        let of = |i: usize| vector::dot(shift, self.columns.col(i));
        lacking.iter_mut().enumerate().for_each(|(i, lacking)| *lacking += of(i));
        for j in 0..products.cols() {
            let own = vector::dot(shift, targets.columns.col(j));
            let entries = products.col_mut(j).iter_mut().zip(&lacking);
            entries.for_each(|(entry, lacking)| *entry += lacking + own);
        }
        Ok(())
    }

    /// The mean squared length of the samples.
    fn lengths2(&self, monitor: &Monitor<'_>) -> Result<f64> {
        let mut sum = 0.0;
        for i in 0..self.count() {
            sum += vector::dot(self.columns.col(i), self.columns.col(i));
            monitor.go_on()?;
        }
        Ok(sum / self.count() as f64)
    }

    fn mean(&self, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let mut mean = memory::filled(self.columns.rows(), 0.0, "means of the features")?;
        for i in 0..self.count() {
            vector::axpy(1.0, self.columns.col(i), &mut mean);
            monitor.go_on()?;
        }
        let count = self.count() as f64;
        mean.iter_mut().for_each(|mean| *mean /= count);
        Ok(mean)
    }

    /// Subtracts the mean sample.
    fn centre(&mut self, mean: &[f64]) {
        vector::axpy(1.0, mean, &mut self.shift);
        self.columns.values_mut().par_chunks_mut(mean.len()).for_each(|sample| {
            for (value, mean) in sample.iter_mut().zip(mean) {
                *value -= mean;
            }
        });
    }

    /// XᵀX from the diagonal blocks downwards.
    fn lower_products(&self, what: &'static str, monitor: &Monitor<'_>) -> Result<Matrix> {
        let count = self.count();
        let samples = self.columns.view();
        let mut products = Matrix::zeros(count, count, what)?;
        let blocks = products.values_mut().par_chunks_mut(count * BLOCK).enumerate();
        blocks.try_for_each(|(block, out)| {
            let (first, width) = (block * BLOCK, out.len() / count);
            let out = MatMut::from_column_major_slice_mut(out, count, width);
            let out = out.subrows_mut(first, count - first);
            let left = samples.subcols(first, count - first);
            multiply(left, samples.subcols(first, width), out, monitor)
        })?;
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

/// out = leftᵀ·right of samples in columns.
fn multiply(
    left: MatRef<'_, f64>,
    right: MatRef<'_, f64>,
    mut out: MatMut<'_, f64>,
    monitor: &Monitor<'_>,
) -> Result<()> {
    let features = left.nrows();
    for from in (0..features).step_by(FEATURES) {
        monitor.go_on()?;
        let count = FEATURES.min(features - from);
        matmul(
            out.as_mut(),
            if from == 0 { Accum::Replace } else { Accum::Add },
            left.subrows(from, count).transpose(),
            right.subrows(from, count),
            1.0,
            Par::Seq,
        );
    }
    Ok(())
}

/// Makes cosines of a sample's products with samples of these lengths.
pub(super) fn to_cosines(lengths: &[f64], own: f64, products: &mut [f64]) {
    for (product, length) in products.iter_mut().zip(lengths) {
        let lengths = length * own;
        *product = if lengths > 0.0 { *product / lengths } else { 0.0 };
    }
}

/// Makes squared distances of a sample's products with the samples in `columns` from `first` on.
fn to_squared_distances(
    columns: &Matrix,
    norms: &[f64],
    first: usize,
    (own, norm): (&[f64], f64),
    products: &mut [f64],
    monitor: &Monitor<'_>,
) -> Result<()> {
    let mut near = 0;
    for (i, entry) in (first..).zip(products) {
        let both = norms[i] + norm;
        *entry = both - 2.0 * *entry;
        if *entry <= NEAR * both {
            *entry = squared_distance(columns.col(i), own);
            near += 1;
            if near % PAIRS == 0 {
                monitor.go_on()?;
            }
        }
    }
    monitor.go_on()
}

impl Source {
    /// The samples it holds, alone or with others.
    pub(super) fn anchors(&self) -> Option<&Arc<Samples>> {
        if let Self::Function { anchors, .. } = self { Some(anchors) } else { None }
    }

    /// The block K_AT of the samples A that the kernel is of, the anchors, and of others, the
    /// targets T: a column for each target. Of a function to which a common part of all products
    /// is one of all entries (`linear`), the part of the anchors' mean is left out; whoever needs
    /// K_AA beside it asks for the block of the anchors themselves. None if the caller gave the
    /// kernel, and has to give this too.
    pub fn block(&self, targets: Features<'_>, view: &str) -> Result<Option<Matrix>> {
        let Self::Function { spec, anchors, unit } = self else { return Ok(None) };
        monitor::unwatched(|monitor| {
            let targets = anchors.others(targets, view, monitor)?;
            let function = spec.function;
            let mut block = anchors.cross(function.of, &targets, monitor)?;
            if function.of != Of::SquaredDistances && !function.additive {
                anchors.add_shift(&targets, &mut block)?;
            }
            if function.of == Of::Cosines {
                let (own, others) = (anchors.lengths()?, targets.lengths()?);
                (0..block.cols()).for_each(|j| to_cosines(&own, others[j], block.col_mut(j)));
            }
            let mut input = memory::filled(block.rows(), 0.0, "a column of a kernel")?;
            let factor = anchors.scale.powi((function.degree)(&spec.values));
            for j in 0..block.cols() {
                monitor.go_on()?;
                let out = block.col_mut(j);
                input.copy_from_slice(out);
                (function.entries)(&spec.values, *unit, &input, out);
                out.iter_mut().for_each(|entry| *entry *= factor);
            }
            Ok(Some(block))
        })?
    }
}

fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let ((x, x_rest), (y, y_rest)) = (pulp::as_arrays::<4, _>(x), pulp::as_arrays::<4, _>(y));
    for (x, y) in x.iter().zip(y) {
        for lane in 0..4 {
            lanes[lane] += (x[lane] - y[lane]).powi(2);
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| (x - y).powi(2)).sum();
    lanes.into_iter().sum::<f64>() + rest
}
