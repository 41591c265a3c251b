//! Quality of labels against a known division.

use super::caller::{self, Output, optional, set};
use super::fit::stoppable;
use super::guard;
use super::handle::scmk_model;
use super::options::checked_index;
use super::status::scmk_status;
use super::texts;
use crate::arithmetic::Environment;
use crate::metrics::{METRICS, metric};
use std::ffi::c_char;

/// Compares labels with a known division of the same samples. The numbers of the labels do not
/// matter, only which samples share one.
///
/// name: NUL-terminated; see scmk_metric_name for all names.
/// truth, labels: n elements each, n at least 1. out: receives one double.
///
/// Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_UNKNOWN_OPTION, SCMK_E_DIMENSION, SCMK_E_TOO_LARGE,
/// SCMK_E_INVALID_ARGUMENT (misaligned), SCMK_E_OUT_OF_MEMORY; the text is read with
/// scmk_last_error. It cannot be stopped: for many millions of labels, see scmk_model_metric. Any
/// thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_metric(
    name: *const c_char,
    truth: *const i32,
    labels: *const i32,
    n: usize,
    out: *mut f64,
) -> scmk_status {
    guard::call(|| {
        // SAFETY: the caller promises text that ends with a NUL, n elements at truth and labels
        // that do not change until this call returns, and room for one double.
        let (name, truth, labels, out) = unsafe {
            (
                caller::text("name", name)?,
                caller::input("truth", truth, n)?,
                caller::input("labels", labels, n)?,
                Output::one("out", out)?,
            )
        };
        out.set(metric(name, truth, labels)?);
        Ok(())
    })
}

/// Compares labels with a known division as scmk_metric does, but obeys the model: its option
/// time_limit, its progress function and scmk_cancel.
///
/// labels: NULL for those of the model's last fit; n is then its number of samples.
/// name, truth, n, out: as for scmk_metric.
///
/// Errors: as for scmk_metric, SCMK_E_STATE (no fit yet), SCMK_E_STOPPED. One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_model_metric(
    model: *mut scmk_model,
    name: *const c_char,
    truth: *const i32,
    labels: *const i32,
    n: usize,
    out: *mut f64,
) -> scmk_status {
    let host = Environment::current();
    guard::on_model(model, |state, control| {
        // SAFETY: the caller promises text that ends with a NUL, n elements at truth, n or NULL at
        // labels, none of which change until this call returns, and room for one double.
        let (name, truth, labels, out) = unsafe {
            let given = !labels.is_null();
            (
                caller::text("name", name)?,
                caller::input("truth", truth, n)?,
                given.then(|| caller::input("labels", labels, n)).transpose()?,
                Output::one("out", out)?,
            )
        };
        out.set(stoppable(state, control, host, |model, watch| {
            model.metric(name, truth, labels, watch)
        })?);
        Ok(())
    })
}

/// Number of metrics. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_metric_count() -> usize {
    guard::value(0, || METRICS.len())
}

/// Describes a metric. doc may be NULL. Strings are static: never free them.
///
/// index: from 0 to scmk_metric_count() - 1. name: its name. doc: one line of documentation.
///
/// Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_ARGUMENT (index). Any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_metric_name(
    index: usize,
    name: *mut *const c_char,
    doc: *mut *const c_char,
) -> scmk_status {
    guard::call(|| {
        let index = checked_index(index, METRICS.len())?;
        // SAFETY: the caller promises room for one element at each output that is not NULL.
        let (name, doc) = unsafe { (Output::one("name", name)?, optional("doc", doc)?) };
        let texts = &texts::metrics()[index];
        name.set(texts.name.as_ptr());
        set(doc, texts.doc.as_ptr());
        Ok(())
    })
}
