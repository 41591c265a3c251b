//! Fitting, watching and stopping.

use super::caller::Output;
use super::guard;
use super::handle::{Progress, State, scmk_model};
use super::status::scmk_status;
use super::texts;
use crate::arithmetic::Environment;
use crate::error::{Error, Result};
use crate::model::{Model, Watch};
use crate::monitor::{self, Control};
use std::ffi::{c_char, c_void};

/// The host's progress function. It is called on the thread that made the call, after each outer
/// iteration of a fit and about ten times a second in between, also while kernels are added; and it
/// stops the call by returning anything but 0.
///
/// user: as given to scmk_set_progress.
/// step: "kernels" while kernels are built or checked; in a fit "similarity", "embedding",
/// "weights", "labels", or "iteration" when an outer iteration is complete; a static string.
/// iteration: complete outer iterations. Methods that restart (option restarts) count complete restarts
/// instead, and tell the best objective so far.
/// fraction: how much of the step is done, from 0 to 1.
/// objective: after the last complete iteration; NaN before the first.
///
/// Every call on the same model answers SCMK_E_BUSY here, but for scmk_cancel and
/// scmk_error_message. The floating-point environment is the host's. The function must return: no
/// longjmp may leave it, and an exception that does ends the process.
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

/// Sets the function that is told how far a call has come. A result of an earlier fit stays.
///
/// fn: NULL for none. user: handed to it as it is; it must be usable on every thread that calls
/// scmk_fit or adds kernels to this model, until another function is set or the model is destroyed.
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
/// scmk_info_int(model, "outcome", ...) tells. Stopped before there was one, all labels are 0 and the
/// info iterations is 0; scmk has Z = I and the first unit vectors for an embedding, the other
/// methods have neither an embedding nor an objective.
///
/// Errors: SCMK_E_STATE (no kernel), SCMK_E_OUT_OF_MEMORY, SCMK_E_THREADS, SCMK_E_NOT_PSD (the
/// mixed kernel plus alpha is indefinite), SCMK_E_INVALID_ARGUMENT (options that do not go together),
/// SCMK_E_NO_CONVERGENCE; a result of an earlier fit then stays. One thread at a time.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_fit(model: *mut scmk_model) -> scmk_status {
    let host = Environment::current();
    guard::on_model(model, |state, control| {
        let progress = state.progress;
        let mut report = |now| progress.is_some_and(|progress| tell(progress, host, now));
        let result = match progress {
            Some(_) => state.model.fit(control, Some(&mut report)).map(|_| ()),
            None => state.model.fit(control, None).map(|_| ()),
        };
        // Whatever was asked of this fit has been answered.
        control.reset();
        result
    })
}

/// Scores numbers of clusters without building kernels again. The infos suggested_clusters,
/// suggested_next and suggested_confidence then tell the best number, or 1 if the samples do not fall
/// into clusters, the one to look at next, and how sure that is. A model of 0 clusters does this in every
/// fit. A result of an earlier fit stays; the number of clusters of the model does not change.
///
/// from, to: the range, from 1 to n_samples; 0 and 0 leave it to the library, and the infos
/// suggested_from and suggested_to tell it. Of large numbers only some are looked at, and scores between
/// them are interpolated.
/// scores: len elements; len is at least to - from + 1, and that many are written, larger ones are
/// better. Where the range is the library's, as many as there are and fit. May be NULL when len is 0.
///
/// Errors: as for scmk_fit, and SCMK_E_DIMENSION, SCMK_E_NULL_ARGUMENT, SCMK_E_STOPPED. Nothing is
/// written then. One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_suggest_clusters(
    model: *mut scmk_model,
    from: usize,
    to: usize,
    scores: *mut f64,
    len: usize,
) -> scmk_status {
    let host = Environment::current();
    guard::on_model(model, |state, control| {
        let range = Some((from, to)).filter(|&range| range != (0, 0));
        let needed = match range {
            Some((from, to)) => to.saturating_sub(from).saturating_add(1),
            None => len,
        };
        let out = (len > 0).then(|| {
            // SAFETY: the caller promises len elements at scores, used by nobody else.
            unsafe { Output::new("scores", scores, len, needed) }
        });
        let out = out.transpose()?;
        stoppable(state, control, host, |model, watch| {
            let suggestion = model.suggest_clusters(range, watch)?;
            if let Some(out) = out {
                out.fill(suggestion.scores.iter().copied());
            }
            Ok(())
        })
    })
}

/// Asks the call that is running on this model to stop soon. scmk_fit then returns SCMK_OK with the
/// outcome SCMK_OUTCOME_CANCELLED; scmk_add_kernel, scmk_borrow_kernel, scmk_add_features,
/// scmk_suggest_clusters, scmk_similarity, scmk_similarity_csc and scmk_model_metric return SCMK_E_STOPPED and leave the
/// model as it was. All others are too short to be stopped.
///
/// If no call is running, or none that stops for it, the next scmk_fit on this model stops at once: a
/// cancel that comes just before the fit it is meant for is not lost. The fit that it meets uses it
/// up, also if it came too late to matter.
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

/// Tells the host, in its own floating-point environment; true if it wants to stop.
fn tell(Progress { function, user }: Progress, host: Environment, now: monitor::Progress) -> bool {
    // SAFETY: scmk_set_progress makes the caller promise a function of this type that may be called
    // with `user` on the thread that made the call, which is this one.
    let stop = host.during(|| unsafe {
        let step = texts::step(now.step).as_ptr();
        function(user, step, now.iteration as i64, now.fraction, now.objective)
    });
    stop != 0
}

/// Runs a call other than a fit that can be stopped. A cancel that came before it is for the next
/// fit, and waits.
pub(super) fn stoppable<T>(
    state: &mut State,
    control: &Control,
    host: Environment,
    work: impl FnOnce(&mut Model<'static>, Watch<'_>) -> Result<T>,
) -> Result<T> {
    let waiting = control.take();
    let (progress, mut refused) = (state.progress, false);
    let mut report = |now| {
        refused |= progress.is_some_and(|progress| tell(progress, host, now));
        refused
    };
    let watch =
        Watch { control: Some(control), progress: progress.is_some().then_some(&mut report as _) };
    let result = work(&mut state.model, watch);
    if waiting {
        control.cancel();
    } else if refused || matches!(result, Err(Error::Stopped { .. })) {
        // Also if the progress function asked too late: it meant this call.
        control.reset();
    }
    result
}
