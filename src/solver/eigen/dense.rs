//! A full symmetric eigendecomposition.

use crate::error::{Error, Result};
use crate::memory;
use faer::diag::{DiagMut, DiagRef};
use faer::dyn_stack::MemStack;
use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
use faer::linalg::evd::{
    ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch, tridiagonal_self_adjoint_evd,
};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{Conj, Mat, MatRef, Par, Spec};

/// All eigenvalues, rising, and the eigenvectors.
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

/// As [`decompose`], in three parts of which each takes about a third of the time; `None` if
/// `stop` says so in between.
pub(crate) fn decompose_unless(
    matrix: MatRef<'_, f64>,
    stop: impl Fn() -> bool,
) -> Result<Option<Decomposition>> {
    let n = matrix.nrows();
    if n < 128 {
        return decompose(matrix).map(Some);
    }
    if !matrix.is_all_finite() {
        return Err(FAILED);
    }
    let block = recommended_block_size::<f64>(n, n);
    let request = tridiag_in_place_scratch::<f64>(n, Par::Seq, Spec::default())
        .or(self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default()))
        .or(apply_scratch::<f64>(n - 1, block, n));
    let mut scratch = memory::scratch(request, "eigendecomposition")?;
    let mut values = memory::filled(n, 0.0, "eigenvalues")?;
    let mut vectors = memory::mat(n, n, "eigenvectors")?;
    let mut reduced = memory::mat(n, n, "eigendecomposition")?;
    let mut reflectors = memory::mat(block, n - 1, "eigendecomposition")?;
    reduced.copy_from_triangular_lower(matrix);
    let stack = MemStack::new(&mut scratch);
    tridiag_in_place(reduced.as_mut(), reflectors.as_mut(), Par::Seq, stack, Spec::default());
    if stop() {
        return Ok(None);
    }
    let mut diagonal = memory::with_capacity(n, "eigendecomposition")?;
    diagonal.extend((0..n).map(|i| reduced[(i, i)]));
    let mut below = memory::with_capacity(n - 1, "eigendecomposition")?;
    below.extend((1..n).map(|i| reduced[(i, i - 1)]));
    tridiagonal_self_adjoint_evd(
        DiagRef::from_slice(&diagonal),
        DiagRef::from_slice(&below),
        DiagMut::from_slice_mut(&mut values),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut scratch),
        Spec::default(),
    )
    .map_err(|_| FAILED)?;
    if stop() {
        return Ok(None);
    }
    apply(
        reduced.as_ref().submatrix(1, 0, n - 1, n - 1),
        reflectors.as_ref(),
        Conj::No,
        vectors.as_mut().subrows_mut(1, n - 1),
        Par::Seq,
        MemStack::new(&mut scratch),
    );
    Ok(Some((values, vectors)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn in_parts_it_is_the_same_decomposition() {
        for n in [5, 128, 201] {
            let entry = |i: usize, j: usize| ((i * j + i + j) % 17) as f64 / 17.0;
            let matrix = Mat::from_fn(n, n, entry);
            let (values, vectors) = decompose_unless(matrix.as_ref(), || false).unwrap().unwrap();
            let (expected, _) = decompose(matrix.as_ref()).unwrap();
            for (value, expected) in values.iter().zip(&expected) {
                assert!((value - expected).abs() < 1e-12 * n as f64, "{value} and {expected}");
            }
            let image = &matrix * &vectors;
            for k in 0..n {
                for i in 0..n {
                    let residual = image[(i, k)] - values[k] * vectors[(i, k)];
                    assert!(residual.abs() < 1e-12 * n as f64, "{residual}");
                }
            }
        }
    }

    #[test]
    fn it_stops_after_any_part() {
        let matrix = Mat::from_fn(150, 150, |i, j| f64::from(u8::from(i.abs_diff(j) < 3)));
        for parts in 1..=2 {
            let left = Cell::new(parts);
            let stop = || {
                left.set(left.get() - 1);
                left.get() == 0
            };
            assert!(decompose_unless(matrix.as_ref(), stop).unwrap().is_none());
        }
    }
}
