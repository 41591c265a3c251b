//! A kernel matrix of the caller, copied or borrowed, checked once on entry.
//!
//! Everything but an affinity sees a kernel only up to a common part a_i + a_j: columns of Z sum to
//! 1, and distances do not know where the origin is. Where that part is much larger than what
//! tells samples apart (an uncentred linear kernel of features with a large mean, a kernel plus a
//! constant), scaling and mixing would round away the digits that matter. Such a kernel has
//! *offsets* a, chosen so that a_i + a_j is exact: K_ij − (a_i + a_j) then has as many correct
//! digits as the kernel gave it.

use super::check::{self, PairFacts, Square, TILE};
use super::features::Source;
use super::{KernelSpec, definite};
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
use crate::settings::Normalize;
use crate::sync::Arc;
use crate::vector;
use rayon::prelude::*;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Entries of which sums may be beyond the range of numbers.
const LARGE: f64 = 1e290;

/// What messages call a kernel: "kernel 2" or "kernel 2 (gaussian(t=0.1))".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label {
    /// As messages count.
    pub number: usize,
    /// What it was built by, unless the caller did.
    pub spec: Option<KernelSpec>,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}", self.number)?;
        self.spec.map_or(Ok(()), |spec| write!(f, " ({spec})"))
    }
}

/// A checked kernel: n×n, finite, symmetric, neither zero nor constant, not clearly indefinite.
#[derive(Debug)]
pub struct Gram<'a> {
    label: Label,
    values: Cow<'a, [f64]>,
    samples: usize,
    leading_dim: usize,
    facts: Facts,
    offsets: Offsets,
    /// What the entries count as multiples of where no scale is chosen for them.
    factor: f64,
    source: Source,
}

/// The common part of a kernel; see the module's description.
#[derive(Debug, Default, PartialEq)]
struct Offsets {
    /// a, or nothing where there is no large common part.
    of: Vec<f64>,
    /// Whether it has been taken from the values already.
    taken: bool,
}

/// Which entries a block has.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Part {
    /// All but the common part, which centring would remove.
    Reduced,
    /// Those as given, negative ones as 0.
    Positive,
}

/// The largest absolute entry of a matrix, and in units of it the sum of its diagonal and of all.
struct Sizes {
    largest: f64,
    trace: f64,
    total: f64,
}

/// What the checks found out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Facts {
    /// Largest absolute entry.
    largest: f64,
    /// Largest absolute entry without the common part.
    reach: f64,
    /// Whether K equals its transpose exactly. A borrowed kernel may differ by a relative
    /// 1e-8; whoever reads it then averages the two triangles.
    exactly_symmetric: bool,
    /// Mean diagonal of the centred kernel HKH, in units of `reach`.
    centred_diagonal: f64,
}

impl Facts {
    /// A centred mean diagonal up to this multiple of the largest entry is rounding.
    const FLAT: f64 = 1e-14;

    /// The checks of a kernel of the caller, who may have made any mistake.
    fn of_callers(label: Label, kernel: Square<'_>, monitor: &Monitor<'_>) -> Result<Self> {
        let (facts, smallest_minor) = Self::of(label, kernel, monitor)?;
        definite::check(label, kernel, facts.largest, smallest_minor, monitor)?;
        // Last, since the distances of an indefinite kernel may cancel.
        facts.varying(label, kernel.order())
    }

    /// The facts about a finite, symmetric kernel that is not zero, and the bound of its
    /// smallest eigenvalue that its minors give.
    fn of(label: Label, kernel: Square<'_>, monitor: &Monitor<'_>) -> Result<(Self, f64)> {
        let largest = check::largest(label, kernel, monitor)?;
        // Below, the reciprocal is not finite.
        if largest < f64::MIN_POSITIVE {
            return Err(degenerate(label, "all entries are zero"));
        }
        let pairs = check::pairs(label, kernel, largest, monitor)?;
        let PairFacts { exactly_symmetric, centred_diagonal, smallest_minor } = pairs;
        let facts = Self { largest, reach: largest, exactly_symmetric, centred_diagonal };
        Ok((facts, smallest_minor))
    }

    /// Refuses a kernel of which centring leaves nothing.
    fn varying(self, label: Label, samples: usize) -> Result<Self> {
        if samples == 1 {
            // Nothing to tell apart, and nothing wrong with that.
            return Ok(Self { centred_diagonal: 1.0, ..self });
        }
        if self.centred_diagonal <= Self::FLAT {
            return Err(degenerate(label, "it is constant, so that it tells no samples apart"));
        }
        Ok(self)
    }
}

fn degenerate(label: Label, reason: &'static str) -> Error {
    Error::Degenerate { what: label.to_string(), reason }
}

impl<'a> Gram<'a> {
    /// Copies and checks.
    pub(crate) fn copied(
        label: Label,
        values: &[f64],
        samples: usize,
        leading_dim: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Gram<'static>> {
        let source = Square::new(label, values, samples, leading_dim)?;
        let facts = Facts::of_callers(label, source, monitor)?;
        let mut copy = memory::filled(samples * samples, 0.0, "a kernel")?;
        copy.par_chunks_mut(samples * TILE).enumerate().try_for_each(|(tile, out)| {
            let cols = tile * TILE..tile * TILE + out.len() / samples;
            if facts.exactly_symmetric {
                let columns = out.chunks_exact_mut(samples).zip(cols);
                columns.for_each(|(out, j)| out.copy_from_slice(source.col(j)));
            } else {
                source.write_symmetrised(cols, out);
            }
            monitor.go_on()
        })?;
        let facts = Facts { exactly_symmetric: true, ..facts };
        let values = Cow::Owned(copy);
        let kernel = Gram {
            label,
            values,
            samples,
            leading_dim: samples,
            facts,
            offsets: Offsets::default(),
            factor: 1.0,
            source: Source::Given,
        };
        kernel.with_offsets(monitor)
    }

    /// Checks, but does not copy.
    pub(crate) fn borrowed(
        label: Label,
        values: &'a [f64],
        samples: usize,
        leading_dim: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Gram<'a>> {
        let source = Square::new(label, values, samples, leading_dim)?;
        let facts = Facts::of_callers(label, source, monitor)?;
        let (values, offsets) = (Cow::Borrowed(values), Offsets::default());
        let (factor, source) = (1.0, Source::Given);
        let kernel = Gram { label, values, samples, leading_dim, facts, offsets, factor, source };
        kernel.with_offsets(monitor)
    }

    /// Takes over a kernel computed by this library: symmetric and semi-definite by construction.
    /// `common` is a common part a_i + a_j that was never in `values`.
    pub(crate) fn computed(
        label: Label,
        values: Vec<f64>,
        common: Option<Vec<f64>>,
        samples: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Gram<'static>> {
        let source = Square::new(label, &values, samples, samples)?;
        let (facts, _) = Facts::of(label, source, monitor)?;
        let facts = facts.varying(label, samples)?;
        let (values, offsets) = (Cow::Owned(values), Offsets::default());
        let (leading_dim, factor, source) = (samples, 1.0, Source::Given);
        let mut kernel =
            Gram { label, values, samples, leading_dim, facts, offsets, factor, source };
        let Some(of) = common else { return kernel.with_offsets(monitor) };
        kernel.offsets = Offsets { of, taken: true };
        kernel.facts.largest = kernel.sizes(Gram::raw_col, monitor)?.largest;
        Ok(kernel)
    }

    /// Finds the common part where it is so large that it costs digits.
    fn with_offsets(mut self, monitor: &Monitor<'_>) -> Result<Self> {
        /// Centred mean diagonal, relative to the largest entry, below which it does.
        const SMALL: f64 = 1.0 / 16.0;
        if self.facts.centred_diagonal >= SMALL {
            return Ok(self);
        }
        let n = self.samples;
        let mut of = memory::filled(n, 0.0, "the common part of a kernel")?;
        of.par_chunks_mut(TILE).enumerate().try_for_each(|(tile, of)| {
            for (k, mean) in of.iter_mut().enumerate() {
                let column = self.col(tile * TILE + k);
                // Entries may be as large as numbers go.
                *mean = vector::scaled_sum(1.0 / n as f64, column);
            }
            monitor.go_on()
        })?;
        let half = 0.5 * vector::scaled_sum(1.0 / n as f64, &of);
        of.iter_mut().for_each(|mean| *mean -= half);
        round_to_exact_sums(&mut of);
        self.offsets = Offsets { of, taken: false };
        let Sizes { largest, trace, total } = self.sizes(Gram::reduced_col, monitor)?;
        // Of what is left nearly all varies, so that little cancels here.
        let centred_diagonal = (trace - total / n as f64) / n as f64;
        self.facts = Facts { reach: largest, centred_diagonal, ..self.facts };
        Ok(self)
    }

    /// What the columns that `read` gives are like.
    fn sizes(
        &self,
        read: impl for<'k> Fn(&'k Self, usize, &'k mut Vec<f64>) -> Result<&'k [f64]> + Sync,
        monitor: &Monitor<'_>,
    ) -> Result<Sizes> {
        let n = self.samples;
        let tiles = memory::par_map(n.div_ceil(TILE), "the check of a kernel", |tile| {
            let mut scratch = Vec::new();
            let mut largest = 0.0_f64;
            for j in tile * TILE..((tile + 1) * TILE).min(n) {
                largest = largest.max(vector::max_abs(read(self, j, &mut scratch)?));
            }
            // In a second pass, in units of the largest: sums of numbers as large as they go.
            let (mut trace, mut total) = (0.0, 0.0);
            let unit = if largest > 0.0 { 1.0 / largest } else { 0.0 };
            for j in tile * TILE..((tile + 1) * TILE).min(n) {
                let column = read(self, j, &mut scratch)?;
                trace += column[j] * unit;
                total += vector::scaled_sum(unit, column);
            }
            monitor.go_on()?;
            Ok(Sizes { largest, trace, total })
        })?;
        let largest = tiles.iter().flatten().map(|tile| tile.largest).fold(0.0, f64::max);
        let mut all = Sizes { largest, trace: 0.0, total: 0.0 };
        for tile in tiles.into_iter().flatten() {
            all.trace += tile.trace * (tile.largest / largest);
            all.total += tile.total * (tile.largest / largest);
        }
        Ok(all)
    }

    /// The same kernel times `factor`, which leaves the entries as they are: the product may be
    /// beyond the range of numbers.
    pub(crate) fn times(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// The same kernel, with where its entries come from.
    pub(super) fn from(mut self, source: Source) -> Self {
        self.source = source;
        self
    }

    /// Where its entries come from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Whether its formula was applied to features divided by some factor, and not only its result
    /// scaled.
    pub(crate) fn is_rescaled(&self) -> bool {
        self.factor != 1.0 && self.label.spec.is_some_and(|spec| !spec.function.additive)
    }

    /// What messages call it.
    pub fn label(&self) -> Label {
        self.label
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Bytes of its entries that this library holds.
    fn bytes(&self) -> usize {
        let values = if let Cow::Owned(values) = &self.values { values.len() } else { 0 };
        (values + self.offsets.of.len()).saturating_mul(size_of::<f64>())
    }

    /// Column `j` as it is stored.
    fn col(&self, j: usize) -> &[f64] {
        &self.values[j * self.leading_dim..][..self.samples]
    }

    /// What is to be taken from a stored entry (i, j) so that the common part is gone.
    fn common(&self, i: usize, j: usize) -> f64 {
        match self.offsets.of.get(i).zip(self.offsets.of.get(j)) {
            Some((a, b)) if !self.offsets.taken => a + b,
            _ => 0.0,
        }
    }

    /// The common part a, if it is kept apart.
    pub(crate) fn offsets(&self) -> Option<&[f64]> {
        Some(&*self.offsets.of).filter(|of| !of.is_empty())
    }

    /// Column `j` less the common part: for all that is free to choose the origin.
    pub(crate) fn reduced_col<'k>(
        &'k self,
        j: usize,
        scratch: &'k mut Vec<f64>,
    ) -> Result<&'k [f64]> {
        if self.offsets.of.is_empty() || self.offsets.taken {
            return Ok(self.col(j));
        }
        self.shifted(j, -1.0, scratch)
    }

    /// What entries are to be divided by before they are summed: 1 but for those near the largest
    /// numbers.
    pub(crate) fn sum_unit(&self) -> f64 {
        if self.facts.largest < LARGE { 1.0 } else { self.facts.largest }
    }

    /// The same for sums over the column, and what such a sum is to be divided by for entries of at
    /// most 1: entries near the largest numbers are divided beforehand.
    pub(crate) fn summable_col<'k>(
        &'k self,
        j: usize,
        scratch: &'k mut Vec<f64>,
    ) -> Result<(&'k [f64], f64)> {
        let reach = self.facts.reach;
        if reach < LARGE {
            return Ok((self.reduced_col(j, scratch)?, reach));
        }
        memory::refill(scratch, self.samples, 0.0, "a column of a kernel")?;
        let entries = scratch.iter_mut().zip(self.col(j)).enumerate();
        entries.for_each(|(i, (out, value))| *out = (value - self.common(i, j)) / reach);
        Ok((scratch, 1.0))
    }

    /// Column `j` as it was given.
    pub(crate) fn raw_col<'k>(&'k self, j: usize, scratch: &'k mut Vec<f64>) -> Result<&'k [f64]> {
        if !self.offsets.taken {
            return Ok(self.col(j));
        }
        self.shifted(j, 1.0, scratch)
    }

    fn shifted<'k>(&'k self, j: usize, sign: f64, scratch: &'k mut Vec<f64>) -> Result<&'k [f64]> {
        memory::refill(scratch, self.samples, 0.0, "a column of a kernel")?;
        let own = self.offsets.of[j];
        let entries = scratch.iter_mut().zip(self.col(j)).zip(&self.offsets.of);
        entries.for_each(|((out, value), offset)| *out = value + sign * (offset + own));
        Ok(scratch)
    }

    /// A copy of column `j` as it was given.
    pub fn column(&self, j: usize) -> Result<Vec<f64>> {
        memory::copied(self.raw_col(j, &mut Vec::new())?, "a column of a kernel")
    }

    /// Adds `factor` times the block of `rows` and `cols` of (K + Kᵀ)/2 to `out`, which has the
    /// columns of the block one after the other, each `out.len() / cols.len()` long and with the
    /// block at its end.
    pub(crate) fn add_block(
        &self,
        part: Part,
        factor: f64,
        (rows, cols): (Range<usize>, Range<usize>),
        out: &mut [f64],
        scratch: &mut Vec<f64>,
    ) -> Result<()> {
        let stride = out.len() / cols.len();
        let above = stride - rows.len();
        if self.facts.exactly_symmetric {
            for (j, out) in cols.zip(out.chunks_exact_mut(stride)) {
                let out = &mut out[above..];
                match part {
                    Part::Reduced => {
                        let column = &self.reduced_col(j, scratch)?[rows.clone()];
                        vector::axpy(factor, column, out);
                    }
                    Part::Positive => {
                        let column = &self.raw_col(j, scratch)?[rows.clone()];
                        vector::axpy_positive(factor, column, out);
                    }
                }
            }
            return Ok(());
        }
        // Row by row, since half of what is read are rows of other columns.
        for i in rows.clone() {
            for (j, out) in cols.clone().zip(out.chunks_exact_mut(stride)) {
                let mean = match part {
                    Part::Reduced => self.reduced_mean(i, j),
                    Part::Positive => self.raw_mean(i, j).max(0.0),
                };
                out[above + i - rows.start] += factor * mean;
            }
        }
        Ok(())
    }

    /// Entry (i, j) of (K + Kᵀ)/2 less the common part.
    pub(crate) fn reduced_mean(&self, i: usize, j: usize) -> f64 {
        let common = self.common(i, j);
        // Halves first, since the sum may overflow.
        0.5 * (self.col(j)[i] - common) + 0.5 * (self.col(i)[j] - common)
    }

    /// Entry (i, j) of (K + Kᵀ)/2. Only kernels as they were given can be asymmetric.
    fn raw_mean(&self, i: usize, j: usize) -> f64 {
        0.5 * self.col(j)[i] + 0.5 * self.col(i)[j]
    }

    /// The largest absolute entry.
    pub fn largest(&self) -> f64 {
        self.facts.largest
    }

    /// The largest absolute entry without the common part.
    pub(crate) fn reach(&self) -> f64 {
        self.facts.reach
    }

    /// Whether K equals its transpose exactly; see [`Gram`].
    pub fn is_exactly_symmetric(&self) -> bool {
        self.facts.exactly_symmetric
    }

    /// The factor by which `normalize` multiplies this kernel. (Centring, the other half of
    /// `unit`, costs nothing: see [`crate::blend`].)
    pub fn scale(&self, normalize: Normalize) -> f64 {
        let Facts { largest, reach, centred_diagonal, .. } = self.facts;
        let factor = match normalize {
            Normalize::None => self.factor,
            Normalize::Max => 1.0 / largest,
            Normalize::Unit => 1.0 / centred_diagonal / reach,
        };
        // A kernel both near the smallest numbers and nearly flat would need more.
        factor.min(f64::MAX)
    }
}

/// Bytes of these kernels that this library holds, the features behind them included, which those of
/// a view share.
pub(crate) fn bytes_held(kernels: &[Gram<'_>]) -> usize {
    let mut last = None;
    let bytes = kernels.iter().map(|kernel| {
        let anchors = kernel.source.anchors();
        let same = anchors.zip(last).is_some_and(|(own, other)| Arc::ptr_eq(own, other));
        last = anchors;
        kernel.bytes() + anchors.filter(|_| !same).map_or(0, |anchors| anchors.bytes())
    });
    bytes.fold(0, usize::saturating_add)
}

/// Rounds numbers so that the sum of any two of them is exact.
fn round_to_exact_sums(numbers: &mut [f64]) {
    const EXPONENT: u64 = 0x7ff << 52;
    // A power of two above three times the largest: adding it rounds to multiples of 2⁻⁵³ of it, of
    // which two have a sum of at most 53 bits. (0 for the smallest numbers, whose sums are exact.)
    // All of it a sixteenth, so that it is within the range of numbers.
    const PART: f64 = 1.0 / 16.0;
    let largest = 3.0 * PART * vector::max_abs(numbers);
    let power = 2.0 * f64::from_bits(largest.to_bits() & EXPONENT);
    numbers.iter_mut().for_each(|number| *number = ((*number * PART + power) - power) / PART);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{RngCore, SeedableRng};

    const FIRST: Label = Label { number: 0, spec: None };

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

    fn borrow(values: &[f64], samples: usize, leading_dim: usize) -> Result<Gram<'_>> {
        monitor::idle(|monitor| Gram::borrowed(FIRST, values, samples, leading_dim, monitor))
    }

    fn copy(values: &[f64], samples: usize) -> Result<Gram<'static>> {
        monitor::idle(|monitor| Gram::copied(FIRST, values, samples, samples, monitor))
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
        let copied =
            monitor::idle(|monitor| Gram::copied(FIRST, &padded, samples, leading_dim, monitor));
        let copied = copied.unwrap();
        assert_eq!(kernel.facts, copied.facts);
        for j in 0..samples {
            assert_eq!(kernel.column(j).unwrap(), &values[j * samples..][..samples]);
            assert_eq!(copied.column(j).unwrap(), kernel.column(j).unwrap());
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
                assert_eq!(copied.column(j).unwrap()[i], mean);
            }
        }
        let borrowed = borrow(&values, samples, samples).unwrap();
        assert!(!borrowed.is_exactly_symmetric());
        assert_eq!(borrowed.column(7).unwrap(), &values[7 * samples..][..samples]);
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
            let square = Square::new(FIRST, &values, samples, samples).unwrap();
            let (facts, minor) =
                monitor::idle(|monitor| Facts::of(FIRST, square, monitor)).unwrap();
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
            monitor::idle_on(threads, |monitor| {
                Gram::copied(FIRST, values, samples, samples, monitor)
            })
        };
        let (first, refused) = (run(1, &good).unwrap(), run(1, &indefinite).unwrap_err());
        assert!(matches!(refused, Error::NotPsd { .. }), "{refused}");
        for threads in [2, 8] {
            assert_eq!(run(threads, &good).unwrap().facts, first.facts);
            assert_eq!(run(threads, &indefinite).unwrap_err(), refused);
        }
    }
}
