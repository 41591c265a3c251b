//! What a method leaves behind.

use crate::error::{Error, Result};
use crate::matrix::{Matrix, Similarity};
use crate::outcome::Outcome;
use crate::settings::{Normalize, Weighting};
use std::fmt;

/// Wall-clock seconds of the parts of a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Seconds {
    pub similarity: f64,
    pub embedding: f64,
    pub weights: f64,
    pub labels: f64,
}

/// What a method found. What it does not have is `None`.
#[derive(Clone, Debug)]
pub struct Solution {
    /// One label for each sample, from 0, numbered by first occurrence.
    pub labels: Vec<i32>,
    /// One weight for each kernel. `scmk` by the model: Σ√w = 1; `rmkkm`: Σw^γ = 1; all others: Σw = 1.
    /// Methods that do not learn weights have equal ones.
    pub weights: Vec<f64>,
    /// n×c: what the labels were read from.
    pub embedding: Option<Matrix>,
    /// Z: columns sum to 1.
    pub similarity: Option<Similarity>,
    /// The objective after each iteration, of the best restart where there are several; it never
    /// rises.
    pub trace: Vec<f64>,
    /// The objective at the end.
    pub objective: f64,
    /// Worst duality gap of the last Z-step, relative to max|K_w| + α.
    pub kkt_residual: Option<f64>,
    /// The α that Z was found with: larger than the option where that is lost in the rounding of
    /// the kernel.
    pub alpha_used: Option<f64>,
    /// What `kkt_residual` holds for.
    pub certified: Option<Certified>,
    /// Worst residual |Lp − λp| of an eigenvector p, relative to the largest degree.
    pub embedding_residual: Option<f64>,
    /// Connected components of the graph that labels were read from.
    pub components: Option<usize>,
    /// How far eigenvalue c + 1 of that graph's Laplacian is beyond eigenvalue c.
    pub eigengap: Option<f64>,
    /// Agreement of the labels with those of subsamples, if it was asked for.
    pub stability: Option<f64>,
    /// The β that Z was found with.
    pub beta_used: Option<f64>,
    /// What the method has to say about its answer; the fit adds what is to be said of any.
    pub(crate) remarks: Vec<Remark>,
    /// How the fit ended.
    pub outcome: Outcome,
    /// Where the time went.
    pub seconds: Seconds,
    /// What a warm start goes by.
    pub(crate) warm_start: WarmStart,
}

/// What the last Z-step was given: Z is optimal for it up to `kkt_residual`. Weights and P of the
/// result were found after it, and differ as much as a further iteration would still change them.
#[derive(Clone, Debug)]
pub struct Certified {
    /// w.
    pub weights: Vec<f64>,
    /// P, n×c; none where nothing pulled at Z (`beta` = 0, or the start).
    pub embedding: Option<Matrix>,
}

/// Something that a user should know of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Remark {
    /// No kernel says about the samples what another one says.
    NoAgreement,
    /// No β divides the graph into c parts: so many are nearest.
    NotDivided { parts: usize, clusters: usize },
    /// So many clusters are single samples.
    SingleSamples { count: usize, clusters: usize },
    /// One cluster has nearly all samples.
    OneCluster { percent: usize, clusters: usize },
    /// The samples are not divided into clusters more than chance would.
    NoStructure,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAgreement => f.write_str(
                "no view or kernel confirms another more than chance would, so their weights are equal",
            ),
            Self::NotDivided { parts, clusters } => write!(
                f,
                "no beta was found that divides the graph into {clusters} parts of two or more samples, \
                 it has {parts}"
            ),
            Self::SingleSamples { count: 1, clusters } => {
                write!(f, "one of {clusters} clusters is a single sample")
            }
            Self::SingleSamples { count, clusters } => {
                write!(f, "{count} of {clusters} clusters are single samples")
            }
            Self::OneCluster { percent, clusters } => {
                write!(f, "one of {clusters} clusters has {percent} % of the samples")
            }
            Self::NoStructure => f.write_str(
                "no number of clusters divides the samples better than chance would, so there is one",
            ),
        }
    }
}

/// How a fit came to its end, for the one that starts there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WarmStart {
    /// Tr(K_w − 2K_wZ + ZᵀK_wZ).
    pub(crate) fidelity: f64,
    /// The scales and the kind of weights it was found with.
    pub(crate) normalize: Normalize,
    pub(crate) weighting: Weighting,
    /// The factor by which the changes of Z fell in the last iterations.
    pub(crate) factor: f64,
}

impl Default for WarmStart {
    /// Nothing is known.
    fn default() -> Self {
        let (normalize, weighting) = (Normalize::None, Weighting::Model);
        Self { fidelity: f64::INFINITY, normalize, weighting, factor: 1.0 }
    }
}

impl Solution {
    /// The parts that every method has; the others are absent.
    pub(crate) fn new(
        labels: Vec<i32>,
        objective: f64,
        outcome: Outcome,
        seconds: Seconds,
    ) -> Self {
        Self {
            labels,
            weights: Vec::new(),
            embedding: None,
            similarity: None,
            trace: Vec::new(),
            objective,
            kkt_residual: None,
            alpha_used: None,
            certified: None,
            embedding_residual: None,
            components: None,
            eigengap: None,
            stability: None,
            beta_used: None,
            remarks: Vec::new(),
            outcome,
            seconds,
            warm_start: WarmStart::default(),
        }
    }

    /// That what a method left are numbers. A figure that is not there yet is NaN, but only where no
    /// iteration was complete.
    pub(crate) fn check_finite(&self, method: &'static str) -> Result<()> {
        let trace = self.trace.iter().copied();
        let objective = (!self.trace.is_empty()).then_some(self.objective);
        let numbers = trace.chain(objective).chain(self.weights.iter().copied());
        match numbers.into_iter().find(|number| !number.is_finite()) {
            None => Ok(()),
            Some(residual) => {
                let iterations = self.iterations();
                Err(Error::NoConvergence { method, residual, iterations })
            }
        }
    }

    /// Outer iterations made.
    pub fn iterations(&self) -> usize {
        self.trace.len()
    }
}
