//! What a fit left behind, copied into the caller's arrays.

use super::caller::{self, Output, optional, set};
use super::guard;
use super::handle::{State, scmk_model};
use super::options::{SCMK_TYPE_INT, SCMK_TYPE_REAL, SCMK_TYPE_TEXT, checked_index};
use super::status::scmk_status;
use super::texts;
use crate::error::{Error, Result};
use crate::infos::{self, Value};
use crate::model::SIMILARITY;
use crate::monitor::{Control, Limit};
use crate::outcome::Outcome;
use std::ffi::{CStr, c_char};

/// Outcome of a fit: the changes fell below the option tolerance.
pub const SCMK_OUTCOME_CONVERGED: i64 = 0;
/// Outcome of a fit: max_iterations were made.
pub const SCMK_OUTCOME_ITERATION_LIMIT: i64 = 1;
/// Outcome of a fit: time_limit was reached; the last complete iterate is the result.
pub const SCMK_OUTCOME_TIME_LIMIT: i64 = 2;
/// Outcome of a fit: the host asked to stop; the last complete iterate is the result.
pub const SCMK_OUTCOME_CANCELLED: i64 = 3;

const _: () = {
    assert!(SCMK_OUTCOME_CONVERGED == Outcome::Converged as i64);
    assert!(SCMK_OUTCOME_ITERATION_LIMIT == Outcome::IterationLimit as i64);
    assert!(SCMK_OUTCOME_TIME_LIMIT == Outcome::TimeLimit as i64);
    assert!(SCMK_OUTCOME_CANCELLED == Outcome::Cancelled as i64);
};

/// Whether a call that copies a large result may go on. It is done on the thread of the caller: that
/// is limited by the memory, and no progress is told.
struct Asked<'c> {
    control: &'c Control,
    /// A cancel that came before is for the next fit, and is put back.
    waiting: bool,
    limit: Limit,
}

impl<'c> Asked<'c> {
    fn new(state: &State, control: &'c Control) -> Self {
        let limit = Limit::of_call(state.model.options().time_limit);
        Self { control, waiting: control.take(), limit }
    }

    fn go_on(&self) -> Result<()> {
        if self.control.take() {
            return Err(Error::Stopped { by: Outcome::Cancelled });
        }
        match self.limit.is_over() {
            true => Err(Error::Stopped { by: Outcome::TimeLimit }),
            false => Ok(()),
        }
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.waiting {
            self.control.cancel();
        }
    }
}

/// Copies the labels: one for each sample, from 0, numbered by first occurrence.
///
/// out: len elements; len is at least n_samples, and that many are written.
///
/// Errors: SCMK_E_STATE (no fit yet, or a kernel or option has changed since, or the method has no
/// such result), SCMK_E_NULL_ARGUMENT, SCMK_E_DIMENSION, SCMK_E_INVALID_ARGUMENT (misaligned). On an error
/// nothing is written. One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_labels(
    model: *const scmk_model,
    out: *mut i32,
    len: usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        let labels = &state.model.result()?.labels;
        // SAFETY: the caller promises len elements at out, used by nobody else.
        unsafe { Output::new("out", out, len, labels.len()) }?.fill(labels.iter().copied());
        Ok(())
    })
}

/// Copies the weights: one for each kernel in the order in which they were added. What they sum to is
/// said with each method (see METHODS); those that do not learn weights have equal ones.
///
/// out: len elements; len is at least the number of kernels, and that many are written.
/// Errors, threads: as for scmk_labels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_weights(
    model: *const scmk_model,
    out: *mut f64,
    len: usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        let weights = &state.model.result()?.weights;
        // SAFETY: the caller promises len elements at out, used by nobody else.
        unsafe { Output::new("out", out, len, weights.len()) }?.fill(weights.iter().copied());
        Ok(())
    })
}

/// Copies the share of each view: the sum of the weights of its kernels, divided by the sum of all
/// weights. The shares sum to 1.
///
/// out: len elements; len is at least the number of views (info "views"), and that many are written.
/// Errors, threads: as for scmk_labels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_view_weights(
    model: *const scmk_model,
    out: *mut f64,
    len: usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        let shares = state.model.view_weights()?;
        // SAFETY: the caller promises len elements at out, used by nobody else.
        unsafe { Output::new("out", out, len, shares.len()) }?.fill(shares);
        Ok(())
    })
}

/// Copies the embedding from which the labels were read (options embedding, laplacian), if the method
/// has one: see the info has_embedding.
///
/// out: len elements; len is at least n_samples * n_clusters, and that many are written, column
/// by column: sample i, dimension k is out[i + k * n_samples].
/// Errors, threads: as for scmk_labels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_embedding(
    model: *const scmk_model,
    out: *mut f64,
    len: usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        let values = state.model.embedding()?.values();
        // SAFETY: the caller promises len elements at out, used by nobody else.
        unsafe { Output::new("out", out, len, values.len()) }?.fill(values.iter().copied());
        Ok(())
    })
}

/// Copies the weights that the last step for Z was given. The info kkt_residual certifies Z for these
/// and for scmk_certified_embedding: with them anybody can check it. The weights and the embedding of
/// the result were found after that step, and differ as much as a further iteration would still
/// change them. Method scmk has them, unless it was stopped before its first step was complete.
///
/// out: len elements; len is at least the number of kernels, and that many are written.
/// Errors, threads: as for scmk_labels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_certified_weights(
    model: *const scmk_model,
    out: *mut f64,
    len: usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        let certified =
            state.model.part(SIMILARITY, "certified weights", |fit| fit.certified.as_ref())?;
        let weights = &certified.weights;
        // SAFETY: the caller promises len elements at out, used by nobody else.
        unsafe { Output::new("out", out, len, weights.len()) }?.fill(weights.iter().copied());
        Ok(())
    })
}

/// Copies the embedding P that the last step for Z was given; see scmk_certified_weights. If nothing
/// pulled at Z, because beta is 0, there is none, and zeros are written.
///
/// out: len elements; len is at least n_samples * n_clusters, and that many are written, column
/// by column as by scmk_embedding.
/// Errors, threads: as for scmk_labels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_certified_embedding(
    model: *const scmk_model,
    out: *mut f64,
    len: usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        let certified =
            state.model.part(SIMILARITY, "certified embedding", |fit| fit.certified.as_ref())?;
        let needed = state.model.samples() * state.model.clusters();
        // SAFETY: the caller promises len elements at out, used by nobody else.
        let out = unsafe { Output::new("out", out, len, needed) }?;
        match &certified.embedding {
            Some(embedding) => out.fill(embedding.values().iter().copied()),
            None => {
                out.filled(0.0);
            }
        }
        Ok(())
    })
}

/// Copies the similarity graph Z of method scmk as a dense matrix; its columns sum to 1.
///
/// out: len elements; len is at least n_samples * n_samples, and that many are written, column by
/// column: Z(i, j) is out[i + j * n_samples].
/// Errors, threads: as for scmk_labels, and SCMK_E_STOPPED, after which what out holds is not
/// defined: the one error that may come when something has been written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_similarity(
    model: *const scmk_model,
    out: *mut f64,
    len: usize,
) -> scmk_status {
    guard::on_model(model, |state, control| {
        let asked = Asked::new(state, control);
        let similarity = state.model.similarity()?;
        let (rows, cols) = (similarity.anchors(), similarity.targets());
        // SAFETY: the caller promises len elements at out, used by nobody else.
        let mut out = unsafe { Output::new("out", out, len, rows * cols) }?;
        for column in similarity.columns() {
            asked.go_on()?;
            column.scatter(out.split(rows).filled(0.0));
        }
        Ok(())
    })
}

/// Copies the similarity graph Z of method scmk as a sparse matrix in compressed columns: the nonzero entries of
/// column j are values[k] in row rows[k], rows rising, for k from colptr[j] to colptr[j + 1] - 1.
///
/// colptr: colptr_len elements, which is exactly n_samples + 1.
/// rows, values: nnz elements each; nnz is at least the info "similarity_nnz", and that many are
/// written. The three arrays must not overlap.
/// Errors, threads: as for scmk_similarity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_similarity_csc(
    model: *const scmk_model,
    colptr: *mut usize,
    colptr_len: usize,
    rows: *mut usize,
    values: *mut f64,
    nnz: usize,
) -> scmk_status {
    guard::on_model(model, |state, control| {
        let asked = Asked::new(state, control);
        let similarity = state.model.similarity()?;
        let (columns, needed) = (similarity.columns(), similarity.nnz());
        if colptr_len > columns.len() + 1 {
            return Err(Error::Dimension {
                what: "length of 'colptr'".to_owned(),
                given: colptr_len,
                expected: format!("exactly n_samples + 1 = {} needed", columns.len() + 1),
            });
        }
        // SAFETY: the caller promises colptr_len elements at colptr and nnz at rows and values,
        // which do not overlap and are used by nobody else.
        let (mut colptr, mut rows, mut values) = unsafe {
            (
                Output::new("colptr", colptr, colptr_len, columns.len() + 1)?,
                Output::new("rows", rows, nnz, needed)?,
                Output::new("values", values, nnz, needed)?,
            )
        };
        let mut end = 0;
        colptr.split(1).set(0);
        for column in columns {
            asked.go_on()?;
            let count = column.nnz();
            end += count;
            colptr.split(1).set(end);
            rows.split(count).fill(column.iter().map(|(row, _)| row));
            values.split(count).fill(column.iter().map(|(_, value)| value));
        }
        Ok(())
    })
}

/// Copies the objective after each outer iteration; it never rises.
///
/// out: cap elements, of which the first iterations are written, as many as there are and fit;
/// may be NULL when cap is 0. len: receives the number of iterations, which may exceed cap.
/// Errors, threads: as for scmk_labels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_trace(
    model: *const scmk_model,
    out: *mut f64,
    cap: usize,
    len: *mut usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        let trace = &state.model.result()?.trace;
        // SAFETY: the caller promises one element at len.
        let len = unsafe { Output::one("len", len) }?;
        let written = trace.len().min(cap);
        if cap > 0 {
            // SAFETY: the caller promises cap elements at out, used by nobody else.
            unsafe { Output::new("out", out, cap, written) }?.fill(trace.iter().copied());
        }
        len.set(trace.len());
        Ok(())
    })
}

/// Reads an info about the last fit as a real number; whole numbers are converted.
///
/// name: NUL-terminated; see scmk_info_name for all names. out: receives one double.
///
/// Errors: SCMK_E_UNKNOWN_OPTION, SCMK_E_INVALID_ARGUMENT (a text), SCMK_E_STATE (no fit yet, or a kernel or option has changed
/// since; scmk_info_name says which infos are known before a fit). One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_info_real(
    model: *const scmk_model,
    name: *const c_char,
    out: *mut f64,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises text that ends with a NUL, and room for one double.
        let (name, out) = unsafe { (caller::text("name", name)?, Output::one("out", out)?) };
        out.set(state.model.info_real(name)?);
        Ok(())
    })
}

/// Reads an info about the last fit that is a whole number.
///
/// name: NUL-terminated; see scmk_info_name for all names. out: receives one int64_t.
///
/// Errors: as for scmk_info_real, and SCMK_E_INVALID_ARGUMENT (not a whole number). One thread at
/// a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_info_int(
    model: *const scmk_model,
    name: *const c_char,
    out: *mut i64,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises text that ends with a NUL, and room for one int64_t.
        let (name, out) = unsafe { (caller::text("name", name)?, Output::one("out", out)?) };
        out.set(state.model.info_int(name)?);
        Ok(())
    })
}

/// Reads an info as a text; numbers are written in as many digits as they have.
///
/// name: NUL-terminated; see scmk_info_name for all names. buf, cap, needed: as for scmk_get_text.
///
/// Errors: as for scmk_info_real. One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_info_text(
    model: *const scmk_model,
    name: *const c_char,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises text that ends with a NUL.
        let name = unsafe { caller::text("name", name) }?;
        let text = state.model.info_text(name)?;
        // SAFETY: the caller promises cap bytes at buf, and one element at needed or NULL.
        unsafe { caller::copy_text(&text, buf, cap, needed) }
    })
}

/// Number of infos. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_info_count() -> usize {
    guard::value(0, || infos::TABLE.len())
}

/// Describes an info. Any output but name may be NULL. Strings are static: never free them.
///
/// index: from 0 to scmk_info_count() - 1.
/// name: its name. type: SCMK_TYPE_REAL, SCMK_TYPE_INT or SCMK_TYPE_TEXT. doc: one line of documentation.
///
/// Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_ARGUMENT (index). Any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_info_name(
    index: usize,
    name: *mut *const c_char,
    r#type: *mut i32,
    doc: *mut *const c_char,
) -> scmk_status {
    guard::call(|| {
        let index = checked_index(index, infos::TABLE.len())?;
        // SAFETY: the caller promises room for one element at each output that is not NULL.
        let (name, kind, doc) = unsafe {
            (Output::one("name", name)?, optional("type", r#type)?, optional("doc", doc)?)
        };
        let texts = &texts::infos()[index];
        name.set(texts.name.as_ptr());
        set(doc, texts.doc.as_ptr());
        set(
            kind,
            match infos::TABLE[index].kind {
                Value::Real(_) => SCMK_TYPE_REAL,
                Value::Int(_) => SCMK_TYPE_INT,
                Value::Text(_) => SCMK_TYPE_TEXT,
            },
        );
        Ok(())
    })
}

/// An outcome in words, such as "iteration limit"; "unknown" for a number that is none, never
/// NULL. The string is static: never free it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_outcome_name(outcome: i64) -> *const c_char {
    const UNKNOWN: &CStr = c"unknown";
    guard::value(UNKNOWN.as_ptr(), || {
        let index = usize::try_from(outcome).ok();
        let known = index.and_then(|index| texts::outcomes().get(index));
        known.map_or(UNKNOWN.as_ptr(), |name| name.as_ptr())
    })
}
