//! A kernel matrix of the caller, copied or borrowed, checked once on entry.

use super::check::{self, Pairs, Square, TILE};
use super::definite;
use crate::error::{Error, Result};
use crate::memory;
use crate::options::Normalize;
use rayon::prelude::*;
use std::borrow::Cow;

/// A checked kernel: n×n, finite, symmetric, neither zero nor constant, not clearly indefinite.
#[derive(Clone, Debug)]
pub struct Kernel<'a> {
    name: String,
    values: Cow<'a, [f64]>,
    samples: usize,
    leading_dim: usize,
    facts: Facts,
}

/// What the checks found out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Facts {
    /// Largest absolute entry.
    largest: f64,
    /// Whether K equals its transpose exactly. A borrowed kernel may differ by a relative
    /// 1e-8; whoever reads it then averages the two triangles.
    exactly_symmetric: bool,
    /// Mean diagonal of the centred kernel HKH, in units of `largest`.
    centred_diagonal: f64,
}

impl Facts {
    /// A centred mean diagonal up to this multiple of the largest entry is rounding.
    const FLAT: f64 = 1e-14;

    /// The checks of a kernel of the caller, who may have made any mistake.
    fn of_callers(name: &str, kernel: Square<'_>) -> Result<Self> {
        let (facts, smallest_minor) = Self::of(name, kernel)?;
        definite::check(name, kernel, facts.largest, smallest_minor)?;
        // Last, since the distances of an indefinite kernel may cancel.
        facts.varying(name, kernel.order())
    }

    /// The facts about a finite, symmetric kernel that is not zero, and the bound of its
    /// smallest eigenvalue that its minors give.
    fn of(name: &str, kernel: Square<'_>) -> Result<(Self, f64)> {
        let largest = check::largest(name, kernel)?;
        // Below, the reciprocal is not finite.
        if largest < f64::MIN_POSITIVE {
            return Err(degenerate(name, "all entries are zero"));
        }
        let pairs = check::pairs(name, kernel, largest)?;
        let Pairs { exactly_symmetric, centred_diagonal, smallest_minor } = pairs;
        Ok((Self { largest, exactly_symmetric, centred_diagonal }, smallest_minor))
    }

    /// Refuses a kernel of which centring leaves nothing.
    fn varying(self, name: &str, samples: usize) -> Result<Self> {
        if samples == 1 {
            // Nothing to tell apart, and nothing wrong with that.
            return Ok(Self { centred_diagonal: 1.0, ..self });
        }
        if self.centred_diagonal <= Self::FLAT {
            return Err(degenerate(name, "it is constant, so that it tells no samples apart"));
        }
        Ok(self)
    }
}

fn degenerate(name: &str, reason: &'static str) -> Error {
    Error::Degenerate { what: name.to_owned(), reason }
}

impl<'a> Kernel<'a> {
    /// Copies and checks.
    pub(crate) fn copied(
        name: String,
        values: &[f64],
        samples: usize,
        leading_dim: usize,
    ) -> Result<Kernel<'static>> {
        let source = Square::new(&name, values, samples, leading_dim)?;
        let facts = Facts::of_callers(&name, source)?;
        let mut copy = memory::with_capacity(samples * samples, "a kernel")?;
        for j in 0..samples {
            copy.extend_from_slice(source.col(j));
        }
        if !facts.exactly_symmetric {
            copy.par_chunks_mut(samples * TILE).enumerate().for_each(|(tile, out)| {
                let cols = tile * TILE..tile * TILE + out.len() / samples;
                source.write_symmetrised(cols, out);
            });
        }
        let facts = Facts { exactly_symmetric: true, ..facts };
        Ok(Kernel { name, values: Cow::Owned(copy), samples, leading_dim: samples, facts })
    }

    /// Checks, but does not copy.
    pub(crate) fn borrowed(
        name: String,
        values: &'a [f64],
        samples: usize,
        leading_dim: usize,
    ) -> Result<Kernel<'a>> {
        let source = Square::new(&name, values, samples, leading_dim)?;
        let facts = Facts::of_callers(&name, source)?;
        Ok(Kernel { name, values: Cow::Borrowed(values), samples, leading_dim, facts })
    }

    /// Takes over a kernel computed by this library: symmetric and semi-definite by construction.
    pub(crate) fn computed(
        name: String,
        values: Vec<f64>,
        samples: usize,
    ) -> Result<Kernel<'static>> {
        let source = Square::new(&name, &values, samples, samples)?;
        let (facts, _) = Facts::of(&name, source)?;
        let facts = facts.varying(&name, samples)?;
        Ok(Kernel { name, values: Cow::Owned(values), samples, leading_dim: samples, facts })
    }

    /// What messages call it: "kernel 2" or "kernel 2 (gaussian(t=0.1))".
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Column `j`.
    pub fn col(&self, j: usize) -> &[f64] {
        &self.values[j * self.leading_dim..][..self.samples]
    }

    /// The largest absolute entry.
    pub fn largest(&self) -> f64 {
        self.facts.largest
    }

    /// Whether K equals its transpose exactly; see [`Kernel`].
    pub fn is_exactly_symmetric(&self) -> bool {
        self.facts.exactly_symmetric
    }

    /// The factor by which `normalize` multiplies this kernel. (Centring, the other half of
    /// `unit`, costs nothing: see [`crate::solver`].)
    pub fn scale(&self, normalize: Normalize) -> f64 {
        let Facts { largest, centred_diagonal, .. } = self.facts;
        let factor = match normalize {
            Normalize::None => 1.0,
            Normalize::Max => 1.0 / largest,
            Normalize::Unit => 1.0 / centred_diagonal / largest,
        };
        // A kernel both near the smallest numbers and nearly flat would need more.
        factor.min(f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{RngCore, SeedableRng};

    /// Numbers from -1 to 1, the same in every run.
    fn random(seed: u64) -> impl FnMut() -> f64 {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        move || generator.next_u64() as f64 / 2f64.powi(63) - 1.0
    }

    /// XXᵀ of `samples` random rows of length `rank`.
    fn gram(samples: usize, rank: usize, seed: u64) -> Vec<f64> {
        let mut random = random(seed);
        let x: Vec<f64> = (0..samples * rank).map(|_| random()).collect();
        let row = |i: usize| &x[i * rank..][..rank];
        let mut values = vec![0.0; samples * samples];
        for j in 0..samples {
            for i in j..samples {
                let product = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
                values[i + j * samples] = product;
                values[j + i * samples] = product;
            }
        }
        values
    }

    fn borrow(values: &[f64], samples: usize, leading_dim: usize) -> Result<Kernel<'_>> {
        let name = "kernel 0".to_owned();
        threads::run(2, || Kernel::borrowed(name, values, samples, leading_dim)).unwrap()
    }

    fn copy(values: &[f64], samples: usize) -> Result<Kernel<'static>> {
        let name = "kernel 0".to_owned();
        threads::run(2, || Kernel::copied(name, values, samples, samples)).unwrap()
    }

    fn times(values: &[f64], factor: f64) -> Vec<f64> {
        values.iter().map(|v| v * factor).collect()
    }

    /// tr(HKH)/n by the definition.
    fn centred_diagonal(values: &[f64], samples: usize) -> f64 {
        let n = samples as f64;
        let trace: f64 = (0..samples).map(|i| values[i * (samples + 1)]).sum();
        (trace - values.iter().sum::<f64>() / n) / n
    }

    #[test]
    fn scales_are_those_of_the_definition() {
        for samples in [2, 3, 31, 32, 33, 65, 150] {
            let values = gram(samples, 5, 1);
            let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            let kernel = borrow(&values, samples, samples).unwrap();
            assert_eq!(kernel.scale(Normalize::None), 1.0);
            assert_eq!(kernel.scale(Normalize::Max), 1.0 / largest);
            let unit = kernel.scale(Normalize::Unit) * centred_diagonal(&values, samples);
            assert!((unit - 1.0).abs() < 1e-12, "{unit}");
        }
    }

    #[test]
    fn padding_below_the_columns_is_never_read() {
        let (samples, leading_dim) = (70, 75);
        let values = gram(samples, 8, 2);
        let mut padded = vec![f64::NAN; (samples - 1) * leading_dim + samples];
        for j in 0..samples {
            padded[j * leading_dim..][..samples].copy_from_slice(&values[j * samples..][..samples]);
        }
        let kernel = borrow(&padded, samples, leading_dim).unwrap();
        let name = "kernel 0".to_owned();
        let copied = threads::run(2, || Kernel::copied(name, &padded, samples, leading_dim));
        let copied = copied.unwrap().unwrap();
        assert_eq!(kernel.facts, copied.facts);
        for j in 0..samples {
            assert_eq!(kernel.col(j), &values[j * samples..][..samples]);
            assert_eq!(copied.col(j), kernel.col(j));
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let values = [1.0; 8];
        for (samples, leading_dim, expected) in [
            (0, 1, "n of kernel 0: 0 given, at least 1 expected"),
            (3, 2, "leading_dim of kernel 0: 2 given, at least n = 3 expected"),
            (
                3,
                3,
                "number of values of kernel 0: 8 given, at least 9 expected for n = 3 and \
                 leading_dim = 3",
            ),
            (usize::MAX, usize::MAX, "too large for n"),
            (3, usize::MAX / 2, "too large for n"),
            (2, usize::MAX - 1, "too large for n"),
        ] {
            let error = borrow(&values, samples, leading_dim).unwrap_err();
            assert!(matches!(error, Error::Dimension { .. }));
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn the_first_entry_that_is_not_finite_is_named() {
        let samples = 67;
        // R's NA is a NaN that carries the number 1954.
        let na = f64::from_bits(0x7ff0_0000_0000_07a2);
        for bad in [f64::NAN, na, f64::INFINITY, f64::NEG_INFINITY] {
            for (row, col) in [(0, 0), (66, 66), (66, 0), (0, 66), (40, 3), (3, 40), (31, 32)] {
                let mut values = gram(samples, 5, 3);
                values[row + col * samples] = bad;
                values[66 * samples + 66] = bad;
                for kernel in [borrow(&values, samples, samples), copy(&values, samples)] {
                    let message = kernel.unwrap_err().to_string();
                    assert_eq!(message, format!("kernel 0 entry ({row}, {col}) is {bad}"));
                }
            }
        }
    }

    #[test]
    fn asymmetry_is_named_where_it_is_worst() {
        let samples = 100;
        for (row, col) in [(1, 0), (99, 0), (99, 98), (64, 31), (33, 32)] {
            for sign in [1.0, -1.0] {
                let mut values = gram(samples, 150, 4);
                let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                values[70 + 60 * samples] += 2e-8 * largest;
                values[row + col * samples] += sign * 3e-8 * largest;
                let (lower, upper) = (values[row + col * samples], values[col + row * samples]);
                let expected =
                    Error::Asymmetric { what: "kernel 0".to_owned(), row, col, lower, upper };
                assert_eq!(borrow(&values, samples, samples).unwrap_err(), expected);
                assert_eq!(copy(&values, samples).unwrap_err(), expected);
            }
        }
        assert!(matches!(copy(&[1.0, 1e308, -1e308, 1.0], 2), Err(Error::Asymmetric { .. })));
    }

    #[test]
    fn asymmetry_of_rounding_is_averaged_in_a_copy_and_reported_of_a_borrowed_kernel() {
        let samples = 71;
        let exact = gram(samples, 100, 5);
        assert!(borrow(&exact, samples, samples).unwrap().is_exactly_symmetric());
        let mut values = exact.clone();
        let mut random = random(6);
        values.iter_mut().for_each(|v| *v += 1e-9 * random());
        let copied = copy(&values, samples).unwrap();
        assert!(copied.is_exactly_symmetric());
        for j in 0..samples {
            for i in 0..samples {
                let mean = 0.5 * values[i + j * samples] + 0.5 * values[j + i * samples];
                assert_eq!(copied.col(j)[i], mean);
            }
        }
        let borrowed = borrow(&values, samples, samples).unwrap();
        assert!(!borrowed.is_exactly_symmetric());
        assert_eq!(borrowed.col(7), &values[7 * samples..][..samples]);
    }

    #[test]
    fn a_zero_or_constant_kernel_is_refused() {
        for samples in [1, 2, 50, 200] {
            let error = copy(&vec![0.0; samples * samples], samples).unwrap_err();
            assert_eq!(error.to_string(), "kernel 0 is degenerate: all entries are zero");
        }
        for samples in [2, 50, 200] {
            for value in [1.0, 0.1, 1e300, 1e-300, f64::MAX] {
                let error = copy(&vec![value; samples * samples], samples).unwrap_err();
                assert!(matches!(error, Error::Degenerate { .. }), "{error}");
                assert!(error.to_string().contains("constant"), "{error}");
            }
        }
    }

    #[test]
    fn a_nearly_flat_kernel_is_not_taken_for_a_constant_one() {
        let samples = 200;
        let values: Vec<f64> = gram(samples, 3, 7).iter().map(|v| 1.0 + 1e-12 * v).collect();
        let kernel = copy(&values, samples).unwrap();
        assert!((1e11..1e13).contains(&kernel.scale(Normalize::Unit)));
    }

    #[test]
    fn one_sample_is_a_kernel() {
        let kernel = copy(&[4.0], 1).unwrap();
        assert_eq!(kernel.scale(Normalize::Unit), 0.25);
        assert!(matches!(copy(&[-4.0], 1), Err(Error::NotPsd { eigenvalue: -4.0, .. })));
    }

    #[test]
    fn the_size_of_the_numbers_does_not_matter() {
        for samples in [10, 200] {
            let values = gram(samples, 4, 8);
            let plain = copy(&values, samples).unwrap();
            for factor in [1e300, 1e-300] {
                let kernel = copy(&times(&values, factor), samples).unwrap();
                for normalize in [Normalize::Max, Normalize::Unit] {
                    let ratio = kernel.scale(normalize) * factor / plain.scale(normalize);
                    assert!((ratio - 1.0).abs() < 1e-10, "{ratio}");
                }
                let error = copy(&times(&values, -factor), samples).unwrap_err();
                assert!(matches!(error, Error::NotPsd { .. }), "{error}");
            }
            let flat: Vec<f64> = values.iter().map(|v| 1e-306 * (1.0 + 1e-8 * v)).collect();
            let factor = copy(&flat, samples).unwrap().scale(Normalize::Unit);
            assert!(factor.is_finite() && factor > 0.0);
        }
    }

    #[test]
    fn clearly_indefinite_kernels_are_refused_with_a_bound_of_the_eigenvalue() {
        match copy(&[1.0, 2.0, 2.0, 1.0], 2) {
            Err(Error::NotPsd { eigenvalue, .. }) => assert!((eigenvalue + 1.0).abs() < 1e-14),
            other => panic!("{other:?}"),
        }
        for samples in [40, 300] {
            let negative = times(&gram(samples, 5, 9), -1.0);
            assert!(matches!(copy(&negative, samples), Err(Error::NotPsd { .. })));

            let mut reflection = vec![0.0; samples * samples];
            (0..samples).for_each(|i| reflection[i * (samples + 1)] = 1.0);
            assert!(copy(&reflection, samples).is_ok());
            reflection[samples * samples - 1] = -1.0;
            match copy(&reflection, samples) {
                Err(Error::NotPsd { eigenvalue, .. }) => {
                    assert!((eigenvalue + 1.0).abs() < 1e-12, "{eigenvalue}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_negative_direction_spread_over_all_samples_is_found() {
        // No principal minor of order 2 sees it: u is spread evenly and the diagonal is large.
        for samples in [100, 300, 500] {
            let mut values = gram(samples, samples / 2, 10);
            // λ_max ≤ the largest row sum of absolute values; below, half of a lower bound.
            let trace: f64 = (0..samples).map(|i| values[i * (samples + 1)]).sum();
            let top_bound = (0..samples)
                .map(|j| values[j * samples..][..samples].iter().map(|v| v.abs()).sum::<f64>())
                .fold(0.0, f64::max);
            let mut random = random(11);
            let u: Vec<f64> = (0..samples).map(|_| random().signum()).collect();
            // Subtracting more than uᵀKu/n takes that direction to -5 % of the top or below.
            let along: f64 = (0..samples)
                .flat_map(|j| (0..samples).map(move |i| (i, j)))
                .map(|(i, j)| u[i] * values[i + j * samples] * u[j])
                .sum::<f64>()
                / samples as f64;
            assert!(along < trace);
            let amount = along + 0.05 * top_bound;
            for j in 0..samples {
                for i in 0..samples {
                    values[i + j * samples] -= amount / samples as f64 * u[i] * u[j];
                }
            }
            let square = Square::new("kernel 0", &values, samples, samples).unwrap();
            let (facts, minor) =
                threads::run(2, || Facts::of("kernel 0", square)).unwrap().unwrap();
            assert!(minor > 0.0, "the minors alone would have found it");
            match copy(&values, samples) {
                Err(Error::NotPsd { eigenvalue, .. }) => {
                    assert!(eigenvalue < -0.01 * facts.largest, "{eigenvalue}");
                }
                other => panic!("{samples}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_bound_is_never_below_the_smallest_eigenvalue() {
        let mut random = random(12);
        for samples in [3, 60, 129, 200] {
            let mut values = vec![0.0; samples * samples];
            for j in 0..samples {
                for i in j..samples {
                    let value = random() + if i == j { 2.0 } else { 0.0 };
                    values[i + j * samples] = value;
                    values[j + i * samples] = value;
                }
            }
            let matrix = faer::MatRef::from_column_major_slice(&values, samples, samples);
            let smallest = matrix.self_adjoint_eigenvalues(faer::Side::Lower).unwrap()[0];
            match copy(&values, samples) {
                Err(Error::NotPsd { eigenvalue, .. }) => {
                    assert!(eigenvalue >= smallest - 1e-12, "{eigenvalue} {smallest}");
                    assert!(eigenvalue <= 0.7 * smallest, "{eigenvalue} {smallest}");
                }
                other => assert!(other.is_ok() && smallest > -1e-5, "{other:?}"),
            }
        }
    }

    #[test]
    fn kernels_rounded_to_single_precision_pass() {
        for (samples, rank) in [(100, 3), (128, 128), (129, 20), (400, 3), (400, 200)] {
            let values = gram(samples, rank, 13);
            for power in [1, 2] {
                let rounded: Vec<f64> =
                    values.iter().map(|v| f64::from(v.powi(power) as f32)).collect();
                copy(&rounded, samples).unwrap();
            }
        }
    }

    #[test]
    fn the_verdict_is_the_same_for_any_number_of_threads() {
        let samples = 333;
        let good = gram(samples, 20, 14);
        let indefinite: Vec<f64> = (0..samples * samples)
            .map(|k| good[k] - if k % (samples + 1) == 0 { 0.01 } else { 0.0 })
            .collect();
        let run = |threads: usize, values: &[f64]| {
            let name = "kernel 0".to_owned();
            threads::run(threads, || Kernel::copied(name, values, samples, samples)).unwrap()
        };
        let (first, refused) = (run(1, &good).unwrap(), run(1, &indefinite).unwrap_err());
        assert!(matches!(refused, Error::NotPsd { .. }), "{refused}");
        for threads in [2, 8] {
            assert_eq!(run(threads, &good).unwrap().facts, first.facts);
            assert_eq!(run(threads, &indefinite).unwrap_err(), refused);
        }
    }
}
