//! What a fit leaves behind, and the infos that can be asked for by name.

use crate::error::{Error, Result};
use crate::matrix::{Matrix, Similarity};
use crate::options::{Method, Normalize};

/// How a fit ended. All of them leave a result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The changes of the objective, and of Z or the labels, fell below `tolerance`.
    Converged = 0,
    /// `max_iterations` were made.
    IterationLimit = 1,
    /// `time_limit` was reached; the last complete iterate is the result.
    TimeLimit = 2,
    /// The host asked to stop; the last complete iterate is the result.
    Cancelled = 3,
}

impl Outcome {
    /// The outcome in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::IterationLimit => "iteration limit",
            Self::TimeLimit => "time limit",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Wall-clock seconds of the parts of a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Seconds {
    pub total: f64,
    pub similarity: f64,
    pub embedding: f64,
    pub weights: f64,
    pub labels: f64,
}

/// The result of a fit. What a method does not have is `None`.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The method that was run.
    pub method: Method,
    /// One label for each sample, from 0, numbered by first occurrence.
    pub labels: Vec<i32>,
    /// One weight for each kernel. `scmk`: Σ√w = 1; `rmkkm`: Σw^γ = 1; all others: Σw = 1. Methods
    /// that do not learn weights have equal ones.
    pub weights: Vec<f64>,
    /// n×c: what the labels were read from (`scmk`, `sc`, `aasc`).
    pub embedding: Option<Matrix>,
    /// Z: columns sum to 1 (`scmk`).
    pub similarity: Option<Similarity>,
    /// The objective after each iteration, of the best restart where there are several; it never
    /// rises.
    pub trace: Vec<f64>,
    /// The objective at the end.
    pub objective: f64,
    /// Worst duality gap of the last Z-step, relative to max|K_w| + α (`scmk`).
    pub kkt_residual: Option<f64>,
    /// The α that Z was found with: larger than the option where that is lost in the rounding of
    /// the kernel (`scmk`).
    pub alpha_used: Option<f64>,
    /// What `kkt_residual` holds for (`scmk`).
    pub certified: Option<Certified>,
    /// Worst residual |Lp − λp| of an eigenvector p, relative to the largest degree (`scmk`, `sc`,
    /// `aasc`).
    pub embedding_residual: Option<f64>,
    /// Connected components of the graph (`scmk`, `sc`, `aasc`).
    pub components: Option<usize>,
    /// How the fit ended.
    pub outcome: Outcome,
    /// Where the time went.
    pub seconds: Seconds,
    /// Worker threads used.
    pub threads: usize,
    /// Estimate, made before the fit, of the most memory it needs beyond the kernels, in bytes.
    pub memory_required: usize,
    /// What a warm start goes by (`scmk`).
    pub(crate) course: Course,
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

/// How a fit came to its end, for the one that starts there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    /// Tr(K_w − 2K_wZ + ZᵀK_wZ).
    pub(crate) fidelity: f64,
    /// The scales it was found with.
    pub(crate) normalize: Normalize,
    /// The factor by which the changes of Z fell in the last iterations.
    pub(crate) factor: f64,
}

impl Default for Course {
    /// Nothing is known.
    fn default() -> Self {
        Self { fidelity: f64::INFINITY, normalize: Normalize::None, factor: 1.0 }
    }
}

impl Fit {
    /// The parts that every method has; the others are absent.
    pub(crate) fn new(
        labels: Vec<i32>,
        objective: f64,
        outcome: Outcome,
        seconds: Seconds,
    ) -> Self {
        Self {
            method: Method::Scmk,
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
            outcome,
            seconds,
            threads: 0,
            memory_required: 0,
            course: Course::default(),
        }
    }

    /// That what a method left are numbers. A figure that is not there yet is NaN, but only where no
    /// iteration was complete.
    pub(crate) fn check_finite(&self) -> Result<()> {
        let trace = self.trace.iter().copied();
        let objective = (!self.trace.is_empty()).then_some(self.objective);
        let numbers = trace.chain(objective).chain(self.weights.iter().copied());
        match numbers.into_iter().find(|number| !number.is_finite()) {
            None => Ok(()),
            Some(residual) => Err(Error::NoConvergence {
                method: self.method.name(),
                residual,
                iterations: self.iterations(),
            }),
        }
    }

    /// Outer iterations made.
    pub fn iterations(&self) -> usize {
        self.trace.len()
    }
}

/// An info that can be asked for by name; `None` where the method does not have it.
#[derive(Clone, Copy)]
pub enum InfoKind {
    /// A real number.
    Real(fn(&Fit) -> Option<f64>),
    /// A whole number.
    Int(fn(&Fit) -> Option<i64>),
}

/// Every info: name, value, documentation.
pub const INFOS: &[(&str, InfoKind, &str)] = &[
    (
        "iterations",
        InfoKind::Int(|f| Some(f.iterations() as i64)),
        "iterations made, of the best restart where there are several",
    ),
    (
        "objective",
        InfoKind::Real(|f| Some(f.objective).filter(|objective| !objective.is_nan())),
        "final value of the objective",
    ),
    (
        "kkt_residual",
        InfoKind::Real(|f| f.kkt_residual),
        "worst duality gap of a column of Z, relative to max|K_w| + alpha",
    ),
    (
        "embedding_residual",
        InfoKind::Real(|f| f.embedding_residual),
        "worst residual of an eigenvector, relative to the largest degree",
    ),
    (
        "alpha_used",
        InfoKind::Real(|f| f.alpha_used),
        "the alpha that Z was found with: larger than the option where that is below 1e-13 of the \
         kernel and lost in its rounding",
    ),
    (
        "has_similarity",
        InfoKind::Int(|f| Some(f.similarity.is_some().into())),
        "1 if the result has a similarity, with kkt_residual, alpha_used and similarity_nnz, else 0",
    ),
    (
        "has_embedding",
        InfoKind::Int(|f| Some(f.embedding.is_some().into())),
        "1 if the result has an embedding, with embedding_residual and components, else 0",
    ),
    ("samples", InfoKind::Int(|_| None), "samples of the model; known before a fit"),
    ("clusters", InfoKind::Int(|_| None), "clusters asked for; known before a fit"),
    (
        "views",
        InfoKind::Int(|_| None),
        "views of the model: each call that added features or a kernel added one; known before a fit",
    ),
    (
        "kernels",
        InfoKind::Int(|f| Some(f.weights.len() as i64)),
        "kernels of the model, as many as weights; known before a fit",
    ),
    ("components", InfoKind::Int(|f| Some(f.components? as i64)), "connected parts of the graph"),
    (
        "similarity_nnz",
        InfoKind::Int(|f| Some(f.similarity.as_ref()?.nnz() as i64)),
        "nonzero entries of Z",
    ),
    (
        "outcome",
        InfoKind::Int(|f| Some(f.outcome as i64)),
        "0 converged, 1 iteration limit, 2 time limit, 3 cancelled",
    ),
    ("seconds", InfoKind::Real(|f| Some(f.seconds.total)), "wall-clock seconds of the fit"),
    ("seconds_similarity", InfoKind::Real(|f| Some(f.seconds.similarity)), "of which for Z"),
    ("seconds_embedding", InfoKind::Real(|f| Some(f.seconds.embedding)), "of which for P"),
    (
        "seconds_weights",
        InfoKind::Real(|f| Some(f.seconds.weights)),
        "of which for the weights and K_w",
    ),
    ("seconds_labels", InfoKind::Real(|f| Some(f.seconds.labels)), "of which for the labels"),
    ("threads", InfoKind::Int(|f| Some(f.threads as i64)), "worker threads used"),
    (
        "memory_required",
        InfoKind::Int(|f| Some(f.memory_required as i64)),
        "bytes a fit needs at most beyond the kernels, estimated; known before a fit",
    ),
    (
        "rescaled_kernels",
        InfoKind::Int(|_| None),
        "polynomial kernels of features outside 1e-30 to 1e30, which were divided by a power of two \
         first, so that a counts relative to it; known before a fit",
    ),
    (
        "memory_kernels",
        InfoKind::Int(|_| None),
        "bytes of the kernels that the library itself holds, borrowed ones not; known before a fit",
    ),
];
