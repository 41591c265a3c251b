//! Is a kernel clearly indefinite?
//!
//! A verdict needs a proof: every number that can refuse a kernel is a Rayleigh quotient, an
//! eigenvalue of a principal minor or a computed eigenvalue, hence at or above the smallest
//! eigenvalue. A large kernel whose negative part is small may pass.

use super::Label;
use super::check::{Square, TILE};
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
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

const WHAT: &str = "the check of a kernel";

/// Refuses a clearly indefinite kernel. It is finite, its largest entry is `largest`, and
/// `smallest_minor` (in units of it) is at or above its smallest eigenvalue.
pub(super) fn check(
    name: Label,
    kernel: Square<'_>,
    largest: f64,
    smallest_minor: f64,
    monitor: &Monitor<'_>,
) -> Result<()> {
    let scaled = Scaled { kernel, unit: 1.0 / largest };
    let dense = if kernel.order() <= DENSE { scaled.extremes()? } else { None };
    let found = match dense {
        Some(found) => Some(found),
        None => scaled.extreme_ritz_values(monitor)?,
    };
    // faer's decomposition fails on a few good matrices: their minors have to do.
    let (low, high) = found.unwrap_or((smallest_minor, 1.0));
    let smallest = low.min(smallest_minor);
    // Of a semi-definite kernel the largest entry is on the diagonal, hence not above the
    // largest eigenvalue.
    if smallest < -ROUNDING * high.max(1.0) {
        let eigenvalue = (smallest * largest).max(f64::MIN);
        return Err(Error::NotPsd { what: name.to_string(), eigenvalue });
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
    /// The smallest and the largest eigenvalue; none if the decomposition fails.
    fn extremes(&self) -> Result<Option<(f64, f64)>> {
        let order = self.kernel.order();
        let mut dense = memory::filled(order * order, 0.0, WHAT)?;
        for j in 0..order {
            for i in 0..order {
                let (here, there) = (self.kernel.col(j)[i], self.kernel.col(i)[j]);
                dense[i + j * order] = 0.5 * (here * self.unit + there * self.unit);
            }
        }
        let eigenvalues = eigenvalues(&dense, order, None)?;
        Ok(eigenvalues.map(|values| (values[0], values[order - 1])))
    }

    /// An upper bound of the smallest eigenvalue and a lower bound of the largest one, by
    /// Lanczos' method with full re-orthogonalisation; none if the decomposition fails.
    fn extreme_ritz_values(&self, monitor: &Monitor<'_>) -> Result<Option<(f64, f64)>> {
        let order = self.kernel.order();
        let mut basis = memory::with_capacity(STEPS, WHAT)?;
        basis.push(start_vector(order)?);
        let mut projected = [0.0; STEPS * STEPS];
        let mut image = memory::filled(order, 0.0, WHAT)?;
        // Ends: the basis grows each time, up to STEPS.
        loop {
            let last = basis.len() - 1;
            self.multiply(&basis[last], &mut image, monitor)?;
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
            let mut next = memory::with_capacity(order, WHAT)?;
            next.extend(image.iter().map(|v| v / norm));
            basis.push(next);
        }

        let steps = basis.len();
        let mut inside = memory::with_capacity(steps * steps, WHAT)?;
        projected.chunks(STEPS).take(steps).for_each(|col| inside.extend_from_slice(&col[..steps]));
        let mut vectors = memory::filled(steps * steps, 0.0, WHAT)?;
        let Some(values) = eigenvalues(&inside, steps, Some(&mut vectors))? else {
            return Ok(None);
        };

        // The quotient of the computed vector is a bound whatever rounding did to the method.
        let mut ritz = memory::filled(order, 0.0, WHAT)?;
        for (direction, &coefficient) in basis.iter().zip(&vectors) {
            add_multiple(&mut ritz, coefficient, direction);
        }
        self.multiply(&ritz, &mut image, monitor)?;
        let quotient = dot(&ritz, &image) / dot(&ritz, &ritz);
        Ok(Some((quotient, values[steps - 1])))
    }

    /// Kᵀx. The quotient xᵀKᵀx/xᵀx is that of (K + Kᵀ)/2, should the two triangles differ.
    fn multiply(&self, x: &[f64], out: &mut [f64], monitor: &Monitor<'_>) -> Result<()> {
        let mut scaled = memory::with_capacity(x.len(), WHAT)?;
        scaled.extend(x.iter().map(|x| x * self.unit));
        out.par_chunks_mut(TILE).enumerate().try_for_each(|(tile, out)| {
            for (k, out) in out.iter_mut().enumerate() {
                *out = dot(self.kernel.col(tile * TILE + k), &scaled);
            }
            monitor.go_on()
        })
    }
}

/// A unit vector that no structure of a kernel is likely to be orthogonal to.
fn start_vector(order: usize) -> Result<Vec<f64>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut vector = memory::with_capacity(order, WHAT)?;
    vector.extend((0..order).map(|_| random.next_u64() as f64 / 2f64.powi(63) - 1.0));
    let norm = dot(&vector, &vector).sqrt();
    vector.iter_mut().for_each(|v| *v /= norm);
    Ok(vector)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let ((a, a_rest), (b, b_rest)) = (pulp::as_arrays::<8, _>(a), pulp::as_arrays::<8, _>(b));
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
/// are the columns of `vectors`. None if the decomposition fails.
fn eigenvalues(
    matrix: &[f64],
    order: usize,
    vectors: Option<&mut [f64]>,
) -> Result<Option<Vec<f64>>> {
    let compute =
        if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let params = Spec::default();
    let scratch = evd::self_adjoint_evd_scratch::<f64>(order, compute, Par::Seq, params);
    let mut buffer = memory::scratch(scratch, WHAT)?;
    let mut values = memory::filled(order, 0.0, WHAT)?;
    let found = evd::self_adjoint_evd(
        MatRef::from_column_major_slice(matrix, order, order),
        DiagMut::from_slice_mut(&mut values),
        vectors.map(|v| MatMut::from_column_major_slice_mut(v, order, order)),
        Par::Seq,
        MemStack::new(&mut buffer),
        params,
    );
    Ok(found.is_ok().then_some(values))
}
