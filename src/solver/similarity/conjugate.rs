//! Columns with a large support: conjugate gradients on faces of the simplex, many columns at
//! once, so that each step is one matrix product.
//!
//! On the current face (the positive entries) conjugate gradient steps are taken while most of
//! the gradient lies in the face. When the entries at zero want to enter, or a step runs into
//! the boundary, the point moves along the chord to a projected point instead, which may change
//! many entries of the support at once. Every move is an exact line search, so the objective
//! falls with each. Kernels have few large eigenvalues, which conjugate gradients use up one by
//! one: on a kernel of rank d some d + 1 steps suffice whatever α is, where accelerated
//! gradients would need √(λ_max/α) times the number of digits.

use super::Quadratic;
use crate::error::{Error, Result};
use crate::memory;
use crate::solver::monitor::Monitor;
use crate::vector;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Steps after which a column is left as it is, its gap reported: never seen to happen.
const MOST_STEPS: usize = 20_000;

/// Steps without a smaller gap after which a gap within the tolerance is good enough, although
/// it is not yet as small as [`Quadratic::target`].
const PATIENCE: usize = 30;

/// The columns of one block: points, gradients and directions, n rows each.
pub(super) struct Panels<'p> {
    problem: &'p Quadratic<'p>,
    /// Sample of the first column.
    first: usize,
    pull: &'p [f64],
    z: &'p mut [f64],
    gradient: Vec<f64>,
    direction: Vec<f64>,
    /// What is multiplied with K, and the product: columns in use, side by side.
    packed: Vec<f64>,
    image: Vec<f64>,
    trial: Vec<f64>,
}

impl<'p> Panels<'p> {
    /// For at most `columns` of the columns `z` from sample `first` on.
    pub(super) fn new(
        problem: &'p Quadratic<'p>,
        first: usize,
        pull: &'p [f64],
        z: &'p mut [f64],
        columns: usize,
    ) -> Result<Self> {
        let n = problem.samples();
        let whole = if columns > 0 { z.len() } else { 0 };
        Ok(Self {
            problem,
            first,
            pull,
            gradient: memory::filled(whole, 0.0, "gradients")?,
            direction: memory::filled(whole, 0.0, "directions")?,
            packed: memory::filled(n * columns, 0.0, "directions")?,
            image: memory::filled(n * columns, 0.0, "images of directions")?,
            trial: memory::filled(n, 0.0, "a trial point")?,
            z,
        })
    }

    /// Column `j`, a feasible point.
    pub(super) fn point_mut(&mut self, j: usize) -> &mut [f64] {
        let n = self.problem.samples();
        &mut self.z[j * n..][..n]
    }

    /// Walks the columns `open` until their gaps are small, or for so many steps; those that
    /// have not arrived stay in `open`. False if asked to stop.
    pub(super) fn walk(
        &mut self,
        open: &mut Vec<usize>,
        gaps: &mut [f64],
        most_steps: usize,
        monitor: &Monitor<'_>,
    ) -> Result<bool> {
        let mut steps = most_steps.min(MOST_STEPS);
        // Gradients are updated along with the points. Before a column is believed, its
        // gradient is computed anew; if rounding had crept in, the column walks on.
        let mut enough = self.problem.target();
        loop {
            self.refresh(open, gaps);
            open.retain(|&j| gaps[j] > enough);
            if open.is_empty() || steps == 0 {
                return Ok(true);
            }
            enough = self.problem.tolerance;
            if !self.stride(open, &mut steps, monitor)? {
                return Ok(false);
            }
        }
    }

    fn multiply(&mut self, columns: usize) {
        let n = self.problem.samples();
        let input = MatRef::from_column_major_slice(&self.packed[..n * columns], n, columns);
        let image = &mut self.image[..n * columns];
        let output = MatMut::from_column_major_slice_mut(image, n, columns);
        matmul(output, Accum::Replace, self.problem.kernel.view(), input, 1.0, Par::Seq);
    }

    /// Gradients and gaps of the columns `open` from scratch.
    fn refresh(&mut self, open: &[usize], gaps: &mut [f64]) {
        let n = self.problem.samples();
        for (packed, &j) in self.packed.chunks_exact_mut(n).zip(open) {
            let z = &mut self.z[j * n..][..n];
            let total = vector::sum(z);
            z.iter_mut().for_each(|value| *value /= total);
            packed.copy_from_slice(z);
            packed[self.first + j] -= 1.0;
        }
        self.multiply(open.len());
        for (image, &j) in self.image.chunks_exact(n).zip(open) {
            let span = j * n..(j + 1) * n;
            let gradient = &mut self.gradient[span.clone()];
            gradient.copy_from_slice(image);
            vector::axpy(self.problem.alpha, &self.z[span.clone()], gradient);
            vector::axpy(1.0, &self.pull[span.clone()], gradient);
            gaps[j] = Quadratic::gap(&self.z[span], gradient);
        }
    }

    /// Steps with the columns `open` until all have arrived or `steps` are used up.
    fn stride(&mut self, open: &[usize], steps: &mut usize, monitor: &Monitor<'_>) -> Result<bool> {
        let n = self.problem.samples();
        let mut walkers: Vec<Walker> = open.iter().map(|&j| Walker::new(j)).collect();
        while *steps > 0 && !walkers.is_empty() {
            *steps -= 1;
            if monitor.stop().is_some() {
                return Ok(false);
            }
            for (walker, packed) in walkers.iter_mut().zip(self.packed.chunks_exact_mut(n)) {
                let span = walker.j * n..(walker.j + 1) * n;
                let direction = &mut self.direction[span.clone()];
                let (z, gradient) = (&self.z[span.clone()], &self.gradient[span]);
                walker.choose(z, gradient, direction, &mut self.trial);
                packed.copy_from_slice(direction);
            }
            self.multiply(walkers.len());
            for (walker, image) in walkers.iter_mut().zip(self.image.chunks_exact_mut(n)) {
                let span = walker.j * n..(walker.j + 1) * n;
                let (z, gradient) = (&mut self.z[span.clone()], &mut self.gradient[span.clone()]);
                walker.advance(self.problem.alpha, z, gradient, &self.direction[span], image)?;
                walker.note(Quadratic::gap(z, gradient), self.problem);
            }
            walkers.retain(|walker| !walker.arrived);
        }
        Ok(true)
    }
}

/// One column on its way.
struct Walker {
    /// Column of the panels.
    j: usize,
    /// Whether the last direction lay in the face, and how much of it the next one keeps.
    in_face: bool,
    keep: f64,
    /// Inverse curvature along the last move: the step length of projections.
    spectral: f64,
    /// What was left of a conjugate step that ran into the boundary.
    rest: f64,
    best_gap: f64,
    since_best: usize,
    arrived: bool,
}

impl Walker {
    fn new(j: usize) -> Self {
        Self {
            j,
            in_face: false,
            keep: 0.0,
            spectral: 1.0,
            rest: 0.0,
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
        let good_enough = gap <= problem.tolerance && self.since_best >= PATIENCE;
        self.arrived = gap <= problem.target() || good_enough;
    }

    /// Chooses the next direction into `direction`, which holds the last one.
    fn choose(&mut self, z: &[f64], gradient: &[f64], direction: &mut [f64], trial: &mut [f64]) {
        let keep = std::mem::take(&mut self.keep);
        let rest = std::mem::take(&mut self.rest);
        self.in_face = false;
        if rest > 0.0 {
            // The conjugate step left the simplex: continue it, but projected.
            for ((t, z), d) in trial.iter_mut().zip(z).zip(&*direction) {
                *t = z + rest * d;
            }
            if slope_to(trial, z, gradient) < 0.0 {
                return set_chord(trial, z, direction);
            }
        }
        let (level, free) = level(z, gradient);
        let (mut inside, mut outside) = (0.0, 0.0);
        for (z, g) in z.iter().zip(gradient) {
            let slope = g - level;
            if *z > 0.0 {
                inside += slope * slope;
            } else if slope < 0.0 {
                outside += slope * slope;
            }
        }
        if outside > inside {
            for ((t, z), g) in trial.iter_mut().zip(z).zip(gradient) {
                *t = z - self.spectral * g;
            }
            if slope_to(trial, z, gradient) < 0.0 {
                return set_chord(trial, z, direction);
            }
        }
        self.in_face = true;
        let mut sum = 0.0;
        for ((d, z), g) in direction.iter_mut().zip(z).zip(gradient) {
            *d = if *z > 0.0 { keep * *d - (g - level) } else { 0.0 };
            sum += *d;
        }
        // The sum must stay zero to the last digit, or rounding would carry the point off.
        let drift = sum / free as f64;
        let mut allowed = f64::INFINITY;
        for (d, z) in direction.iter_mut().zip(z) {
            *d -= if *z > 0.0 { drift } else { 0.0 };
            if *d < 0.0 && -z / *d < allowed {
                allowed = -z / *d;
            }
        }
        // A step that would run into the boundary long before its usual length is not worth a
        // product: project right away.
        if allowed < 0.5 * self.spectral {
            for ((t, z), d) in trial.iter_mut().zip(z).zip(&*direction) {
                *t = z + self.spectral * d;
            }
            if slope_to(trial, z, gradient) < 0.0 {
                self.in_face = false;
                set_chord(trial, z, direction);
            }
        }
    }

    /// Moves along `direction` by exact line search within the simplex. `image` is K·direction.
    fn advance(
        &mut self,
        alpha: f64,
        z: &mut [f64],
        gradient: &mut [f64],
        direction: &[f64],
        image: &mut [f64],
    ) -> Result<()> {
        let length2 = vector::dot(direction, direction);
        if length2 == 0.0 {
            return Ok(());
        }
        vector::axpy(alpha, direction, image);
        let curvature = vector::dot(direction, image);
        let slope = vector::dot(direction, gradient);
        if curvature <= -1e-9 * length2 {
            return Err(Error::NotPsd {
                what: "the mixed kernel plus alpha".to_owned(),
                eigenvalue: curvature / length2,
            });
        }
        let wanted = if curvature > 0.0 { -slope / curvature } else { f64::INFINITY };
        let mut allowed = f64::INFINITY;
        for (z, d) in z.iter().zip(direction) {
            if *d < 0.0 && -z / d < allowed {
                allowed = -z / d;
            }
        }
        let step = wanted.min(allowed);
        if !step.is_finite() {
            return Ok(());
        }
        self.spectral = if curvature > 0.0 { length2 / curvature } else { self.spectral };
        let blocked = wanted > allowed;
        for (z, d) in z.iter_mut().zip(direction) {
            // What reaches the boundary is put there exactly.
            let hits = blocked && *d < 0.0 && -*z / d <= allowed;
            *z = if hits { 0.0 } else { (*z + step * d).max(0.0) };
        }
        vector::axpy(step, image, gradient);
        if self.in_face && blocked {
            self.rest = if wanted.is_finite() { wanted - allowed } else { 0.0 };
        } else if self.in_face && curvature > 0.0 {
            // The next direction is conjugate to this one by construction, not by a recurrence
            // that rounding would spoil.
            let (level, _) = level(z, gradient);
            let mut product = 0.0;
            for ((z, g), image) in z.iter().zip(&*gradient).zip(&*image) {
                product += if *z > 0.0 { (g - level) * image } else { 0.0 };
            }
            self.keep = product / curvature;
        }
        Ok(())
    }
}

/// The mean of the gradient over the positive entries, and their number.
fn level(z: &[f64], gradient: &[f64]) -> (f64, usize) {
    let (mut sum, mut free) = (0.0, 0usize);
    for (z, g) in z.iter().zip(gradient) {
        if *z > 0.0 {
            sum += g;
            free += 1;
        }
    }
    (sum / free as f64, free)
}

/// Projects `trial` onto the simplex and returns the slope of the way there.
fn slope_to(trial: &mut [f64], z: &[f64], gradient: &[f64]) -> f64 {
    project(trial);
    trial.iter().zip(z).zip(gradient).map(|((t, z), g)| (t - z) * g).sum()
}

fn set_chord(trial: &[f64], z: &[f64], direction: &mut [f64]) {
    for ((d, t), z) in direction.iter_mut().zip(trial).zip(z) {
        *d = t - z;
    }
}

/// Euclidean projection onto the simplex, in place: entries above a common level keep what
/// they have above it, and the level is found by dropping the others pass by pass.
fn project(v: &mut [f64]) {
    let mut level = (vector::sum(v) - 1.0) / v.len() as f64;
    let mut above = v.len();
    loop {
        let (mut sum, mut count) = (0.0, 0usize);
        for &value in v.iter() {
            if value > level {
                sum += value;
                count += 1;
            }
        }
        if count == above || count == 0 {
            break;
        }
        above = count;
        level = (sum - 1.0) / count as f64;
    }
    for value in v.iter_mut() {
        *value = (*value - level).max(0.0);
    }
}
