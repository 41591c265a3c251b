//! Which of the two methods solves which columns: decided once for all of them, from a few pilots
//! and from what the kernel leaves for the walk to do, never from the clock.

use super::Quadratic;
use super::face::{Faces, Start};
use super::leading::Leading;
use crate::error::Result;
use crate::matrix::Similarity;
use crate::memory;
use crate::monitor::Monitor;
use rayon::prelude::*;

/// Columns solved beforehand to find out how large supports are.
const PILOTS: usize = 8;

/// Neighbours a cold pilot starts with.
const PILOT_START: usize = 32;

/// Steps of a walk before its preconditioner is known, and the fewest there are.
const USUAL_STEPS: f64 = 9.0;
const FEWEST_STEPS: f64 = 3.0;

/// How much longer than a walk a face may take before it is given up: what it has cost until then
/// is lost.
const PATIENCE: f64 = 2.5;

/// What is decided for all columns.
pub(super) struct Plan {
    /// Largest support of a warm column that is solved on its face; larger ones walk.
    pub(super) widest: usize,
    /// Candidates at which a face is given up and its column walks.
    pub(super) limit: usize,
    /// Neighbours a cold column starts with; 0 lets all columns walk.
    pub(super) start: usize,
    /// The walk's preconditioner, where many columns walk.
    pub(super) leading: Option<Leading>,
}

impl Plan {
    pub(super) fn new(
        problem: &Quadratic<'_>,
        before: Option<&Similarity>,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let n = problem.samples();
        let limit = largest_support(n, PATIENCE * USUAL_STEPS);
        let mut typical = pilot(problem, before, limit, monitor)?;
        let fits = |before: &Similarity| before.columns().iter().all(|c| c.nnz() <= limit);
        if face_cost(n, typical) <= FEWEST_STEPS * step_cost(n) && before.is_none_or(fits) {
            return Ok(Self { widest: limit, limit, start: start(typical), leading: None });
        }
        let leading = Leading::new(problem)?;
        let steps = leading.steps(problem);
        let patient = largest_support(n, PATIENCE * steps);
        if typical > limit && patient > limit {
            // The walk will be slow: worth another look at what faces can do.
            typical = pilot(problem, before, patient, monitor)?;
        }
        let widest = largest_support(n, steps);
        let start = if typical <= widest { start(typical) } else { 0 };
        Ok(Self { widest, limit: patient, start, leading: Some(leading) })
    }
}

/// Most of the nearest neighbours stand in each other's shadow: starting with few, and with what
/// the gradient asks for then, ends with a tenth of the candidates barred; starting with as many as
/// the support will have, with half of them.
fn start(support: usize) -> usize {
    support / 3 + 1
}

/// The median support of a few columns; those that are given up count as all samples.
fn pilot(
    problem: &Quadratic<'_>,
    before: Option<&Similarity>,
    limit: usize,
    monitor: &Monitor<'_>,
) -> Result<usize> {
    let n = problem.samples();
    let pilots = PILOTS.min(n);
    let mut sizes = [n; PILOTS];
    sizes[..pilots].par_iter_mut().enumerate().try_for_each(|(pilot, size)| {
        let i = pilot * n / pilots;
        let mut pull = memory::filled(n, 0.0, "pull of the embedding")?;
        let mut z = memory::filled(n, 0.0, "a column of Z")?;
        problem.pull_columns(&[i], &mut pull)?;
        let start = match before {
            Some(before) => {
                before.columns()[i].scatter(&mut z);
                Start::Support
            }
            None => Start::Neighbours(PILOT_START.min(n - 1)),
        };
        let (mut gap, mut faces) = ([f64::INFINITY], Faces::new(problem, limit)?);
        let complete = faces.solve(&[(0, i)], start, &pull, &mut z, &mut gap, monitor)?;
        if complete && gap[0] <= problem.tolerance {
            *size = z.iter().filter(|&&v| v > 0.0).count();
        }
        Ok(())
    })?;
    let sizes = &mut sizes[..pilots];
    sizes.sort_unstable();
    Ok(sizes[pilots / 2])
}

/// Nanoseconds of a step of the walk, a product with the kernel and the model, and of a face:
/// factorization, fetching its entries, about four gradients. Measured on a machine with 256-bit
/// instructions; only their ratio counts.
fn step_cost(samples: usize) -> f64 {
    let n = samples as f64;
    2.0 * n * n / 26.0 + 60.0 * n
}

fn face_cost(samples: usize, support: usize) -> f64 {
    let (n, s) = (samples as f64, support as f64);
    s.powi(3) / 30.0 + 6.0 * s * s + 1.2 * n * s
}

/// The largest support that is solved on its face faster than by so many steps.
fn largest_support(samples: usize, steps: f64) -> usize {
    let mut support = 32;
    while face_cost(samples, support + 8) < steps * step_cost(samples) {
        support += 8;
    }
    support
}
