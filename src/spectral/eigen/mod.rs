//! The smallest eigenpairs of a symmetric positive semi-definite operator, dense for small
//! ones, by a block Davidson iteration for large ones.

mod davidson;
mod dense;
mod tridiagonal;
mod vectors;

pub(crate) use davidson::{MOST_ROUNDS, smallest};
pub(crate) use dense::{decompose, smallest_of};
pub(crate) use vectors::Vectors;

use crate::error::Result;
use crate::monitor::Monitor;

/// A symmetric positive semi-definite operator whose null space is known.
pub(crate) trait Operator: Sync {
    /// Number of rows.
    fn samples(&self) -> usize;

    /// Diagonal entry `i`.
    fn diagonal(&self, i: usize) -> f64;

    /// Dimension of the null space.
    fn nullity(&self) -> usize;

    /// Whether products cost as much as those of a dense matrix.
    fn is_dense(&self) -> bool;

    /// Removes the null space from each column of `block`.
    fn project(&self, block: &mut Vectors) -> Result<()>;

    /// y = operator · x.
    fn apply(&self, x: &Vectors, y: &mut Vectors, monitor: &Monitor<'_>) -> Result<()>;
}

/// Eigenpairs outside of the null space, values rising.
pub(crate) struct Eigenpairs {
    pub(crate) values: Vec<f64>,
    /// The eigenvectors, and behind them the guard vectors of the iteration: a warm start for
    /// the next, slightly different operator.
    pub(crate) vectors: Vectors,
    /// Largest residual |Ax − λx| relative to the largest diagonal entry.
    pub(crate) residual: f64,
    /// How far the next eigenvalue is beyond the last wanted one, as far as the guard vectors
    /// know, relative to the largest diagonal entry. The span of the wanted vectors is known to an
    /// angle of residual/gap.
    pub(crate) gap: f64,
}
