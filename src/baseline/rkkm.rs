//! Robust kernel k-means (Du et al. 2015) on the mean of the kernels: the sum of distances, not of
//! squared ones, to the centres. Every sample pulls at its centre with 1/(2·distance), so that one
//! far away does not drag it along.

use super::partition::{Robust, fit_mean};
use crate::error::Result;
use crate::problem::Problem;
use crate::result::Fit;

pub(crate) fn fit(problem: Problem<'_, '_>) -> Result<Fit> {
    fit_mean(problem, |space| Robust::for_spread(space.spread2()), f64::sqrt)
}
