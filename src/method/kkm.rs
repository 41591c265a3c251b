//! Kernel k-means (Schölkopf, Smola and Müller 1998) on the mean of the kernels: the sum of squared
//! distances to the centres, by Lloyd's sweeps, the best of several restarts.

use super::Spec;
use super::partition::{self, Squared, fit_mean};

pub(super) const METHOD: Spec = partition::spec(
    "kkm",
    "kernel k-means: squared distances to the centres, on the mean of the kernels (Schoelkopf et al. 1998)",
    |problem, _| fit_mean(problem, |_| Squared, |unit| unit),
);
