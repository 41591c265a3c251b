//! Weights by agreement: a kernel counts as much as other kernels confirm what it says about who is
//! near whom.
//!
//! Each kernel has a graph of nearest neighbours, and that a leading subspace. Two kernels agree as
//! far as their subspaces overlap beyond what two random ones do; a kernel that nothing confirms
//! has the weight 0, and it counts more to be confirmed by a kernel that is confirmed itself. No kernel
//! is compared with a consensus that it is part of: that would drift to one kernel and confirm itself.

use super::embedding::{self, EigenSettings};
use crate::blend::WeightedKernels;
use crate::error::Result;
use crate::kernel::Gram;
use crate::matrix::{Column, Similarity};
use crate::memory;
use crate::monitor::{Monitor, Step};
use crate::settings::Laplacian;
use crate::spectral::eigen::Vectors;
use crate::spectral::graph::{Graph, Parts};

const WHAT: &str = "weights by agreement";

/// Neighbours of a sample in the graph of one kernel.
const NEIGHBORS: usize = 20;

/// Dimensions of the subspaces for few clusters, if there are ten times as many samples: one or two could
/// agree by chance.
const LEAST_DIMENSIONS: usize = 10;

/// Residual of an eigenvector: a weight needs no more digits than data have.
const TOLERANCE: f64 = 1e-6;

/// The weights of the kernels, which sum to 1. `views` tells the view of each kernel, rising from 0.
/// Where there are several, kernels of one view do not confirm each other, and each view starts with
/// the same weight. Nothing if no kernel is confirmed by another.
pub(crate) fn weights(
    weighted: &WeightedKernels<'_, '_>,
    views: &[usize],
    clusters: usize,
    monitor: &Monitor<'_>,
) -> Result<Option<Vec<f64>>> {
    let (count, n) = (weighted.kernels(), weighted.samples());
    let dimensions = clusters.max(LEAST_DIMENSIONS.min(n / 10)).max(2).min(n / 2);
    if dimensions < 2 {
        return Ok(None);
    }
    monitor.begin(Step::Weights, count + 1);
    let mut subspaces = memory::with_capacity(count, WHAT)?;
    for k in 0..count {
        subspaces.push(Subspace::new(weighted.kernel(k).0, dimensions, monitor)?);
        monitor.advance(1);
    }
    let several = views.last() > views.first();
    // Random subspaces overlap by their share of all dimensions; up to about twice that is chance.
    let random = (dimensions - 1) as f64 / (n - 1) as f64;
    let chance = random * (2.0 - random);
    let mut agreements = memory::filled(count * count, 0.0, WHAT)?;
    for (j, i) in (0..count).flat_map(|j| (0..j).map(move |i| (j, i))) {
        if !several || views[i] != views[j] {
            let overlap = subspaces[i].overlap(&subspaces[j])? / (dimensions - 1) as f64;
            let beyond = (overlap - chance).max(0.0);
            (agreements[i + j * count], agreements[j + i * count]) = (beyond, beyond);
        }
        monitor.go_on()?;
    }
    let mut size = memory::filled(count, 0.0, WHAT)?;
    views.iter().for_each(|&view| size[view] += 1.0);
    let mut shares = memory::with_capacity(count, WHAT)?;
    shares.extend(views.iter().map(|&view| 1.0 / size[view]));
    confirmed(&agreements, &shares)
}

/// How far each kernel is confirmed, by kernels that are confirmed themselves: two steps of the power
/// method from the shares that kernels have in their views. Further steps would leave all the weight to the
/// two kernels that agree most. Scaled to sum 1; nothing if no two agree.
fn confirmed(agreements: &[f64], shares: &[f64]) -> Result<Option<Vec<f64>>> {
    const STEPS: usize = 2;
    let count = shares.len();
    let mut weights = memory::copied(shares, WHAT)?;
    let mut next = memory::filled(count, 0.0, WHAT)?;
    for _ in 0..STEPS {
        for (i, next) in next.iter_mut().enumerate() {
            let row = &agreements[i * count..(i + 1) * count];
            *next = shares[i] * row.iter().zip(&weights).map(|(a, w)| a * w).sum::<f64>();
        }
        let total: f64 = next.iter().sum();
        if total <= 0.0 {
            return Ok(None);
        }
        weights.iter_mut().zip(&next).for_each(|(weight, next)| *weight = next / total);
    }
    Ok(Some(weights))
}

/// The leading eigenvectors of the normalised neighbour graph of a kernel.
struct Subspace {
    vectors: Vectors,
    /// Coordinates of D^(1/2)·1, which all graphs share and which says nothing.
    trivial: Vec<f64>,
}

impl Subspace {
    fn new(kernel: &Gram<'_>, dimensions: usize, monitor: &Monitor<'_>) -> Result<Self> {
        let graph = Graph::new(&nearest(kernel, monitor)?)?;
        let by = embedding::fastest(graph.samples(), dimensions);
        let how =
            EigenSettings { laplacian: Laplacian::Symmetric, tolerance: TOLERANCE, by, beyond: 0 };
        let group = |parts: Parts| parts.largest(dimensions);
        let found = embedding::solve(&graph, dimensions, group, how, None, monitor)?;
        let roots = || graph.degrees().iter().map(|degree| degree.sqrt());
        let length = roots().map(|root| root * root).sum::<f64>().sqrt();
        let mut trivial = memory::with_capacity(dimensions, WHAT)?;
        for k in 0..dimensions {
            let column = found.vectors.col(k).iter().zip(roots());
            trivial.push(column.map(|(value, root)| value * root).sum::<f64>() / length);
        }
        Ok(Self { vectors: Vectors::from_columns(&found.vectors)?, trivial })
    }

    /// The sum of the squared cosines between two subspaces, the trivial vectors taken out of both:
    /// tr(P − aaᵀ)(Q − bbᵀ).
    fn overlap(&self, other: &Self) -> Result<f64> {
        let inner = self.vectors.inner(&other.vectors)?;
        let (rows, cols) = (inner.nrows(), inner.ncols());
        let (mut all, mut both) = (0.0, 0.0);
        let (mut first, mut second) = (0.0, 0.0);
        for i in 0..rows {
            let along: f64 = (0..cols).map(|j| inner[(i, j)] * other.trivial[j]).sum();
            all += (0..cols).map(|j| inner[(i, j)].powi(2)).sum::<f64>();
            second += along * along;
            both += self.trivial[i] * along;
        }
        for j in 0..cols {
            first += (0..rows).map(|i| inner[(i, j)] * self.trivial[i]).sum::<f64>().powi(2);
        }
        Ok(all - first - second + both * both)
    }
}

/// Each sample's nearest neighbours in the space of a kernel, weighted by how much nearer they are than
/// the next one.
fn nearest(kernel: &Gram<'_>, monitor: &Monitor<'_>) -> Result<Similarity> {
    let n = kernel.samples();
    let count = NEIGHBORS.min(n - 2).max(1);
    // Large entries are divided first: distances are sums of four.
    let unit = kernel.sum_unit();
    let mut diagonal = memory::with_capacity(n, WHAT)?;
    diagonal.extend((0..n).map(|i| kernel.reduced_mean(i, i) / unit));
    let columns = memory::par_map(n, WHAT, |j| {
        monitor.go_on()?;
        let mut found = memory::with_capacity(n, WHAT)?;
        let mut scratch = Vec::new();
        let column = kernel.reduced_col(j, &mut scratch)?;
        // (K + Kᵀ)/2 without its other half: asymmetry is below 1e-8.
        let distance = |i: usize| (diagonal[i] + diagonal[j] - 2.0 * column[i] / unit).max(0.0);
        found.extend((0..n).filter(|&i| i != j).map(|i| (distance(i), i as u32)));
        let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let next = count.min(found.len() - 1);
        found.select_nth_unstable_by(next, order);
        let beyond = found[next].0;
        found.truncate(count);
        found.sort_unstable_by_key(|entry| entry.1);
        let total: f64 = found.iter().map(|entry| beyond - entry.0).sum();
        let equal = 1.0 / count as f64;
        let mut rows = memory::with_capacity(count, WHAT)?;
        let mut values = memory::with_capacity(count, WHAT)?;
        for (distance, row) in found {
            rows.push(row);
            // Where all are equally far away they count the same.
            values.push(if total > 0.0 { ((beyond - distance) / total).max(1e-12) } else { equal });
        }
        Ok(Column::Sparse { rows, values })
    })?;
    let mut all = memory::with_capacity(n, WHAT)?;
    all.extend(columns.into_iter().flatten());
    Ok(Similarity::from_columns(n, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_confirms_has_no_weight_and_two_kernels_share_it() {
        let weights = confirmed(&[0.0, 0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0], &[1.0; 3]).unwrap();
        assert_eq!(weights.unwrap(), [0.5, 0.5, 0.0]);
        assert_eq!(confirmed(&[0.0; 9], &[1.0; 3]).unwrap(), None);
    }

    #[test]
    fn two_groups_that_agree_within_themselves_both_keep_weight() {
        let mut agreements = [0.0; 16];
        for (i, j, a) in [(0, 1, 0.8), (2, 3, 0.7), (0, 2, 0.05)] {
            (agreements[i + 4 * j], agreements[j + 4 * i]) = (a, a);
        }
        let weights = confirmed(&agreements, &[1.0; 4]).unwrap().unwrap();
        assert!(weights.iter().all(|&w| w > 0.15), "{weights:?}");
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn kernels_of_one_view_share_what_the_view_has() {
        // Two views that agree, one with two kernels.
        let agreements = [0.0, 0.0, 0.5, 0.0, 0.0, 0.5, 0.5, 0.5, 0.0];
        let weights = confirmed(&agreements, &[0.5, 0.5, 1.0]).unwrap().unwrap();
        assert_eq!(weights, [0.25, 0.25, 0.5]);
    }
}
