//! Status codes. A number, once published, keeps its meaning for ever.

use super::{guard, texts};
use crate::error::Error;
use std::ffi::{CStr, c_char};

/// What every call answers: SCMK_OK, or a negative SCMK_E_ code. The text belonging to an error
/// is read with scmk_error_message.
#[allow(non_camel_case_types)]
pub type scmk_status = i32;

/// Success.
pub const SCMK_OK: scmk_status = 0;
/// A required pointer is NULL.
pub const SCMK_E_NULL_ARGUMENT: scmk_status = -1;
/// The model was never created or has been destroyed.
pub const SCMK_E_INVALID_HANDLE: scmk_status = -2;
/// A value outside of what its argument allows, text that is not UTF-8, a misaligned pointer.
pub const SCMK_E_INVALID_ARGUMENT: scmk_status = -3;
/// No option, info, metric or kernel of that name; the message suggests the nearest one.
pub const SCMK_E_UNKNOWN_OPTION: scmk_status = -4;
/// Sizes that do not fit together, or a buffer that is too short.
pub const SCMK_E_DIMENSION: scmk_status = -5;
/// A size whose memory cannot be addressed.
pub const SCMK_E_TOO_LARGE: scmk_status = -6;
/// NaN or an infinity in the input.
pub const SCMK_E_NOT_FINITE: scmk_status = -7;
/// A kernel that differs from its transpose by more than a relative 1e-8.
pub const SCMK_E_ASYMMETRIC: scmk_status = -8;
/// A kernel with a clearly negative eigenvalue.
pub const SCMK_E_NOT_PSD: scmk_status = -9;
/// A kernel that tells the samples apart in no way: zero or constant.
pub const SCMK_E_DEGENERATE: scmk_status = -10;
/// A call out of order: a fit without kernels, a result before a fit, or one the method does not have.
pub const SCMK_E_STATE: scmk_status = -11;
/// Another call, perhaps of another thread, is using the model.
pub const SCMK_E_BUSY: scmk_status = -12;
/// Memory that could not be had, or more than the option memory_limit allows.
pub const SCMK_E_OUT_OF_MEMORY: scmk_status = -13;
/// The worker threads could not be started.
pub const SCMK_E_THREADS: scmk_status = -14;
/// A numerical method did not reach its accuracy.
pub const SCMK_E_NO_CONVERGENCE: scmk_status = -15;
/// A bug in this library, contained. The model can only be destroyed; others are not affected.
pub const SCMK_E_PANIC: scmk_status = -16;
/// A call other than scmk_fit was stopped by scmk_cancel, the progress function or time_limit before
/// it was complete. (A fit that is stopped is SCMK_OK with the info "outcome".)
pub const SCMK_E_STOPPED: scmk_status = -17;

/// The status code of an error.
pub(super) fn of(error: &Error) -> scmk_status {
    match error {
        Error::NullArgument { .. } => SCMK_E_NULL_ARGUMENT,
        Error::InvalidHandle => SCMK_E_INVALID_HANDLE,
        Error::InvalidArgument { .. } | Error::Negative { .. } => SCMK_E_INVALID_ARGUMENT,
        Error::UnknownName { .. } => SCMK_E_UNKNOWN_OPTION,
        Error::Dimension { .. } => SCMK_E_DIMENSION,
        Error::TooLarge { .. } => SCMK_E_TOO_LARGE,
        Error::NotFinite { .. } => SCMK_E_NOT_FINITE,
        Error::Asymmetric { .. } => SCMK_E_ASYMMETRIC,
        Error::NotPsd { .. } => SCMK_E_NOT_PSD,
        Error::Degenerate { .. } => SCMK_E_DEGENERATE,
        Error::State(_) | Error::Absent { .. } => SCMK_E_STATE,
        Error::Busy => SCMK_E_BUSY,
        Error::OutOfMemory { .. } => SCMK_E_OUT_OF_MEMORY,
        Error::Threads { .. } => SCMK_E_THREADS,
        Error::NoConvergence { .. } => SCMK_E_NO_CONVERGENCE,
        Error::Panic { .. } => SCMK_E_PANIC,
        Error::Stopped { .. } => SCMK_E_STOPPED,
    }
}

fn name(status: scmk_status) -> &'static CStr {
    match status {
        SCMK_OK => c"SCMK_OK",
        SCMK_E_NULL_ARGUMENT => c"SCMK_E_NULL_ARGUMENT",
        SCMK_E_INVALID_HANDLE => c"SCMK_E_INVALID_HANDLE",
        SCMK_E_INVALID_ARGUMENT => c"SCMK_E_INVALID_ARGUMENT",
        SCMK_E_UNKNOWN_OPTION => c"SCMK_E_UNKNOWN_OPTION",
        SCMK_E_DIMENSION => c"SCMK_E_DIMENSION",
        SCMK_E_TOO_LARGE => c"SCMK_E_TOO_LARGE",
        SCMK_E_NOT_FINITE => c"SCMK_E_NOT_FINITE",
        SCMK_E_ASYMMETRIC => c"SCMK_E_ASYMMETRIC",
        SCMK_E_NOT_PSD => c"SCMK_E_NOT_PSD",
        SCMK_E_DEGENERATE => c"SCMK_E_DEGENERATE",
        SCMK_E_STATE => c"SCMK_E_STATE",
        SCMK_E_BUSY => c"SCMK_E_BUSY",
        SCMK_E_OUT_OF_MEMORY => c"SCMK_E_OUT_OF_MEMORY",
        SCMK_E_THREADS => c"SCMK_E_THREADS",
        SCMK_E_NO_CONVERGENCE => c"SCMK_E_NO_CONVERGENCE",
        SCMK_E_PANIC => c"SCMK_E_PANIC",
        SCMK_E_STOPPED => c"SCMK_E_STOPPED",
        _ => UNKNOWN,
    }
}

const UNKNOWN: &CStr = c"SCMK_E_UNKNOWN";

/// The ABI number of the library that is loaded, to be compared with SCMK_ABI_VERSION.
/// Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_abi_version() -> u32 {
    guard::value(0, || super::SCMK_ABI_VERSION)
}

/// The release of the library that is loaded, such as "1.2.3". The string is static: never free
/// it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_version() -> *const c_char {
    guard::value(texts::EMPTY.as_ptr(), || texts::VERSION.as_ptr())
}

/// The name of a status code, such as "SCMK_E_NOT_FINITE"; "SCMK_E_UNKNOWN" for a number that is
/// no code, never NULL. The string is static: never free it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_status_name(status: scmk_status) -> *const c_char {
    guard::value(UNKNOWN.as_ptr(), || name(status).as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes as this file declares them.
    fn declared() -> Vec<(&'static str, scmk_status)> {
        include_str!("status.rs")
            .lines()
            .filter_map(|line| line.strip_prefix("pub const "))
            .map(|line| {
                let (name, value) = line.split_once(": scmk_status = ").unwrap();
                (name, value.trim_end_matches(';').parse().unwrap())
            })
            .collect()
    }

    #[test]
    fn every_status_code_has_its_own_number_and_its_name() {
        let declared = declared();
        assert_eq!(declared.len(), 18);
        for (index, &(known, status)) in declared.iter().enumerate() {
            assert_eq!(status, -(index as i32));
            assert_eq!(name(status).to_str(), Ok(known));
        }
        for unknown in [1, -18, i32::MIN, i32::MAX] {
            assert_eq!(name(unknown), UNKNOWN);
        }
    }
}
