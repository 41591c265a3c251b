//! Products of the kernel with the columns of a group, many entries of which may be zero.
//!
//! The supports of a group overlap. What many columns have in common is multiplied at full speed;
//! the entries that only few have are added one by one. 4000 well separated blobs with supports of
//! 390: 0.33 ms a column, against 0.8 ms for a product with the whole kernel.

use crate::error::Result;
use crate::matrix::Matrix;
use crate::memory;
use crate::vector;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// A sample that one column in so many has an entry for is multiplied for all columns: that takes as
/// long as adding it for each of those that have it.
const ONE_IN: usize = 6;

/// Columns below which copying a column of the kernel for a product does not pay.
const FEW: usize = 4;

/// Share of the samples from which the product is one with the whole kernel.
const MOST_COMMON: f64 = 0.8;
const MOST_ENTRIES: f64 = 0.25;

/// Columns of the kernel that are multiplied at a time, and rows of it that are added.
const PANEL: usize = 128;
const TILE: usize = 128;

/// Rows that are transposed at a time: a line of the cache for each column.
const TURNED: usize = 8;

/// Scratch memory for products.
#[derive(Default)]
pub(super) struct Product {
    /// How many columns have an entry for each sample.
    users: Vec<u32>,
    /// Samples that many columns have, some of their columns of the kernel, and the entries.
    common: Vec<usize>,
    panel: Vec<f64>,
    entries: Vec<f64>,
    /// The other entries with their samples, column after column.
    terms: Vec<(f64, usize)>,
    ends: Vec<usize>,
}

impl Product {
    /// image = kernel · columns, both n rows each.
    pub(super) fn multiply(
        &mut self,
        kernel: &Matrix,
        columns: &[f64],
        image: &mut [f64],
    ) -> Result<()> {
        let n = kernel.rows();
        let count = columns.len() / n;
        memory::refill(&mut self.users, n, 0, "products")?;
        for column in columns.chunks_exact(n) {
            let users = self.users.iter_mut().zip(column);
            users.for_each(|(users, value)| *users += u32::from(*value != 0.0));
        }
        let fewest = count.div_ceil(ONE_IN).max(FEW) as u32;
        self.common.clear();
        memory::reserve(&mut self.common, n, "products")?;
        self.common.extend((0..n).filter(|&i| self.users[i] >= fewest));
        let entries: usize = self.users.iter().map(|&users| users as usize).sum();
        let full = self.common.len() as f64 > MOST_COMMON * n as f64
            || count < FEW && entries as f64 > MOST_ENTRIES * columns.len() as f64;
        if full {
            return self.multiply_whole(kernel, columns, image);
        }
        image.fill(0.0);
        self.multiply_common(kernel, columns, image)?;
        self.add_rare(kernel, columns, fewest, image)
    }

    /// The transposed product columnsᵀ · kernel, which is symmetric: then the small factor is the one
    /// that is packed. A tenth faster with 128 columns, by a half with 32.
    fn multiply_whole(
        &mut self,
        kernel: &Matrix,
        columns: &[f64],
        image: &mut [f64],
    ) -> Result<()> {
        let n = kernel.rows();
        let count = columns.len() / n;
        memory::refill(&mut self.panel, columns.len(), 0.0, "products")?;
        let columns = MatRef::from_column_major_slice(columns, n, count);
        let turned = MatMut::from_column_major_slice_mut(&mut self.panel, count, n);
        matmul(turned, Accum::Replace, columns.transpose(), kernel.view(), 1.0, Par::Seq);
        for (rows, first) in self.panel.chunks(TURNED * count).zip((0..).step_by(TURNED)) {
            for (j, image) in image.chunks_exact_mut(n).enumerate() {
                let rows = rows.chunks_exact(count);
                image[first..].iter_mut().zip(rows).for_each(|(value, row)| *value = row[j]);
            }
        }
        Ok(())
    }

    fn multiply_common(
        &mut self,
        kernel: &Matrix,
        columns: &[f64],
        image: &mut [f64],
    ) -> Result<()> {
        let n = kernel.rows();
        let count = columns.len() / n;
        for common in self.common.chunks(PANEL) {
            memory::refill(&mut self.panel, n * common.len(), 0.0, "products")?;
            memory::refill(&mut self.entries, count * common.len(), 0.0, "products")?;
            for (to, &sample) in self.panel.chunks_exact_mut(n).zip(common) {
                to.copy_from_slice(kernel.col(sample));
            }
            let entries = self.entries.chunks_exact_mut(common.len());
            for (to, column) in entries.zip(columns.chunks_exact(n)) {
                to.iter_mut().zip(common).for_each(|(to, &sample)| *to = column[sample]);
            }
            let panel = MatRef::from_column_major_slice(&self.panel, n, common.len());
            let entries = MatRef::from_column_major_slice(&self.entries, common.len(), count);
            let image = MatMut::from_column_major_slice_mut(&mut *image, n, count);
            matmul(image, Accum::Add, panel, entries, 1.0, Par::Seq);
        }
        Ok(())
    }

    /// Adds the entries of samples that fewer than `fewest` columns have. All columns go over a few
    /// rows of the kernel before the next.
    fn add_rare(
        &mut self,
        kernel: &Matrix,
        columns: &[f64],
        fewest: u32,
        image: &mut [f64],
    ) -> Result<()> {
        let n = kernel.rows();
        self.terms.clear();
        self.ends.clear();
        memory::reserve(&mut self.ends, columns.len() / n, "products")?;
        for column in columns.chunks_exact(n) {
            let rare = |&(value, i): &(f64, usize)| value != 0.0 && self.users[i] < fewest;
            memory::reserve(&mut self.terms, n, "products")?;
            self.terms.extend(column.iter().copied().zip(0..).filter(rare));
            self.ends.push(self.terms.len());
        }
        for from in (0..n).step_by(TILE) {
            let to = (from + TILE).min(n);
            let mut start = 0;
            for (image, &end) in image.chunks_exact_mut(n).zip(&self.ends) {
                let terms = &self.terms[start..end];
                vector::axpy_tile(terms, kernel.values(), n, from, &mut image[from..to]);
                start = end;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_zero_the_product_is_the_same() {
        let n = 300;
        let mut kernel = Matrix::zeros(n, n, "test").unwrap();
        for j in 0..n {
            let entry = |i: usize| ((i * j + i + j) % 19) as f64 / 19.0 - 0.5;
            kernel.col_mut(j).iter_mut().enumerate().for_each(|(i, value)| *value = entry(i));
        }
        let mut product = Product::default();
        for count in [1, 3, 20, 40] {
            // Common to all or to none, to some, and a bit of everything.
            let patterns: [fn(usize, usize) -> bool; 6] = [
                |_, _| true,
                |_, _| false,
                |i, _| i < 150,
                |i, j| (i + 7 * j) % 50 == 0,
                |i, j| i < 40 || (i + j) % 30 == 0,
                |i, j| i % (j + 1) == 0,
            ];
            for pattern in patterns {
                let value = |k: usize| {
                    let (i, j) = (k % n, k / n);
                    if pattern(i, j) { ((3 * i + j) % 11) as f64 - 5.0 } else { 0.0 }
                };
                let columns: Vec<f64> = (0..n * count).map(value).collect();
                let mut image = vec![f64::NAN; columns.len()];
                product.multiply(&kernel, &columns, &mut image).unwrap();
                for (column, image) in columns.chunks(n).zip(image.chunks(n)) {
                    for (i, image) in image.iter().enumerate() {
                        let expected: f64 =
                            kernel.col(i).iter().zip(column).map(|(a, b)| a * b).sum();
                        assert!((image - expected).abs() < 1e-9, "{image} and {expected}");
                    }
                }
            }
        }
    }
}
