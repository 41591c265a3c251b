//! From an embedding to labels: k-means, spectral rotation or pivoted QR.
//!
//! All of them give every cluster at least one sample, and number the clusters by first
//! occurrence.

pub(crate) mod assign;
pub(crate) mod kmeans;
mod polar;
mod qr;
mod rotation;
pub(crate) mod spread;

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::memory;
use crate::monitor::Monitor;
use crate::settings::{Labels, Settings};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatRef, Par};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Reads `clusters` clusters from the rows of an n×c embedding.
///
/// When `stop` turns true, they give the best labels they have by then.
pub(crate) fn read(
    embedding: &Matrix,
    clusters: usize,
    how: Labels,
    restarts: usize,
    seed: u64,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<i32>> {
    let samples = embedding.rows();
    if let Some(at) = embedding.values().iter().position(|value| !value.is_finite()) {
        return Err(Error::NotFinite {
            what: "embedding".to_owned(),
            row: at % samples,
            col: at / samples,
            value: embedding.values()[at],
        });
    }
    let found = if clusters == 1 {
        memory::filled(samples, 0, "labels")?
    } else if clusters == samples {
        let mut distinct = memory::with_capacity(samples, "labels")?;
        distinct.extend(0..samples);
        distinct
    } else {
        match how {
            Labels::Auto | Labels::Kmeans => {
                kmeans::cluster(embedding, clusters, restarts, seed, stop)?.labels
            }
            Labels::Rotation => rotation::cluster(embedding, stop)?,
            Labels::Qr => qr::cluster(embedding, stop)?,
        }
    };
    let mut labels = memory::with_capacity(samples, "labels")?;
    labels.extend(found.into_iter().map(|label| label as i32));
    canonical(&mut labels)?;
    Ok(labels)
}

/// Most clusters that `rotation` and `qr` read: they decompose a matrix of that order in one piece
/// that cannot be interrupted.
pub(crate) const MOST_ROTATED: usize = 1024;

/// How long labels may take to read after a fit was asked to stop: for most that is long enough to
/// be read at all.
const GRACE: Duration = Duration::from_millis(200);

/// Labels by the options of a problem. A fit that was stopped before gets those of one start.
pub(crate) fn of_embedding(
    embedding: &Matrix,
    clusters: usize,
    settings: &Settings,
    monitor: &Monitor<'_>,
) -> Result<Vec<i32>> {
    let started = Instant::now();
    let restarts = if monitor.stop().is_some() { 1 } else { settings.restarts };
    let stop = || monitor.stop().is_some() && started.elapsed() > GRACE;
    read(embedding, clusters, settings.labels, restarts, settings.seed, &stop)
}

/// How clearly the rows of an n×c embedding fall into c clusters, from -1 to 1: the mean over all rows of
/// (b − a)/max(a, b), with a the distance to the mean of its cluster and b that to the nearest other one.
/// The clusters are those that k-means reaches from the pivots of `qr`: nothing is drawn.
pub(crate) fn separation(embedding: &Matrix, stop: &(dyn Fn() -> bool + Sync)) -> Result<f64> {
    let start = qr::pivots(embedding, stop)?;
    kmeans::separation(embedding, &start, stop)
}

/// Numbers labels by first occurrence, from 0; any values may come in.
pub fn canonical(labels: &mut [i32]) -> Result<()> {
    let (numbers, _) = numbered(labels, &|| Ok(()))?;
    labels.iter_mut().zip(numbers).for_each(|(label, number)| *label = number as i32);
    Ok(())
}

/// The number of each label, by first occurrence from 0, and how often each occurs; fails when `ask`
/// does.
pub(crate) fn numbered(
    labels: &[i32],
    ask: &dyn Fn() -> Result<()>,
) -> Result<(Vec<u32>, Vec<usize>)> {
    const WHAT: &str = "labels";
    const NONE: u32 = u32::MAX;
    /// Labels between two questions.
    const LOT: usize = 1 << 16;
    let least = labels.iter().copied().min().unwrap_or(0);
    let range = labels.iter().copied().max().unwrap_or(0).abs_diff(least) as usize;
    let mut numbers = memory::with_capacity(labels.len(), WHAT)?;
    let mut sizes = Vec::new();
    // A table where labels lie close together, as most do.
    let close = range / 4 <= labels.len();
    let mut table = memory::filled(if close { range + 1 } else { 0 }, NONE, WHAT)?;
    let mut map = HashMap::new();
    for lot in labels.chunks(LOT) {
        ask()?;
        for &label in lot {
            let number = match close {
                true => &mut table[label.abs_diff(least) as usize],
                false => {
                    memory::reserve_map(&mut map, WHAT)?;
                    map.entry(label).or_insert(NONE)
                }
            };
            if *number == NONE {
                *number = sizes.len() as u32;
                memory::push(&mut sizes, 0, WHAT)?;
            }
            sizes[*number as usize] += 1;
            numbers.push(*number);
        }
    }
    Ok((numbers, sizes))
}

/// Scores of all rows: rows · turn, some rows at a time where that takes long. False, and some rows
/// left as they were, if `stop` says so.
pub(super) fn multiply(
    rows: &Matrix,
    turn: MatRef<'_, f64>,
    accum: Accum,
    scores: &mut Matrix,
    stop: &(dyn Fn() -> bool + Sync),
) -> bool {
    /// Multiplications between two questions.
    const WORK: usize = 1 << 29;
    let lot = (WORK / (rows.cols() * turn.ncols()).max(1)).max(8);
    for from in (0..rows.rows()).step_by(lot) {
        if from > 0 && stop() {
            return false;
        }
        let count = lot.min(rows.rows() - from);
        let out = scores.view_mut().subrows_mut(from, count);
        matmul(out, accum, rows.view().subrows(from, count), turn, 1.0, Par::Seq);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{RngCore, SeedableRng};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    const METHODS: [Labels; 4] = [Labels::Auto, Labels::Kmeans, Labels::Rotation, Labels::Qr];

    fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
        (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn matrix(rows: usize, cols: usize, entry: impl Fn(usize, usize) -> f64) -> Matrix {
        let mut m = Matrix::zeros(rows, cols, "test").unwrap();
        for j in 0..cols {
            for (i, value) in m.col_mut(j).iter_mut().enumerate() {
                *value = entry(i, j);
            }
        }
        m
    }

    fn noise(rows: usize, cols: usize, seed: u64) -> Matrix {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut m = Matrix::zeros(rows, cols, "test").unwrap();
        m.values_mut().iter_mut().for_each(|v| *v = uniform(&mut rng) - 0.5);
        m
    }

    /// A random orthogonal matrix, by Gram-Schmidt.
    fn orthogonal(size: usize, seed: u64) -> Matrix {
        let mut q = noise(size, size, seed);
        for j in 0..size {
            for _twice in 0..2 {
                for k in 0..j {
                    let dot: f64 = (0..size).map(|i| q.get(i, j) * q.get(i, k)).sum();
                    let other = q.col(k).to_vec();
                    q.col_mut(j).iter_mut().zip(other).for_each(|(v, o)| *v -= dot * o);
                }
            }
            let length = q.col(j).iter().map(|v| v * v).sum::<f64>().sqrt();
            q.col_mut(j).iter_mut().for_each(|v| *v /= length);
        }
        q
    }

    fn shuffled(len: usize, seed: u64) -> Vec<usize> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..len).collect();
        for i in (1..len).rev() {
            order.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
        }
        order
    }

    /// Clusters of uneven sizes 3, 4, 5, … in shuffled order.
    fn uneven_truth(clusters: usize, seed: u64) -> Vec<i32> {
        let sorted: Vec<i32> =
            (0..clusters).flat_map(|k| std::iter::repeat_n(k as i32, k + 3)).collect();
        let mut truth: Vec<i32> =
            shuffled(sorted.len(), seed).into_iter().map(|i| sorted[i]).collect();
        canonical(&mut truth).unwrap();
        truth
    }

    /// Orthonormal indicators of `truth` times a random rotation, plus noise.
    fn rotated_indicators(truth: &[i32], clusters: usize, level: f64, seed: u64) -> Matrix {
        let size = |k: i32| truth.iter().filter(|&&t| t == k).count() as f64;
        let (q, e) = (orthogonal(clusters, seed), noise(truth.len(), clusters, seed + 1));
        matrix(truth.len(), clusters, |i, j| {
            q.get(truth[i] as usize, j) / size(truth[i]).sqrt() + level * e.get(i, j)
        })
    }

    fn read_on(threads: usize, embedding: &Matrix, clusters: usize, how: Labels) -> Vec<i32> {
        threads::run(threads, || read(embedding, clusters, how, 20, 0, &|| false)).unwrap().unwrap()
    }

    fn distinct(labels: &[i32]) -> usize {
        labels.iter().collect::<std::collections::HashSet<_>>().len()
    }

    #[test]
    fn clusters_are_numbered_by_first_occurrence() {
        let mut labels = [7, -3, 7, i32::MAX, -3, i32::MIN];
        canonical(&mut labels).unwrap();
        assert_eq!(labels, [0, 1, 0, 2, 1, 3]);
        canonical(&mut []).unwrap();
    }

    #[test]
    fn exact_indicators_are_recovered_whatever_their_rotation() {
        for clusters in 2..=9 {
            for seed in 0..5 {
                let truth = uneven_truth(clusters, seed);
                let embedding = rotated_indicators(&truth, clusters, 0.0, 10 * seed);
                for how in METHODS {
                    assert_eq!(read_on(2, &embedding, clusters, how), truth, "{how:?}");
                }
            }
        }
    }

    #[test]
    fn separated_blobs_are_recovered() {
        for seed in 0..5 {
            let truth = uneven_truth(6, seed);
            let embedding = rotated_indicators(&truth, 6, 0.1, seed);
            for how in METHODS {
                assert_eq!(read_on(2, &embedding, 6, how), truth, "{how:?} {seed}");
            }
        }
    }

    #[test]
    fn labels_are_the_same_bits_for_any_number_of_threads() {
        // Without structure there are many local optima, so that a wrong winner would show.
        let embedding = noise(150, 7, 3);
        for how in METHODS {
            let one = read_on(1, &embedding, 7, how);
            assert_eq!(distinct(&one), 7);
            assert_eq!(one, read_on(2, &embedding, 7, how));
            assert_eq!(one, read_on(8, &embedding, 7, how));
        }
    }

    #[test]
    fn one_cluster_holds_everything_and_n_clusters_one_sample_each() {
        let (column, square) = (noise(6, 1, 1), noise(6, 6, 1));
        for how in METHODS {
            assert_eq!(read_on(1, &column, 1, how), [0; 6]);
            assert_eq!(read_on(1, &square, 6, how), [0, 1, 2, 3, 4, 5]);
            assert_eq!(read_on(1, &noise(1, 1, 1), 1, how), [0]);
        }
    }

    #[test]
    fn every_cluster_gets_a_sample_even_when_samples_coincide() {
        let two_places = matrix(9, 4, |i, j| if i % 2 == j { 0.5 } else { 0.0 });
        let zero = matrix(9, 4, |_, _| 0.0);
        let tiny = matrix(9, 4, |i, j| if i == 0 && j == 0 { 1.0 } else { 1e-200 });
        for embedding in [two_places, zero, tiny] {
            for how in METHODS {
                let labels = read_on(2, &embedding, 4, how);
                assert_eq!(distinct(&labels), 4, "{how:?}: {labels:?}");
                assert_eq!(labels, read_on(1, &embedding, 4, how));
            }
        }
    }

    #[test]
    fn reordering_the_samples_reorders_the_labels_of_rotation_and_qr() {
        for seed in 0..10 {
            let truth = uneven_truth(5, seed);
            // Noise that leaves some samples between the clusters.
            let model = rotated_indicators(&truth, 5, 0.6, seed);
            let length = |i: usize| (0..5).map(|j| model.get(i, j).powi(2)).sum::<f64>().sqrt();
            let normalized = matrix(truth.len(), 5, |i, j| model.get(i, j) / length(i));
            let order = shuffled(truth.len(), seed + 100);
            for embedding in [&model, &normalized] {
                let reordered = matrix(truth.len(), 5, |i, j| embedding.get(order[i], j));
                for how in [Labels::Rotation, Labels::Qr] {
                    let labels = read_on(1, embedding, 5, how);
                    let mut expected: Vec<i32> = order.iter().map(|&i| labels[i]).collect();
                    canonical(&mut expected).unwrap();
                    assert_eq!(read_on(1, &reordered, 5, how), expected, "{how:?} {seed}");
                }
            }
        }
    }

    #[test]
    fn a_stopped_reading_still_labels_every_sample_and_cluster() {
        let embedding = noise(120, 9, 5);
        for how in METHODS {
            // Stopped from the start, and at some later point.
            for allowed in [0, 1, 5, 30] {
                let asked = AtomicUsize::new(0);
                let stop = || asked.fetch_add(1, Relaxed) >= allowed;
                let labels = threads::run(2, || read(&embedding, 9, how, 50, 0, &stop));
                let labels = labels.unwrap().unwrap();
                assert_eq!((labels.len(), distinct(&labels)), (120, 9), "{how:?} {allowed}");
                assert!(asked.load(Relaxed) <= allowed + 200);
            }
        }
    }

    #[test]
    fn an_embedding_that_is_not_finite_is_an_error_and_reaches_no_decomposition() {
        let embedding = matrix(8, 3, |i, j| if (i, j) == (4, 1) { f64::NAN } else { i as f64 });
        for how in METHODS {
            let read = threads::run(1, || read(&embedding, 3, how, 1, 0, &|| false)).unwrap();
            assert_eq!(read.unwrap_err().to_string(), "embedding entry (4, 1) is NaN");
        }
    }
}
