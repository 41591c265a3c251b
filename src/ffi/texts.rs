//! Static texts as C sees them: made once, NUL-terminated, alive as long as the library.

use crate::infos;
use crate::kernel::{FUNCTIONS, PREPARATIONS};
use crate::method::METHODS;
use crate::metrics::METRICS;
use crate::monitor::Step;
use crate::options::{Kind, Options, TABLE};
use crate::outcome::Outcome;
use std::ffi::{CStr, CString};
use std::sync::OnceLock;

pub(super) const EMPTY: &CStr = c"";

pub(super) const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no NUL"),
    };

/// A name with its line of documentation.
pub(super) struct Named {
    pub(super) name: CString,
    pub(super) doc: CString,
}

/// The texts of an option.
pub(super) struct OptionTexts {
    pub(super) named: Named,
    pub(super) default: CString,
    /// Comma separated; empty for numbers.
    pub(super) choices: CString,
}

/// A NUL in one of the library's own tables would only cut the text there.
fn text(rust: &str) -> CString {
    CString::new(rust.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

fn named(name: &str, doc: &str) -> Named {
    Named { name: text(name), doc: text(doc) }
}

/// The texts of [`TABLE`], row by row.
pub(super) fn options() -> &'static [OptionTexts] {
    static TEXTS: OnceLock<Vec<OptionTexts>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let defaults = Options::default();
        let texts = TABLE.iter().map(|spec| OptionTexts {
            named: named(spec.name, spec.doc),
            default: text(&defaults.get_text(spec.name).unwrap_or_default()),
            choices: match spec.kind {
                Kind::Text { choices, .. } => text(&choices.join(",")),
                Kind::Real { .. } | Kind::Int { .. } => CString::default(),
            },
        });
        texts.collect()
    })
}

/// What a progress callback calls a step.
pub(super) const fn step(step: Step) -> &'static CStr {
    match step {
        Step::Kernels => c"kernels",
        Step::Similarity => c"similarity",
        Step::Embedding => c"embedding",
        Step::Weights => c"weights",
        Step::Labels => c"labels",
        Step::Iteration => c"iteration",
    }
}

/// The texts of [`infos::TABLE`], row by row.
pub(super) fn infos() -> &'static [Named] {
    static TEXTS: OnceLock<Vec<Named>> = OnceLock::new();
    TEXTS.get_or_init(|| infos::TABLE.iter().map(|info| named(info.name, info.doc)).collect())
}

/// The texts of [`METHODS`], row by row.
pub(super) fn methods() -> &'static [Named] {
    static TEXTS: OnceLock<Vec<Named>> = OnceLock::new();
    TEXTS.get_or_init(|| METHODS.iter().map(|method| named(method.name, method.doc)).collect())
}

/// The texts of [`FUNCTIONS`] with their parameters, row by row.
pub(super) fn functions() -> &'static [(Named, CString)] {
    static TEXTS: OnceLock<Vec<(Named, CString)>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let texts = FUNCTIONS
            .iter()
            .map(|function| (named(function.name, function.doc), text(&function.defaults())));
        texts.collect()
    })
}

/// The texts of [`PREPARATIONS`], row by row.
pub(super) fn preparations() -> &'static [Named] {
    static TEXTS: OnceLock<Vec<Named>> = OnceLock::new();
    TEXTS.get_or_init(|| PREPARATIONS.iter().map(|step| named(step.name, step.doc)).collect())
}

/// The texts of [`METRICS`], row by row.
pub(super) fn metrics() -> &'static [Named] {
    static TEXTS: OnceLock<Vec<Named>> = OnceLock::new();
    TEXTS.get_or_init(|| METRICS.iter().map(|(name, _, doc)| named(name, doc)).collect())
}

/// The outcomes in words, by number.
pub(super) fn outcomes() -> &'static [CString] {
    static TEXTS: OnceLock<Vec<CString>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let all =
            [Outcome::Converged, Outcome::IterationLimit, Outcome::TimeLimit, Outcome::Cancelled];
        all.iter().map(|outcome| text(outcome.name())).collect()
    })
}
