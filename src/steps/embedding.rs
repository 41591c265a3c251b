//! The P-step: the c smallest eigenvectors of the Laplacian of Z.
//!
//! Connected parts come first: their indicators span the null space exactly, and with c or more
//! of them no eigenvector is computed at all. The remaining ones come from a dense
//! decomposition where n is small and from the block iteration, warm-started, where it is not.

use crate::error::Result;
use crate::matrix::Matrix;
use crate::memory;
use crate::monitor::{Monitor, Step};
use crate::settings::{Laplacian, Settings};
use crate::spectral::eigen::{self, Eigenpairs, MOST_ROUNDS, Operator, Vectors};
use crate::spectral::graph::{Graph, LaplacianMatrix, Parts};

/// Residual of an eigenvector, relative to the largest degree, while Z still moves. Eigenvalues
/// are accurate to its square, so the objective is exact already.
pub(crate) const WHILE_MOVING: f64 = 1e-6;

/// The same for the result.
pub(crate) const AT_THE_END: f64 = 1e-10;

/// The angle to which the span of the eigenvectors has to be known where a decomposition can be
/// had instead.
const LARGEST_ANGLE: f64 = 1e-5;

/// An embedding of the samples in c dimensions.
pub(crate) struct Embedding {
    /// n×c with orthonormal columns.
    pub(crate) vectors: Matrix,
    /// Connected parts of the graph.
    pub(crate) components: usize,
    /// With at least c parts: the c groups they form, which are the clusters.
    pub(crate) groups: Option<Parts>,
    /// The c smallest eigenvalues, rising; 0 for each part.
    pub(crate) values: Vec<f64>,
    /// Those that follow, as many as were asked for.
    pub(crate) beyond: Vec<f64>,
    /// Largest residual |Lp − λp| of a column relative to the largest degree, computed from the
    /// columns as they are.
    pub(crate) residual: f64,
    /// Warm start for the next embedding.
    pub(crate) basis: Option<Vectors>,
}

/// How to embed.
#[derive(Clone, Copy)]
pub(crate) struct EigenSettings {
    pub(crate) laplacian: Laplacian,
    /// Residual of an eigenvector relative to the largest degree.
    pub(crate) tolerance: f64,
    pub(crate) by: EigenMethod,
    /// How many eigenvalues to find beyond those of the embedding.
    pub(crate) beyond: usize,
}

impl Embedding {
    /// The sum of the c smallest eigenvalues, Tr(PᵀLP).
    pub(crate) fn value(&self) -> f64 {
        self.values.iter().sum()
    }

    /// How far the next eigenvalue is beyond the last of the embedding: 0 where there are more parts than
    /// clusters, nothing where it was not asked for.
    pub(crate) fn eigengap(&self) -> Option<f64> {
        let last = self.values.last().copied().unwrap_or(0.0);
        self.beyond.first().map(|next| (next - last).max(0.0))
    }
}

/// By what the eigenvectors are found.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum EigenMethod {
    /// A dense decomposition.
    Decomposition,
    /// The iteration.
    Iteration,
    /// The iteration for so many rounds, then a dense decomposition.
    Either(usize),
}

/// Embeds the samples. Where the graph has more parts than there are clusters, any grouping of them
/// gives an optimal P, and `group` chooses.
pub(crate) fn solve(
    graph: &Graph,
    clusters: usize,
    group: impl FnOnce(Parts) -> Result<Parts>,
    EigenSettings { laplacian, tolerance, by, beyond }: EigenSettings,
    warm: Option<&Vectors>,
    monitor: &Monitor<'_>,
) -> Result<Embedding> {
    let n = graph.samples();
    monitor.begin(Step::Embedding, 1);
    let parts = graph.parts()?;
    let components = parts.count;
    let mut vectors = Matrix::zeros(n, clusters, "embedding")?;
    let beyond = beyond.min(n - clusters);
    if components > clusters || components == clusters && beyond == 0 {
        let groups = match components == clusters {
            true => parts,
            false => group(parts)?,
        };
        let laplacian = LaplacianMatrix::new(graph, &groups, laplacian)?;
        for (i, &group) in groups.of.iter().enumerate() {
            vectors.col_mut(group as usize)[i] = laplacian.null_entry(i);
        }
        let residual = residual(&laplacian, &vectors, &[], monitor)?;
        let values = memory::filled(clusters, 0.0, "eigenvalues")?;
        let beyond = memory::filled(beyond, 0.0, "eigenvalues")?;
        let groups = Some(groups);
        return Ok(Embedding {
            vectors,
            components,
            groups,
            values,
            beyond,
            residual,
            basis: None,
        });
    }
    let laplacian = LaplacianMatrix::new(graph, &parts, laplacian)?;
    let wanted = clusters + beyond - components;
    for i in 0..n {
        vectors.col_mut(parts.of[i] as usize)[i] = laplacian.null_entry(i);
    }
    let mut found = None;
    if by != EigenMethod::Decomposition {
        let rounds = if let EigenMethod::Either(rounds) = by { rounds } else { MOST_ROUNDS };
        let pairs = eigen::smallest(&laplacian, wanted, warm, tolerance, rounds, monitor)?;
        // Next to the wanted eigenvalues there may be others that are nearly as small. Where the
        // span is not settled by the residual, the decomposition decides.
        let settled =
            |pairs: &Eigenpairs| pairs.residual <= tolerance.min(LARGEST_ANGLE * pairs.gap);
        found = Some(pairs).filter(|pairs| by == EigenMethod::Iteration || settled(pairs));
    }
    let mut write = |entry: &dyn Fn(usize, usize) -> f64| {
        for k in 0..clusters - components {
            let column = vectors.col_mut(components + k);
            column.iter_mut().enumerate().for_each(|(i, value)| *value = entry(i, k));
        }
    };
    let (values, basis) = if let Some(pairs) = found {
        match orthonormal(&pairs.vectors, wanted)? {
            Some(better) => write(&|i, k| better.row(i)[k]),
            None => write(&|i, k| pairs.vectors.row(i)[k]),
        }
        (pairs.values, Some(pairs.vectors))
    } else {
        let (matrix, unit) = laplacian.dense_lifted()?;
        let (mut values, all) = eigen::smallest_of(matrix.view(), wanted, monitor)?;
        write(&|i, k| all[(i, k)]);
        // Those of faint edges may come out below 0 by rounding.
        values.iter_mut().for_each(|value| *value = value.max(0.0) * unit);
        (values, None)
    };
    let mut all = memory::filled(clusters, 0.0, "eigenvalues")?;
    let (own, others) = values.split_at((clusters - components).min(values.len()));
    all[components..components + own.len()].copy_from_slice(own);
    let residual = residual(&laplacian, &vectors, &all, monitor)?;
    let beyond = memory::copied(others, "eigenvalues")?;
    drop(laplacian);
    let groups = Some(parts).filter(|parts| parts.count == clusters);
    Ok(Embedding { vectors, components, groups, values: all, beyond, residual, basis })
}

/// The first `count` columns, which are orthonormal but for the rounding of an iteration, made so;
/// nothing if they are as they should be. Faint edges in a graph let it add up to some 1e-9.
fn orthonormal(vectors: &Vectors, count: usize) -> Result<Option<Vectors>> {
    const ROUNDING: f64 = 1e-11;
    let gram = vectors.inner(vectors)?;
    let departs = |i: usize, j: usize| (gram[(i, j)] - f64::from(u8::from(i == j))).abs();
    let pairs = (0..count).flat_map(|j| (0..=j).map(move |i| (i, j)));
    if pairs.map(|(i, j)| departs(i, j)).fold(0.0, f64::max) <= ROUNDING {
        return Ok(None);
    }
    // The inverse of the Cholesky factor R of the gram matrix, to first order in what is wrong:
    // what is left is its square.
    let mut transform = memory::mat(vectors.width(), count, "embedding")?;
    for j in 0..count {
        (0..j).for_each(|i| transform[(i, j)] = -gram[(i, j)]);
        transform[(j, j)] = 1.5 - 0.5 * gram[(j, j)];
    }
    vectors.combine(transform.as_ref(), None).map(Some)
}

/// The largest |Lp − λp| of the columns p of `vectors`, relative to the largest diagonal entry of L.
/// Values that are not given are 0.
fn residual(
    laplacian: &LaplacianMatrix<'_>,
    vectors: &Matrix,
    values: &[f64],
    monitor: &Monitor<'_>,
) -> Result<f64> {
    let columns = Vectors::from_columns(vectors)?;
    let mut images = Vectors::zeros(vectors.rows(), vectors.cols())?;
    laplacian.apply(&columns, &mut images, monitor)?;
    for (image, column) in images.rows_mut().zip(columns.rows()) {
        for ((image, p), value) in image.iter_mut().zip(column).zip(values) {
            *image -= value * p;
        }
    }
    let scale = (0..vectors.rows()).map(|i| laplacian.diagonal(i)).fold(0.0, f64::max);
    let most = images.lengths2()?.into_iter().fold(0.0, f64::max).sqrt();
    Ok(if scale > 0.0 { most / scale } else { 0.0 })
}

/// By what the eigenvectors of a learned graph are found.
pub(crate) fn fastest(samples: usize, wanted: usize) -> EigenMethod {
    if dense_is_faster(samples, wanted) {
        EigenMethod::Decomposition
    } else {
        EigenMethod::Iteration
    }
}

/// Whether a dense decomposition takes less time than the iteration; it grows with n³.
pub(crate) fn dense_is_faster(samples: usize, wanted: usize) -> bool {
    samples <= 512 || samples <= MOST_DENSE && samples < 10 * wanted
}

/// The most samples for which a decomposition is short enough: its middle part, about a fifth of it,
/// cannot be interrupted.
pub(crate) const MOST_DENSE: usize = 1500;

/// What labels are read from, of an embedding in at least so many dimensions: its first columns. Those of
/// the normalised Laplacian fade by `diffusion`, and rows are scaled to unit length.
pub(crate) fn leading(all: &Embedding, clusters: usize, settings: &Settings) -> Result<Matrix> {
    let mut vectors = Matrix::zeros(all.vectors.rows(), clusters, "embedding")?;
    (0..clusters).for_each(|k| vectors.col_mut(k).copy_from_slice(all.vectors.col(k)));
    show(&mut vectors, &all.values[..clusters.min(all.values.len())], settings);
    Ok(vectors)
}

/// The same in place, for eigenvectors with these eigenvalues.
pub(crate) fn show(vectors: &mut Matrix, values: &[f64], settings: &Settings) {
    if settings.embedding == Laplacian::Symmetric {
        fade(vectors, values, settings.diffusion);
        unit_rows(vectors);
    }
}

/// Lets eigenvectors of a normalised Laplacian fade as they do in a random walk of so many steps:
/// eigenvector k times (1 − λ_k)^steps. Those that hardly outlive a step separate noise. Where clusters are
/// many and faint the walk is shorter, so that the last of them keeps a fifth.
fn fade(vectors: &mut Matrix, values: &[f64], steps: f64) {
    const LEAST: f64 = 0.2;
    const FAINTEST: f64 = 1e-9;
    let kept = |value: f64| (1.0 - value).clamp(FAINTEST, 1.0);
    let last = values.last().map_or(1.0, |&value| kept(value));
    let steps = if last.powf(steps) < LEAST { LEAST.ln() / last.ln() } else { steps };
    for (k, &value) in values.iter().enumerate() {
        let factor = kept(value).powf(steps);
        vectors.col_mut(k).iter_mut().for_each(|entry| *entry *= factor);
    }
}

/// Scales each row to unit length: what spectral clustering reads labels from.
pub(crate) fn unit_rows(vectors: &mut Matrix) {
    for i in 0..vectors.rows() {
        let norm = (0..vectors.cols()).map(|k| vectors.get(i, k).powi(2)).sum::<f64>().sqrt();
        if norm > 0.0 {
            (0..vectors.cols()).for_each(|k| vectors.col_mut(k)[i] /= norm);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Column, Similarity};
    use crate::monitor;
    use crate::spectral::ward;

    #[test]
    fn columns_that_are_nearly_orthonormal_are_made_so() {
        let n = 60;
        let mut columns = Matrix::zeros(n, 5, "test").unwrap();
        for k in 0..5 {
            // Discrete cosines, a little wrong, as an iteration leaves them.
            for (i, value) in columns.col_mut(k).iter_mut().enumerate() {
                let angle = std::f64::consts::PI * (i as f64 + 0.5) * (k + 1) as f64 / n as f64;
                *value = (2.0 / n as f64).sqrt() * angle.cos() + 1e-9 * (i * k % 7) as f64;
            }
        }
        let block = Vectors::from_columns(&columns).unwrap();
        let better = orthonormal(&block, 4).unwrap().unwrap();
        assert_eq!(better.width(), 4);
        let column = |k: usize| better.rows().map(|row| row[k]).collect::<Vec<f64>>();
        for (a, b) in (0..4).flat_map(|b| (0..=b).map(move |a| (a, b))) {
            let inner: f64 = column(a).iter().zip(&column(b)).map(|(x, y)| x * y).sum();
            assert!((inner - f64::from(u8::from(a == b))).abs() < 1e-14, "{a} {b}: {inner}");
            let moved = |(x, y): (f64, &f64)| (x - y).abs();
            let most = column(a).into_iter().zip(columns.col(a)).map(moved).fold(0.0, f64::max);
            assert!(most < 1e-7, "{most}");
        }
        assert!(orthonormal(&better, 4).unwrap().is_none());
    }

    #[test]
    fn edges_below_rounding_leave_p_orthonormal() {
        // Two triangles, and between them an edge that no sum notices; then everything faint.
        for (strong, faint) in [(0.5, 1e-30), (0.5, 1e-300), (1e-305, 1e-320)] {
            let n = 6;
            let columns = (0..n).map(|j| {
                let mut column = vec![0.0; n];
                (0..n).filter(|&i| i / 3 == j / 3 && i != j).for_each(|i| column[i] = strong);
                column[(j + 3) % n] = faint;
                Column::from_dense(&column).unwrap()
            });
            let similarity = Similarity::from_columns(n, columns.collect());
            for laplacian in [Laplacian::Unnormalized, Laplacian::Symmetric] {
                let how = EigenSettings {
                    laplacian,
                    tolerance: AT_THE_END,
                    by: EigenMethod::Decomposition,
                    beyond: 0,
                };
                let embedding = monitor::idle(|monitor| {
                    let graph = Graph::new(&similarity).unwrap();
                    solve(&graph, 2, Ok, how, None, monitor).unwrap()
                });
                assert_eq!(embedding.components, 1);
                assert!(
                    embedding.value() >= 0.0
                        && embedding.value() <= 4.0 * faint * n as f64 / strong
                );
                let column = |k: usize| embedding.vectors.col(k);
                for (a, b) in [(0, 0), (0, 1), (1, 1)] {
                    let inner: f64 = column(a).iter().zip(column(b)).map(|(x, y)| x * y).sum();
                    let expected = f64::from(u8::from(a == b));
                    assert!((inner - expected).abs() < 1e-14, "{faint}: {inner}");
                }
                assert!(column(1)[..3].iter().all(|v| v * column(1)[5] < 0.0), "{faint}");
            }
        }
    }

    #[test]
    fn more_parts_than_clusters_are_merged_into_an_optimal_p() {
        // Four pairs of neighbours at 0, 1, 20 and 21 on a line; two clusters wanted.
        let places = [0.0f64, 20.0, 1.0, 21.0];
        let n = 8;
        let mut kernel = Matrix::zeros(n, n, "test").unwrap();
        for j in 0..n {
            for i in 0..n {
                kernel.col_mut(j)[i] = places[i / 2] * places[j / 2];
            }
        }
        let columns = (0..n)
            .map(|i| {
                let mut column = vec![0.0; n];
                column[i ^ 1] = 1.0;
                Column::from_dense(&column).unwrap()
            })
            .collect();
        let similarity = Similarity::from_columns(n, columns);
        let embedding = monitor::idle(|monitor| {
            let graph = Graph::new(&similarity).unwrap();
            let how = EigenSettings {
                laplacian: Laplacian::Unnormalized,
                tolerance: AT_THE_END,
                by: EigenMethod::Decomposition,
                beyond: 0,
            };
            let group = |parts: Parts| ward::merge(&parts, 2, &kernel, monitor);
            solve(&graph, 2, group, how, None, monitor).unwrap()
        });
        assert_eq!(embedding.components, 4);
        assert_eq!(embedding.value(), 0.0);
        assert_eq!(embedding.groups.unwrap().of, [0, 0, 1, 1, 0, 0, 1, 1]);
        for i in 0..n {
            let own = (i / 2) % 2;
            assert_eq!(embedding.vectors.get(i, own), 0.5);
            assert_eq!(embedding.vectors.get(i, 1 - own), 0.0);
        }
    }
}
