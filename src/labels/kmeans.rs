//! k-means: Lloyd's sweeps from greedy k-means++ starts, the best of several restarts.
//!
//! Each restart draws from a stream of its own and runs on one thread, so that the result
//! does not depend on how restarts are spread over threads.

use super::assign::{best_columns, fill_empty};
use super::{multiply, spread};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::memory;
use faer::Accum;
use rayon::prelude::*;

const MAX_SWEEPS: usize = 300;

/// A division of points into clusters none of which is empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clustering {
    /// The cluster of each point, from 0.
    pub labels: Vec<usize>,
    /// Sum of squared distances of the points to the means of their clusters.
    pub objective: f64,
}

/// Divides the rows of `points`, of which there must be at least `clusters`.
///
/// When `stop` turns true, the best clustering so far is the result.
pub(crate) fn cluster(
    points: &Matrix,
    clusters: usize,
    restarts: usize,
    seed: u64,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Clustering> {
    let points = Points::new(points)?;
    let best = (0..restarts.max(1) as u64)
        .into_par_iter()
        .map(|restart| {
            if restart > 0 && stop() {
                return Ok(None);
            }
            let chosen = spread::centres(
                points.values.rows(),
                clusters,
                &mut spread::stream(seed, restart),
                stop,
                |centre, nearest, distances| points.approach(centre, nearest, distances),
            )?;
            points.descend(points.at(&chosen)?, stop).map(Some)
        })
        .try_reduce(
            || None,
            |earlier, later| {
                Ok(match (earlier, later) {
                    (Some(a), Some(b)) if b.objective < a.objective => Some(b),
                    (earlier, later) => earlier.or(later),
                })
            },
        )?;
    Ok(best.expect("the first restart always runs"))
}

/// The mean over all points of (b − a)/max(a, b), with a the distance to the nearest mean and b that to the
/// next one, for the means that Lloyd's sweeps reach from the chosen points.
pub(super) fn separation(
    points: &Matrix,
    chosen: &[usize],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<f64> {
    let points = Points::new(points)?;
    let (samples, clusters) = (points.values.rows(), chosen.len());
    let found = points.descend(points.at(chosen)?, stop)?;
    let mut centres = Matrix::zeros(clusters, points.values.cols(), "k-means")?;
    points.means(&found.labels, &mut centres)?;
    let mut scores = Matrix::zeros(samples, clusters, "k-means")?;
    let mut nearest = memory::filled(samples, 0, "k-means")?;
    points.assign(&centres, &mut scores, &mut nearest, stop)?;
    let mut total = 0.0;
    for i in 0..samples {
        let distance = |k: usize| (points.norms[i] - 2.0 * scores.get(i, k)).max(0.0).sqrt();
        let own = distance(found.labels[i]);
        let others = (0..clusters).filter(|&k| k != found.labels[i]).map(distance);
        let other = others.fold(f64::INFINITY, f64::min);
        let larger = own.max(other);
        total += if larger > 0.0 && larger.is_finite() { (other - own) / larger } else { 0.0 };
    }
    Ok(total / samples as f64)
}

/// Points in the form the sweeps need.
struct Points {
    /// One point a row, around the mean of all: distances by way of inner products would
    /// lose their digits far from the origin.
    values: Matrix,
    /// Squared lengths.
    norms: Vec<f64>,
}

impl Points {
    fn new(points: &Matrix) -> Result<Self> {
        let (samples, dims) = (points.rows(), points.cols());
        let mut values = Matrix::zeros(samples, dims, "k-means")?;
        let mut norms = memory::filled(samples, 0.0, "k-means")?;
        for j in 0..dims {
            let mean = points.col(j).iter().sum::<f64>() / samples as f64;
            let centred = values.col_mut(j).iter_mut().zip(&mut norms).zip(points.col(j));
            for ((value, norm), point) in centred {
                *value = point - mean;
                *norm += *value * *value;
            }
        }
        Ok(Self { values, norms })
    }

    /// Centres at the chosen points.
    fn at(&self, chosen: &[usize]) -> Result<Matrix> {
        let mut centres = Matrix::zeros(chosen.len(), self.values.cols(), "k-means")?;
        for j in 0..self.values.cols() {
            let column = self.values.col(j);
            centres.col_mut(j).iter_mut().zip(chosen).for_each(|(v, &point)| *v = column[point]);
        }
        Ok(centres)
    }

    /// The squared distances to the nearest centre if point `centre` became one more, into
    /// `distances`; their sum is returned.
    fn approach(&self, centre: usize, nearest: &[f64], distances: &mut [f64]) -> f64 {
        // Differences, not inner products: the distance of duplicates is exactly 0.
        distances.fill(0.0);
        for j in 0..self.values.cols() {
            let column = self.values.col(j);
            let at = column[centre];
            for (distance, value) in distances.iter_mut().zip(column) {
                *distance += (value - at) * (value - at);
            }
        }
        distances.iter_mut().zip(nearest).for_each(|(new, &old)| *new = new.min(old));
        distances.iter().sum()
    }

    /// Lloyd's sweeps until no label changes.
    fn descend(&self, mut centres: Matrix, stop: &(dyn Fn() -> bool + Sync)) -> Result<Clustering> {
        let samples = self.values.rows();
        let mut scores = Matrix::zeros(samples, centres.rows(), "k-means")?;
        let mut labels = memory::filled(samples, 0, "k-means")?;
        let mut next = memory::filled(samples, 0, "k-means")?;
        self.assign(&centres, &mut scores, &mut labels, stop)?;
        for _ in 0..MAX_SWEEPS {
            if stop() {
                break;
            }
            self.means(&labels, &mut centres)?;
            if !self.assign(&centres, &mut scores, &mut next, stop)? {
                break;
            }
            std::mem::swap(&mut labels, &mut next);
            if labels == next {
                break;
            }
        }
        self.means(&labels, &mut centres)?;
        let objective = self.objective(&labels, &centres);
        Ok(Clustering { labels, objective })
    }

    /// Gives each point the nearest centre; an empty cluster takes the point farthest from its
    /// centre.
    fn assign(
        &self,
        centres: &Matrix,
        scores: &mut Matrix,
        labels: &mut [usize],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<bool> {
        let clusters = centres.rows();
        // The largest xᵀμ − |μ|²/2 belongs to the smallest |x − μ|².
        for k in 0..clusters {
            let norm: f64 = (0..centres.cols()).map(|j| centres.get(k, j).powi(2)).sum();
            scores.col_mut(k).fill(-0.5 * norm);
        }
        let turn = centres.view().transpose();
        let complete = multiply(&self.values, turn, Accum::Add, scores, stop);
        best_columns(scores, labels);
        fill_empty(labels, clusters, |point, from, _| {
            2.0 * scores.get(point, from) - self.norms[point]
        })?;
        Ok(complete)
    }

    fn means(&self, labels: &[usize], means: &mut Matrix) -> Result<()> {
        let mut sizes = memory::filled(means.rows(), 0.0, "k-means")?;
        labels.iter().for_each(|&label| sizes[label] += 1.0);
        for j in 0..self.values.cols() {
            let mean = means.col_mut(j);
            mean.fill(0.0);
            labels.iter().zip(self.values.col(j)).for_each(|(&label, v)| mean[label] += v);
            mean.iter_mut().zip(&sizes).for_each(|(sum, size)| *sum /= size);
        }
        Ok(())
    }

    fn objective(&self, labels: &[usize], means: &Matrix) -> f64 {
        let column = |j: usize| -> f64 {
            let (values, means) = (self.values.col(j), means.col(j));
            labels.iter().zip(values).map(|(&label, v)| (v - means[label]).powi(2)).sum()
        };
        (0..self.values.cols()).map(column).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::spread::uniform;
    use crate::threads;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    fn random_points(samples: usize, dims: usize, seed: u64) -> Matrix {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut points = Matrix::zeros(samples, dims, "test").unwrap();
        points.values_mut().iter_mut().for_each(|v| *v = uniform(&mut rng));
        points
    }

    fn run(points: &Matrix, clusters: usize, restarts: usize, seed: u64) -> Clustering {
        threads::run(2, || cluster(points, clusters, restarts, seed, &|| false)).unwrap().unwrap()
    }

    fn naive_objective(points: &Matrix, labels: &[usize], clusters: usize) -> f64 {
        let mut total = 0.0;
        for k in 0..clusters {
            let members: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == k).collect();
            for j in 0..points.cols() {
                let mean = members.iter().map(|&i| points.get(i, j)).sum::<f64>()
                    / members.len().max(1) as f64;
                total += members.iter().map(|&i| (points.get(i, j) - mean).powi(2)).sum::<f64>();
            }
        }
        total
    }

    /// The least objective of all partitions: labels that open a new cluster only in order.
    fn least_objective(points: &Matrix, clusters: usize) -> f64 {
        fn extend(points: &Matrix, clusters: usize, labels: &mut Vec<usize>, least: &mut f64) {
            if labels.len() == points.rows() {
                *least = least.min(naive_objective(points, labels, clusters));
                return;
            }
            let open = labels.iter().max().map_or(0, |label| label + 1);
            for label in 0..clusters.min(open + 1) {
                labels.push(label);
                extend(points, clusters, labels, least);
                labels.pop();
            }
        }
        let mut least = f64::INFINITY;
        extend(points, clusters, &mut Vec::new(), &mut least);
        least
    }

    #[test]
    fn enough_restarts_find_the_best_of_all_partitions() {
        for (samples, clusters, dims) in [(5, 2, 1), (7, 3, 2), (8, 4, 3), (9, 3, 2), (9, 8, 2)] {
            for seed in 0..4 {
                let points = random_points(samples, dims, seed);
                let found = run(&points, clusters, 200, seed);
                let least = least_objective(&points, clusters);
                let naive = naive_objective(&points, &found.labels, clusters);
                assert!((found.objective - naive).abs() < 1e-13, "{found:?} {naive}");
                assert!((found.objective - least).abs() < 1e-12, "{found:?} {least}");
            }
        }
    }

    #[test]
    fn every_point_is_nearest_to_the_mean_of_its_own_cluster() {
        let points = random_points(300, 5, 1);
        let found = run(&points, 12, 1, 0);
        let mean = |k: usize, j: usize| {
            let members = found.labels.iter().enumerate().filter(|&(_, &label)| label == k);
            let values: Vec<f64> = members.map(|(i, _)| points.get(i, j)).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let means: Vec<Vec<f64>> = (0..12).map(|k| (0..5).map(|j| mean(k, j)).collect()).collect();
        for (i, &label) in found.labels.iter().enumerate() {
            let distance = |k: usize| -> f64 {
                (0..5).map(|j| (points.get(i, j) - means[k][j]).powi(2)).sum()
            };
            assert!((0..12).all(|k| distance(label) <= distance(k) + 1e-12));
        }
    }

    #[test]
    fn more_restarts_never_give_a_worse_result_and_the_first_of_equals_is_kept() {
        let points = random_points(200, 3, 2);
        let runs: Vec<Clustering> = (1..=16).map(|r| run(&points, 15, r, 7)).collect();
        assert!(runs.windows(2).all(|pair| {
            pair[1].objective < pair[0].objective || pair[1].labels == pair[0].labels
        }));
        assert!(runs[15].objective < runs[0].objective);
    }

    #[test]
    fn the_seed_decides_everything() {
        let points = random_points(200, 3, 3);
        assert_eq!(run(&points, 15, 1, 5), run(&points, 15, 1, 5));
        let different = (0..10).any(|seed| run(&points, 15, 1, seed) != run(&points, 15, 1, 99));
        assert!(different, "ten seeds, one local optimum");
    }

    #[test]
    fn points_far_from_the_origin_are_told_apart() {
        let mut points = Matrix::zeros(40, 2, "test").unwrap();
        points.col_mut(0).iter_mut().enumerate().for_each(|(i, v)| *v = 1e8 + (i % 4) as f64);
        points.col_mut(1).fill(-1e8);
        let found = run(&points, 4, 5, 0);
        assert_eq!(found.objective, 0.0);
        assert!((4..40).all(|i| found.labels[i] == found.labels[i - 4]));
    }

    #[test]
    fn as_many_clusters_as_distinct_points_are_all_found() {
        // 30 points at 6 places, one of them far away; as many clusters as places, and more.
        let mut points = Matrix::zeros(30, 1, "test").unwrap();
        let places = [0.0, 0.1, 0.2, 1.0, 2.0, 100.0];
        points.col_mut(0).iter_mut().enumerate().for_each(|(i, v)| *v = places[i % 6]);
        for clusters in [6, 7, 29] {
            let found = run(&points, clusters, 3, 1);
            assert!((0..clusters).all(|k| found.labels.contains(&k)));
            assert!(found.objective < 1e-20, "{}", found.objective);
        }
    }
}
