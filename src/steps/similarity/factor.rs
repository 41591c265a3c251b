//! A Cholesky factor that grows, and the substitutions with it.
//!
//! Matrices here have from thirty to a few hundred rows and change by a few rows at a time. Rows are
//! appended, never removed, so that a matrix reached in many small steps costs no more than one
//! factorization of it.

use crate::error::Result;
use crate::memory;
use crate::vector;

/// Right-hand sides that go through a substitution together: each row of the factor is read once
/// for all of them.
pub(super) use crate::vector::SIDES;

/// [`SIDES`] vectors, entry by entry.
pub(super) type Sides = Vec<[f64; SIDES]>;

/// L with LLᵀ = A, row by row.
#[derive(Default)]
pub(super) struct Factor {
    /// What is left of the diagonal, row after row.
    rows: Vec<f64>,
    /// Where each row starts.
    starts: Vec<usize>,
    inverse_diagonal: Vec<f64>,
}

impl Factor {
    pub(super) fn order(&self) -> usize {
        self.inverse_diagonal.len()
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.starts.clear();
        self.inverse_diagonal.clear();
    }

    /// Solves Lx = b in place for several right-hand sides, from entry `from` on; those before are
    /// solved already. Entries before `zeros` are zero in all.
    pub(super) fn forward(&self, zeros: usize, from: usize, sides: &mut [[f64; SIDES]]) {
        vector::substitute(&self.rows, &self.starts, &self.inverse_diagonal, (zeros, from), sides);
    }

    /// Solves Lᵀx = b in place.
    pub(super) fn backward(&self, x: &mut [f64]) {
        vector::substitute_back(&self.rows, &self.starts, &self.inverse_diagonal, x);
    }

    /// Appends rows to A: as many as there are diagonal entries, at most [`SIDES`], each what is
    /// left of the diagonal; `sides` is used as scratch. False, and some rows appended, if A is not
    /// positive definite.
    pub(super) fn append(&mut self, sides: &mut [[f64; SIDES]], diagonal: &[f64]) -> Result<bool> {
        let first = self.order();
        self.forward(0, 0, sides);
        for (k, &diagonal) in diagonal.iter().enumerate() {
            let (order, start) = (first + k, self.rows.len());
            memory::reserve(&mut self.rows, order, "factor")?;
            self.rows.extend(sides[..order].iter().map(|entries| entries[k]));
            // The rows of this call see each other.
            let (before, row) = self.rows.split_at_mut(start);
            for j in first..order {
                let (known, rest) = row.split_at_mut(j);
                let product = vector::dot(&before[self.starts[j]..][..j], known);
                rest[0] = (rest[0] - product) * self.inverse_diagonal[j];
            }
            let pivot = diagonal - vector::dot(row, row);
            if pivot <= 1e-15 * diagonal || !pivot.is_finite() {
                self.rows.truncate(start);
                return Ok(false);
            }
            memory::push(&mut self.starts, start, "factor")?;
            memory::push(&mut self.inverse_diagonal, 1.0 / pivot.sqrt(), "factor")?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive definite matrix.
    fn entry(i: usize, j: usize) -> f64 {
        let point = |i: usize, k: usize| ((i * 7 + k * k) % 13) as f64 / 10.0;
        let product: f64 = (0..90).map(|k| point(i, k) * point(j, k)).sum();
        product + f64::from(u8::from(i == j))
    }

    #[test]
    fn a_matrix_grown_in_any_steps_is_solved() {
        for steps in [vec![1, 1, 1], vec![8, 8, 8, 8, 3], vec![2, 4, 1, 8, 7, 8, 4, 8, 3]] {
            let mut factor = Factor::default();
            for step in steps {
                let first = factor.order();
                let mut sides = vec![[0.0; SIDES]; first + step];
                for (j, side) in sides.iter_mut().enumerate() {
                    (0..step).for_each(|k| side[k] = entry(first + k, j));
                }
                let diagonal: Vec<f64> = (first..first + step).map(|i| entry(i, i)).collect();
                assert!(factor.append(&mut sides, &diagonal).unwrap());
            }
            let n = factor.order();
            let right = |i: usize, k: usize| ((i * 5 + k) % 7) as f64;
            // A side that starts with zeros may be solved from there.
            for zeros in [0, 2] {
                let mut sides = vec![[0.0; SIDES]; n];
                (zeros..n).for_each(|i| (0..SIDES).for_each(|k| sides[i][k] = right(i, k)));
                factor.forward(zeros, zeros, &mut sides);
                for k in 0..SIDES {
                    let mut x: Vec<f64> = sides.iter().map(|entries| entries[k]).collect();
                    factor.backward(&mut x);
                    for i in 0..n {
                        let product: f64 = (0..n).map(|j| entry(i, j) * x[j]).sum();
                        let expected = if i < zeros { 0.0 } else { right(i, k) };
                        assert!((product - expected).abs() < 1e-9);
                    }
                }
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_definite_is_noticed() {
        let mut factor = Factor::default();
        assert!(factor.append(&mut [[0.0; SIDES]], &[1.0]).unwrap());
        assert!(!factor.append(&mut [[2.0; SIDES], [0.0; SIDES]], &[1.0]).unwrap());
    }
}
