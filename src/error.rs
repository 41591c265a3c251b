//! Everything that can go wrong, one variant for each cause.
//!
//! A message is one line that names the argument, its value and what is allowed. Samples,
//! entries and kernels are counted from 0, as in C.

use thiserror::Error;

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed. A failed call leaves the model as it was.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A required pointer is NULL (C only).
    #[error("argument '{argument}' is NULL")]
    NullArgument {
        /// Name of the argument.
        argument: &'static str,
    },
    /// A handle that was never created or has been destroyed (C only).
    #[error("the model handle is not valid: it was never created or has been destroyed")]
    InvalidHandle,
    /// A value outside of what its argument allows.
    #[error("{name} = {value} is not allowed: {allowed}")]
    InvalidArgument {
        /// Name of the argument or option.
        name: String,
        /// The value as given.
        value: String,
        /// What is allowed, in words.
        allowed: String,
    },
    /// No option, info, metric or kernel of that name.
    #[error("unknown {kind} '{}': the nearest known one is '{nearest}'", excerpt(name))]
    UnknownName {
        /// What was looked for: "option", "info", "metric", "kernel".
        kind: &'static str,
        /// The name as given.
        name: String,
        /// The most similar known name.
        nearest: &'static str,
    },
    /// Sizes that do not fit together.
    #[error("{what}: {given} given, {expected}")]
    Dimension {
        /// The size in question.
        what: String,
        /// The size as given.
        given: usize,
        /// What is expected, with the number.
        expected: String,
    },
    /// A size whose memory cannot be addressed.
    #[error("{what} is too large: it cannot be addressed in memory")]
    TooLarge {
        /// The size in question.
        what: String,
    },
    /// NaN or an infinity in the input.
    #[error("{what} entry ({row}, {col}) is {value}")]
    NotFinite {
        /// Which matrix.
        what: String,
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        col: usize,
        /// The entry.
        value: f64,
    },
    /// A kernel that differs from its transpose by more than a relative 1e-8.
    #[error(
        "{what} is not symmetric: entries ({row}, {col}) = {lower} and ({col}, {row}) = {upper}"
    )]
    Asymmetric {
        /// Which matrix.
        what: String,
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        col: usize,
        /// Entry (row, col).
        lower: f64,
        /// Entry (col, row).
        upper: f64,
    },
    /// A kernel with a clearly negative eigenvalue.
    #[error(
        "{what} is not positive semi-definite: it has an eigenvalue at or below {eigenvalue:e}"
    )]
    NotPsd {
        /// Which matrix.
        what: String,
        /// An upper bound of its smallest eigenvalue.
        eigenvalue: f64,
    },
    /// A kernel that tells samples apart in no way.
    #[error("{what} is degenerate: {reason}")]
    Degenerate {
        /// Which matrix.
        what: String,
        /// In which way.
        reason: &'static str,
    },
    /// A part of the result that the fitted method does not have.
    #[error("method {method} has no {what}")]
    Absent {
        /// The method that was fitted.
        method: &'static str,
        /// What was asked for.
        what: String,
    },
    /// A call that does not fit the state of the model.
    #[error("{0}")]
    State(&'static str),
    /// The model is in use by another call (C only).
    #[error("the model is busy: another call is using it")]
    Busy,
    /// Memory that could not be had, or more than `memory_limit` allows.
    #[error("out of memory: {bytes} bytes needed for {what}")]
    OutOfMemory {
        /// Size of the request.
        bytes: usize,
        /// What it was for.
        what: &'static str,
    },
    /// The worker threads could not be started.
    #[error("cannot start {threads} worker threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// A numerical method did not reach its accuracy.
    #[error("{method} did not converge: residual {residual:e} after {iterations} iterations")]
    NoConvergence {
        /// Which method.
        method: &'static str,
        /// What was reached.
        residual: f64,
        /// After how many iterations.
        iterations: usize,
    },
    /// A bug in this library, contained (C only). The handle can only be destroyed.
    #[error("internal error: {message}; please report it")]
    Panic {
        /// The panic's message with file and line.
        message: String,
    },
}

/// The beginning of a text that somebody gave, fit for a message of one line.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let more = if text.chars().nth(LONGEST).is_some() { "..." } else { "" };
    text.chars().take(LONGEST).flat_map(char::escape_debug).chain(more.chars()).collect()
}

/// The same, in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", excerpt(text))
}

/// The known name closest to `name` (Levenshtein distance; the first on ties).
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> &'n str {
    let distance = |other: &str| {
        let mut row: Vec<usize> = (0..=other.chars().count()).collect();
        for (i, a) in name.chars().enumerate() {
            let mut diagonal = row[0];
            row[0] = i + 1;
            for (j, b) in other.chars().enumerate() {
                let substituted = diagonal + usize::from(!a.eq_ignore_ascii_case(&b));
                diagonal = row[j + 1];
                row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
            }
        }
        row[row.len() - 1]
    };
    known.min_by_key(|other| distance(other)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_of_bounded_length() {
        let name = "al\npha".to_owned() + &"x".repeat(1000);
        let error = Error::UnknownName { kind: "option", name, nearest: "alpha" };
        let message = error.to_string();
        assert!(message.starts_with(r"unknown option 'al\nphaxxx"), "{message}");
        assert!(message.ends_with("xxx...': the nearest known one is 'alpha'"), "{message}");
        assert!(message.len() < 200 && !message.contains(char::is_control), "{message}");
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["alpha", "beta", "kkt_tolerance", "tolerance"];
        assert_eq!(nearest("alhpa", known.into_iter()), "alpha");
        assert_eq!(nearest("tol", known.into_iter()), "beta");
        assert_eq!(nearest("Tolerence", known.into_iter()), "tolerance");
    }
}
