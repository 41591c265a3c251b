//! Is a kernel clearly indefinite?
//!
//! A verdict needs a proof: every number that can refuse a kernel is a Rayleigh quotient, an
//! eigenvalue of a principal minor or a computed eigenvalue, hence at or above the smallest
//! eigenvalue. A large kernel whose negative part is small may pass.

use super::check::{Square, TILE};
use crate::error::{Error, Result};
use crate::memory;
use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::{MatMut, MatRef, Par, Spec};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

/// A negative eigenvalue is taken for rounding down to this multiple of the largest one. Entries
/// rounded to single precision leave about a tenth of it.
const ROUNDING: f64 = 1e-6;

/// Kernels up to this order are decomposed completely.
const DENSE: usize = 128;

/// Lanczos steps for the others.
const STEPS: usize = 16;

/// Refuses a clearly indefinite kernel. It is finite, its largest entry is `largest`, and
/// `smallest_minor` (in units of it) is at or above its smallest eigenvalue.
pub(super) fn check(
    name: &str,
    kernel: Square<'_>,
    largest: f64,
    smallest_minor: f64,
) -> Result<()> {
    let scaled = Scaled { kernel, unit: 1.0 / largest };
    let (low, high) =
        if kernel.order() <= DENSE { scaled.extremes()? } else { scaled.extreme_ritz_values()? };
    let smallest = low.min(smallest_minor);
    // Of a semi-definite kernel the largest entry is on the diagonal, hence not above the
    // largest eigenvalue.
    if smallest < -ROUNDING * high.max(1.0) {
        let eigenvalue = (smallest * largest).max(f64::MIN);
        return Err(Error::NotPsd { what: name.to_owned(), eigenvalue });
    }
    Ok(())
}

/// A kernel in units of its largest entry, so that nothing overflows.
#[derive(Clone, Copy)]
struct Scaled<'v> {
    kernel: Square<'v>,
    unit: f64,
}

impl Scaled<'_> {
    /// The smallest and the largest eigenvalue.
    fn extremes(&self) -> Result<(f64, f64)> {
        let order = self.kernel.order();
        let mut dense = vec![0.0; order * order];
        for j in 0..order {
            for i in 0..order {
                let (here, there) = (self.kernel.col(j)[i], self.kernel.col(i)[j]);
                dense[i + j * order] = 0.5 * (here * self.unit + there * self.unit);
            }
        }
        let eigenvalues = eigenvalues(&dense, order, None)?;
        Ok((eigenvalues[0], eigenvalues[order - 1]))
    }

    /// An upper bound of the smallest eigenvalue and a lower bound of the largest one, by
    /// Lanczos' method with full re-orthogonalisation.
    fn extreme_ritz_values(&self) -> Result<(f64, f64)> {
        let order = self.kernel.order();
        let mut basis = vec![start_vector(order)];
        let mut projected = vec![0.0; STEPS * STEPS];
        let mut image = vec![0.0; order];
        loop {
            let last = basis.len() - 1;
            self.multiply(&basis[last], &mut image);
            for pass in 0..2 {
                for (k, direction) in basis.iter().enumerate() {
                    let along = dot(direction, &image);
                    if pass == 0 && k == last {
                        projected[last * STEPS + last] = along;
                    }
                    add_multiple(&mut image, -along, direction);
                }
            }
            let norm = dot(&image, &image).sqrt();
            // In units of the largest entry, this is all rounding: the space is invariant.
            if basis.len() == STEPS || norm < 1e-13 * order as f64 {
                break;
            }
            projected[last * STEPS + last + 1] = norm;
            projected[(last + 1) * STEPS + last] = norm;
            basis.push(image.iter().map(|v| v / norm).collect());
        }

        let steps = basis.len();
        let projected: Vec<f64> =
            projected.chunks(STEPS).take(steps).flat_map(|col| &col[..steps]).copied().collect();
        let mut vectors = vec![0.0; steps * steps];
        let values = eigenvalues(&projected, steps, Some(&mut vectors))?;

        // The quotient of the computed vector is a bound whatever rounding did to the method.
        let mut ritz = vec![0.0; order];
        for (direction, &coefficient) in basis.iter().zip(&vectors) {
            add_multiple(&mut ritz, coefficient, direction);
        }
        self.multiply(&ritz, &mut image);
        let quotient = dot(&ritz, &image) / dot(&ritz, &ritz);
        Ok((quotient, values[steps - 1]))
    }

    /// Kᵀx. The quotient xᵀKᵀx/xᵀx is that of (K + Kᵀ)/2, should the two triangles differ.
    fn multiply(&self, x: &[f64], out: &mut [f64]) {
        let x: Vec<f64> = x.iter().map(|x| x * self.unit).collect();
        out.par_chunks_mut(TILE).enumerate().for_each(|(tile, out)| {
            for (k, out) in out.iter_mut().enumerate() {
                *out = dot(self.kernel.col(tile * TILE + k), &x);
            }
        });
    }
}

/// A unit vector that no structure of a kernel is likely to be orthogonal to.
fn start_vector(order: usize) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let vector: Vec<f64> =
        (0..order).map(|_| random.next_u64() as f64 / 2f64.powi(63) - 1.0).collect();
    let norm = dot(&vector, &vector).sqrt();
    vector.iter().map(|v| v / norm).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.into_iter().sum::<f64>() + rest
}

fn add_multiple(out: &mut [f64], factor: f64, x: &[f64]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += factor * x;
    }
}

/// The eigenvalues, rising, of a small symmetric matrix with finite entries; the eigenvectors
/// are the columns of `vectors`.
fn eigenvalues(matrix: &[f64], order: usize, vectors: Option<&mut [f64]>) -> Result<Vec<f64>> {
    let compute =
        if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let params = Spec::default();
    let scratch = evd::self_adjoint_evd_scratch::<f64>(order, compute, Par::Seq, params);
    let mut buffer = memory::scratch(scratch, "the check of a kernel")?;
    let mut values = vec![0.0; order];
    evd::self_adjoint_evd(
        MatRef::from_column_major_slice(matrix, order, order),
        DiagMut::from_slice_mut(&mut values),
        vectors.map(|v| MatMut::from_column_major_slice_mut(v, order, order)),
        Par::Seq,
        MemStack::new(&mut buffer),
        params,
    )
    .map_err(|_| Error::NoConvergence {
        method: "the eigenvalue check of a kernel",
        residual: f64::NAN,
        iterations: 0,
    })?;
    Ok(values)
}
