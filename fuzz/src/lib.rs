//! What the fuzz targets share: reading values from the fuzzer's bytes, and the check that ends a
//! run.

pub mod certificate;
pub mod fits;
pub mod input;
pub mod results;
pub mod watchdog;
#[path = "../../tests/wide/mod.rs"]
mod wide;

use std::sync::OnceLock;

/// Ends the process unless the condition holds.
///
/// A plain panic would not do: inside of a progress function the library's hook notes it down
/// silently instead of printing it.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            $crate::fail(&format!($($message)+), file!(), line!());
        }
    };
}

/// Prints what is done, when SCMK_FUZZ_SHOW is set: how an input reads as calls.
#[macro_export]
macro_rules! show {
    ($($message:tt)+) => {
        if $crate::shows() {
            eprintln!($($message)+);
        }
    };
}

pub fn shows() -> bool {
    static SHOWS: OnceLock<bool> = OnceLock::new();
    *SHOWS.get_or_init(|| std::env::var_os("SCMK_FUZZ_SHOW").is_some())
}

/// Prints why a run failed, and ends the process.
pub fn fail(message: &str, file: &str, line: u32) -> ! {
    eprintln!("FINDING: {message} ({file}:{line})");
    std::process::abort()
}

/// Whether a message is text for one line.
pub fn is_one_line(message: &str) -> bool {
    !message.contains(char::is_control)
}

/// Options that have these values, written as they are.
pub fn set_all(values: &[(&str, &dyn std::fmt::Display)]) -> scmk::Options {
    let mut options = scmk::Options::default();
    for (name, value) in values {
        options.set_text(name, &value.to_string()).expect("a value that is allowed");
    }
    options
}
