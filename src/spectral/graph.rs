//! The undirected graph of Z: S = (Z + Zᵀ)/2 without its diagonal, its degrees, parts and
//! Laplacians. The diagonal of Z has no influence on L, and no entry is too small to count.

use super::eigen::{Operator, Vectors};
use crate::error::Result;
use crate::matrix::{Column, Compressed, Matrix, Similarity};
use crate::memory;
use crate::monitor::Monitor;
use crate::settings::Laplacian;
use crate::vector;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use rayon::prelude::*;

/// Share of nonzero entries from which the graph is stored densely.
const DENSE_SHARE: f64 = 0.25;

/// Samples handled by one task.
const BLOCK: usize = 64;

/// The graph of Z.
pub(crate) struct Graph {
    weights: Weights,
    degrees: Vec<f64>,
}

enum Weights {
    Dense(Matrix),
    Sparse(Compressed),
}

impl Graph {
    pub(crate) fn new(similarity: &Similarity) -> Result<Self> {
        let n = similarity.targets();
        let nnz = similarity.nnz();
        let weights = if nnz as f64 > DENSE_SHARE * n as f64 * n as f64 {
            Weights::Dense(dense_weights(similarity)?)
        } else {
            Weights::Sparse(sparse_weights(similarity)?)
        };
        Self::of_weights(weights)
    }

    /// The graph of a symmetric matrix of affinities, none of which is negative. The diagonal is
    /// cleared: no sample is its own neighbour.
    pub(crate) fn of_affinities(mut affinities: Matrix) -> Result<Self> {
        (0..affinities.cols()).for_each(|i| affinities.col_mut(i)[i] = 0.0);
        Self::of_weights(Weights::Dense(affinities))
    }

    fn of_weights(weights: Weights) -> Result<Self> {
        let n = match &weights {
            Weights::Dense(weights) => weights.cols(),
            Weights::Sparse(weights) => weights.lines(),
        };
        let mut degrees = memory::filled(n, 0.0, "degrees")?;
        degrees.par_iter_mut().enumerate().for_each(|(i, degree)| {
            *degree = match &weights {
                Weights::Dense(weights) => vector::sum(weights.col(i)),
                Weights::Sparse(weights) => weights.line(i).iter().map(|entry| entry.1).sum(),
            };
        });
        Ok(Self { weights, degrees })
    }

    pub(crate) fn samples(&self) -> usize {
        self.degrees.len()
    }

    /// The sum of the weights of each sample's edges.
    pub(crate) fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// Connected parts, numbered by first occurrence, by union–find.
    pub(crate) fn parts(&self) -> Result<Parts> {
        let n = self.samples();
        let mut parent = memory::with_capacity(n, "parts of the graph")?;
        parent.extend(0..n as u32);
        fn root(parent: &mut [u32], mut i: u32) -> u32 {
            // Ends: a parent has a smaller number.
            while parent[i as usize] != i {
                let up = parent[parent[i as usize] as usize];
                parent[i as usize] = up;
                i = up;
            }
            i
        }
        let mut join = |i: usize, j: usize| {
            let (a, b) = (root(&mut parent, i as u32), root(&mut parent, j as u32));
            // The smaller index leads, so that a root is the first sample of its part.
            parent[a.max(b) as usize] = a.min(b);
        };
        for i in 0..n {
            match &self.weights {
                Weights::Dense(weights) => {
                    let column = weights.col(i)[..i].iter().enumerate();
                    column.filter(|(_, v)| **v != 0.0).for_each(|(j, _)| join(i, j));
                }
                Weights::Sparse(weights) => {
                    weights.line(i).iter().for_each(|&(j, _)| join(i, j as usize));
                }
            }
        }
        let mut of = memory::filled(n, 0u32, "parts of the graph")?;
        let mut count = 0;
        for i in 0..n {
            let lead = root(&mut parent, i as u32) as usize;
            of[i] = if lead == i {
                count += 1;
                count - 1
            } else {
                of[lead]
            };
        }
        Ok(Parts { of, count: count as usize })
    }
}

/// A division of the samples.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts {
    /// The part of each sample; parts are numbered by first occurrence.
    pub(crate) of: Vec<u32>,
    pub(crate) count: usize,
}

impl Parts {
    /// The samples of each part, a line for each.
    pub(crate) fn members(&self) -> Result<Compressed> {
        let part = |i: usize| std::iter::once((self.of[i] as usize, 1.0));
        Compressed::transposed(self.of.len(), self.count, part)
    }

    /// The largest of the parts, so many that with the rest as one there are `count`.
    pub(crate) fn largest(self, count: usize) -> Result<Self> {
        const WHAT: &str = "parts of the graph";
        let mut order = memory::filled(self.count, (0usize, 0u32), WHAT)?;
        order.iter_mut().enumerate().for_each(|(part, entry)| entry.1 = part as u32);
        self.of.iter().for_each(|&part| order[part as usize].0 += 1);
        order.sort_unstable_by_key(|&(size, part)| (std::cmp::Reverse(size), part));
        let mut group = memory::filled(self.count, 0u32, WHAT)?;
        for (place, &(_, part)) in order.iter().enumerate() {
            group[part as usize] = place.min(count - 1) as u32;
        }
        let mut of = self.of;
        of.iter_mut().for_each(|part| *part = group[*part as usize]);
        Ok(Self { of, count: count.min(self.count) })
    }

    /// The samples of the smallest part.
    pub(crate) fn smallest(&self) -> Result<usize> {
        let mut sizes = memory::filled(self.count, 0usize, "parts of the graph")?;
        self.of.iter().for_each(|&part| sizes[part as usize] += 1);
        Ok(sizes.into_iter().min().unwrap_or(0))
    }

    /// The parts as labels.
    pub(crate) fn labels(&self) -> Result<Vec<i32>> {
        let mut labels = memory::with_capacity(self.of.len(), "labels")?;
        labels.extend(self.of.iter().map(|&part| part as i32));
        Ok(labels)
    }
}

fn dense_weights(similarity: &Similarity) -> Result<Matrix> {
    let n = similarity.targets();
    let mut weights = Matrix::zeros(n, n, "graph")?;
    let columns = similarity.columns();
    weights.values_mut().par_chunks_mut(BLOCK * n).enumerate().for_each(|(block, panel)| {
        let first = block * BLOCK;
        let end = first + panel.len() / n;
        for (out, column) in panel.chunks_exact_mut(n).zip(&columns[first..]) {
            column.scatter(out);
        }
        // All columns of the panel are written at the same row: a few lines of the cache.
        for (row, column) in columns.iter().enumerate() {
            column.span(first, end).for_each(|(j, value)| panel[(j - first) * n + row] += value);
        }
        panel.iter_mut().for_each(|value| *value *= 0.5);
        (first..end).for_each(|j| panel[(j - first) * n + j] = 0.0);
    });
    Ok(weights)
}

fn sparse_weights(similarity: &Similarity) -> Result<Compressed> {
    let n = similarity.targets();
    // Each line of the transpose of Z is merged with the column of Z.
    let transposed = Compressed::transposed(n, n, |j| similarity.columns()[j].iter())?;
    let mut starts = memory::with_capacity(n + 1, "graph")?;
    starts.push(0);
    let mut total = 0;
    for (k, column) in similarity.columns().iter().enumerate() {
        merge(k, column, transposed.line(k), |_, _| total += 1);
        starts.push(total);
    }
    let mut entries = memory::with_capacity(total, "graph")?;
    for (k, column) in similarity.columns().iter().enumerate() {
        merge(k, column, transposed.line(k), |row, sum| entries.push((row, 0.5 * sum)));
    }
    Ok(Compressed::new(starts, entries, n))
}

/// Tells `found` the rows, rising, that a column of Z or the same line of its transpose has, but for
/// the diagonal, and the sum of both entries.
fn merge(own: usize, column: &Column, line: &[(u32, f64)], mut found: impl FnMut(u32, f64)) {
    let own = own as u32;
    let mut line = line.iter().copied().filter(|entry| entry.0 != own).peekable();
    let column = column.iter().map(|(row, value)| (row as u32, value));
    for (row, value) in column.filter(|entry| entry.0 != own) {
        // Ends: the line is finite.
        while let Some((earlier, other)) = line.next_if(|entry| entry.0 < row) {
            found(earlier, other);
        }
        let other = line.next_if(|entry| entry.0 == row).map_or(0.0, |entry| entry.1);
        found(row, value + other);
    }
    line.for_each(|(row, other)| found(row, other));
}

/// A Laplacian of the graph: L = D − S, or I − D^(−1/2) S D^(−1/2).
pub(crate) struct LaplacianMatrix<'g> {
    graph: &'g Graph,
    parts: &'g Parts,
    /// D^(−1/2) for the normalised one. A sample without neighbours has 0 there, and its row
    /// of the Laplacian is zero.
    scaling: Option<Vec<f64>>,
    /// Spans the null space together with the parts: part indicators times this, unit length.
    null: Vec<f64>,
}

impl<'g> LaplacianMatrix<'g> {
    /// The Laplacian of a graph that falls into these parts.
    pub(crate) fn new(graph: &'g Graph, parts: &'g Parts, laplacian: Laplacian) -> Result<Self> {
        const WHAT: &str = "Laplacian";
        let normalized = laplacian == Laplacian::Symmetric;
        let degrees = &graph.degrees;
        let mut scaling = None;
        if normalized {
            let inverse = |d: &f64| if *d > 0.0 { 1.0 / d.sqrt() } else { 0.0 };
            let mut roots = memory::with_capacity(degrees.len(), WHAT)?;
            roots.extend(degrees.iter().map(inverse));
            scaling = Some(roots);
        }
        let raw = |i: usize| if normalized && degrees[i] > 0.0 { degrees[i].sqrt() } else { 1.0 };
        let mut lengths2 = memory::filled(parts.count, 0.0, WHAT)?;
        for (i, &part) in parts.of.iter().enumerate() {
            lengths2[part as usize] += raw(i).powi(2);
        }
        let mut null = memory::with_capacity(graph.samples(), WHAT)?;
        let entry = |i: usize| raw(i) / lengths2[parts.of[i] as usize].sqrt();
        null.extend((0..graph.samples()).map(entry));
        Ok(Self { graph, parts, scaling, null })
    }

    /// Entry of sample `i` in the null vector of its part.
    pub(crate) fn null_entry(&self, i: usize) -> f64 {
        self.null[i]
    }

    /// The matrix divided by its largest diagonal entry, which is returned with it, and with its
    /// null space lifted above all other eigenvalues: edges far below rounding have eigenvalues
    /// that a decomposition cannot tell from 0, and would mix their vectors with those that are
    /// known.
    pub(crate) fn dense_lifted(&self) -> Result<(Matrix, f64)> {
        // The other eigenvalues are at most twice the largest diagonal entry.
        const LIFT: f64 = 3.0;
        let mut out = self.dense()?;
        let n = self.graph.samples();
        let unit = (0..n).map(|i| self.diagonal(i)).fold(0.0, f64::max);
        for j in 0..n {
            for (i, value) in out.col_mut(j).iter_mut().enumerate() {
                *value /= unit;
                if self.parts.of[i] == self.parts.of[j] {
                    *value += LIFT * self.null[i] * self.null[j];
                }
            }
        }
        Ok((out, unit))
    }

    /// The matrix itself.
    fn dense(&self) -> Result<Matrix> {
        let n = self.graph.samples();
        let mut out = Matrix::zeros(n, n, "Laplacian")?;
        for i in 0..n {
            let column = out.col_mut(i);
            match &self.graph.weights {
                Weights::Dense(weights) => {
                    column.iter_mut().zip(weights.col(i)).for_each(|(out, s)| *out = -s);
                }
                Weights::Sparse(weights) => {
                    weights.line(i).iter().for_each(|&(j, s)| column[j as usize] = -s);
                }
            }
            if let Some(scaling) = &self.scaling {
                column
                    .iter_mut()
                    .zip(scaling)
                    .for_each(|(out, scale)| *out = *out * scale * scaling[i]);
            }
            column[i] = self.diagonal(i);
        }
        Ok(out)
    }
}

impl Operator for LaplacianMatrix<'_> {
    fn samples(&self) -> usize {
        self.graph.samples()
    }

    fn diagonal(&self, i: usize) -> f64 {
        match &self.scaling {
            None => self.graph.degrees[i],
            Some(_) => f64::from(u8::from(self.graph.degrees[i] > 0.0)),
        }
    }

    fn nullity(&self) -> usize {
        self.parts.count
    }

    fn is_dense(&self) -> bool {
        matches!(self.graph.weights, Weights::Dense(_))
    }

    fn project(&self, block: &mut Vectors) -> Result<()> {
        let width = block.width();
        let mut inner = memory::filled(self.parts.count * width, 0.0, "eigenvectors")?;
        for (i, row) in block.rows().enumerate() {
            let inner = &mut inner[self.parts.of[i] as usize * width..][..width];
            inner.iter_mut().zip(row).for_each(|(sum, x)| *sum += self.null[i] * x);
        }
        for (i, row) in block.rows_mut().enumerate() {
            let inner = &inner[self.parts.of[i] as usize * width..][..width];
            row.iter_mut().zip(inner).for_each(|(x, sum)| *x -= self.null[i] * sum);
        }
        Ok(())
    }

    fn apply(&self, x: &Vectors, y: &mut Vectors, monitor: &Monitor<'_>) -> Result<()> {
        let (n, width) = (self.samples(), x.width());
        let scaled;
        let x = match &self.scaling {
            None => x,
            Some(scaling) => {
                let mut copy = x.try_clone()?;
                copy.rows_mut()
                    .zip(scaling)
                    .for_each(|(row, s)| row.iter_mut().for_each(|v| *v *= s));
                scaled = copy;
                &scaled
            }
        };
        let blocks = y.values_mut().par_chunks_mut(BLOCK * width).enumerate();
        blocks.try_for_each(|(block, out)| {
            monitor.go_on()?;
            let first = block * BLOCK;
            let rows = out.len() / width;
            match &self.graph.weights {
                Weights::Dense(weights) => {
                    let columns = weights.view().subcols(first, rows);
                    let product = MatMut::from_column_major_slice_mut(&mut *out, width, rows);
                    matmul(product, Accum::Replace, x.view(), columns, -1.0, Par::Seq);
                }
                Weights::Sparse(weights) => {
                    out.fill(0.0);
                    for (k, out) in out.chunks_exact_mut(width).enumerate() {
                        vector::gather(weights.line(first + k), -1.0, x.values(), out);
                    }
                }
            }
            for (k, out) in out.chunks_exact_mut(width).enumerate() {
                let (i, row) = (first + k, x.row(first + k));
                match &self.scaling {
                    None => vector::axpy(self.graph.degrees[i], row, out),
                    Some(scaling) => {
                        // x is scaled: its own value is row/scaling, where there are neighbours.
                        let own = if scaling[i] > 0.0 { 1.0 / scaling[i] } else { 0.0 };
                        for (out, v) in out.iter_mut().zip(row) {
                            *out = *out * scaling[i] + own * v;
                        }
                    }
                }
            }
            Ok(())
        })?;
        debug_assert_eq!(y.values().len(), n * width);
        Ok(())
    }
}
