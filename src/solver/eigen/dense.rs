//! A full symmetric eigendecomposition.

use super::tridiagonal::Tridiagonal;
use crate::error::{Error, Result};
use crate::memory;
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
    self_adjoint_evd(
        matrix,
        DiagMut::from_slice_mut(&mut values),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut scratch),
        Spec::default(),
    )
    .map_err(|_| FAILED)?;
    Ok((values, vectors))
}

/// The smallest eigenvalues and their eigenvectors, as many as wanted; `None` if `stop` says so. Only
/// the lower triangle is read.
pub(crate) fn smallest_unless(
    matrix: MatRef<'_, f64>,
    wanted: usize,
    stop: impl Fn() -> bool + Sync,
) -> Result<Option<Decomposition>> {
    let n = matrix.nrows();
    if n < FEWEST_ROWS {
        let (mut values, mut vectors) = decompose(matrix)?;
        values.truncate(wanted);
        vectors.truncate(n, wanted);
        return Ok(Some((values, vectors)));
    }
    if !matrix.is_all_finite() {
        return Err(FAILED);
    }
    let Some(reduced) = Tridiagonal::new(matrix, &stop)? else { return Ok(None) };
    let request =
        self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
    let mut scratch = memory::scratch(request, "eigendecomposition")?;
    let mut values = memory::filled(n, 0.0, "eigenvalues")?;
    let mut vectors = memory::mat(n, n, "eigenvectors")?;
    tridiagonal_self_adjoint_evd(
        DiagRef::from_slice(&reduced.diagonal),
        DiagRef::from_slice(&reduced.below),
        DiagMut::from_slice_mut(&mut values),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut scratch),
        Spec::default(),
    )
    .map_err(|_| FAILED)?;
    values.truncate(wanted);
    vectors.truncate(n, wanted);
    Ok(reduced.rotate(&mut vectors, stop).then_some((values, vectors)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    fn on_workers<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
        monitor::idle_on(threads, |_| work())
    }

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
                let smallest = || smallest_unless(matrix.as_ref(), wanted, || false);
                let (values, vectors) = on_workers(2, smallest).unwrap().unwrap();
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
    fn only_the_lower_triangle_is_read_and_threads_change_nothing() {
        let entry = |i: usize, j: usize| ((i * j) % 23 + i + j) as f64;
        let whole = Mat::from_fn(300, 300, entry);
        let lower = Mat::from_fn(300, 300, |i, j| if i >= j { entry(i, j) } else { 7.0 });
        let found = [(1, &whole), (2, &whole), (5, &lower)].map(|(threads, matrix)| {
            on_workers(threads, || smallest_unless(matrix.as_ref(), 40, || false)).unwrap().unwrap()
        });
        assert!(found[0] == found[1] && found[1] == found[2]);
    }

    #[test]
    fn it_stops_wherever_it_is_asked_to() {
        let matrix = Mat::from_fn(150, 150, |i, j| f64::from(u8::from(i.abs_diff(j) < 3)));
        let questions = AtomicUsize::new(0);
        let ask = |most: usize| {
            questions.store(0, Relaxed);
            let stop = || questions.fetch_add(1, Relaxed) >= most;
            on_workers(2, || smallest_unless(matrix.as_ref(), 30, stop)).unwrap()
        };
        assert!(ask(usize::MAX).is_some());
        let all = questions.load(Relaxed);
        assert!(all > 150);
        for most in [0, 1, 77, 149, 150, all - 1] {
            assert!(ask(most).is_none(), "{most} of {all}");
        }
    }
}
