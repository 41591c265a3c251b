//! What a fit leaves behind, and the infos that can be asked for by name.

use crate::matrix::{Matrix, Similarity};

/// How a fit ended. All of them leave a result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The changes of Z and of the objective fell below `tolerance`.
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

/// The result of a fit.
#[derive(Clone, Debug)]
pub struct Fit {
    /// One label for each sample, from 0, numbered by first occurrence.
    pub labels: Vec<i32>,
    /// One weight for each kernel: Σ√w = 1.
    pub weights: Vec<f64>,
    /// n×c: what the labels were read from (option `embedding`).
    pub embedding: Matrix,
    /// Z: columns sum to 1.
    pub similarity: Similarity,
    /// The objective after each iteration; it never rises.
    pub trace: Vec<f64>,
    /// The objective at the end.
    pub objective: f64,
    /// Worst duality gap of the last Z-step, relative to max|K_w| + α.
    pub kkt_residual: f64,
    /// Worst residual |Lp − λp| of a column p of the model's P, relative to the largest degree.
    pub embedding_residual: f64,
    /// Connected components of the graph of Z.
    pub components: usize,
    /// How the fit ended.
    pub outcome: Outcome,
    /// Where the time went.
    pub seconds: Seconds,
    /// Worker threads used.
    pub threads: usize,
    /// Estimate, made before the fit, of the most memory it needs beyond the kernels, in bytes.
    pub memory_required: usize,
}

impl Fit {
    /// Outer iterations made.
    pub fn iterations(&self) -> usize {
        self.trace.len()
    }
}

/// An info that can be asked for by name.
#[derive(Clone, Copy)]
pub enum InfoKind {
    /// A real number.
    Real(fn(&Fit) -> f64),
    /// A whole number.
    Int(fn(&Fit) -> i64),
}

/// Every info: name, value, documentation.
pub const INFOS: &[(&str, InfoKind, &str)] = &[
    ("iterations", InfoKind::Int(|f| f.iterations() as i64), "outer iterations made"),
    ("objective", InfoKind::Real(|f| f.objective), "final value of the objective"),
    (
        "kkt_residual",
        InfoKind::Real(|f| f.kkt_residual),
        "worst duality gap of a column of Z, relative to max|K_w| + alpha",
    ),
    (
        "embedding_residual",
        InfoKind::Real(|f| f.embedding_residual),
        "worst residual of an eigenvector in P, relative to the largest degree",
    ),
    ("components", InfoKind::Int(|f| f.components as i64), "connected parts of the graph of Z"),
    ("similarity_nnz", InfoKind::Int(|f| f.similarity.nnz() as i64), "nonzero entries of Z"),
    (
        "outcome",
        InfoKind::Int(|f| f.outcome as i64),
        "0 converged, 1 iteration limit, 2 time limit, 3 cancelled",
    ),
    ("seconds", InfoKind::Real(|f| f.seconds.total), "wall-clock seconds of the fit"),
    ("seconds_similarity", InfoKind::Real(|f| f.seconds.similarity), "of which for Z"),
    ("seconds_embedding", InfoKind::Real(|f| f.seconds.embedding), "of which for P"),
    ("seconds_weights", InfoKind::Real(|f| f.seconds.weights), "of which for the weights and K_w"),
    ("seconds_labels", InfoKind::Real(|f| f.seconds.labels), "of which for the labels"),
    ("threads", InfoKind::Int(|f| f.threads as i64), "worker threads used"),
    (
        "memory_required",
        InfoKind::Int(|f| f.memory_required as i64),
        "bytes a fit needs at most beyond the kernels, estimated; known before a fit",
    ),
];
