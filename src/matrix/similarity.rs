//! The similarity graph Z: a column on the simplex of the anchors for each target. In a fit both are
//! the samples.

use crate::error::Result;
use crate::memory;

/// One column of Z, stored in whichever way is smaller.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// The entries that are not zero.
    Sparse {
        /// Their rows, rising.
        rows: Vec<u32>,
        /// One for each row.
        values: Vec<f64>,
    },
    /// All entries.
    Dense(Vec<f64>),
}

impl Default for Column {
    /// Nothing but zeros.
    fn default() -> Self {
        Self::Sparse { rows: Vec::new(), values: Vec::new() }
    }
}

impl Column {
    /// The column whose entries are `dense`; zeros are not stored where that saves memory.
    pub fn from_dense(dense: &[f64]) -> Result<Self> {
        let stored = dense.iter().filter(|&&v| v != 0.0).count();
        // 12 bytes for a sparse entry against 8 for a dense one.
        if 3 * stored > 2 * dense.len() {
            return Ok(Self::Dense(memory::copied(dense, "similarity")?));
        }
        let mut rows = memory::with_capacity(stored, "similarity")?;
        let mut values = memory::with_capacity(stored, "similarity")?;
        for (row, &value) in dense.iter().enumerate() {
            if value != 0.0 {
                rows.push(row as u32);
                values.push(value);
            }
        }
        Ok(Self::Sparse { rows, values })
    }

    /// The unit vector of anchor `i`.
    pub fn unit(i: usize) -> Result<Self> {
        Ok(Self::Sparse {
            rows: memory::filled(1, i as u32, "similarity")?,
            values: memory::filled(1, 1.0, "similarity")?,
        })
    }

    /// The entry at place `k` of what is stored, as (row, value).
    fn stored(&self, k: usize) -> (usize, f64) {
        match self {
            Self::Sparse { rows, values } => (rows[k] as usize, values[k]),
            Self::Dense(values) => (k, values[k]),
        }
    }

    fn values(&self) -> &[f64] {
        match self {
            Self::Sparse { values, .. } | Self::Dense(values) => values,
        }
    }

    /// The nonzero entries as (row, value), rows rising.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        (0..self.values().len()).map(|k| self.stored(k)).filter(|&(_, v)| v != 0.0)
    }

    /// The entry of row `row`.
    pub fn entry(&self, row: usize) -> f64 {
        self.span(row, row + 1).map(|(_, value)| value).sum()
    }

    /// The stored entries of the rows from `first` up to `end`, as (row, value), rows rising.
    pub(crate) fn span(&self, first: usize, end: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let place = |row: usize| match self {
            Self::Sparse { rows, .. } => rows.partition_point(|&stored| (stored as usize) < row),
            Self::Dense(_) => row,
        };
        (place(first)..place(end)).map(|k| self.stored(k))
    }

    /// Number of nonzero entries.
    pub fn nnz(&self) -> usize {
        self.values().iter().filter(|&&v| v != 0.0).count()
    }

    fn try_clone(&self) -> Result<Self> {
        Ok(match self {
            Self::Sparse { rows, values } => Self::Sparse {
                rows: memory::copied(rows, "similarity")?,
                values: memory::copied(values, "similarity")?,
            },
            Self::Dense(values) => Self::Dense(memory::copied(values, "similarity")?),
        })
    }

    /// Writes the column into `dense`, zeros included.
    pub fn scatter(&self, dense: &mut [f64]) {
        match self {
            Self::Sparse { rows, values } => {
                dense.fill(0.0);
                for (&row, &value) in rows.iter().zip(values) {
                    dense[row as usize] = value;
                }
            }
            Self::Dense(values) => dense.copy_from_slice(values),
        }
    }
}

/// The similarity graph Z. Columns sum to 1 and have no negative entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Similarity {
    anchors: usize,
    columns: Vec<Column>,
}

impl Similarity {
    /// The graph with these columns, each of so many rows.
    pub fn from_columns(anchors: usize, columns: Vec<Column>) -> Self {
        Self { anchors, columns }
    }

    /// A copy, if there is memory for it.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        let mut columns = memory::with_capacity(self.columns.len(), "similarity")?;
        for column in &self.columns {
            columns.push(column.try_clone()?);
        }
        Ok(Self { anchors: self.anchors, columns })
    }

    /// The columns, one for each target.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Number of rows: what targets are reconstructed from.
    pub fn anchors(&self) -> usize {
        self.anchors
    }

    /// Number of columns: what is reconstructed.
    pub fn targets(&self) -> usize {
        self.columns.len()
    }

    /// Number of nonzero entries.
    pub fn nnz(&self) -> usize {
        self.columns.iter().map(Column::nnz).sum()
    }

    /// The graph that labels are read from: of each column the `count` largest entries off the diagonal,
    /// scaled to sum 1. Those that equal the last of them but for rounding are kept too: which is the larger
    /// one may depend on the order of the features. A column that has none is empty.
    pub(crate) fn thinned(&self, count: usize) -> Result<Self> {
        const WHAT: &str = "the graph of the largest entries";
        const ROUNDING: f64 = 1e-7;
        let columns = memory::par_map(self.columns.len(), WHAT, |j| {
            let column = &self.columns[j];
            let mut entries = memory::with_capacity(column.nnz(), WHAT)?;
            let others = column.iter().filter(|&(row, _)| row != j);
            entries.extend(others.map(|(row, value)| (row as u32, value)));
            if entries.len() > count {
                let mut values = memory::with_capacity(entries.len(), WHAT)?;
                values.extend(entries.iter().map(|entry: &(u32, f64)| entry.1));
                let (_, last, _) = values.select_nth_unstable_by(count - 1, |a, b| b.total_cmp(a));
                let least = *last * (1.0 - ROUNDING);
                entries.retain(|entry| entry.1 >= least);
            }
            let total: f64 = entries.iter().map(|entry| entry.1).sum();
            let mut rows = memory::with_capacity(entries.len(), WHAT)?;
            let mut values = memory::with_capacity(entries.len(), WHAT)?;
            for (row, value) in entries {
                rows.push(row);
                values.push(value / total);
            }
            Ok(Column::Sparse { rows, values })
        })?;
        let mut all = memory::with_capacity(columns.len(), WHAT)?;
        all.extend(columns.into_iter().flatten());
        Ok(Self { anchors: self.anchors, columns: all })
    }

    /// The graph of some of the samples, whose numbers rise; columns keep what they have among them.
    pub(crate) fn among(&self, samples: &[u32]) -> Result<Self> {
        const WHAT: &str = "the graph of a subsample";
        const NONE: u32 = u32::MAX;
        let mut place = memory::filled(self.anchors, NONE, WHAT)?;
        samples.iter().zip(0..).for_each(|(&sample, number)| place[sample as usize] = number);
        let mut columns = memory::with_capacity(samples.len(), WHAT)?;
        for &sample in samples {
            let column = &self.columns[sample as usize];
            let kept = || column.iter().filter(|&(row, _)| place[row] != NONE);
            let mut rows = memory::with_capacity(kept().count(), WHAT)?;
            let mut values = memory::with_capacity(rows.capacity(), WHAT)?;
            rows.extend(kept().map(|(row, _)| place[row]));
            values.extend(kept().map(|(_, value)| value));
            columns.push(Column::Sparse { rows, values });
        }
        Ok(Self { anchors: samples.len(), columns })
    }

    /// |Z|².
    pub(crate) fn norm2(&self) -> f64 {
        self.columns.iter().flat_map(Column::iter).map(|(_, v)| v * v).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor;

    #[test]
    fn the_largest_entries_off_the_diagonal_are_kept_and_sum_to_1() {
        let columns = [[0.4, 0.1, 0.2, 0.3], [0.2, 0.2, 0.3, 0.3], [0.0, 0.0, 1.0, 0.0]];
        let ties = [0.25, 0.25 - 1e-12, 0.25 + 1e-12, 0.25];
        let columns = columns.into_iter().chain([ties]);
        let columns = columns.map(|column| Column::from_dense(&column).unwrap()).collect();
        let similarity = Similarity::from_columns(4, columns);
        let thinned = monitor::idle(|_| similarity.thinned(2)).unwrap();
        let entries = |j: usize| thinned.columns()[j].iter().collect::<Vec<_>>();
        assert_eq!(entries(0), [(2, 0.4), (3, 0.6)]);
        assert_eq!(entries(1), [(2, 0.5), (3, 0.5)]);
        assert_eq!(entries(2), []);
        assert_eq!(entries(3).len(), 3, "equal but for rounding");
    }
}
