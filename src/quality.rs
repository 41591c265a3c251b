//! What an answer is worth, without knowing the truth: how well the clusters are separated, how large
//! they are, and what a user should be told of them.

use crate::blend::MixedKernel;
use crate::error::{Error, Result};
use crate::labels;
use crate::matrix::Matrix;
use crate::memory;
use crate::method::{Problem, Remark, Solution};
use crate::monitor::{Monitor, Step};
use std::fmt::Write;

/// What is known of a division into clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// The mean silhouette in the space of K_w: how much nearer samples are to their own cluster than
    /// to the next. None for one cluster, for single samples alone, and after a stop.
    pub silhouette: Option<f64>,
    /// Samples of the smallest cluster.
    pub smallest: usize,
    /// Samples of the largest cluster.
    pub largest: usize,
    /// What a user should know, empty if nothing.
    pub warning: String,
}

/// Judges a solution.
pub(crate) fn judge(problem: Problem<'_, '_>, solution: &Solution) -> Result<Quality> {
    let (numbers, sizes) = labels::numbered(&solution.labels, &|| Ok(()))?;
    let (samples, clusters) = (problem.samples(), sizes.len());
    let mut silhouette = None;
    if clusters > 1 && clusters < samples && problem.monitor.stop().is_none() {
        let measured = || {
            let mut mixed = MixedKernel::new(samples)?;
            problem.weighted()?.mix(&solution.weights, 0.0, &mut mixed, problem.monitor)?;
            mean_silhouette(&mixed.kernel, &numbers, &sizes, problem.monitor)
        };
        silhouette = match measured() {
            Err(Error::Stopped { .. }) => None,
            measured => Some(measured?),
        };
    }
    let smallest = sizes.iter().copied().min().unwrap_or(0);
    let largest = sizes.iter().copied().max().unwrap_or(0);
    // What was stopped before its first iteration is no answer yet.
    let complete = solution.iterations() > 0;
    let about_sizes = remark_on_sizes(&sizes, samples).filter(|_| complete);
    let mut warning = String::new();
    for remark in solution.remarks.iter().chain(&about_sizes) {
        let between = if warning.is_empty() { "" } else { "; " };
        // At most a few lines, of numbers and fixed words.
        let _ = write!(warning, "{between}{remark}");
    }
    Ok(Quality { silhouette, smallest, largest, warning })
}

/// Whether clusters of these sizes look like a failure.
fn remark_on_sizes(sizes: &[usize], samples: usize) -> Option<Remark> {
    /// Nearly all samples, in percent.
    const MOST: usize = 95;
    let clusters = sizes.len();
    // Where clusters are few samples by request, single ones are to be expected.
    if clusters < 2 || 4 * clusters > samples {
        return None;
    }
    let count = sizes.iter().filter(|&&size| size == 1).count();
    let percent = 100 * sizes.iter().max()? / samples;
    if 4 * count >= clusters {
        return Some(Remark::SingleSamples { count, clusters });
    }
    (percent >= MOST).then_some(Remark::OneCluster { percent, clusters })
}

/// The mean over all samples of (b − a)/max(a, b), with a the mean distance to the others of its cluster
/// and b that to the nearest other cluster; 0 for a sample alone.
fn mean_silhouette(
    kernel: &Matrix,
    numbers: &[u32],
    sizes: &[usize],
    monitor: &Monitor<'_>,
) -> Result<f64> {
    const WHAT: &str = "silhouette";
    let n = kernel.cols();
    monitor.begin(Step::Labels, n);
    let values = memory::par_map(n, WHAT, |i| {
        monitor.go_on()?;
        let own = numbers[i] as usize;
        let mut sums = memory::filled(sizes.len(), 0.0f64, WHAT)?;
        let column = kernel.col(i);
        for (j, (&value, &number)) in column.iter().zip(numbers).enumerate() {
            let squared = kernel.get(j, j) + column[i] - 2.0 * value;
            sums[number as usize] += squared.max(0.0).sqrt();
        }
        monitor.advance(1);
        if sizes[own] == 1 {
            return Ok(0.0);
        }
        let inside = sums[own] / (sizes[own] - 1) as f64;
        let means = sums.iter().zip(sizes).map(|(sum, &size)| sum / size as f64);
        let others = means.enumerate().filter(|&(k, _)| k != own).map(|(_, mean)| mean);
        let outside = others.fold(f64::INFINITY, f64::min);
        let larger = inside.max(outside);
        Ok(if larger > 0.0 { (outside - inside) / larger } else { 0.0 })
    })?;
    Ok(values.into_iter().flatten().sum::<f64>() / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor;

    #[test]
    fn the_silhouette_is_that_of_the_definition() {
        // Five samples on a line, their kernel linear.
        let places = [0.0, 1.0, 10.0, 12.0, 30.0f64];
        let mut kernel = Matrix::zeros(5, 5, "test").unwrap();
        for (i, j) in (0..25).map(|k| (k / 5, k % 5)) {
            kernel.col_mut(j)[i] = places[i] * places[j];
        }
        let found =
            monitor::idle(|m| mean_silhouette(&kernel, &[0, 0, 1, 1, 2], &[2, 2, 1], m).unwrap());
        let expected =
            [(11.0 - 1.0) / 11.0, (10.0 - 1.0) / 10.0, (9.5 - 2.0) / 9.5, (11.5 - 2.0) / 11.5, 0.0];
        assert!((found - expected.iter().sum::<f64>() / 5.0).abs() < 1e-12, "{found}");
    }

    #[test]
    fn a_collapse_is_told_and_small_clusters_by_request_are_not() {
        let said = |sizes: &[usize]| {
            remark_on_sizes(sizes, sizes.iter().sum()).map(|remark| remark.to_string())
        };
        let collapsed = said(&[540, 1, 1, 1, 1]).unwrap();
        assert_eq!(collapsed, "4 of 5 clusters are single samples");
        assert_eq!(said(&[97, 3]).unwrap(), "one of 2 clusters has 97 % of the samples");
        assert_eq!(said(&[50, 1, 20, 20, 9]), None);
        assert_eq!(said(&[1, 1, 1, 2]), None);
        assert_eq!(said(&[10]), None);
    }
}
