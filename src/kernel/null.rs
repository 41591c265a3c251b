//! Kernels of samples without structure: one cloud, round or with edges, that has the covariance of the
//! samples, over all views together. What is found in them is found by chance.

use super::build::build;
use super::features::{Features, Source};
use super::{Gram, Label};
use crate::error::Result;
use crate::matrix::{Matrix, mirror};
use crate::memory;
use crate::monitor::Monitor;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

const WHAT: &str = "samples without structure";

/// New samples computed by one task.
const BLOCK: usize = 64;

/// A cloud without structure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cloud {
    /// Gaussian.
    Round,
    /// Every feature uniform. Kernels that the caller gave have no features, and stay round.
    Edged,
}

/// The kernels as they would be of n samples drawn from a cloud around 0 with the covariance that the samples
/// have. Each new sample is a random combination of the old ones, the same in every view.
pub(crate) fn structureless(
    kernels: &[Gram<'_>],
    cloud: Cloud,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Result<Vec<Gram<'static>>> {
    let n = kernels[0].samples();
    let combinations = combinations(n, seed, monitor)?;
    let mut found: Vec<Gram<'static>> = memory::with_capacity(kernels.len(), WHAT)?;
    // Ends: each pass takes at least one kernel.
    while let Some(kernel) = kernels.get(found.len()) {
        monitor.go_on()?;
        let first = found.len();
        match kernel.source() {
            Source::Given => found.push(of_kernel(kernel, &combinations, monitor)?),
            Source::Function { anchors, .. } => {
                // Those of one view are built together.
                let of_view = |kernel: &Gram<'_>| match kernel.source() {
                    Source::Function { anchors: others, .. } => anchors.is(others),
                    Source::Given => false,
                };
                let mut specs = memory::with_capacity(kernels.len(), WHAT)?;
                let view = kernels[first..].iter().take_while(|kernel| of_view(kernel));
                specs.extend(view.filter_map(|kernel| kernel.label().spec).map(|s| s.unprepared()));
                let mut drawn = product(anchors.columns(), &combinations, monitor)?;
                if cloud == Cloud::Edged {
                    flatten(&mut drawn)?;
                }
                let features = Features {
                    values: drawn.values(),
                    samples: n,
                    features: drawn.rows(),
                    sample_stride: drawn.rows(),
                    feature_stride: 1,
                };
                found.extend(build(features, WHAT, &specs, first, monitor)?);
            }
        }
    }
    Ok(found)
}

/// n×n: the coefficients of each new sample, a column that sums to 0, so that the mean of the samples drops out.
fn combinations(n: usize, seed: u64, monitor: &Monitor<'_>) -> Result<Matrix> {
    let mut out = Matrix::zeros(n, n, WHAT)?;
    out.values_mut().par_chunks_mut(n).enumerate().try_for_each(|(j, column)| {
        monitor.go_on()?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ (j as u64) << 32);
        for pair in column.chunks_mut(2) {
            // Box and Muller's two normal numbers of two uniform ones, the first above 0.
            let uniform = |bits: u64| ((bits >> 11) + 1) as f64 / (1u64 << 53) as f64;
            let (first, second) = (uniform(random.next_u64()), uniform(random.next_u64()));
            let length = (-2.0 * first.ln() / n as f64).sqrt();
            let (sine, cosine) = (std::f64::consts::TAU * second).sin_cos();
            pair.iter_mut().zip([length * cosine, length * sine]).for_each(|(out, v)| *out = v);
        }
        let mean = column.iter().sum::<f64>() / n as f64;
        column.iter_mut().for_each(|value| *value -= mean);
        Result::Ok(())
    })?;
    Ok(out)
}

/// left·right, some columns at a time.
fn product(left: &Matrix, right: &Matrix, monitor: &Monitor<'_>) -> Result<Matrix> {
    let rows = left.rows();
    let mut out = Matrix::zeros(rows, right.cols(), WHAT)?;
    out.values_mut().par_chunks_mut(rows * BLOCK).enumerate().try_for_each(|(block, out)| {
        monitor.go_on()?;
        let width = out.len() / rows;
        let right = right.view().subcols(block * BLOCK, width);
        let out = MatMut::from_column_major_slice_mut(out, rows, width);
        matmul(out, Accum::Replace, left.view(), right, 1.0, Par::Seq);
        Ok(())
    })?;
    Ok(out)
}

/// Makes Gaussian features around 0, which are rows, uniform ones of the same variance.
fn flatten(samples: &mut Matrix) -> Result<()> {
    // A logistic curve that follows the normal distribution to a percent.
    const STEEPNESS: f64 = 1.702;
    let (features, n) = (samples.rows(), samples.cols());
    let mut squares = memory::filled(features, 0.0, WHAT)?;
    for i in 0..n {
        let entries = squares.iter_mut().zip(samples.col(i));
        entries.for_each(|(square, value)| *square += value * value / n as f64);
    }
    samples.values_mut().par_chunks_mut(features).for_each(|sample| {
        for (value, square) in sample.iter_mut().zip(&squares) {
            let deviation = square.sqrt();
            if deviation > 0.0 {
                let share = 1.0 / (1.0 + (-STEEPNESS * *value / deviation).exp());
                *value = 12f64.sqrt() * deviation * (share - 0.5);
            }
        }
    });
    Ok(())
}

/// CᵀKC for a kernel that the caller gave.
fn of_kernel(
    kernel: &Gram<'_>,
    combinations: &Matrix,
    monitor: &Monitor<'_>,
) -> Result<Gram<'static>> {
    let n = kernel.samples();
    let mut entries = Matrix::zeros(n, n, WHAT)?;
    let unit = kernel.reach();
    entries.values_mut().par_chunks_mut(n).enumerate().try_for_each(|(j, out)| {
        let mut scratch = Vec::new();
        let column = kernel.reduced_col(j, &mut scratch)?;
        out.iter_mut().zip(column).for_each(|(out, value)| *out = value / unit);
        Result::Ok(())
    })?;
    mirror(entries.values_mut(), n);
    let half = product(&entries, combinations, monitor)?;
    let mut transposed = Matrix::zeros(n, n, WHAT)?;
    for j in 0..n {
        combinations.col(j).iter().enumerate().for_each(|(i, &v)| transposed.col_mut(i)[j] = v);
    }
    let mut whole = product(&transposed, &half, monitor)?;
    mirror(whole.values_mut(), n);
    let values = memory::copied(whole.values(), WHAT)?;
    Gram::computed(Label { number: 0, spec: None }, values, None, n, monitor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor;

    #[test]
    fn clouds_have_the_covariance_of_the_samples_around_0() {
        // 600 samples of three features, two of which go together.
        let n = 600;
        let wave = |i: usize, k: f64| (k * i as f64).sin();
        let rows = (0..n).flat_map(|i| [wave(i, 1.3), 2.0 * wave(i, 1.3) + wave(i, 2.9), 5.0]);
        let values: Vec<f64> = rows.collect();
        let mut samples = Matrix::zeros(3, n, "test").unwrap();
        samples.values_mut().copy_from_slice(&values);
        let moments = |x: &Matrix| {
            let mean = |a: usize| (0..n).map(|i| x.get(a, i)).sum::<f64>() / n as f64;
            let both = |a: usize, b: usize| {
                (0..n).map(|i| (x.get(a, i) - mean(a)) * (x.get(b, i) - mean(b))).sum::<f64>()
                    / n as f64
            };
            ([both(0, 0), both(0, 1), both(1, 1), both(2, 2)], mean(1))
        };
        let (expected, _) = moments(&samples);
        monitor::idle(|monitor| {
            let combinations = combinations(n, 7, monitor).unwrap();
            let mut drawn = product(&samples, &combinations, monitor).unwrap();
            for _cloud in ["round", "edged"] {
                let (found, mean) = moments(&drawn);
                let near = |(a, b): (f64, f64)| (a - b).abs() <= 0.2 * expected[2];
                assert!(found.into_iter().zip(expected).all(near), "{found:?} {expected:?}");
                assert!(mean.abs() < 0.3, "around 0: {mean}");
                flatten(&mut drawn).unwrap();
            }
            let most = drawn.values().iter().fold(0.0, |a: f64, b| a.max(b.abs()));
            assert!(most <= 3f64.sqrt() * 1.1 * expected[2].sqrt(), "edges: {most}");
        });
    }
}
