//! Kernel k-means (Schölkopf, Smola and Müller 1998) on the mean of the kernels: the sum of squared
//! distances to the centres, by Lloyd's sweeps, the best of several restarts.

use super::partition::{Squared, fit_mean};
use crate::error::Result;
use crate::problem::Problem;
use crate::result::Fit;

pub(crate) fn fit(problem: Problem<'_, '_>) -> Result<Fit> {
    fit_mean(problem, |_| Squared, |unit| unit)
}
