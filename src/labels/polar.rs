//! The orthogonal matrix closest to a square one.

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::memory;
use faer::dyn_stack::MemStack;
use faer::linalg::matmul::matmul;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Accum, Par};

/// The orthogonal R that maximises ⟨M, R⟩, the polar factor of M, and that maximum: the sum
/// of the singular values. M must be finite: the decomposition may spin on a NaN.
pub(super) fn polar(m: &Matrix) -> Result<(Matrix, f64)> {
    const WHAT: &str = "labels";
    let size = m.rows();
    let (mut left, mut right) =
        (Matrix::zeros(size, size, WHAT)?, Matrix::zeros(size, size, WHAT)?);
    let mut singular = Matrix::zeros(size, 1, WHAT)?;
    let need = svd_scratch::<f64>(
        size,
        size,
        ComputeSvdVectors::Full,
        ComputeSvdVectors::Full,
        Par::Seq,
        Default::default(),
    );
    let mut scratch = memory::scratch(need, WHAT)?;
    svd(
        m.view(),
        singular.view_mut().col_mut(0).as_diagonal_mut(),
        Some(left.view_mut()),
        Some(right.view_mut()),
        Par::Seq,
        MemStack::new(&mut scratch),
        Default::default(),
    )
    .map_err(|_| Error::NoConvergence {
        method: "singular value decomposition",
        residual: f64::NAN,
        iterations: 0,
    })?;
    let mut factor = Matrix::zeros(size, size, WHAT)?;
    matmul(factor.view_mut(), Accum::Replace, left.view(), right.view().transpose(), 1.0, Par::Seq);
    Ok((factor, singular.values().iter().sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner(a: &Matrix, b: &Matrix) -> f64 {
        a.values().iter().zip(b.values()).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn no_rotation_or_reflection_of_the_plane_is_closer() {
        for seed in 0..20 {
            let mut m = Matrix::zeros(2, 2, "test").unwrap();
            let entry = |k: usize| ((k * 7 + seed * 13 + 1) as f64).sin();
            m.values_mut().iter_mut().enumerate().for_each(|(k, v)| *v = entry(k));
            let (_, largest) = polar(&m).unwrap();
            let mut searched = f64::NEG_INFINITY;
            for step in 0..100_000 {
                let (sin, cos) = (step as f64 * std::f64::consts::TAU / 1e5).sin_cos();
                let v = m.values();
                let rotated = v[0] * cos + v[1] * sin - v[2] * sin + v[3] * cos;
                let reflected = v[0] * cos + v[1] * sin + v[2] * sin - v[3] * cos;
                searched = searched.max(rotated).max(reflected);
            }
            assert!((searched - largest).abs() < 1e-8, "{searched} {largest}");
        }
    }

    #[test]
    fn the_factor_is_orthogonal_and_reaches_the_maximum_even_for_singular_matrices() {
        for size in 1..12 {
            for rank in [0, size / 2, size] {
                let mut m = Matrix::zeros(size, size, "test").unwrap();
                for j in 0..rank {
                    let col = m.col_mut(j).iter_mut().enumerate();
                    col.for_each(|(i, v)| *v = ((i * size + j + 1) as f64).cos());
                }
                let (factor, largest) = polar(&m).unwrap();
                assert!((inner(&m, &factor) - largest).abs() < 1e-12);
                for a in 0..size {
                    for b in 0..size {
                        let columns = factor.col(a).iter().zip(factor.col(b));
                        let dot: f64 = columns.map(|(x, y)| x * y).sum();
                        assert!((dot - f64::from(a == b)).abs() < 1e-12);
                    }
                }
            }
        }
    }
}
