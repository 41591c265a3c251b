//! How a fit ends.

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
