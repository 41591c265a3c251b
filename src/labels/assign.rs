//! From scores to labels: every sample takes its best cluster, and no cluster stays empty.

use crate::error::Result;
use crate::matrix::Matrix;
use crate::memory;

/// Gives each sample the column of its largest score, the first on ties.
pub(crate) fn best_columns(scores: &Matrix, labels: &mut [usize]) {
    // A block of running maxima stays in the cache while the columns pass by, and the
    // branchless inner loop is vectorised.
    const BLOCK: usize = 256;
    for (block, labels) in labels.chunks_mut(BLOCK).enumerate() {
        let mut best = [f64::NEG_INFINITY; BLOCK];
        labels.fill(0);
        for cluster in 0..scores.cols() {
            let scores = &scores.col(cluster)[block * BLOCK..];
            for ((label, best), &score) in labels.iter_mut().zip(&mut best).zip(scores) {
                let better = score > *best;
                *label = if better { cluster } else { *label };
                *best = if better { score } else { *best };
            }
        }
    }
}

/// Fills each empty cluster, in order, with the sample whose move costs least, the first on
/// ties, among the clusters of at least two. `cost(sample, from, to)` may be negative. There
/// must be at least as many samples as clusters.
pub(crate) fn fill_empty(
    labels: &mut [usize],
    clusters: usize,
    cost: impl Fn(usize, usize, usize) -> f64,
) -> Result<()> {
    let mut sizes = memory::filled(clusters, 0usize, "labels")?;
    labels.iter().for_each(|&label| sizes[label] += 1);
    for empty in 0..clusters {
        if sizes[empty] > 0 {
            continue;
        }
        let mut cheapest: Option<(usize, f64)> = None;
        for (sample, &label) in labels.iter().enumerate() {
            if sizes[label] > 1 {
                let cost = cost(sample, label, empty);
                if cheapest.is_none_or(|(_, least)| cost < least) {
                    cheapest = Some((sample, cost));
                }
            }
        }
        let (sample, _) = cheapest.expect("more samples than clusters in use: one has two");
        sizes[labels[sample]] -= 1;
        sizes[empty] = 1;
        labels[sample] = empty;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_score_wins_and_the_first_on_ties() {
        let n = 600;
        let mut scores = Matrix::zeros(n, 3, "test").unwrap();
        for i in 0..n {
            scores.col_mut(i % 3)[i] = 1.0;
            if i % 4 == 0 {
                (0..3).for_each(|j| scores.col_mut(j)[i] = -2.0);
            }
        }
        let mut labels = vec![9; n];
        best_columns(&scores, &mut labels);
        for (i, &label) in labels.iter().enumerate() {
            assert_eq!(label, if i % 4 == 0 { 0 } else { i % 3 });
        }
    }

    #[test]
    fn an_empty_cluster_takes_the_cheapest_sample_of_a_cluster_that_can_spare_one() {
        // Sample 0 would be cheapest, but is alone in its cluster.
        let costs = [0.0, 3.0, 1.0, 1.0, 2.0];
        let mut labels = [0, 2, 2, 2, 2];
        fill_empty(&mut labels, 4, |sample, _, _| costs[sample]).unwrap();
        assert_eq!(labels, [0, 2, 1, 3, 2]);
    }
}
