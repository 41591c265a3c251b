//! Which of the three methods solves which columns: decided once for all of them from a few pilots,
//! whose work is counted, never from the clock.

use super::face::{Faces, Start};
use super::inverse::Inverse;
use super::leading::Leading;
use super::{Quadratic, conjugate};
use crate::error::Result;
use crate::matrix::Similarity;
use crate::memory;
use crate::monitor::Monitor;
use rayon::prelude::*;

/// Columns solved beforehand.
const PILOTS: usize = 8;

/// Neighbours a cold pilot starts with.
const PILOT_START: usize = 32;

/// Steps of a walk before they are counted, the fewest there are, and those after which the walk
/// is no rival.
const USUAL_STEPS: f64 = 9.0;
const FEWEST_STEPS: f64 = 3.0;
const MANY_STEPS: usize = 100;

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
    /// Where nearly all entries are positive: from there all columns start.
    pub(super) inverse: Option<Inverse>,
}

impl Plan {
    pub(super) fn new(
        problem: &Quadratic<'_>,
        before: Option<&Similarity>,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let n = problem.samples();
        let limit = largest_support(n, ROUNDS, PATIENCE * USUAL_STEPS);
        let mut typical = face_pilots(problem, before, limit, monitor)?;
        let fits = |before: &Similarity| before.columns().iter().all(|c| c.nnz() <= limit);
        let least = FEWEST_STEPS * step_cost(n, typical.support);
        if typical.cost(n) <= least && before.is_none_or(fits) {
            let start = typical.start();
            return Ok(Self { widest: limit, limit, start, leading: None, inverse: None });
        }
        let leading = Leading::new(problem, monitor)?;
        let (steps, support) = walk_pilots(problem, before, &leading, monitor)?;
        if inverse_cost(n, n - support) < steps * step_cost(n, n) {
            let inverse = Inverse::new(problem, monitor)?;
            if inverse.is_some() {
                return Ok(Self { widest: 0, limit, start: 0, leading: Some(leading), inverse });
            }
        }
        let patient = largest_support(n, ROUNDS, PATIENCE * steps);
        if typical.support > limit && patient > limit {
            // The walk will be slow: worth another look at what faces can do.
            typical = face_pilots(problem, before, patient, monitor)?;
        }
        let widest = largest_support(n, typical.rounds, steps);
        let start = if typical.support <= widest { typical.start() } else { 0 };
        Ok(Self { widest, limit: patient, start, leading: Some(leading), inverse: None })
    }
}

/// What a column took on its face.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
struct Effort {
    support: usize,
    rounds: usize,
}

impl Effort {
    fn cost(self, samples: usize) -> f64 {
        face_cost(samples, self.support, self.rounds)
    }

    /// Most of the nearest neighbours stand in each other's shadow: starting with few, and with
    /// what the gradient asks for then, ends with a tenth of the candidates barred; starting with
    /// as many as the support will have, with half of them.
    fn start(self) -> usize {
        self.support / 3 + 1
    }
}

/// The samples whose columns are pilots.
fn pilots(samples: usize) -> impl ExactSizeIterator<Item = usize> {
    let count = PILOTS.min(samples);
    (0..count).map(move |pilot| pilot * samples / count)
}

/// The median effort of the pilots; a support that is given up counts as all samples.
fn face_pilots(
    problem: &Quadratic<'_>,
    before: Option<&Similarity>,
    limit: usize,
    monitor: &Monitor<'_>,
) -> Result<Effort> {
    let n = problem.samples();
    let mut efforts = [Effort { support: n, rounds: ROUNDS }; PILOTS];
    let efforts = &mut efforts[..pilots(n).len()];
    efforts.par_iter_mut().enumerate().try_for_each(|(pilot, effort)| {
        let i = pilots(n).nth(pilot).unwrap_or_default();
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
        faces.solve(&[(0, i)], start, &pull, &mut z, &mut gap, monitor)?;
        if gap[0] <= problem.tolerance {
            effort.support = z.iter().filter(|&&v| v > 0.0).count();
            effort.rounds = faces.rounds();
        }
        Ok(())
    })?;
    efforts.sort_unstable();
    Ok(efforts[efforts.len() / 2])
}

/// Products with the kernel that the pilots take when they walk, and the median of their supports.
fn walk_pilots(
    problem: &Quadratic<'_>,
    before: Option<&Similarity>,
    leading: &Leading,
    monitor: &Monitor<'_>,
) -> Result<(f64, usize)> {
    let n = problem.samples();
    let mut group = [0; PILOTS];
    let group = &mut group[..pilots(n).len()];
    group.iter_mut().zip(pilots(n)).for_each(|(place, pilot)| *place = pilot);
    let mut pull = memory::filled(n * group.len(), 0.0, "pull of the embedding")?;
    problem.pull_columns(group, &mut pull)?;
    let mut z = memory::filled(n * group.len(), 1.0 / n as f64, "columns of Z")?;
    if let Some(before) = before {
        let columns = z.chunks_exact_mut(n).zip(&*group);
        columns.for_each(|(z, &i)| before.columns()[i].scatter(z));
    }
    let mut gaps = [f64::INFINITY; PILOTS];
    let mut open = memory::with_capacity(group.len(), "columns of Z")?;
    open.extend(0..group.len());
    let mut panels = conjugate::Panels::new(problem, leading, (group, &pull), &mut z, open.len())?;
    panels.walk(&mut open, &mut gaps, MANY_STEPS, monitor)?;
    let steps = panels.products() as f64;
    let mut supports = [0; PILOTS];
    let supports = &mut supports[..group.len()];
    for (support, z) in supports.iter_mut().zip(z.chunks_exact(n)) {
        *support = z.iter().filter(|&&v| v > 0.0).count();
    }
    supports.sort_unstable();
    Ok((steps, supports[supports.len() / 2]))
}

/// Gradients of a face that is solved from scratch.
const ROUNDS: usize = 4;

/// Nanoseconds of a step of the walk, a product with the kernel and the model, and of a face:
/// factorization, fetching its entries, gradients. Measured on a machine with 256-bit instructions;
/// only their ratio counts.
fn step_cost(samples: usize, support: usize) -> f64 {
    let (n, s) = (samples as f64, support as f64);
    (2.0 * n * n / 26.0).min(n * s / 4.0) + 60.0 * n
}

fn face_cost(samples: usize, support: usize, rounds: usize) -> f64 {
    let (n, s) = (samples as f64, support as f64);
    s.powi(3) / 25.0 + 8.0 * s * s + 0.3 * rounds as f64 * n * s
}

/// A column with so many zeros, found from the inverse: its share of the factorization, of the
/// solution for the inverse and of the product for the certificate, and about four sets of zeros.
fn inverse_cost(samples: usize, zeros: usize) -> f64 {
    let (n, z) = (samples as f64, zeros as f64);
    4.5 * n * n / 26.0 + 60.0 * n + 4.0 * (z.powi(3) / 15.0 + 2.0 * z * z + 0.3 * n * z)
}

/// The largest support that is solved on its face faster than by so many steps.
fn largest_support(samples: usize, rounds: usize, steps: f64) -> usize {
    let cheaper =
        |support| face_cost(samples, support, rounds) < steps * step_cost(samples, support);
    let mut support = 32;
    // Ends: no support is larger than everything.
    while support < samples && cheaper(support + 8) {
        support += 8;
    }
    support
}
