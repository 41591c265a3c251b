//! Options by name, and the table of them.

use super::caller::{self, Output, optional, set};
use super::guard;
use super::handle::scmk_model;
use super::status::scmk_status;
use super::texts;
use crate::error::{Error, Result};
use crate::options::{Kind, TABLE};
use std::ffi::c_char;

/// Type of an option or info: a real number (double).
pub const SCMK_TYPE_REAL: i32 = 0;
/// Type of an option or info: a whole number (int64_t).
pub const SCMK_TYPE_INT: i32 = 1;
/// Type of an option that is one of a few names, or of an info that is a text.
pub const SCMK_TYPE_TEXT: i32 = 2;

/// Sets an option to a real number. Options that are whole numbers take a whole value. If the
/// value changes, a result of an earlier fit is discarded.
///
/// name: NUL-terminated; see scmk_option_info for all names.
///
/// Errors: SCMK_E_UNKNOWN_OPTION, SCMK_E_INVALID_ARGUMENT (the message tells the allowed range);
/// the option is then as it was. One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_set_real(
    model: *mut scmk_model,
    name: *const c_char,
    value: f64,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises text that ends with a NUL.
        let name = unsafe { caller::text("name", name) }?;
        state.model.set(|options| options.set_real(name, value))
    })
}

/// Sets an option to a whole number. Options that are real numbers take it too.
///
/// Name, errors, threads: as for scmk_set_real.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_set_int(
    model: *mut scmk_model,
    name: *const c_char,
    value: i64,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises text that ends with a NUL.
        let name = unsafe { caller::text("name", name) }?;
        state.model.set(|options| options.set_int(name, value))
    })
}

/// Sets an option from text: one of its names, or a number as text. So an option of any type can
/// be set from a command line or a settings file.
///
/// value: NUL-terminated. Name, errors, threads: as for scmk_set_real.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_set_text(
    model: *mut scmk_model,
    name: *const c_char,
    value: *const c_char,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises text that ends with a NUL, twice.
        let (name, value) = unsafe { (caller::text("name", name)?, caller::text("value", value)?) };
        state.model.set(|options| options.set_text(name, value))
    })
}

/// Reads an option that is a number; whole numbers are converted.
///
/// name: NUL-terminated. out: receives one double.
///
/// Errors: SCMK_E_UNKNOWN_OPTION, SCMK_E_INVALID_ARGUMENT (the option is text). One thread at a
/// time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_get_real(
    model: *const scmk_model,
    name: *const c_char,
    out: *mut f64,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises text that ends with a NUL, and room for one double.
        let (name, out) = unsafe { (caller::text("name", name)?, Output::one("out", out)?) };
        out.set(state.model.options().get_real(name)?);
        Ok(())
    })
}

/// Reads an option that is a whole number.
///
/// name: NUL-terminated. out: receives one int64_t.
///
/// Errors: SCMK_E_UNKNOWN_OPTION, SCMK_E_INVALID_ARGUMENT (not a whole number). One thread at a
/// time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_get_int(
    model: *const scmk_model,
    name: *const c_char,
    out: *mut i64,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises text that ends with a NUL, and room for one int64_t.
        let (name, out) = unsafe { (caller::text("name", name)?, Output::one("out", out)?) };
        out.set(state.model.options().get_int(name)?);
        Ok(())
    })
}

/// Reads an option of any type as text that scmk_set_text would take back.
///
/// name: NUL-terminated.
/// buf: cap bytes, of which at most cap - 1 are filled with text and one with a NUL. May be NULL
/// when cap is 0. needed: receives the length of the whole text with its NUL; may be NULL. Text
/// that does not fit is cut, and the call succeeds: compare needed with cap.
///
/// Errors: SCMK_E_UNKNOWN_OPTION. One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_get_text(
    model: *const scmk_model,
    name: *const c_char,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises text that ends with a NUL.
        let name = unsafe { caller::text("name", name) }?;
        let value = state.model.options().get_text(name)?;
        // SAFETY: the caller promises cap bytes at buf, and one element at needed or NULL.
        unsafe { caller::copy_text(&value, buf, cap, needed) }
    })
}

/// Number of options. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_option_count() -> usize {
    guard::value(0, || TABLE.len())
}

/// Describes an option. Any output but name may be NULL. Strings are static: never free them.
///
/// index: from 0 to scmk_option_count() - 1.
/// name: its name. type: one of the SCMK_TYPE_ constants.
/// default_value: its default as text, whatever the type.
/// min, max: its smallest and largest value; NaN for text.
/// choices: the values of a text option, comma separated; "" for numbers.
/// doc: one line of documentation.
///
/// Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_ARGUMENT (index). Any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_option_info(
    index: usize,
    name: *mut *const c_char,
    r#type: *mut i32,
    default_value: *mut *const c_char,
    min: *mut f64,
    max: *mut f64,
    choices: *mut *const c_char,
    doc: *mut *const c_char,
) -> scmk_status {
    guard::call(|| {
        let index = checked_index(index, TABLE.len())?;
        // SAFETY: the caller promises room for one element at each output that is not NULL.
        unsafe {
            let name = Output::one("name", name)?;
            let r#type = optional("type", r#type)?;
            let default_value = optional("default_value", default_value)?;
            let bounds = (optional("min", min)?, optional("max", max)?);
            let choices = optional("choices", choices)?;
            let doc = optional("doc", doc)?;

            let (kind, least, most) = match TABLE[index].kind {
                Kind::Real { min, max, .. } => (SCMK_TYPE_REAL, min, max),
                Kind::Int { min, max, .. } => (SCMK_TYPE_INT, min as f64, max as f64),
                Kind::Text { .. } => (SCMK_TYPE_TEXT, f64::NAN, f64::NAN),
            };
            let texts = &texts::options()[index];
            name.set(texts.named.name.as_ptr());
            set(r#type, kind);
            set(default_value, texts.default.as_ptr());
            set(bounds.0, least);
            set(bounds.1, most);
            set(choices, texts.choices.as_ptr());
            set(doc, texts.named.doc.as_ptr());
        }
        Ok(())
    })
}

/// `index` if there is such a row.
pub(super) fn checked_index(index: usize, rows: usize) -> Result<usize> {
    if index < rows {
        return Ok(index);
    }
    Err(Error::InvalidArgument {
        name: "index".to_owned(),
        value: index.to_string(),
        allowed: format!("there are {rows}, counted from 0"),
    })
}
