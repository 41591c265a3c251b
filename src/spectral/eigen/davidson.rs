//! Vectors Davidson iteration for the smallest eigenpairs.
//!
//! The basis stays orthonormal and outside of the known null space; it grows by the residuals
//! of all wanted vectors at once, divided by the diagonal (a graph's degrees are uneven, and
//! this evens them out), and is cut back to the best vectors of this and the previous round
//! when it is full. Working on a block wider than the number of wanted pairs finds repeated
//! eigenvalues, which a single-vector iteration misses. The best vectors stay in the basis, so
//! Tr(XᵀAX) never rises above that of the warm start: the objective of the fit cannot rise here
//! even before the last digit is settled.

use super::{Eigenpairs, Operator, Vectors, smallest_of};
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

const WHAT: &str = "eigenvectors";

/// Blocks the basis holds before it is cut back.
const MOST_BLOCKS: usize = 4;

/// Vectors it holds at most where two blocks are fewer: its projection is decomposed in pieces of which
/// one cannot be interrupted, and that grows with the third power.
const MOST_ROWS: usize = 2048;

/// Rounds that are made at most where there is no other way.
pub(crate) const MOST_ROUNDS: usize = 1000;

/// The `count` smallest eigenpairs outside of the null space, to residuals of `tolerance` times
/// the largest diagonal entry. Needs
/// `count + nullity ≤ samples`. After `most_rounds` the pairs are returned as they are, with their
/// residual.
pub(crate) fn smallest(
    operator: &impl Operator,
    count: usize,
    warm: Option<&Vectors>,
    tolerance: f64,
    most_rounds: usize,
    monitor: &Monitor<'_>,
) -> Result<Eigenpairs> {
    let n = operator.samples();
    let scale = (0..n).map(|i| operator.diagonal(i)).fold(0.0, f64::max);
    let width = (count + (count / 8).max(4)).min(n - operator.nullity());
    let mean = (0..n).map(|i| operator.diagonal(i)).sum::<f64>() / n as f64;
    // Guards against dividing by (nearly) nothing at weakly connected samples.
    let floor = 0.02 * mean;
    let mut basis = start(operator, width, warm, monitor)?;
    let mut images = apply(operator, &basis, monitor)?;
    let mut projected = basis.inner(&images)?;
    let mut previous: Option<Mat<f64>> = None;
    let mut round = 0;
    // Ends: rounds are counted.
    loop {
        round += 1;
        let kept = width.min(basis.width());
        let (values, rotation) = smallest_of(projected.as_ref(), kept, monitor)?;
        let best = rotation.as_ref();
        let vectors = basis.combine(best, None)?;
        let wanted = count.min(kept);
        let mut residuals = images.combine(rotation.as_ref().subcols(0, wanted), None)?;
        let mut norms2 = memory::filled(wanted, 0.0, WHAT)?;
        for (residual, x) in residuals.rows_mut().zip(vectors.rows()) {
            for k in 0..wanted {
                residual[k] -= values[k] * x[k];
                norms2[k] += residual[k] * residual[k];
            }
        }
        let worst = norms2.iter().fold(0.0, |a: f64, &b| a.max(b)).sqrt() / scale;
        // A basis that fills the whole space is exact whatever the residual's rounding.
        let complete = basis.width() + operator.nullity() >= n;
        if worst <= tolerance || complete || round == most_rounds {
            let gap = gap(&values[..kept], wanted, scale);
            let values = memory::copied(&values[..wanted], WHAT)?;
            return Ok(Eigenpairs { values, vectors, residual: worst, gap });
        }
        monitor.go_on()?;

        // Only what has not settled asks for new directions: the basis then lasts longer for it.
        let mut open = memory::with_capacity(wanted, WHAT)?;
        open.extend((0..wanted).filter(|&k| norms2[k].sqrt() > tolerance * scale));
        let most = (MOST_BLOCKS * width).min(MOST_ROWS.max(2 * width));
        let restarted = basis.width() + open.len() > most;
        if restarted {
            let coefficients = with_previous(best, previous.as_ref())?;
            basis = basis.combine(coefficients.as_ref(), None)?;
            images = images.combine(coefficients.as_ref(), None)?;
            projected = basis.inner(&images)?;
        }
        let own = basis.width();
        let mut unsettled = Vectors::zeros(n, open.len())?;
        for (to, from) in unsettled.rows_mut().zip(residuals.rows()) {
            to.iter_mut().zip(&open).for_each(|(value, &k)| *value = from[k]);
        }
        let lowest = values[kept - 1] / mean;
        let directions = precondition(operator, unsettled, floor, lowest, monitor)?;
        let added = orthonormal(operator, directions, Some(&basis), monitor)?;
        if added.width() == 0 {
            let gap = gap(&values[..kept], wanted, scale);
            let values = memory::copied(&values[..wanted], WHAT)?;
            return Ok(Eigenpairs { values, vectors, residual: worst, gap });
        }
        let added_images = apply(operator, &added, monitor)?;
        let corner = basis.inner(&added_images)?;
        let end = added.inner(&added_images)?;
        let total = own + added.width();
        let mut larger = memory::mat(total, total, WHAT)?;
        larger.submatrix_mut(0, 0, own, own).copy_from(&projected);
        larger.submatrix_mut(own, 0, added.width(), own).copy_from(corner.transpose());
        larger.submatrix_mut(own, own, added.width(), added.width()).copy_from(&end);
        // The best vectors of this round, in coordinates of the larger basis.
        let mut padded = memory::mat(total, kept, WHAT)?;
        if restarted {
            // They come first in the new basis: they are its unit vectors.
            (0..kept).for_each(|k| padded[(k, k)] = 1.0);
        } else {
            padded.submatrix_mut(0, 0, own, kept).copy_from(best);
        }
        previous = Some(padded);
        projected = larger;
        basis = basis.beside(&added)?;
        images = images.beside(&added_images)?;
    }
}

/// Between the last wanted value and the next, relative to `scale`.
fn gap(values: &[f64], wanted: usize, scale: f64) -> f64 {
    match (wanted.checked_sub(1).map(|last| values[last]), values.get(wanted)) {
        (Some(last), Some(next)) => (next - last) / scale,
        _ => f64::INFINITY,
    }
}

fn apply(operator: &impl Operator, x: &Vectors, monitor: &Monitor<'_>) -> Result<Vectors> {
    let mut y = Vectors::zeros(x.samples(), x.width())?;
    operator.apply(x, &mut y, monitor)?;
    Ok(y)
}

/// An approximate solution x of A x = r: Chebyshev iteration with the diagonal D as splitting.
/// The eigenvalues of D⁻¹A lie between 0 and 2; those from `lowest` on, beyond the wanted ones,
/// are inverted. The smaller the wanted ones are, the more passes pay: on BA at α = 1e-5 this
/// takes a fifth of the time that dividing by the diagonal takes.
fn precondition(
    operator: &impl Operator,
    mut r: Vectors,
    floor: f64,
    lowest: f64,
    monitor: &Monitor<'_>,
) -> Result<Vectors> {
    let n = operator.samples();
    let lowest = lowest.clamp(1e-3, 1.0);
    let passes = if operator.is_dense() { 1.0 } else { (2.0 / lowest).sqrt() };
    let (centre, radius) = (0.5 * (2.0 + lowest), 0.5 * (2.0 - lowest));
    let mut ratio = radius / centre;
    let mut step = Vectors::zeros(n, r.width())?;
    let mut x = Vectors::zeros(n, r.width())?;
    let (mut keep, mut add) = (0.0, 1.0 / centre);
    let mut image = Vectors::zeros(n, r.width())?;
    for pass in 0..(passes as usize).clamp(1, 32) {
        if pass > 0 {
            operator.apply(&step, &mut image, monitor)?;
            let values = r.values_mut().iter_mut().zip(image.values());
            values.for_each(|(r, image)| *r -= image);
            let next = 1.0 / (2.0 * centre / radius - ratio);
            (keep, add) = (next * ratio, 2.0 * next / radius);
            ratio = next;
        }
        let rows = step.rows_mut().zip(x.rows_mut()).zip(r.rows());
        for (i, ((step, x), r)) in rows.enumerate() {
            let add = add / operator.diagonal(i).max(floor);
            for ((step, x), r) in step.iter_mut().zip(x).zip(r) {
                *step = keep * *step + add * r;
                *x += *step;
            }
        }
    }
    Ok(x)
}

/// An orthonormal basis of so many vectors: the warm start, filled up with vectors that have a part
/// in every direction. What of the warm start lies in the null space, as when the graph has
/// fallen into more parts, is gone after orthogonalisation and replaced too.
fn start(
    operator: &impl Operator,
    width: usize,
    warm: Option<&Vectors>,
    monitor: &Monitor<'_>,
) -> Result<Vectors> {
    let n = operator.samples();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0x5C3D_2017);
    let mut noise = || (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let mut block = Vectors::zeros(n, width)?;
    for (i, row) in block.rows_mut().enumerate() {
        let known = warm.map_or(&[][..], |warm| warm.row(i));
        for (k, value) in row.iter_mut().enumerate() {
            let noise = noise();
            *value = known.get(k).copied().unwrap_or(noise);
        }
    }
    let mut basis = orthonormal(operator, block, None, monitor)?;
    const MOST_ATTEMPTS: usize = 8;
    for _ in 0..MOST_ATTEMPTS {
        if basis.width() == width {
            return Ok(basis);
        }
        let mut more = Vectors::zeros(n, width - basis.width())?;
        more.values_mut().iter_mut().for_each(|value| *value = noise());
        let against = Some(&basis).filter(|basis| basis.width() > 0);
        let more = orthonormal(operator, more, against, monitor)?;
        basis = if basis.width() > 0 { basis.beside(&more)? } else { more };
    }
    let method = "start of the eigenvectors";
    Err(Error::NoConvergence { method, residual: f64::NAN, iterations: MOST_ATTEMPTS })
}

/// What a projection leaves of a vector, relative to its length, when it leaves nothing but rounding.
const NOTHING: f64 = 1e-13;

/// An orthonormal basis of the span of `block`, outside of the null space and of `against`.
/// Directions that are there already, to rounding, are dropped.
fn orthonormal(
    operator: &impl Operator,
    mut block: Vectors,
    against: Option<&Vectors>,
    monitor: &Monitor<'_>,
) -> Result<Vectors> {
    for _ in 0..3 {
        if block.width() == 0 {
            return Ok(block);
        }
        let lengths2 = block.lengths2()?;
        operator.project(&mut block)?;
        if let Some(against) = against {
            let inner = against.inner(&block)?;
            block = against.combine(inner.as_ref(), Some((&block, -1.0)))?;
        }
        // What is left of a vector of the null space may be a multiple of it again, and would be
        // stretched to full length.
        let left2 = block.lengths2()?;
        for k in 0..block.width() {
            if left2[k] <= NOTHING * NOTHING * lengths2[k] {
                block.rows_mut().for_each(|row| row[k] = 0.0);
            }
        }
        let (orthonormal, was_orthonormal) = block.orthonormalized(monitor)?;
        block = orthonormal;
        // A block that was orthonormal before this pass has been through enough.
        if was_orthonormal {
            break;
        }
    }
    Ok(block)
}

/// The columns of `best`, then what the columns of `previous` add to them, orthonormal.
fn with_previous(best: MatRef<'_, f64>, previous: Option<&Mat<f64>>) -> Result<Mat<f64>> {
    let Some(previous) = previous else {
        let mut all = memory::mat(best.nrows(), best.ncols(), WHAT)?;
        all.copy_from(best);
        return Ok(all);
    };
    let mut added = memory::mat(previous.nrows(), previous.ncols(), WHAT)?;
    added.copy_from(previous);
    let mut columns: Vec<Vec<f64>> = memory::with_capacity(added.ncols(), WHAT)?;
    let rows = best.nrows();
    for _ in 0..2 {
        let mut inner = memory::mat(best.ncols(), added.ncols(), WHAT)?;
        matmul(inner.as_mut(), Accum::Replace, best.transpose(), added.as_ref(), 1.0, Par::Seq);
        matmul(added.as_mut(), Accum::Add, best, inner.as_ref(), -1.0, Par::Seq);
    }
    for k in 0..added.ncols() {
        let mut column = memory::with_capacity(rows, WHAT)?;
        column.extend((0..rows).map(|i| added[(i, k)]));
        for _ in 0..2 {
            for other in &columns {
                let inner: f64 = column.iter().zip(other).map(|(a, b)| a * b).sum();
                column.iter_mut().zip(other).for_each(|(a, b)| *a -= inner * b);
            }
        }
        let norm = column.iter().map(|v| v * v).sum::<f64>().sqrt();
        if norm > 1e-8 {
            column.iter_mut().for_each(|v| *v /= norm);
            columns.push(column);
        }
    }
    let mut all = memory::mat(rows, best.ncols() + columns.len(), WHAT)?;
    all.as_mut().subcols_mut(0, best.ncols()).copy_from(best);
    for (k, column) in columns.iter().enumerate() {
        for (i, value) in column.iter().enumerate() {
            all[(i, best.ncols() + k)] = *value;
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::super::decompose;
    use super::*;
    use crate::matrix::{Column, Similarity};
    use crate::monitor;
    use crate::settings::Laplacian;
    use crate::spectral::graph::{Graph, LaplacianMatrix};

    /// A graph on `copies` disjoint copies of one ring with chords: every eigenvalue of the
    /// Laplacian has at least that multiplicity. A weak link may join the copies.
    fn rings(copies: usize, length: usize, link: f64) -> Similarity {
        let n = copies * length;
        let columns = (0..n)
            .map(|i| {
                let (copy, place) = (i / length, i % length);
                let mut column = vec![0.0; n];
                for (step, weight) in [(1, 0.5), (7, 0.3), (length - 1, 0.2)] {
                    column[copy * length + (place + step) % length] += weight;
                }
                column[(i + length) % n] += link;
                Column::from_dense(&column).unwrap()
            })
            .collect();
        Similarity::from_columns(n, columns)
    }

    fn agree_with_dense(similarity: &Similarity, count: usize, laplacian: Laplacian) {
        monitor::idle(|monitor| {
            let graph = Graph::new(similarity).unwrap();
            let parts = graph.parts().unwrap();
            let laplacian = LaplacianMatrix::new(&graph, &parts, laplacian).unwrap();
            let (matrix, unit) = laplacian.dense_lifted().unwrap();
            let (values, _) = decompose(matrix.view()).unwrap();
            let pairs = smallest(&laplacian, count, None, 1e-10, MOST_ROUNDS, monitor).unwrap();
            assert!(pairs.residual <= 1e-10);
            for (k, value) in pairs.values.iter().enumerate() {
                let expected = values[k] * unit;
                assert!((value - expected).abs() < 1e-9, "pair {k}: {value}, dense {expected}");
            }
            let gram = pairs.vectors.inner(&pairs.vectors).unwrap();
            for i in 0..count {
                for j in 0..count {
                    assert!((gram[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-10);
                }
            }
            // From its own answer it has nothing left to do.
            let again =
                smallest(&laplacian, count, Some(&pairs.vectors), 1e-9, MOST_ROUNDS, monitor);
            assert_eq!(again.unwrap().values.len(), count);
        });
    }

    #[test]
    fn repeated_eigenvalues_are_all_found() {
        agree_with_dense(&rings(1, 300, 0.0), 9, Laplacian::Unnormalized);
        agree_with_dense(&rings(6, 60, 0.0), 13, Laplacian::Unnormalized);
        agree_with_dense(&rings(6, 60, 1e-3), 13, Laplacian::Unnormalized);
    }

    #[test]
    fn the_normalised_laplacian_agrees_with_the_dense_one_too() {
        agree_with_dense(&rings(5, 70, 1e-2), 12, Laplacian::Symmetric);
        agree_with_dense(&rings(4, 80, 0.0), 9, Laplacian::Symmetric);
    }

    #[test]
    fn a_warm_start_in_the_null_space_is_replaced() {
        // Parts of 64 samples: the entries of an indicator are 1/8, and nothing at all is left of
        // it after projection. Parts of 60: rounding is left.
        for length in [64, 60] {
            let similarity = rings(10, length, 0.0);
            monitor::idle(|monitor| {
                let graph = Graph::new(&similarity).unwrap();
                let parts = graph.parts().unwrap();
                let laplacian =
                    LaplacianMatrix::new(&graph, &parts, Laplacian::Unnormalized).unwrap();
                let mut indicators = Vectors::zeros(10 * length, 13).unwrap();
                for (i, row) in indicators.rows_mut().enumerate() {
                    row[parts.of[i] as usize] = laplacian.null_entry(i);
                }
                let warm = Some(&indicators);
                let found = smallest(&laplacian, 3, warm, 1e-10, MOST_ROUNDS, monitor).unwrap();
                let cold = smallest(&laplacian, 3, None, 1e-10, MOST_ROUNDS, monitor).unwrap();
                assert_eq!(found.values.len(), 3);
                for (value, expected) in found.values.iter().zip(&cold.values) {
                    assert!((value - expected).abs() < 1e-9, "{value} and {expected}");
                }
            });
        }
    }

    #[test]
    fn dense_graphs_agree_too() {
        let n = 120;
        let columns = (0..n)
            .map(|i| {
                let entry = |j: usize| 1.0 / (1.0 + ((i * 13 + j * 29) % 31) as f64);
                let column: Vec<f64> = (0..n).map(entry).collect();
                Column::from_dense(&column).unwrap()
            })
            .collect();
        agree_with_dense(&Similarity::from_columns(n, columns), 8, Laplacian::Unnormalized);
    }

    #[test]
    fn a_warm_start_never_makes_the_trace_worse() {
        monitor::idle(|monitor| {
            let (first, second) = (rings(6, 60, 1e-3), rings(6, 60, 2e-3));
            let graphs = [Graph::new(&first).unwrap(), Graph::new(&second).unwrap()];
            let parts = graphs.each_ref().map(|graph| graph.parts().unwrap());
            let before =
                LaplacianMatrix::new(&graphs[0], &parts[0], Laplacian::Unnormalized).unwrap();
            let after =
                LaplacianMatrix::new(&graphs[1], &parts[1], Laplacian::Unnormalized).unwrap();
            let start = smallest(&before, 7, None, 1e-10, MOST_ROUNDS, monitor).unwrap();
            let image = apply(&after, &start.vectors, monitor).unwrap();
            let products = start.vectors.inner(&image).unwrap();
            let trace: f64 = (0..7).map(|k| products[(k, k)]).sum();
            // Even with a tolerance that accepts anything.
            let loose = smallest(&after, 7, Some(&start.vectors), 1.0, MOST_ROUNDS, monitor);
            let loose = loose.unwrap();
            assert!(loose.values.iter().sum::<f64>() <= trace + 1e-12);
        });
    }
}
