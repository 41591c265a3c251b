//! Robust kernel k-means (Du et al. 2015) on the mean of the kernels: the sum of distances, not of
//! squared ones, to the centres. Every sample pulls at its centre with 1/(2·distance), so that one
//! far away does not drag it along.

use super::Spec;
use super::partition::{self, Robust, fit_mean};

pub(super) const METHOD: Spec = partition::spec(
    "rkkm",
    "robust kernel k-means: distances to the centres, not squared ones, on the mean of the kernels (Du et al. 2015)",
    |problem, _| fit_mean(problem, |space| Robust::for_spread(space.spread2()), f64::sqrt),
);
