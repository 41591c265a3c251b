//! Columns with a large support: preconditioned conjugate gradients on faces of the simplex,
//! many columns at once, so that each step is one matrix product.
//!
//! A move leads to the minimiser of a model in which the kernel is its leading part
//! ([`preconditioner`](super::preconditioner)): nearly a Newton step, which may change many entries of the
//! support at once. While the face stays the same, directions are made conjugate. Every move is an
//! exact line search, so the objective falls with each; should the model's direction not point
//! downhill, the projected gradient does.

use super::Quadratic;
use super::preconditioner::{Preconditioner, SupportModel, Workspace};
use super::product::Product;
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
use crate::vector::{self, vectorized};

/// Steps after which a column is left as it is, its gap reported.
const MOST_STEPS: usize = 20_000;

/// Steps without a smaller gap after which no further ones are made: what is left of the gap is
/// rounding of a kernel beside which α is next to nothing.
const HOPELESS: usize = 300;

/// How a run of steps ended.
#[derive(PartialEq)]
enum Ended {
    Done,
    /// Every column that is left has stopped getting better.
    Stuck,
}

/// Steps without a smaller gap after which a gap within the tolerance is good enough, although
/// it is not yet as small as the target.
const SETTLING_STEPS: usize = 30;

/// What a step adds to the error of a gradient at most, in units in which the kernel and α are at
/// most one: a few roundings of numbers of that size.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The columns of one block: points, gradients and directions, n rows each.
pub(super) struct Panels<'p> {
    problem: &'p Quadratic<'p>,
    /// The samples of the columns.
    group: &'p [usize],
    linear: &'p [f64],
    z: &'p mut [f64],
    gradient: Vec<f64>,
    direction: Vec<f64>,
    /// (αI + K)·direction.
    response: Vec<f64>,
    /// What is multiplied with K, and the product: columns in use, side by side.
    packed: Vec<f64>,
    image: Vec<f64>,
    preconditioner: &'p Preconditioner,
    work: Workspace,
    trial: Vec<f64>,
    product: Product,
    /// Products with the kernel so far.
    products: usize,
}

impl<'p> Panels<'p> {
    /// For at most `columns` of the columns `z` of a group.
    pub(super) fn new(
        problem: &'p Quadratic<'p>,
        preconditioner: &'p Preconditioner,
        (group, linear): (&'p [usize], &'p [f64]),
        z: &'p mut [f64],
        columns: usize,
    ) -> Result<Self> {
        let n = problem.anchors();
        let whole = z.len();
        Ok(Self {
            problem,
            group,
            linear,
            gradient: memory::filled(whole, 0.0, "gradients")?,
            direction: memory::filled(whole, 0.0, "directions")?,
            response: memory::filled(whole, 0.0, "images of directions")?,
            preconditioner,
            work: Workspace::new(preconditioner, n)?,
            packed: memory::filled(n * columns, 0.0, "directions")?,
            image: memory::filled(n * columns, 0.0, "images of directions")?,
            trial: memory::filled(n, 0.0, "a trial point")?,
            product: Product::default(),
            products: 0,
            z,
        })
    }

    /// Walks the columns `open` until their gaps are small, or for so many steps; those that
    /// have not arrived stay in `open`.
    pub(super) fn descend(
        &mut self,
        open: &mut Vec<usize>,
        gaps: &mut [f64],
        most_steps: usize,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let mut left = most_steps.min(MOST_STEPS);
        let mut enough = self.problem.target;
        self.refresh(open, gaps)?;
        // Ends: each run takes a step at least, and steps are counted.
        loop {
            open.retain(|&j| gaps[j] > enough);
            if open.is_empty() || left == 0 {
                return Ok(());
            }
            enough = self.problem.tolerance;
            let before = left;
            if self.descend_for(open, gaps, &mut left, monitor)? == Ended::Stuck {
                left = 0;
            }
            // Gradients are updated along with the points, and each step adds its rounding. Unless
            // that is far below the gap, the gradient is computed anew before a column is believed;
            // if rounding had crept in, the column goes on.
            let n = self.problem.anchors();
            let astray = |&j: &usize| (vector::sum(&self.z[j * n..][..n]) - 1.0).abs() > 1e-13;
            let rounding = ROUNDING * (before - left) as f64;
            if rounding > 0.01 * self.problem.target || open.iter().any(astray) {
                self.refresh(open, gaps)?;
            }
        }
    }

    /// Products with the kernel so far, of all columns or of some.
    pub(super) fn products(&self) -> usize {
        self.products
    }

    fn multiply(&mut self, columns: usize) -> Result<()> {
        if columns == 0 {
            return Ok(());
        }
        self.products += 1;
        let n = self.problem.anchors();
        let (packed, image) = (&self.packed[..n * columns], &mut self.image[..n * columns]);
        self.product.multiply(self.problem.kernel, packed, image)
    }

    /// Gradients and gaps of the columns `open` from scratch.
    fn refresh(&mut self, open: &[usize], gaps: &mut [f64]) -> Result<()> {
        let n = self.problem.anchors();
        let mut multiplied = 0;
        for &j in open {
            let z = &mut self.z[j * n..][..n];
            let total = vector::sum(z);
            z.iter_mut().for_each(|value| *value /= total);
            if !at_centre(z) {
                let packed = &mut self.packed[multiplied * n..][..n];
                packed.copy_from_slice(z);
                packed[self.problem.pivot(self.group[j])] -= 1.0;
                multiplied += 1;
            }
        }
        self.multiply(multiplied)?;
        let mut images = self.image.chunks_exact(n);
        for &j in open {
            let span = j * n..(j + 1) * n;
            let (z, gradient) = (&self.z[span.clone()], &mut self.gradient[span.clone()]);
            gradient.copy_from_slice(&self.linear[span]);
            // K is centred: K1 = 0.
            let (sign, image) = if at_centre(z) {
                (-1.0, self.problem.kernel.col(self.problem.pivot(self.group[j])))
            } else {
                (1.0, images.next().unwrap_or_default())
            };
            vector::axpy(sign, image, gradient);
            vector::axpy(self.problem.alpha, z, gradient);
            gaps[j] = Quadratic::gap(z, gradient);
        }
        Ok(())
    }

    /// Steps with the columns `open` until all have arrived, `steps` are used up, or no step helps
    /// any more.
    fn descend_for(
        &mut self,
        open: &[usize],
        gaps: &mut [f64],
        steps: &mut usize,
        monitor: &Monitor<'_>,
    ) -> Result<Ended> {
        let n = self.problem.anchors();
        let alpha = self.problem.alpha;
        let mut descents = memory::with_capacity(open.len(), "columns")?;
        for &j in open {
            descents.push(Descent::new(j, SupportModel::new(self.preconditioner, n)?));
        }
        // Ends: steps are counted.
        while *steps > 0 && !descents.is_empty() {
            *steps -= 1;
            for (descent, packed) in descents.iter_mut().zip(self.packed.chunks_exact_mut(n)) {
                let span = descent.j * n..(descent.j + 1) * n;
                let point =
                    Point { z: &self.z[span.clone()], gradient: &self.gradient[span.clone()] };
                let last = Last {
                    direction: &mut self.direction[span.clone()],
                    response: &self.response[span],
                };
                let scratch = (&mut self.work, &mut *self.trial);
                monitor.go_on()?;
                descent.choose(self.preconditioner, point, packed, last, scratch);
            }
            self.multiply(descents.len())?;
            for (descent, image) in descents.iter_mut().zip(self.image.chunks_exact(n)) {
                let span = descent.j * n..(descent.j + 1) * n;
                let (z, gradient) = (&mut self.z[span.clone()], &mut self.gradient[span.clone()]);
                let (direction, response) =
                    (&self.direction[span.clone()], &mut self.response[span]);
                response.copy_from_slice(image);
                vector::axpy(alpha, direction, response);
                descent.advance(z, gradient, direction, response)?;
                gaps[descent.j] = Quadratic::gap(z, gradient);
                descent.note(gaps[descent.j], self.problem);
            }
            descents.retain(|descent| !descent.arrived);
            if !descents.is_empty() && descents.iter().all(|descent| descent.since_best >= HOPELESS)
            {
                return Ok(Ended::Stuck);
            }
        }
        Ok(Ended::Done)
    }
}

/// Whether a column is where cold ones start: all entries are the same.
fn at_centre(z: &[f64]) -> bool {
    z.iter().all(|value| *value == z[0])
}

/// Where a column is.
struct Point<'c> {
    z: &'c [f64],
    /// Half of the gradient.
    gradient: &'c [f64],
}

/// The last move of a column.
struct Last<'c> {
    direction: &'c mut [f64],
    /// (αI + K)·direction.
    response: &'c [f64],
}

/// One column on its way.
struct Descent {
    /// Column of the panels.
    j: usize,
    model: SupportModel,
    /// Curvature along the last direction if it lay in the face and was not cut short; else 0.
    conjugate_curvature: f64,
    in_face: bool,
    /// Inverse curvature along the last move: the step length of gradient projections.
    spectral: f64,
    steps: usize,
    best_gap: f64,
    since_best: usize,
    arrived: bool,
}

impl Descent {
    fn new(j: usize, model: SupportModel) -> Self {
        Self {
            j,
            model,
            conjugate_curvature: 0.0,
            in_face: false,
            spectral: 1.0,
            steps: 0,
            best_gap: f64::INFINITY,
            since_best: 0,
            arrived: false,
        }
    }

    /// Takes note of the gap reached.
    fn note(&mut self, gap: f64, problem: &Quadratic<'_>) {
        if gap < self.best_gap {
            self.best_gap = gap;
            self.since_best = 0;
        } else {
            self.since_best += 1;
        }
        let good_enough = gap <= problem.tolerance && self.since_best >= SETTLING_STEPS;
        self.arrived = gap <= problem.target || good_enough;
    }

    /// Chooses the next direction; leaves it in `last` and in `packed`.
    fn choose(
        &mut self,
        preconditioner: &Preconditioner,
        point: Point<'_>,
        packed: &mut [f64],
        last: Last<'_>,
        (work, trial): (&mut Workspace, &mut [f64]),
    ) {
        let Point { z, gradient } = point;
        self.steps += 1;
        let same_face = self.model.minimise(preconditioner, z, gradient, packed, work);
        if self.conjugate_curvature > 0.0 && same_face {
            let keep = -vector::dot(packed, last.response) / self.conjugate_curvature;
            vector::axpy(keep, last.direction, packed);
        }
        stay_level(packed, z);
        let allowed = vector::longest_step(z, packed);
        self.in_face = allowed >= 1.0;
        // Every now and then where the model leads nowhere.
        let trapped = self.since_best >= 3 && self.steps % 4 == 0;
        if trapped || allowed < 1.0 - 1e-12 || vector::dot(packed, gradient) >= 0.0 {
            // The model's way is none: the gradient's own, which always leads downhill.
            self.in_face = false;
            for ((t, z), g) in trial.iter_mut().zip(z).zip(gradient) {
                *t = z - self.spectral * g;
            }
            project(trial);
            for ((d, t), z) in packed.iter_mut().zip(&*trial).zip(z) {
                *d = t - z;
            }
            stay_level(packed, z);
        }
        last.direction.copy_from_slice(packed);
    }

    /// Moves along `direction` by exact line search within the simplex.
    fn advance(
        &mut self,
        z: &mut [f64],
        gradient: &mut [f64],
        direction: &[f64],
        response: &[f64],
    ) -> Result<()> {
        self.conjugate_curvature = 0.0;
        let length2 = vector::dot(direction, direction);
        if length2 == 0.0 {
            return Ok(());
        }
        let curvature = vector::dot(direction, response);
        let slope = vector::dot(direction, gradient);
        if curvature <= -1e-9 * length2 {
            return Err(Error::NotPsd {
                what: "the mixed kernel plus alpha".to_owned(),
                eigenvalue: curvature / length2,
            });
        }
        let wanted = if curvature > 0.0 { -slope / curvature } else { f64::INFINITY };
        let allowed = vector::longest_step(z, direction);
        let step = wanted.min(allowed);
        if !step.is_finite() {
            return Ok(());
        }
        self.spectral = if curvature > 0.0 { length2 / curvature } else { self.spectral };
        let blocked = wanted > allowed;
        move_within(step, direction, blocked, z);
        vector::axpy(step, response, gradient);
        if self.in_face && !blocked {
            self.conjugate_curvature = curvature;
        }
        Ok(())
    }
}

vectorized! {
    /// z += step·direction; what reaches the boundary is put there exactly. If the step is the longest
    /// that is allowed, some entry does.
    fn move_within<'a>(step: f64, direction: &'a [f64], longest: bool, z: &'a mut [f64]) -> () {
        for (z, &d) in z.iter_mut().zip(direction) {
            let moved = *z + step * d;
            let hits = moved < 0.0 || longest && d < 0.0 && -*z / d <= step;
            *z = if hits { 0.0 } else { moved };
        }
    }
}

/// Takes what rounding has left of the sum of a direction from the entry that feels it least: a
/// point that moves along it keeps its sum.
fn stay_level(direction: &mut [f64], z: &[f64]) {
    // No entry of z is negative.
    let top = vector::max_abs(z);
    if let Some(largest) = z.iter().position(|&value| value == top) {
        direction[largest] -= vector::sum(direction);
    }
}

/// Euclidean projection onto the simplex, in place: entries above a common level keep what
/// they have above it, and the level is found by dropping the others pass by pass.
///
/// Entries are measured from the largest, since those above the level lie within 1 of it: that keeps
/// their digits however large they are. Every pass drops one at least, so that there are no more
/// passes than entries whatever rounding does.
fn project(v: &mut [f64]) {
    let top = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    v.iter_mut().for_each(|value| *value -= top);
    let (mut level, mut above) = (-1.0, usize::MAX);
    // Ends: each pass drops an entry at least, whatever rounding does.
    loop {
        let (mut sum, mut count) = (0.0, 0usize);
        for &value in v.iter() {
            if value > level {
                sum += value;
                count += 1;
            }
        }
        if count >= above || count == 0 {
            break;
        }
        above = count;
        level = (sum - 1.0) / count as f64;
    }
    for value in v.iter_mut() {
        *value = (*value - level).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_projection_ends_on_the_simplex_however_large_the_numbers_are() {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        for size in [1e-300, 1e-3, 1.0, 1e3, 1e14, 1e16, 1e150, 1e300] {
            for n in [1, 2, 7, 140, 600] {
                for _ in 0..20 {
                    let mut v: Vec<f64> = (0..n).map(|_| size * (random() - 0.3)).collect();
                    let order = v.clone();
                    project(&mut v);
                    assert!((vector::sum(&v) - 1.0).abs() < 1e-12, "{size} {n}: {v:?}");
                    assert!(v.iter().all(|value| *value >= 0.0));
                    let mut by_size: Vec<usize> = (0..n).collect();
                    by_size.sort_by(|&a, &b| order[a].total_cmp(&order[b]));
                    assert!(by_size.windows(2).all(|pair| v[pair[0]] <= v[pair[1]]));
                }
            }
        }
    }
}
