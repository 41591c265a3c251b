//! Labels by column-pivoted QR (Damle, Minden and Ying 2019): direct and deterministic.
//!
//! The pivots of Pᵀ are c samples as orthogonal to each other as can be had, one of each
//! cluster. The orthogonal matrix closest to these rows turns P so that a sample's largest
//! entry, in absolute value, names its cluster.

use super::assign::{best_columns, fill_empty};
use super::multiply;
use super::polar::polar;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::memory;
use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

/// One label for each row of the n×c embedding. An empty cluster takes the sample that comes
/// closest to it.
pub(super) fn cluster(embedding: &Matrix, stop: &(dyn Fn() -> bool + Sync)) -> Result<Vec<usize>> {
    let (samples, clusters) = (embedding.rows(), embedding.cols());
    let turn = representative_rotation(embedding, stop)?;
    let mut scores = Matrix::zeros(samples, clusters, "labels")?;
    multiply(embedding, turn.view(), Accum::Replace, &mut scores, stop);
    scores.values_mut().iter_mut().for_each(|score| *score = score.abs());
    let mut labels = memory::filled(samples, 0, "labels")?;
    best_columns(&scores, &mut labels);
    fill_empty(&mut labels, clusters, |i, from, to| scores.get(i, from) - scores.get(i, to))?;
    Ok(labels)
}

/// The rotation that brings the pivot rows closest to the axes.
pub(super) fn representative_rotation(
    rows: &Matrix,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Matrix> {
    let clusters = rows.cols();
    let mut representatives = Matrix::zeros(clusters, clusters, "labels")?;
    for (k, pivot) in pivots(rows, stop)?.into_iter().enumerate() {
        for (j, value) in representatives.col_mut(k).iter_mut().enumerate() {
            *value = rows.get(pivot, j);
        }
    }
    Ok(polar(&representatives)?.0)
}

/// The first c pivots of a column-pivoted QR of the transpose: each is the row with the
/// longest part outside of the span of those before it.
///
/// Rows of unit length all tie for the first pivot. Ties to rounding go to the row x with the
/// most support Σᵢ (xᵀxᵢ)², not to a lower index: the order of the samples does not matter,
/// and a typical sample is a better start than an odd one.
///
/// Pivoted Gram–Schmidt by whole columns: only the pivots are wanted, not Q or R, and each
/// row meets the same operations wherever it stands.
pub(super) fn pivots(rows: &Matrix, stop: &(dyn Fn() -> bool + Sync)) -> Result<Vec<usize>> {
    let (samples, clusters) = (rows.rows(), rows.cols());
    let mut rest = Matrix::zeros(samples, clusters, "labels")?;
    let mut support = memory::filled(samples, 0.0, "labels")?;
    let mut gram = Matrix::zeros(clusters, clusters, "labels")?;
    matmul(gram.view_mut(), Accum::Replace, rows.view().transpose(), rows.view(), 1.0, Par::Seq);
    matmul(rest.view_mut(), Accum::Replace, rows.view(), gram.view(), 1.0, Par::Seq);
    for j in 0..clusters {
        let products = rest.col(j).iter().zip(rows.col(j)).map(|(a, b)| a * b);
        support.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
    }
    rest.values_mut().copy_from_slice(rows.values());
    let mut lengths = memory::filled(samples, 0.0, "labels")?;
    let mut along = memory::filled(samples, 0.0, "labels")?;
    let mut chosen = memory::filled(samples, false, "labels")?;
    let mut pivots = memory::with_capacity(clusters, "labels")?;
    let mut axis = memory::filled(clusters, 0.0, "labels")?;
    for _ in 0..clusters {
        if stop() {
            // Any others, as long as they are different.
            let open = (0..samples).filter(|&i| !chosen[i]);
            pivots.extend(open.take(clusters - pivots.len()));
            break;
        }
        lengths.fill(0.0);
        for j in 0..clusters {
            lengths.iter_mut().zip(rest.col(j)).for_each(|(sum, v)| *sum += v * v);
        }
        let open = || (0..samples).filter(|&i| !chosen[i]);
        let longest = open().map(|i| lengths[i]).fold(0.0, f64::max);
        let tied = open().filter(|&i| lengths[i] >= longest * (1.0 - 1e-12));
        let pivot = tied
            .reduce(|best, i| if support[i] > support[best] { i } else { best })
            .expect("no more clusters than samples");
        chosen[pivot] = true;
        pivots.push(pivot);
        if lengths[pivot] == 0.0 {
            continue;
        }
        let length = lengths[pivot].sqrt();
        axis.iter_mut().enumerate().for_each(|(j, axis)| *axis = rest.get(pivot, j) / length);
        along.fill(0.0);
        for (j, &axis) in axis.iter().enumerate() {
            along.iter_mut().zip(rest.col(j)).for_each(|(sum, v)| *sum += v * axis);
        }
        for (j, &axis) in axis.iter().enumerate() {
            rest.col_mut(j).iter_mut().zip(&along).for_each(|(v, along)| *v -= along * axis);
        }
    }
    Ok(pivots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pivots_are_those_of_a_pivoted_qr() {
        let (n, c) = (40, 6);
        let mut rows = Matrix::zeros(n, c, "test").unwrap();
        for (k, value) in rows.values_mut().iter_mut().enumerate() {
            *value = ((k * k + 1) as f64).sin();
        }
        let reference = rows.view().transpose().to_owned().col_piv_qr();
        let (order, _) = reference.P().arrays();
        assert_eq!(pivots(&rows, &|| false).unwrap(), order[..c]);
    }

    #[test]
    fn rows_of_fewer_directions_than_clusters_still_give_different_pivots() {
        let mut rows = Matrix::zeros(5, 3, "test").unwrap();
        rows.col_mut(0).copy_from_slice(&[1.0, 2.0, 3.0, 2.0, 1.0]);
        assert_eq!(pivots(&rows, &|| false).unwrap(), [2, 1, 3]);
        assert_eq!(pivots(&rows, &|| true).unwrap(), [0, 1, 2]);
    }
}
