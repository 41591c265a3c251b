//! Everything that can go wrong, one variant for each cause.
//!
//! A message is one line that names the argument, its value and what is allowed. Samples,
//! entries and kernels are counted from 0, as in C, unless the option `index_base` says 1.
//!
//! What a caller wrote enters a message only as an [`excerpt`], so that no error is larger than a
//! few hundred bytes: it can be made when memory has run out.

use crate::outcome::Outcome;
use std::fmt;
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
    #[error("unknown {kind} '{name}': {hint}")]
    UnknownName {
        /// What was looked for: "option", "info", "metric", "kernel".
        kind: &'static str,
        /// The name as given, or its beginning.
        name: String,
        /// What may have been meant.
        hint: Hint,
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
    /// A negative feature where counts are expected.
    #[error(
        "{what} entry ({row}, {col}) is {value}, and tfidf takes counts, which are not negative"
    )]
    Negative {
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
        "{what} is not positive semi-definite: it has an eigenvalue at or below {eigenvalue:.4e}"
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
    /// A call other than a fit that was stopped before it was complete. (A fit that is stopped
    /// succeeds, with its last complete iterate.)
    #[error("the call was stopped before it was complete: {}", by.name())]
    Stopped {
        /// By what: cancelled or the time limit.
        by: Outcome,
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

impl Error {
    /// The same error with entries counted from `base`.
    pub(crate) fn counted_from(mut self, base: usize) -> Self {
        if let Self::NotFinite { row, col, .. }
        | Self::Negative { row, col, .. }
        | Self::Asymmetric { row, col, .. } = &mut self
        {
            (*row, *col) = (*row + base, *col + base);
        }
        self
    }

    /// The same error with the view named that a kernel belongs to.
    pub(crate) fn of_view(mut self, view: &dyn fmt::Display) -> Self {
        if let Self::NotFinite { what, .. }
        | Self::Asymmetric { what, .. }
        | Self::NotPsd { what, .. }
        | Self::Degenerate { what, .. } = &mut self
        {
            if what.starts_with("kernel ") {
                *what = format!("{what} of {view}");
            }
        }
        self
    }
}

/// What somebody may have meant who gave an unknown name.
#[derive(Clone, Debug, PartialEq)]
pub enum Hint {
    /// A known name that differs in a few letters.
    Nearest(&'static str),
    /// The name it has here.
    Called(&'static str),
    /// Where to find it.
    Elsewhere(&'static str),
    /// Nothing is near: all there are.
    Known(String),
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nearest(name) => write!(f, "the nearest known one is '{name}'"),
            Self::Called(name) => write!(f, "here it is called '{name}'"),
            Self::Elsewhere(place) => f.write_str(place),
            Self::Known(names) => write!(f, "there are {names}"),
        }
    }
}

/// Names that users of other libraries look for.
pub(crate) type Synonyms = &'static [(&'static [&'static str], Hint)];

/// That there is nothing called `name`, with what may have been meant.
pub(crate) fn unknown(
    kind: &'static str,
    name: &str,
    known: impl Iterator<Item = &'static str> + Clone,
    synonyms: Synonyms,
) -> Error {
    let is = |other: &&str| name.eq_ignore_ascii_case(other);
    let synonym = synonyms.iter().find(|(names, _)| names.iter().any(is));
    let hint = match synonym {
        Some((_, hint)) => hint.clone(),
        None => nearest(name, known.clone()).map_or_else(|| all(known), Hint::Nearest),
    };
    Error::UnknownName { kind, name: excerpt(name), hint }
}

fn all(known: impl Iterator<Item = &'static str>) -> Hint {
    let mut names = String::new();
    for name in known {
        names.push_str(if names.is_empty() { "" } else { ", " });
        names.push_str(name);
    }
    Hint::Known(names)
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

/// The known name that `name` begins, or else the one closest to it (Levenshtein distance; the first
/// on ties), if it has most letters in common.
fn nearest(name: &str, known: impl Iterator<Item = &'static str> + Clone) -> Option<&'static str> {
    const LONGEST: usize = 48;
    let letters = name.chars().take(LONGEST + 1).count();
    if !(2..=LONGEST).contains(&letters) {
        return None;
    }
    let begun =
        |other: &&str| other.get(..name.len()).is_some_and(|o| o.eq_ignore_ascii_case(name));
    if let Some(whole) = known.clone().find(begun) {
        return Some(whole);
    }
    let distance = |other: &str| {
        let mut row: [usize; LONGEST + 1] = std::array::from_fn(|k| k);
        let length = other.len().min(LONGEST);
        for (i, a) in name.chars().enumerate() {
            let mut diagonal = row[0];
            row[0] = i + 1;
            for (j, b) in other.chars().take(length).enumerate() {
                let substituted = diagonal + usize::from(!a.eq_ignore_ascii_case(&b));
                diagonal = row[j + 1];
                row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
            }
        }
        row[length]
    };
    let closest = known.min_by_key(|other| distance(other))?;
    (2 * distance(closest) <= letters.max(closest.len())).then_some(closest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_of_bounded_length() {
        let name = "al\npha".to_owned() + &"x".repeat(1_000_000);
        let error = unknown("option", &name, ["alpha", "beta"].into_iter(), &[]);
        let message = error.to_string();
        assert!(message.starts_with(r"unknown option 'al\nphaxxx"), "{message}");
        assert!(message.ends_with("xxx...': there are alpha, beta"), "{message}");
        assert!(message.len() < 200 && !message.contains(char::is_control), "{message}");
    }

    #[test]
    fn the_nearest_name_is_suggested_and_none_where_none_is_near() {
        let known = ["alpha", "beta", "kkt_tolerance", "tolerance"];
        let near = |name| nearest(name, known.into_iter());
        assert_eq!(near("alhpa"), Some("alpha"));
        assert_eq!(near("tol"), Some("tolerance"));
        assert_eq!(near("Tolerence"), Some("tolerance"));
        assert_eq!(near("KKT"), Some("kkt_tolerance"));
        for far in ["k", "", "centers", "gamma_ray", "\u{e9}\u{e9}\u{e9}"] {
            assert_eq!(near(far), None, "{far}");
        }
    }

    #[test]
    fn names_of_other_libraries_are_answered_with_ours() {
        const SYNONYMS: Synonyms = &[(&["rbf", "rbfdot"], Hint::Called("gaussian"))];
        let message = unknown("kernel", "RBF", ["gaussian"].into_iter(), SYNONYMS).to_string();
        assert_eq!(message, "unknown kernel 'RBF': here it is called 'gaussian'");
    }
}
