//! Which of the three methods solves which columns: decided once for all of them from a few pilots,
//! whose work is counted, never from the clock.

use super::active_set::{ActiveSets, Start};
use super::full_support::FullSupport;
use super::preconditioner::Preconditioner;
use super::{Quadratic, projected_cg};
use crate::error::Result;
use crate::matrix::Similarity;
use crate::memory;
use crate::monitor::Monitor;
use rayon::prelude::*;

/// Columns solved beforehand.
const PILOTS: usize = 8;

/// Neighbours a cold pilot starts with.
const PILOT_START: usize = 32;

/// Steps of conjugate gradients before they are counted, the fewest there are, and those after
/// which they are no rival.
const USUAL_STEPS: f64 = 9.0;
const FEWEST_STEPS: f64 = 3.0;
const MANY_STEPS: usize = 100;

/// How much longer than conjugate gradients an active set may take before it is given up: what it
/// has cost until then is lost.
const GIVE_UP: f64 = 2.5;

/// What is decided for all columns.
pub(super) struct Plan {
    /// Largest support of a warm column that is solved by an active set; larger ones are solved by
    /// conjugate gradients.
    pub(super) widest: usize,
    /// Candidates at which an active set is given up.
    pub(super) limit: usize,
    /// Neighbours a cold active set starts with; 0 leaves all columns to conjugate gradients.
    pub(super) start: usize,
    /// For conjugate gradients, where they solve many columns.
    pub(super) preconditioner: Option<Preconditioner>,
    /// Where nearly all entries are positive: from there all columns start.
    pub(super) full_support: Option<FullSupport>,
}

impl Plan {
    pub(super) fn new(
        problem: &Quadratic<'_>,
        before: Option<&Similarity>,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let n = problem.anchors();
        let limit = largest_support(n, ROUNDS, GIVE_UP * USUAL_STEPS);
        let mut typical = active_set_pilots(problem, before, limit, monitor)?;
        let fits = |before: &Similarity| before.columns().iter().all(|c| c.nnz() <= limit);
        let least = FEWEST_STEPS * step_cost(n, typical.support);
        if typical.cost(n) <= least && before.is_none_or(fits) {
            let start = typical.start();
            return Ok(Self {
                widest: limit,
                limit,
                start,
                preconditioner: None,
                full_support: None,
            });
        }
        let preconditioner = Preconditioner::new(problem, monitor)?;
        let (steps, support) = cg_pilots(problem, before, &preconditioner, monitor)?;
        let direct = full_support_cost(n, n - support) < steps * step_cost(n, n);
        if direct && problem.cross.is_none() {
            let full_support = FullSupport::new(problem, monitor)?;
            if full_support.is_some() {
                return Ok(Self {
                    widest: 0,
                    limit,
                    start: 0,
                    preconditioner: Some(preconditioner),
                    full_support,
                });
            }
        }
        let patient = largest_support(n, ROUNDS, GIVE_UP * steps);
        if typical.support > limit && patient > limit {
            // Conjugate gradients will be slow: worth another look at what active sets can do.
            typical = active_set_pilots(problem, before, patient, monitor)?;
        }
        let widest = largest_support(n, typical.rounds, steps);
        let start = if typical.support <= widest { typical.start() } else { 0 };
        Ok(Self {
            widest,
            limit: patient,
            start,
            preconditioner: Some(preconditioner),
            full_support: None,
        })
    }
}

/// What the active set of a column took.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
struct Effort {
    support: usize,
    rounds: usize,
}

impl Effort {
    fn cost(self, samples: usize) -> f64 {
        active_set_cost(samples, self.support, self.rounds)
    }

    /// Most of the nearest neighbours stand in each other's shadow: starting with few, and with
    /// what the gradient asks for then, ends with a tenth of the candidates barred; starting with
    /// as many as the support will have, with half of them.
    fn start(self) -> usize {
        self.support / 3 + 1
    }
}

/// The targets whose columns are pilots.
fn pilots(targets: usize) -> impl ExactSizeIterator<Item = usize> {
    let count = PILOTS.min(targets);
    (0..count).map(move |pilot| pilot * targets / count)
}

/// The median effort of the pilots; a support that is given up counts as all samples.
fn active_set_pilots(
    problem: &Quadratic<'_>,
    before: Option<&Similarity>,
    limit: usize,
    monitor: &Monitor<'_>,
) -> Result<Effort> {
    let (n, targets) = (problem.anchors(), problem.targets());
    let mut efforts = [Effort { support: n, rounds: ROUNDS }; PILOTS];
    let efforts = &mut efforts[..pilots(targets).len()];
    efforts.par_iter_mut().enumerate().try_for_each(|(pilot, effort)| {
        let i = pilots(targets).nth(pilot).unwrap_or_default();
        let mut linear = memory::filled(n, 0.0, "linear terms")?;
        let mut z = memory::filled(n, 0.0, "a column of Z")?;
        problem.linear_columns(&[i], &mut linear)?;
        let start = match before {
            Some(before) => {
                before.columns()[i].scatter(&mut z);
                Start::Support
            }
            None => Start::Neighbours(PILOT_START.min(n - 1)),
        };
        let (mut gap, mut active_sets) = ([f64::INFINITY], ActiveSets::new(problem, limit)?);
        active_sets.solve(&[(0, i)], start, &linear, &mut z, &mut gap, monitor)?;
        if gap[0] <= problem.tolerance {
            effort.support = z.iter().filter(|&&v| v > 0.0).count();
            effort.rounds = active_sets.rounds();
        }
        Ok(())
    })?;
    efforts.sort_unstable();
    Ok(efforts[efforts.len() / 2])
}

/// Products with the kernel that conjugate gradients take for the pilots, and the median of their
/// supports.
fn cg_pilots(
    problem: &Quadratic<'_>,
    before: Option<&Similarity>,
    preconditioner: &Preconditioner,
    monitor: &Monitor<'_>,
) -> Result<(f64, usize)> {
    let (n, targets) = (problem.anchors(), problem.targets());
    let mut group = [0; PILOTS];
    let group = &mut group[..pilots(targets).len()];
    group.iter_mut().zip(pilots(targets)).for_each(|(place, pilot)| *place = pilot);
    let mut linear = memory::filled(n * group.len(), 0.0, "linear terms")?;
    problem.linear_columns(group, &mut linear)?;
    let mut z = memory::filled(n * group.len(), 1.0 / n as f64, "columns of Z")?;
    if let Some(before) = before {
        let columns = z.chunks_exact_mut(n).zip(&*group);
        columns.for_each(|(z, &i)| before.columns()[i].scatter(z));
    }
    let mut gaps = [f64::INFINITY; PILOTS];
    let mut open = memory::with_capacity(group.len(), "columns of Z")?;
    open.extend(0..group.len());
    let mut panels =
        projected_cg::Panels::new(problem, preconditioner, (group, &linear), &mut z, open.len())?;
    panels.descend(&mut open, &mut gaps, MANY_STEPS, monitor)?;
    let steps = panels.products() as f64;
    let mut supports = [0; PILOTS];
    let supports = &mut supports[..group.len()];
    for (support, z) in supports.iter_mut().zip(z.chunks_exact(n)) {
        *support = z.iter().filter(|&&v| v > 0.0).count();
    }
    supports.sort_unstable();
    Ok((steps, supports[supports.len() / 2]))
}

/// Gradients of an active set that starts from scratch.
const ROUNDS: usize = 4;

/// Nanoseconds of a step of conjugate gradients, a product with the kernel and the model, and of an
/// active set:
/// factorization, fetching its entries, gradients. Measured on a machine with 256-bit instructions;
/// only their ratio counts.
fn step_cost(samples: usize, support: usize) -> f64 {
    let (n, s) = (samples as f64, support as f64);
    (2.0 * n * n / 26.0).min(n * s / 4.0) + 60.0 * n
}

fn active_set_cost(samples: usize, support: usize, rounds: usize) -> f64 {
    let (n, s) = (samples as f64, support as f64);
    s.powi(3) / 25.0 + 8.0 * s * s + 0.3 * rounds as f64 * n * s
}

/// A column with so many zeros, found from the inverse: its share of the factorization, of the
/// solution for the inverse and of the product for the certificate, and about four sets of zeros.
fn full_support_cost(samples: usize, zeros: usize) -> f64 {
    let (n, z) = (samples as f64, zeros as f64);
    4.5 * n * n / 26.0 + 60.0 * n + 4.0 * (z.powi(3) / 15.0 + 2.0 * z * z + 0.3 * n * z)
}

/// The largest support that an active set solves faster than so many steps do.
fn largest_support(samples: usize, rounds: usize, steps: f64) -> usize {
    let cheaper =
        |support| active_set_cost(samples, support, rounds) < steps * step_cost(samples, support);
    let mut support = 32;
    // Ends: no support is larger than everything.
    while support < samples && cheaper(support + 8) {
        support += 8;
    }
    support
}
