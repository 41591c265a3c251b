//! One look at a kernel of the caller: its size, non-finite entries, asymmetry, variation.
//!
//! Work is divided into tiles of a fixed size and their findings are merged in a fixed order, so
//! that the verdict and every bit of it are the same for any number of threads.

use super::Label;
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
use std::ops::Range;

/// Rows and columns of a tile. Two tiles, one of them transposed, fit the first-level cache.
pub(super) const TILE: usize = 32;

/// The largest |K_ij − K_ji|, relative to the largest entry, that is taken for rounding.
const SYMMETRY: f64 = 1e-8;

/// A square matrix in column-major memory: entry (i, j) is `values[i + j * leading_dim]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Square<'v> {
    values: &'v [f64],
    order: usize,
    leading_dim: usize,
}

impl<'v> Square<'v> {
    /// A view whose every entry lies inside of `values`; `name` is for the message otherwise.
    pub fn new(name: Label, values: &'v [f64], order: usize, leading_dim: usize) -> Result<Self> {
        let refuse = |what: &str, given, expected| {
            Err(Error::Dimension { what: format!("{what} of {name}"), given, expected })
        };
        if order == 0 {
            return refuse("n", 0, "at least 1 expected".to_owned());
        }
        if leading_dim < order {
            let expected = format!("at least n = {order} expected");
            return refuse("leading_dim", leading_dim, expected);
        }
        let needed = (order - 1).checked_mul(leading_dim).and_then(|last| last.checked_add(order));
        match needed {
            None => {
                let expected = format!("too large for n = {order} columns to be addressed");
                refuse("leading_dim", leading_dim, expected)
            }
            Some(needed) if values.len() < needed => {
                let expected = format!(
                    "at least {needed} expected for n = {order} and leading_dim = {leading_dim}"
                );
                refuse("number of values", values.len(), expected)
            }
            Some(_) => Ok(Self { values, order, leading_dim }),
        }
    }

    pub fn order(&self) -> usize {
        self.order
    }

    pub fn col(&self, j: usize) -> &'v [f64] {
        &self.values[j * self.leading_dim..][..self.order]
    }

    /// What `find` finds in the columns of each tile, tile by tile.
    fn in_tiles<T: Send>(
        &self,
        monitor: &Monitor<'_>,
        find: impl Fn(Range<usize>) -> T + Sync,
    ) -> Result<Vec<Option<T>>> {
        let of_tile = |tile| {
            monitor.go_on()?;
            Ok(find(tile_range(tile, self.order)))
        };
        memory::par_map(self.order.div_ceil(TILE), "the check of a kernel", of_tile)
    }

    /// Writes the entries (cols, rows) to `tile` so that column c of the result is row c of K.
    fn transposed(&self, rows: &Range<usize>, cols: &Range<usize>, tile: &mut Tile) {
        for (r, row) in rows.clone().enumerate() {
            for (c, &value) in self.col(row)[cols.clone()].iter().enumerate() {
                tile[c][r] = value;
            }
        }
    }

    /// Writes columns `cols` of (K + Kᵀ)/2 to `out`, one after another without padding.
    pub fn write_symmetrised(&self, cols: Range<usize>, out: &mut [f64]) {
        let mut transposed = [[0.0; TILE]; TILE];
        for tile in 0..self.order.div_ceil(TILE) {
            let rows = tile_range(tile, self.order);
            self.transposed(&rows, &cols, &mut transposed);
            for (c, col) in cols.clone().enumerate() {
                let out = &mut out[c * self.order..][rows.clone()];
                let pairs = self.col(col)[rows.clone()].iter().zip(&transposed[c]);
                for (out, (&here, &there)) in out.iter_mut().zip(pairs) {
                    // Halves first, since the sum may overflow; equal ones stay as they are,
                    // since half of the smallest numbers is inexact.
                    *out = if here == there { here } else { 0.5 * here + 0.5 * there };
                }
            }
        }
    }
}

type Tile = [[f64; TILE]; TILE];

fn tile_range(tile: usize, order: usize) -> Range<usize> {
    tile * TILE..((tile + 1) * TILE).min(order)
}

/// The largest absolute entry of a finite matrix; else the first entry, column after column,
/// that is not finite.
pub(super) fn largest(name: Label, kernel: Square<'_>, monitor: &Monitor<'_>) -> Result<f64> {
    let of_columns = |cols: Range<usize>| {
        let mut largest = 0.0_f64;
        for col in cols {
            let values = kernel.col(col);
            match largest_magnitude(values) {
                Some(magnitude) => largest = largest.max(magnitude),
                None => return Err(col),
            }
        }
        Ok(largest)
    };
    let mut largest = 0.0_f64;
    for found in kernel.in_tiles(monitor, of_columns)?.into_iter().flatten() {
        match found {
            Ok(magnitude) => largest = largest.max(magnitude),
            Err(col) => {
                let entry = kernel.col(col).iter().enumerate().find(|(_, v)| !v.is_finite());
                let (row, &value) = entry.expect("the column has an entry that is not finite");
                return Err(Error::NotFinite { what: name.to_string(), row, col, value });
            }
        }
    }
    Ok(largest)
}

/// The largest absolute value, or None when one is not finite.
fn largest_magnitude(values: &[f64]) -> Option<f64> {
    let mut largest = [0.0_f64; 8];
    // 0·x is 0, but NaN for NaN and the infinities, and NaN stays in the sum: no branch
    // for every entry.
    let mut poison = [0.0_f64; 8];
    let (chunks, rest) = pulp::as_arrays::<8, _>(values);
    for chunk in chunks {
        for lane in 0..8 {
            let magnitude = chunk[lane].abs();
            largest[lane] = if magnitude > largest[lane] { magnitude } else { largest[lane] };
            poison[lane] += 0.0 * chunk[lane];
        }
    }
    for &value in rest {
        largest[0] = largest[0].max(value.abs());
        poison[0] += 0.0 * value;
    }
    let finite = poison.iter().sum::<f64>() == 0.0;
    finite.then(|| largest.into_iter().fold(0.0, f64::max))
}

/// What the pairs of samples tell about a finite kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairFacts {
    /// Whether K_ij = K_ji everywhere.
    pub exactly_symmetric: bool,
    /// Mean diagonal of HKH in units of the largest entry: half the mean squared distance of
    /// two samples in the space of K. Of an indefinite K it may be negative.
    pub centred_diagonal: f64,
    /// The smallest eigenvalue of all 1×1 and 2×2 principal minors, in units of the largest
    /// entry. The smallest eigenvalue of K is at or below it (Cauchy's interlacing).
    pub smallest_minor: f64,
}

/// Compares all pairs of entries and of samples of a finite kernel whose largest is `largest`.
pub(super) fn pairs(
    name: Label,
    kernel: Square<'_>,
    largest: f64,
    monitor: &Monitor<'_>,
) -> Result<PairFacts> {
    let unit = 1.0 / largest;
    let mut diagonal = memory::with_capacity(kernel.order, "the check of a kernel")?;
    diagonal.extend((0..kernel.order).map(|i| kernel.col(i)[i] * unit));
    let of_columns = |cols: Range<usize>| {
        let mut findings = Findings::new();
        let mut upper = [[0.0; TILE]; TILE];
        for tile in cols.start / TILE..kernel.order.div_ceil(TILE) {
            let rows = tile_range(tile, kernel.order);
            kernel.transposed(&rows, &cols, &mut upper);
            for (c, col) in cols.clone().enumerate() {
                let below = rows.start.max(col + 1)..rows.end.max(col + 1);
                findings.add(
                    &kernel.col(col)[below.clone()],
                    &upper[c][below.start - rows.start..],
                    &diagonal[below],
                    diagonal[col],
                    unit,
                );
            }
        }
        findings
    };
    let found = kernel.in_tiles(monitor, of_columns)?;
    let mut worst = (0.0, 0);
    let mut deviation = 0.0;
    let mut smallest_minor = diagonal.iter().copied().fold(f64::INFINITY, f64::min);
    for (tile, block) in found.iter().flatten().enumerate() {
        if block.asymmetry() > worst.0 {
            worst = (block.asymmetry(), tile);
        }
        deviation += block.deviation();
        smallest_minor = smallest_minor.min(block.minor());
    }
    if worst.0 > SYMMETRY * largest {
        return Err(asymmetric(name, kernel, worst.0, worst.1));
    }
    let samples = kernel.order as f64;
    Ok(PairFacts {
        exactly_symmetric: worst.0 == 0.0,
        centred_diagonal: deviation / samples / samples,
        smallest_minor,
    })
}

/// The message about the entries of column block `tile` that differ by `difference`.
fn asymmetric(name: Label, kernel: Square<'_>, difference: f64, tile: usize) -> Error {
    let cols = tile_range(tile, kernel.order);
    let mut entries = cols.flat_map(|col| (col + 1..kernel.order).map(move |row| (row, col)));
    let (row, col) = entries
        .find(|&(row, col)| (kernel.col(col)[row] - kernel.col(row)[col]).abs() == difference)
        .expect("the difference was found in this block");
    let (lower, upper) = (kernel.col(col)[row], kernel.col(row)[col]);
    Error::Asymmetric { what: name.to_string(), row, col, lower, upper }
}

const LANES: usize = 4;

/// What was found in a block of columns, in lanes that the compiler can put side by side.
struct Findings {
    asymmetry: [f64; LANES],
    deviation: [f64; LANES],
    minor: [f64; LANES],
}

impl Findings {
    fn new() -> Self {
        Self { asymmetry: [0.0; LANES], deviation: [0.0; LANES], minor: [f64::INFINITY; LANES] }
    }

    /// Adds the pairs of one sample, whose diagonal entry is `own`, with those whose are `others`.
    fn add(&mut self, lower: &[f64], upper: &[f64], others: &[f64], own: f64, unit: f64) {
        let upper = &upper[..lower.len()];
        let (lower, lower_rest) = pulp::as_arrays::<LANES, _>(lower);
        let (upper, upper_rest) = pulp::as_arrays::<LANES, _>(upper);
        let (others, others_rest) = pulp::as_arrays::<LANES, _>(others);
        for ((lower, upper), others) in lower.iter().zip(upper).zip(others) {
            for lane in 0..LANES {
                self.add_pair(lane, lower[lane], upper[lane], others[lane], own, unit);
            }
        }
        for (lane, &lower) in lower_rest.iter().enumerate() {
            self.add_pair(lane, lower, upper_rest[lane], others_rest[lane], own, unit);
        }
    }

    #[inline(always)]
    fn add_pair(&mut self, lane: usize, lower: f64, upper: f64, other: f64, own: f64, unit: f64) {
        let difference = (lower - upper).abs();
        let asymmetry = &mut self.asymmetry[lane];
        *asymmetry = if difference > *asymmetry { difference } else { *asymmetry };

        // Summing squared distances instead of subtracting two large means keeps a nearly flat
        // kernel apart from a constant one, whose every term is exactly zero.
        let twice = lower * unit + upper * unit;
        self.deviation[lane] += (own + other) - twice;

        let spread = own - other;
        let eigenvalue = 0.5 * ((own + other) - (spread * spread + twice * twice).sqrt());
        let minor = &mut self.minor[lane];
        *minor = if eigenvalue < *minor { eigenvalue } else { *minor };
    }

    fn asymmetry(&self) -> f64 {
        self.asymmetry.into_iter().fold(0.0, f64::max)
    }

    fn deviation(&self) -> f64 {
        self.deviation.into_iter().sum()
    }

    fn minor(&self) -> f64 {
        self.minor.into_iter().fold(f64::INFINITY, f64::min)
    }
}
