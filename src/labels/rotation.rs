//! Labels by spectral rotation (Yu and Shi 2003): the orthogonal R and the indicator Y that
//! maximise Tr(Yᵀ X R), X the embedding with rows of unit length.
//!
//! For a fixed R the best Y takes the largest entry of each row of X R; for a fixed Y the best
//! R is the polar factor of XᵀY. Alternating the two never lowers the objective.

use super::assign::{best_columns, fill_empty};
use super::multiply;
use super::polar::polar;
use super::qr::representative_rotation;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::memory;
use faer::Accum;

const MAX_ROUNDS: usize = 100;

/// One label for each row of the n×c embedding. An empty cluster takes the sample that loses
/// least of the objective.
pub(super) fn cluster(embedding: &Matrix, stop: &(dyn Fn() -> bool + Sync)) -> Result<Vec<usize>> {
    let (samples, clusters) = (embedding.rows(), embedding.cols());
    let rows = unit_rows(embedding)?;
    // Started from the rows most orthogonal to each other, as Yu and Shi do, but chosen by
    // pivoting instead of from a random first one.
    let mut rotation = representative_rotation(&rows, stop)?;
    let mut scores = Matrix::zeros(samples, clusters, "labels")?;
    let mut sums = Matrix::zeros(clusters, clusters, "labels")?;
    let mut labels = memory::filled(samples, 0, "labels")?;
    let mut reached = f64::NEG_INFINITY;
    for _ in 0..MAX_ROUNDS {
        multiply(&rows, rotation.view(), Accum::Replace, &mut scores, stop);
        best_columns(&scores, &mut labels);
        if stop() {
            break;
        }
        sums.values_mut().fill(0.0);
        for j in 0..clusters {
            for (&label, &value) in labels.iter().zip(rows.col(j)) {
                sums.values_mut()[j + label * clusters] += value;
            }
        }
        let (better, objective) = polar(&sums)?;
        if objective <= reached {
            break;
        }
        (rotation, reached) = (better, objective);
    }
    fill_empty(&mut labels, clusters, |i, from, to| scores.get(i, from) - scores.get(i, to))?;
    Ok(labels)
}

/// The rows scaled to length 1. Rows that are zero to rounding have no direction and become 0.
fn unit_rows(embedding: &Matrix) -> Result<Matrix> {
    let (samples, cols) = (embedding.rows(), embedding.cols());
    let mut factors = memory::filled(samples, 0.0, "labels")?;
    for j in 0..cols {
        factors.iter_mut().zip(embedding.col(j)).for_each(|(sum, v)| *sum += v * v);
    }
    let noise = 1e-12 * factors.iter().copied().fold(0.0, f64::max).sqrt();
    for factor in &mut factors {
        let length = factor.sqrt();
        *factor = if length > noise { 1.0 / length } else { 0.0 };
    }
    let mut rows = Matrix::zeros(samples, cols, "labels")?;
    for j in 0..cols {
        let scaled = embedding.col(j).iter().zip(&factors);
        rows.col_mut(j).iter_mut().zip(scaled).for_each(|(row, (v, f))| *row = v * f);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_get_unit_length_unless_they_are_rounding_noise() {
        let mut embedding = Matrix::zeros(4, 2, "test").unwrap();
        embedding.col_mut(0).copy_from_slice(&[3.0, 0.0, 1e-14, 1e-3]);
        embedding.col_mut(1).copy_from_slice(&[4.0, 0.0, -1e-14, 0.0]);
        let rows = unit_rows(&embedding).unwrap();
        let expected = [0.6, 0.0, 0.0, 1.0, 0.8, 0.0, 0.0, 0.0];
        for (value, expected) in rows.values().iter().zip(expected) {
            assert!((value - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn the_labels_reach_the_best_objective_of_all_labellings_of_a_few_samples() {
        // Two directions with noise; every labelling is tried, its best rotation is exact.
        let angles = [0.1f64, 1.6, 0.3, 1.4, -0.2, 1.9, 0.0, 1.5];
        let mut embedding = Matrix::zeros(8, 2, "test").unwrap();
        for (i, angle) in angles.iter().enumerate() {
            embedding.col_mut(0)[i] = angle.cos();
            embedding.col_mut(1)[i] = angle.sin();
        }
        let objective = |labels: &[usize]| {
            let mut sums = Matrix::zeros(2, 2, "test").unwrap();
            for (i, &label) in labels.iter().enumerate() {
                (0..2).for_each(|j| sums.col_mut(label)[j] += embedding.get(i, j));
            }
            polar(&sums).unwrap().1
        };
        let best = (0..1usize << 8)
            .map(|code| objective(&(0..8).map(|i| code >> i & 1).collect::<Vec<_>>()))
            .fold(f64::NEG_INFINITY, f64::max);
        let labels = cluster(&embedding, &|| false).unwrap();
        assert!((objective(&labels) - best).abs() < 1e-12);
    }
}
