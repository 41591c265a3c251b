//! A sparse matrix, its lines (columns or rows) one after the other.

use crate::error::Result;
use crate::memory;

/// A sparse matrix by columns or by rows.
#[derive(Debug)]
pub(crate) struct Compressed {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
    /// How long a line is.
    positions: usize,
}

impl Compressed {
    /// Line k is `entries[starts[k]..starts[k + 1]]`, of so many positions.
    pub(crate) fn new(starts: Vec<usize>, entries: Vec<(u32, f64)>, positions: usize) -> Self {
        debug_assert_eq!(starts.last(), Some(&entries.len()));
        Self { starts, entries, positions }
    }

    /// Number of lines.
    pub(crate) fn lines(&self) -> usize {
        self.starts.len() - 1
    }

    /// The entries of line `index` as (position, value).
    pub(crate) fn line(&self, index: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[index]..self.starts[index + 1]]
    }

    /// The same matrix with columns and rows exchanged; positions rise in each line.
    pub(crate) fn transpose(&self) -> Result<Self> {
        let line = |k: usize| self.line(k).iter().map(|&(i, value)| (i as usize, value));
        Self::transposed(self.lines(), self.positions, line)
    }

    /// The matrix of so many `positions` as lines which, with columns and rows exchanged, are these as
    /// (position, value).
    pub(crate) fn transposed<I>(
        lines: usize,
        positions: usize,
        line: impl Fn(usize) -> I,
    ) -> Result<Self>
    where
        I: Iterator<Item = (usize, f64)>,
    {
        let mut starts = memory::filled(positions + 1, 0, "transposed sparse matrix")?;
        for k in 0..lines {
            line(k).for_each(|(position, _)| starts[position + 1] += 1);
        }
        for k in 0..positions {
            starts[k + 1] += starts[k];
        }
        let mut next = memory::with_capacity(positions, "transposed sparse matrix")?;
        next.extend_from_slice(&starts[..positions]);
        let mut entries = memory::filled(starts[positions], (0, 0.0), "transposed sparse matrix")?;
        for k in 0..lines {
            for (position, value) in line(k) {
                entries[next[position]] = (k as u32, value);
                next[position] += 1;
            }
        }
        Ok(Self { starts, entries, positions: lines })
    }
}
