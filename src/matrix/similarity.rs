//! The similarity graph Z: n columns on the simplex, each stored sparse or dense, whichever
//! is smaller.

use crate::error::Result;
use crate::memory;

/// One column of Z.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// Row indices in rising order; empty when the column is stored densely.
    rows: Vec<u32>,
    /// The entries at `rows`, or all n of them.
    values: Vec<f64>,
}

impl Column {
    /// The column whose entries are `dense`; zeros are not stored where that saves memory.
    pub fn from_dense(dense: &[f64]) -> Result<Self> {
        let stored = dense.iter().filter(|&&v| v != 0.0).count();
        // 12 bytes for a sparse entry against 8 for a dense one.
        if 3 * stored > 2 * dense.len() {
            let mut values = memory::with_capacity(dense.len(), "similarity")?;
            values.extend_from_slice(dense);
            return Ok(Self { rows: Vec::new(), values });
        }
        let mut rows = memory::with_capacity(stored, "similarity")?;
        let mut values = memory::with_capacity(stored, "similarity")?;
        for (row, &value) in dense.iter().enumerate() {
            if value != 0.0 {
                rows.push(row as u32);
                values.push(value);
            }
        }
        Ok(Self { rows, values })
    }

    /// The unit vector of sample `i`.
    pub fn unit(i: usize) -> Result<Self> {
        Ok(Self {
            rows: memory::filled(1, i as u32, "similarity")?,
            values: memory::filled(1, 1.0, "similarity")?,
        })
    }

    /// The nonzero entries as (row, value), rows rising.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let dense = self.rows.is_empty();
        self.values
            .iter()
            .enumerate()
            .map(move |(k, &v)| (if dense { k } else { self.rows[k] as usize }, v))
            .filter(|&(_, v)| v != 0.0)
    }

    /// The entry of row `row`.
    pub fn entry(&self, row: usize) -> f64 {
        self.span(row, row + 1).map(|(_, value)| value).sum()
    }

    /// The stored entries of the rows from `first` up to `end`, as (row, value), rows rising.
    pub(crate) fn span(&self, first: usize, end: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let dense = self.rows.is_empty() && !self.values.is_empty();
        let place = |row: usize| match dense {
            true => row,
            false => self.rows.partition_point(|&stored| (stored as usize) < row),
        };
        let places = place(first)..place(end);
        places.map(move |k| (if dense { k } else { self.rows[k] as usize }, self.values[k]))
    }

    /// Number of nonzero entries.
    pub fn nnz(&self) -> usize {
        self.values.iter().filter(|&&v| v != 0.0).count()
    }

    fn try_clone(&self) -> Result<Self> {
        let mut rows = memory::with_capacity(self.rows.len(), "similarity")?;
        rows.extend_from_slice(&self.rows);
        let mut values = memory::with_capacity(self.values.len(), "similarity")?;
        values.extend_from_slice(&self.values);
        Ok(Self { rows, values })
    }

    /// Writes the column into `dense`, zeros included.
    pub fn scatter(&self, dense: &mut [f64]) {
        if self.rows.is_empty() && !self.values.is_empty() {
            dense.copy_from_slice(&self.values);
        } else {
            dense.fill(0.0);
            for (&row, &value) in self.rows.iter().zip(&self.values) {
                dense[row as usize] = value;
            }
        }
    }
}

/// The similarity graph Z. Columns sum to 1 and have no negative entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Similarity {
    columns: Vec<Column>,
}

impl Similarity {
    /// The graph with these columns.
    pub fn from_columns(columns: Vec<Column>) -> Self {
        Self { columns }
    }

    /// A copy, if there is memory for it.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        let mut columns = memory::with_capacity(self.columns.len(), "similarity")?;
        for column in &self.columns {
            columns.push(column.try_clone()?);
        }
        Ok(Self { columns })
    }

    /// The columns, one for each sample.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.columns.len()
    }

    /// Number of nonzero entries.
    pub fn nnz(&self) -> usize {
        self.columns.iter().map(Column::nnz).sum()
    }
}
