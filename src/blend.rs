//! The mixed kernel K_w = Σ w_i K^i and the costs h_i, without ever copying a kernel.
//!
//! Columns of Z sum to 1, so every term of the objective sees only the centred kernel HK_wH.
//! Centring therefore changes nothing but the conditioning (BA, mean of the paper's kernels:
//! largest eigenvalue 8.2 instead of 443), and the mixed kernel is always centred here.

use crate::error::{Error, Result};
use crate::kernel::{Gram, Part};
use crate::matrix::{Compressed, Matrix, Similarity, mirror};
use crate::memory;
use crate::monitor::Monitor;
use crate::settings::Normalize;
use crate::vector;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use rayon::prelude::*;

/// Columns handled by one task. Fixed, so that results do not depend on the number of threads.
const BLOCK: usize = 64;

/// Share of nonzero entries from which Z is multiplied as a dense matrix: a dense product runs
/// about ten times as fast per operation as the sparse one.
const DENSE_SHARE: f64 = 0.25;

/// The kernels of a fit with their scales.
pub(crate) struct WeightedKernels<'k, 'a> {
    kernels: &'k [Gram<'a>],
    scales: Vec<f64>,
    samples: usize,
    /// Whether max|K_w| is meant of the centred kernel (`unit`) or of the kernel as given.
    centred: bool,
}

/// K_w centred, in units in which its largest entry and α sum to 1.
pub(crate) struct MixedKernel {
    /// HK_wH divided by `unit`.
    pub(crate) kernel: Matrix,
    /// max|HK_wH| + α.
    pub(crate) unit: f64,
    /// max|K_w| + α, which gaps are reported relative to. For `unit` that is the same.
    pub(crate) size: f64,
}

impl<'k, 'a> WeightedKernels<'k, 'a> {
    /// Refuses kernels whose sums would be beyond the range of numbers.
    pub(crate) fn new(kernels: &'k [Gram<'a>], normalize: Normalize) -> Result<Self> {
        let mut scales = memory::with_capacity(kernels.len(), "kernel scales")?;
        scales.extend(kernels.iter().map(|kernel| kernel.scale(normalize)));
        let samples = kernels[0].samples();
        for (kernel, scale) in kernels.iter().zip(&scales) {
            let largest_sum = 4.0 * samples as f64 * (scale * kernel.largest());
            // A scale that is as large as numbers go would have to be larger.
            let scaled = largest_sum.is_finite() && largest_sum > 0.0 && *scale < f64::MAX;
            if !scaled {
                return Err(out_of_range(normalize, &kernel.label().to_string()));
            }
        }
        Ok(Self { kernels, scales, samples, centred: normalize == Normalize::Unit })
    }

    pub(crate) fn kernels(&self) -> usize {
        self.kernels.len()
    }

    pub(crate) fn samples(&self) -> usize {
        self.samples
    }

    /// Mixes the kernels with `weights` into `mixed`.
    pub(crate) fn mix(
        &self,
        weights: &[f64],
        alpha: f64,
        mixed: &mut MixedKernel,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let n = self.samples;
        let (coefficients, top) = self.coefficients(weights, Gram::reach)?;
        let blocks = n.div_ceil(BLOCK);
        let mut means = memory::filled(n, 0.0, "column means")?;
        let mut largest = memory::filled(blocks, 0.0f64, "block maxima")?;
        self.sum(&coefficients, Part::Reduced, &mut mixed.kernel, monitor)?;
        let common = self.common_part(&coefficients)?;
        mixed
            .kernel
            .values()
            .par_chunks(BLOCK * n)
            .zip(means.par_chunks_mut(BLOCK))
            .zip(&mut largest)
            .enumerate()
            .for_each(|(block, ((panel, means), largest))| {
                for (j, (column, mean)) in panel.chunks_exact(n).zip(means).enumerate() {
                    *mean = vector::sum(column) / n as f64;
                    let size = match &common {
                        None => vector::max_abs(column),
                        Some(common) => {
                            let own = common[block * BLOCK + j];
                            let entries = column.iter().zip(common);
                            let raw = entries.map(|(value, other)| value + (other + own));
                            raw.fold(0.0, |most: f64, value| most.max(value.abs()))
                        }
                    };
                    *largest = largest.max(size);
                }
            });
        let grand = vector::sum(&means) / n as f64;
        let raw = largest.iter().fold(0.0, |a: f64, &b| a.max(b));
        mixed.kernel.values_mut().par_chunks_mut(BLOCK * n).zip(&mut largest).enumerate().for_each(
            |(block, (panel, largest))| {
                for (j, column) in panel.chunks_exact_mut(n).enumerate() {
                    let own = means[block * BLOCK + j];
                    for (value, mean) in column.iter_mut().zip(&means) {
                        // The sum commutes, so the result is symmetric bit by bit.
                        *value -= (mean + own) - grand;
                    }
                }
                *largest = vector::max_abs(panel);
            },
        );
        let centred = largest.iter().fold(0.0, |a: f64, &b| a.max(b));
        mixed.unit = centred * top + alpha;
        mixed.size = if self.centred { mixed.unit } else { raw * top + alpha };
        let factor = top / mixed.unit;
        mixed.kernel.values_mut().par_chunks_mut(BLOCK * n).for_each(|panel| {
            for value in panel {
                *value *= factor;
            }
        });
        monitor.go_on()
    }

    /// The factor of each kernel in Σ w_i K^i, relative to the largest contribution, and that:
    /// sums of kernels as large as 1e300 or as small as 1e-300 neither overflow nor vanish.
    /// `size` is that of the largest entry of a kernel.
    fn coefficients(&self, weights: &[f64], size: fn(&Gram<'a>) -> f64) -> Result<(Vec<f64>, f64)> {
        let contribution = |i: usize| weights[i] * (self.scales[i] * size(&self.kernels[i]));
        let top = (0..self.kernels.len()).map(contribution).fold(0.0, f64::max);
        if top < f64::MIN_POSITIVE {
            return Err(out_of_range(Normalize::None, "the kernels"));
        }
        let mut coefficients = memory::with_capacity(self.kernels.len(), "kernel scales")?;
        let coefficient = |i: usize| contribution(i) / top / size(&self.kernels[i]);
        coefficients.extend((0..self.kernels.len()).map(coefficient));
        Ok((coefficients, top))
    }

    /// What the sum of the reduced kernels lacks, unless that is nothing.
    fn common_part(&self, coefficients: &[f64]) -> Result<Option<Vec<f64>>> {
        let mut sum = None;
        for (kernel, &coefficient) in self.kernels.iter().zip(coefficients) {
            if let Some(offsets) = kernel.offsets() {
                let sum = match &mut sum {
                    Some(sum) => sum,
                    none => none.insert(memory::filled(self.samples, 0.0, "column means")?),
                };
                vector::axpy(coefficient, offsets, sum);
            }
        }
        Ok(sum)
    }

    /// The kernels as affinities: mixed but not centred, divided by a common factor, which is
    /// returned too. Negative entries of a kernel count as zero.
    pub(crate) fn affinities(
        &self,
        weights: &[f64],
        monitor: &Monitor<'_>,
    ) -> Result<(Matrix, f64)> {
        let n = self.samples;
        let (coefficients, top) = self.coefficients(weights, Gram::largest)?;
        let mut out = Matrix::zeros(n, n, "affinities")?;
        self.sum(&coefficients, Part::Positive, &mut out, monitor)?;
        Ok((out, top))
    }

    /// The kernel `k` and the factor that the option `normalize` gives it.
    pub(crate) fn kernel(&self, k: usize) -> (&'k Gram<'a>, f64) {
        (&self.kernels[k], self.scales[k])
    }

    /// out = Σ coefficient·(part of the kernel): the lower triangle, and that mirrored, so that only
    /// half of every kernel is read.
    fn sum(
        &self,
        coefficients: &[f64],
        part: Part,
        out: &mut Matrix,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let n = self.samples;
        let panels = out.values_mut().par_chunks_mut(BLOCK * n).enumerate();
        panels.try_for_each(|(block, panel)| {
            let (first, mut scratch) = (block * BLOCK, Vec::new());
            panel.chunks_exact_mut(n).for_each(|column| column[first..].fill(0.0));
            let cols = first..first + panel.len() / n;
            for (kernel, &coefficient) in self.kernels.iter().zip(coefficients) {
                monitor.go_on()?;
                let block = (first..n, cols.clone());
                kernel.add_block(part, coefficient, block, panel, &mut scratch)?;
            }
            Ok(())
        })?;
        mirror(out.values_mut(), n);
        Ok(())
    }

    /// The costs h_i = ⟨K^i, (I−Z)(I−Z)ᵀ⟩ of all kernels, from one product that is never stored
    /// as a whole. What is zero but for rounding becomes zero; a kernel that is indefinite, by the
    /// rounding of its entries, may have a cost below.
    pub(crate) fn costs(&self, similarity: &Similarity, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        const WHAT: &str = "costs of the kernels";
        let n = self.samples;
        let residual = Residual::new(similarity)?;
        let symmetric = self.kernels.iter().all(Gram::is_exactly_symmetric);
        let partial = memory::par_map(n.div_ceil(BLOCK), WHAT, |block| {
            monitor.go_on()?;
            let (first, mut scratch) = (block * BLOCK, Vec::new());
            let width = BLOCK.min(n - first);
            let mut panel = memory::filled(n * width, 0.0, "residual product")?;
            residual.product_columns(first, symmetric, &mut panel);
            let trace: f64 = (0..width).map(|j| panel[first + j + j * n]).sum();
            let mut costs = memory::filled(self.kernels.len(), 0.0, WHAT)?;
            for (kernel, cost) in self.kernels.iter().zip(&mut costs) {
                monitor.go_on()?;
                for (j, m) in (first..).zip(panel.chunks_exact(n)) {
                    let (column, unit) = kernel.summable_col(j, &mut scratch)?;
                    let inner = if kernel.is_exactly_symmetric() {
                        // Both are symmetric: what is below the diagonal counts twice.
                        column[j] * m[j] + 2.0 * vector::dot(&column[j + 1..], &m[j + 1..])
                    } else {
                        vector::dot(column, m)
                    };
                    *cost += inner / unit;
                }
            }
            Ok((costs, trace))
        })?;
        let mut costs = memory::filled(self.kernels.len(), 0.0, WHAT)?;
        let mut trace = 0.0;
        for (inner, own_trace) in partial.into_iter().flatten() {
            costs.iter_mut().zip(inner).for_each(|(cost, part)| *cost += part);
            trace += own_trace;
        }
        for (i, cost) in costs.iter_mut().enumerate() {
            // |⟨K, M⟩| ≤ n·max|K|·tr M for a positive semi-definite M.
            let rounding = 1e-16 * n as f64 * trace;
            *cost = if cost.abs() <= rounding { 0.0 } else { *cost }
                * (self.kernels[i].reach() * self.scales[i]);
        }
        monitor.go_on()?;
        Ok(costs)
    }
}

fn out_of_range(normalize: Normalize, kernels: &str) -> Error {
    let instead =
        if normalize == Normalize::None { "scale by max or unit" } else { "scale the data" };
    Error::InvalidArgument {
        name: "normalize".to_owned(),
        value: format!("{} for {kernels}", normalize.name()),
        allowed: format!("sums of entries are beyond the range of numbers, {instead}"),
    }
}

impl MixedKernel {
    pub(crate) fn new(samples: usize) -> Result<Self> {
        let kernel = Matrix::zeros(samples, samples, "mixed kernel")?;
        Ok(Self { kernel, unit: 1.0, size: 1.0 })
    }
}

/// Y = I − Z, ready to give columns of YYᵀ.
///
/// The diagonal is 1 − z_kk from the start: at small α, Z is nearly the identity, and taking
/// the difference later would cost half of the digits.
enum Residual {
    Dense(Matrix),
    Sparse { columns: Compressed, rows: Compressed },
}

impl Residual {
    fn new(similarity: &Similarity) -> Result<Self> {
        let n = similarity.targets();
        let nnz = similarity.nnz();
        if nnz as f64 > DENSE_SHARE * n as f64 * n as f64 {
            let mut dense = Matrix::zeros(n, n, "residual I - Z")?;
            let columns = dense.values_mut().par_chunks_mut(n).zip(similarity.columns());
            columns.enumerate().for_each(|(j, (out, column))| {
                column.scatter(out);
                out.iter_mut().for_each(|value| *value = -*value);
                out[j] += 1.0;
            });
            return Ok(Self::Dense(dense));
        }
        let mut starts = memory::with_capacity(n + 1, "columns of I - Z")?;
        let mut entries = memory::with_capacity(nnz + n, "columns of I - Z")?;
        starts.push(0);
        for (j, column) in similarity.columns().iter().enumerate() {
            let mut own = 1.0;
            for (row, value) in column.iter() {
                if row == j {
                    own -= value;
                } else {
                    entries.push((row as u32, -value));
                }
            }
            entries.push((j as u32, own));
            starts.push(entries.len());
        }
        let columns = Compressed::new(starts, entries, n);
        let rows = columns.transpose()?;
        Ok(Self::Sparse { columns, rows })
    }

    /// Writes the columns of YYᵀ from `first` on into `panel`, which is zero. Where the lower triangle
    /// is enough, a dense product leaves out most of the rest; a sparse one would not gain by it.
    fn product_columns(&self, first: usize, lower: bool, panel: &mut [f64]) {
        match self {
            Self::Dense(y) => {
                let (n, width) = (y.rows(), panel.len() / y.rows());
                let top = if lower { first } else { 0 };
                let rows = y.view().subrows(first, width);
                let below = y.view().subrows(top, n - top);
                let out = MatMut::from_column_major_slice_mut(panel, n, width);
                let out = out.subrows_mut(top, n - top);
                matmul(out, Accum::Replace, below, rows.transpose(), 1.0, Par::Seq);
            }
            Self::Sparse { columns, rows } => {
                for (j, out) in panel.chunks_exact_mut(columns.lines()).enumerate() {
                    for &(column, factor) in rows.line(first + j) {
                        for &(i, value) in columns.line(column as usize) {
                            out[i as usize] += factor * value;
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Label;
    use crate::matrix::Column;
    use crate::monitor;

    const N: usize = 70;

    fn kernels(asymmetry: f64) -> Vec<Vec<f64>> {
        let point = |i: usize, k: usize| ((i * 37 + k * 11 + i * i * k) % 23) as f64 / 23.0;
        (1..=3)
            .map(|power| {
                let entry = |i: usize, j: usize| {
                    let product: f64 = (0..5).map(|k| point(i, k) * point(j, k)).sum();
                    (0.5 + product).powi(power) * if i > j { 1.0 + asymmetry } else { 1.0 }
                };
                (0..N * N).map(|e| entry(e % N, e / N)).collect()
            })
            .collect()
    }

    /// A Z with about `share` of its entries not zero.
    fn similarity(share: f64) -> (Similarity, Vec<f64>) {
        let mut dense = vec![0.0; N * N];
        for (j, column) in dense.chunks_exact_mut(N).enumerate() {
            for (i, value) in column.iter_mut().enumerate() {
                let random = ((i * 131 + j * 197 + i * j * 17) % 101) as f64 / 101.0;
                *value = if random < share { random + 0.01 } else { 0.0 };
            }
            column[j] += 0.5;
            let total: f64 = column.iter().sum();
            column.iter_mut().for_each(|v| *v /= total);
        }
        let columns = dense.chunks_exact(N).map(|c| Column::from_dense(c).unwrap()).collect();
        (Similarity::from_columns(N, columns), dense)
    }

    fn borrow(values: &[Vec<f64>]) -> Vec<Gram<'_>> {
        let label = Label { number: 0, spec: None };
        let borrow = |v| monitor::idle(|monitor| Gram::borrowed(label, v, N, N, monitor));
        values.iter().map(|v| borrow(v).unwrap()).collect()
    }

    #[test]
    fn the_mixed_kernel_is_the_centred_weighted_sum() {
        for (asymmetry, normalize) in [
            (0.0, Normalize::None),
            (0.0, Normalize::Max),
            (0.0, Normalize::Unit),
            (1e-9, Normalize::Max),
        ] {
            let values = kernels(asymmetry);
            let kernels = borrow(&values);
            let (weights, alpha) = ([0.1, 0.3, 0.05], 0.7);
            let mut mixed = MixedKernel::new(N).unwrap();
            let weighted = WeightedKernels::new(&kernels, normalize).unwrap();
            monitor::idle(|monitor| weighted.mix(&weights, alpha, &mut mixed, monitor)).unwrap();
            let sum = |i: usize, j: usize| -> f64 {
                let entry = |k: usize| 0.5 * (values[k][i + j * N] + values[k][j + i * N]);
                (0..3).map(|k| weights[k] * kernels[k].scale(normalize) * entry(k)).sum()
            };
            let mean = |i: usize| (0..N).map(|j| sum(i, j)).sum::<f64>() / N as f64;
            let means: Vec<f64> = (0..N).map(mean).collect();
            let grand = means.iter().sum::<f64>() / N as f64;
            let centred = |i: usize, j: usize| sum(i, j) - means[i] - means[j] + grand;
            let all = || (0..N).flat_map(|i| (0..N).map(move |j| (i, j)));
            let largest = all().map(|(i, j)| centred(i, j).abs()).fold(0.0, f64::max);
            assert!((mixed.unit - (largest + alpha)).abs() < 1e-12 * mixed.unit);
            let size = match normalize {
                Normalize::Unit => largest,
                _ => all().map(|(i, j)| sum(i, j).abs()).fold(0.0, f64::max),
            };
            assert!((mixed.size - (size + alpha)).abs() < 1e-12 * mixed.size);
            for (i, j) in all() {
                let ours = mixed.kernel.get(i, j) * mixed.unit;
                assert!((ours - centred(i, j)).abs() < 1e-12 * mixed.unit, "({i}, {j})");
                assert_eq!(mixed.kernel.get(i, j), mixed.kernel.get(j, i));
            }
        }
    }

    #[test]
    fn costs_are_the_traces_they_stand_for() {
        let values = kernels(0.0);
        let kernels = borrow(&values);
        for share in [0.05, 0.9] {
            let (similarity, z) = similarity(share);
            let weighted = WeightedKernels::new(&kernels, Normalize::Max).unwrap();
            let costs = monitor::idle(|monitor| weighted.costs(&similarity, monitor));
            let costs = costs.unwrap();
            for (k, cost) in costs.iter().enumerate() {
                // Tr(K − 2KZ + ZᵀKZ), term by term.
                let entry = |i: usize, j: usize| values[k][i + j * N];
                let mut trace = 0.0;
                for i in 0..N {
                    trace += entry(i, i);
                    for j in 0..N {
                        trace -= 2.0 * entry(i, j) * z[j + i * N];
                        for l in 0..N {
                            trace += z[j + i * N] * entry(j, l) * z[l + i * N];
                        }
                    }
                }
                trace *= kernels[k].scale(Normalize::Max);
                assert!((cost - trace).abs() < 1e-10 * trace, "{cost} and {trace}");
            }
        }
    }

    #[test]
    fn a_graph_that_reproduces_every_sample_costs_nothing() {
        let values = kernels(0.0);
        let kernels = borrow(&values);
        let columns = (0..N).map(|i| Column::unit(i).unwrap()).collect();
        let identity = Similarity::from_columns(N, columns);
        let weighted = WeightedKernels::new(&kernels, Normalize::Unit).unwrap();
        let costs = monitor::idle(|monitor| weighted.costs(&identity, monitor));
        assert_eq!(costs.unwrap(), [0.0; 3]);
    }
}
