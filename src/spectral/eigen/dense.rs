//! A full symmetric eigendecomposition.

use super::tridiagonal::Tridiagonal;
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
use faer::diag::{DiagMut, DiagRef};
use faer::dyn_stack::MemStack;
use faer::linalg::evd::{
    ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch, tridiagonal_self_adjoint_evd,
};
use faer::{Mat, MatRef, Par, Spec};

/// Rows below which faer decomposes a matrix as a whole: nobody waits for that.
const FEWEST_ROWS: usize = 128;

/// Eigenvalues, rising, and the eigenvectors.
type Decomposition = (Vec<f64>, Mat<f64>);

const FAILED: Error =
    Error::NoConvergence { method: "dense eigendecomposition", residual: f64::NAN, iterations: 0 };

/// All eigenvalues of a symmetric matrix, rising, with orthonormal eigenvectors. Only the lower
/// triangle is read. Non-finite input, with which the solver underneath may not return, is
/// refused.
pub(crate) fn decompose(matrix: MatRef<'_, f64>) -> Result<Decomposition> {
    let n = matrix.nrows();
    if !matrix.is_all_finite() {
        return Err(FAILED);
    }
    let request =
        self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
    let mut scratch = memory::scratch(request, "eigendecomposition")?;
    let mut values = memory::filled(n, 0.0, "eigenvalues")?;
    let mut vectors = memory::mat(n, n, "eigenvectors")?;
    let found = self_adjoint_evd(
        matrix,
        DiagMut::from_slice_mut(&mut values),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut scratch),
        Spec::default(),
    );
    match found {
        Ok(()) => Ok((values, vectors)),
        Err(_) => rotated(matrix),
    }
}

/// The same by Jacobi's rotations: five times as slow, but it always arrives. faer's decomposition
/// fails on a few good matrices of many zeros (seen with 27 rows).
fn rotated(lower: MatRef<'_, f64>) -> Result<Decomposition> {
    /// Sweeps over all pairs; the off-diagonal part falls quadratically after the first few.
    const MOST_SWEEPS: usize = 40;
    let n = lower.nrows();
    let mut matrix = memory::mat(n, n, "eigendecomposition")?;
    let mut vectors = memory::mat(n, n, "eigenvectors")?;
    for j in 0..n {
        vectors[(j, j)] = 1.0;
        for i in j..n {
            (matrix[(i, j)], matrix[(j, i)]) = (lower[(i, j)], lower[(i, j)]);
        }
    }
    for _ in 0..MOST_SWEEPS {
        let mut moved = false;
        for p in 0..n {
            for q in p + 1..n {
                let (app, aqq, apq) = (matrix[(p, p)], matrix[(q, q)], matrix[(p, q)]);
                if apq.abs() <= f64::EPSILON * (app.abs() * aqq.abs()).sqrt().max(f64::MIN_POSITIVE)
                {
                    continue;
                }
                moved = true;
                let theta = (aqq - app) / (2.0 * apq);
                let t = 1.0_f64.copysign(theta) / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (matrix[(k, p)], matrix[(k, q)]);
                    (matrix[(k, p)], matrix[(k, q)]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (matrix[(p, k)], matrix[(q, k)]);
                    (matrix[(p, k)], matrix[(q, k)]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (vectors[(k, p)], vectors[(k, q)]);
                    (vectors[(k, p)], vectors[(k, q)]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
        if !moved {
            break;
        }
    }
    let mut order = memory::with_capacity(n, "eigenvalues")?;
    order.extend(0..n);
    order.sort_unstable_by(|&a, &b| matrix[(a, a)].total_cmp(&matrix[(b, b)]));
    let mut values = memory::with_capacity(n, "eigenvalues")?;
    values.extend(order.iter().map(|&k| matrix[(k, k)]));
    for (k, &from) in order.iter().enumerate() {
        for i in 0..n {
            matrix[(i, k)] = vectors[(i, from)];
        }
    }
    Ok((values, matrix))
}

/// The smallest eigenvalues and their eigenvectors, as many as wanted. Only the lower triangle is
/// read.
pub(crate) fn smallest_of(
    matrix: MatRef<'_, f64>,
    wanted: usize,
    monitor: &Monitor<'_>,
) -> Result<Decomposition> {
    let n = matrix.nrows();
    if n < FEWEST_ROWS {
        let (mut values, mut vectors) = decompose(matrix)?;
        values.truncate(wanted);
        vectors.truncate(n, wanted);
        return Ok((values, vectors));
    }
    if !matrix.is_all_finite() {
        return Err(FAILED);
    }
    let reduced = Tridiagonal::new(matrix, monitor)?;
    let request =
        self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
    let mut scratch = memory::scratch(request, "eigendecomposition")?;
    let mut values = memory::filled(n, 0.0, "eigenvalues")?;
    let mut vectors = memory::mat(n, n, "eigenvectors")?;
    let found = tridiagonal_self_adjoint_evd(
        DiagRef::from_slice(&reduced.diagonal),
        DiagRef::from_slice(&reduced.below),
        DiagMut::from_slice_mut(&mut values),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut scratch),
        Spec::default(),
    );
    if found.is_err() {
        (values, vectors) = rotated(matrix)?;
        values.truncate(wanted);
        vectors.truncate(n, wanted);
        return Ok((values, vectors));
    }
    values.truncate(wanted);
    vectors.truncate(n, wanted);
    reduced.rotate(&mut vectors, monitor)?;
    Ok((values, vectors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::{self, Control, Limit, monitored};
    use crate::outcome::Outcome;

    #[test]
    fn the_smallest_pairs_are_those_of_the_whole_decomposition() {
        let entries: [fn(usize, usize) -> f64; 5] = [
            |i, j| ((i * j + i + j) % 17) as f64 / 17.0,
            |i, j| f64::from(u8::from(i.abs_diff(j) < 3)),
            |i, j| f64::from(u8::from(i == j)) * (i % 7) as f64,
            |i, j| if i / 50 == j / 50 { 1e-3 + (i % 5 * (j % 5)) as f64 } else { 0.0 },
            |_, _| 0.0,
        ];
        for entry in entries {
            for n in [5, 128, 201] {
                let wanted = n / 3;
                let matrix = Mat::from_fn(n, n, entry);
                let (values, vectors) =
                    monitor::idle(|monitor| smallest_of(matrix.as_ref(), wanted, monitor)).unwrap();
                let (expected, _) = decompose(matrix.as_ref()).unwrap();
                assert_eq!((values.len(), vectors.ncols()), (wanted, wanted));
                let small = 1e-12 * n as f64;
                for (value, expected) in values.iter().zip(&expected) {
                    assert!((value - expected).abs() < small, "{value} and {expected}");
                }
                let (image, gram) = (&matrix * &vectors, vectors.transpose() * &vectors);
                for k in 0..wanted {
                    for i in 0..n {
                        let residual = image[(i, k)] - values[k] * vectors[(i, k)];
                        assert!(residual.abs() < small, "{residual}");
                    }
                    for i in 0..wanted {
                        let expected = f64::from(u8::from(i == k));
                        assert!((gram[(i, k)] - expected).abs() < small);
                    }
                }
            }
        }
    }

    #[test]
    fn rotations_find_what_the_decomposition_finds() {
        for n in [1, 2, 9, 40] {
            let matrix = Mat::from_fn(n, n, |i, j| {
                let entry = ((i * j + i + j) % 7) as f64 - 3.0;
                if (i + j) % 3 == 0 { entry } else { 0.0 }
            });
            let (values, vectors) = rotated(matrix.as_ref()).unwrap();
            let (expected, _) = decompose(matrix.as_ref()).unwrap();
            let image = &matrix * &vectors;
            for k in 0..n {
                assert!((values[k] - expected[k]).abs() < 1e-12, "{} {}", values[k], expected[k]);
                for i in 0..n {
                    assert!((image[(i, k)] - values[k] * vectors[(i, k)]).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn only_the_lower_triangle_is_read_and_threads_change_nothing() {
        let entry = |i: usize, j: usize| ((i * j) % 23 + i + j) as f64;
        let whole = Mat::from_fn(300, 300, entry);
        let lower = Mat::from_fn(300, 300, |i, j| if i >= j { entry(i, j) } else { 7.0 });
        let found = [(1, &whole), (2, &whole), (5, &lower)].map(|(threads, matrix)| {
            monitor::idle_on(threads, |monitor| smallest_of(matrix.as_ref(), 40, monitor)).unwrap()
        });
        assert!(found[0] == found[1] && found[1] == found[2]);
    }

    #[test]
    fn it_stops_when_it_is_asked_to() {
        let matrix = Mat::from_fn(150, 150, |i, j| f64::from(u8::from(i.abs_diff(j) < 3)));
        let (control, limit) = (Control::default(), Limit::of_fit(0.0));
        control.cancel();
        let stopped = monitored(2, limit, &control, None, |monitor, _| {
            smallest_of(matrix.as_ref(), 30, monitor)
        });
        assert_eq!(stopped.unwrap().unwrap_err(), Error::Stopped { by: Outcome::Cancelled });
    }
}
