//! Fitting, watching and stopping.

use super::guard;
use super::handle::{Progress, scmk_model};
use super::status::scmk_status;
use std::ffi::{c_char, c_void};

/// The host's progress function. It is called on the thread that called scmk_fit, after each
/// outer iteration and about ten times a second in between, and stops the fit by returning
/// anything but 0.
///
/// user: as given to scmk_set_progress.
/// step: "similarity", "embedding", "weights", "labels", or "iteration" when an outer iteration
/// is complete; a static string. iteration: complete outer iterations. The methods kkm, rkkm, mkkm
/// and rmkkm count complete restarts instead, and tell the best objective so far.
/// fraction: how much of the step is done, from 0 to 1.
/// objective: after the last complete iteration; NaN before the first.
///
/// Every call on the model that is being fitted answers SCMK_E_BUSY here, but for scmk_cancel and
/// scmk_error_message. The function must return: no longjmp may leave it, and an exception
/// that does ends the process.
#[allow(non_camel_case_types)]
pub type scmk_progress_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        step: *const c_char,
        iteration: i64,
        fraction: f64,
        objective: f64,
    ) -> i32,
>;

/// Sets the function that is told how far a fit has come. A result of an earlier fit stays.
///
/// fn: NULL for none. user: handed to it as it is; it must be usable on every thread that calls
/// scmk_fit on this model, until another function is set or the model is destroyed.
///
/// Errors: only those every call on a model can have. One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_set_progress(
    model: *mut scmk_model,
    r#fn: scmk_progress_fn,
    user: *mut c_void,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        state.progress = r#fn.map(|function| Progress { function, user });
        Ok(())
    })
}

/// Fits the model by the method that the option method names. Method scmk, the default, learns
/// similarity, embedding and weights, and reads the labels. Blocks until
/// it is done; the work runs on threads of the library (option threads), which are joined before
/// it returns.
///
/// A fit that is stopped early, by an iteration or time limit, by scmk_cancel or by the progress
/// function, is SCMK_OK with a readable result, its last complete iterate:
/// scmk_info_int(model, "outcome", ...) tells. Stopped before there was one, scmk, sc and aasc
/// leave all labels 0 and the info iterations 0 (and scmk Z = I; sc and aasc no embedding); the other
/// methods always complete a first assignment.
///
/// Errors: SCMK_E_STATE (no kernel), SCMK_E_OUT_OF_MEMORY, SCMK_E_THREADS, SCMK_E_NOT_PSD (the
/// mixed kernel plus alpha is indefinite), SCMK_E_NO_CONVERGENCE; a result of an earlier fit then stays. One thread at a time.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_fit(model: *mut scmk_model) -> scmk_status {
    guard::on_model(model, |state, control| {
        control.reset();
        let host = state.progress;
        let mut report = |progress: crate::monitor::Progress| {
            host.is_some_and(|Progress { function, user }| {
                // SAFETY: scmk_set_progress makes the caller promise a function of this type that
                // may be called with `user` on the thread that fits, which is this one.
                let stop = unsafe {
                    function(
                        user,
                        progress.step.name().as_ptr(),
                        progress.iteration as i64,
                        progress.fraction,
                        progress.objective,
                    )
                };
                stop != 0
            })
        };
        if host.is_some() {
            state.model.fit(control, Some(&mut report))?;
        } else {
            state.model.fit(control, None)?;
        }
        Ok(())
    })
}

/// Asks the fit that is running on this model to stop soon; it then returns SCMK_OK with the
/// outcome SCMK_OUTCOME_CANCELLED. Without a running fit nothing happens: a later fit forgets it.
///
/// Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_HANDLE. Any thread, at any time; but not from a
/// signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_cancel(model: *mut scmk_model) -> scmk_status {
    guard::beside(model, |entry| {
        entry.control.cancel();
        Ok(())
    })
}
