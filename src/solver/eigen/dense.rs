//! A full symmetric eigendecomposition.

use crate::error::{Error, Result};
use crate::memory;
use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par, Spec};

/// All eigenvalues of a symmetric matrix, rising, with orthonormal eigenvectors. Only the lower
/// triangle is read. Non-finite input, with which the solver underneath may not return, is
/// refused.
pub(crate) fn decompose(matrix: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let n = matrix.nrows();
    let failed = Error::NoConvergence {
        method: "dense eigendecomposition",
        residual: f64::NAN,
        iterations: 0,
    };
    if !matrix.is_all_finite() {
        return Err(failed);
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
    .map_err(|_| failed)?;
    Ok((values, vectors))
}
