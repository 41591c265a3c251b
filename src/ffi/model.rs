//! A model and its kernels.

use super::caller::{self, Output, addressable};
use super::guard;
use super::handle::{self, scmk_model};
use super::status::scmk_status;
use crate::error::{Error, Result};
use crate::kernel::Features;
use crate::model::Model;
use std::ffi::c_char;

/// Creates a model of n_samples samples that are to be divided into n_clusters clusters.
///
/// n_samples: at least 1. n_clusters: from 1 to n_samples. Both stay as they are.
/// out: receives the model, which is to be given back with scmk_destroy.
///
/// Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_DIMENSION, SCMK_E_TOO_LARGE. Any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_create(
    n_samples: usize,
    n_clusters: usize,
    out: *mut *mut scmk_model,
) -> scmk_status {
    guard::call(|| {
        // SAFETY: the caller promises room for one handle at `out`.
        let out = unsafe { Output::one("out", out) }?;
        out.set(handle::insert(Model::new(n_samples, n_clusters)?)?);
        Ok(())
    })
}

/// Destroys a model and everything it holds; borrowed kernels are free again. NULL is allowed
/// and does nothing.
///
/// Errors: SCMK_E_INVALID_HANDLE (destroyed already, or never created), SCMK_E_BUSY (a call is
/// running: the model lives on). Any thread; the only call, with scmk_error_message, that a
/// model answers after SCMK_E_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_destroy(model: *mut scmk_model) -> scmk_status {
    guard::call(|| {
        if !model.is_null() {
            drop(handle::remove(model)?);
        }
        Ok(())
    })
}

/// Adds a copy of a kernel matrix. A result of an earlier fit is discarded.
///
/// values: n columns of n doubles each, column j starting at values[j * leading_dim]. All
/// entries are read, and must be finite and symmetric up to a relative 1e-8. The memory is the
/// caller's and may change as soon as the call has returned.
/// n: the model's number of samples. leading_dim: at least n, in elements.
///
/// Errors: SCMK_E_DIMENSION, SCMK_E_TOO_LARGE, SCMK_E_INVALID_ARGUMENT (misaligned),
/// SCMK_E_NOT_FINITE, SCMK_E_ASYMMETRIC, SCMK_E_NOT_PSD, SCMK_E_DEGENERATE,
/// SCMK_E_OUT_OF_MEMORY, SCMK_E_THREADS; the message names the kernel, counted from 0, and the
/// entry. The model is then as it was. One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_add_kernel(
    model: *mut scmk_model,
    values: *const f64,
    n: usize,
    leading_dim: usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises n columns at a distance of leading_dim, unchanged until
        // this call returns.
        let values = unsafe { kernel(values, n, leading_dim, state.model.samples()) }?;
        state.model.add_kernel(values, leading_dim)
    })
}

/// Adds a kernel matrix without copying it. A result of an earlier fit is discarded.
///
/// The memory stays the caller's, and the caller promises that it is valid and unchanged until
/// scmk_clear_kernels or scmk_destroy has returned SCMK_OK for this model. Entries above and
/// below the diagonal that differ by less than a relative 1e-8 are averaged where they are used.
///
/// values, n, leading_dim, errors, threads: as for scmk_add_kernel. After an error the memory is
/// not borrowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_borrow_kernel(
    model: *mut scmk_model,
    values: *const f64,
    n: usize,
    leading_dim: usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises n columns at a distance of leading_dim, valid and unchanged
        // until the kernels are cleared or the model is destroyed. Both drop every reference to
        // them, so the lifetime 'static is never made use of.
        let values: &'static [f64] =
            unsafe { kernel(values, n, leading_dim, state.model.samples()) }?;
        state.model.borrow_kernel(values, leading_dim)
    })
}

/// Builds kernels from features and adds them. A result of an earlier fit is discarded. Several
/// calls add several views of the same samples.
///
/// x: the features; feature j of sample i is x[i * sample_stride + j * feature_stride]. All must
/// be finite. The memory is the caller's and may change as soon as the call has returned.
/// n_samples: the model's number of samples. n_features: at least 1.
/// sample_stride, feature_stride: in elements. A row for each sample (C): n_features, 1. A
/// column for each feature (R, MATLAB): 1, n_samples.
/// kernels: "paper" for the pool of twelve, or a list such as
/// "gaussian(t=0.1); linear; polynomial(a=1,b=2)".
///
/// Errors: as for scmk_add_kernel, and SCMK_E_UNKNOWN_OPTION for an unknown kernel name. The
/// model is then as it was. One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_add_features(
    model: *mut scmk_model,
    x: *const f64,
    n_samples: usize,
    n_features: usize,
    sample_stride: usize,
    feature_stride: usize,
    kernels: *const c_char,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises text that ends with a NUL.
        let list = unsafe { caller::text("kernels", kernels) }?;
        let samples = state.model.samples();
        let extent = features_extent(
            (n_samples, n_features),
            (sample_stride, feature_stride),
            samples,
            x.is_null(),
        )?;
        // SAFETY: the caller promises every element that the sizes and strides reach, unchanged
        // until this call returns.
        let values = unsafe { caller::input("x", x, extent) }?;
        let features =
            Features { values, samples, features: n_features, sample_stride, feature_stride };
        state.model.add_features(features, list)
    })
}

/// Removes all kernels; borrowed ones are free again. A result of an earlier fit is discarded,
/// options stay.
///
/// Errors: only those every call on a model can have. One thread at a time.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_clear_kernels(model: *mut scmk_model) -> scmk_status {
    guard::on_model(model, |state, _| {
        state.model.clear_kernels();
        Ok(())
    })
}

/// Copies the text of an error: one line that names the argument, its value and what is allowed.
///
/// model: the text of the last call on this model that failed, empty if none did; a later call
/// that succeeds leaves it. While a call is running on the model: that it is busy. NULL: the text
/// of this thread's last failed call without a valid or free model (scmk_create, scmk_metric, a
/// destroyed or busy handle).
/// buf: cap bytes, of which at most cap - 1 are filled with UTF-8 text and one with a NUL. May
/// be NULL when cap is 0.
/// needed: receives the length of the whole text with its NUL; may be NULL.
///
/// Errors: SCMK_E_INVALID_HANDLE; SCMK_E_NULL_ARGUMENT for a NULL buf when cap is not 0. Any
/// thread, also during a fit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_error_message(
    model: *const scmk_model,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> scmk_status {
    guard::call(|| {
        let text =
            if model.is_null() { guard::thread_message() } else { handle::find(model)?.message() };
        // SAFETY: the caller promises cap bytes at buf, and one element at needed or NULL.
        unsafe { caller::copy_text(&text, buf, cap, needed) }
    })
}

/// The caller's kernel as a slice, all sizes checked before it is formed.
///
/// # Safety
/// If `values` is not NULL, n columns of n elements at a distance of `leading_dim` can be read
/// there and do not change during `'a`.
unsafe fn kernel<'a>(
    values: *const f64,
    n: usize,
    leading_dim: usize,
    samples: usize,
) -> Result<&'a [f64]> {
    if values.is_null() {
        return Err(Error::NullArgument { argument: "values" });
    }
    if !addressable::<f64>(n.checked_mul(n)) {
        return Err(Error::TooLarge { what: format!("a kernel of n = {n} squared") });
    }
    let mismatch = |what: &str, given, expected| {
        Err(Error::Dimension { what: what.to_owned(), given, expected })
    };
    if n != samples {
        return mismatch("n of the kernel", n, format!("the model has {samples} samples"));
    }
    if leading_dim < n {
        return mismatch("leading_dim", leading_dim, format!("at least n = {n} needed"));
    }
    if !addressable::<f64>(n.checked_mul(leading_dim)) {
        let expected = format!("n = {n} columns that far apart cannot be addressed");
        return mismatch("leading_dim", leading_dim, expected);
    }
    // SAFETY: the last column ends here, so this is what the promise covers.
    unsafe { caller::input("values", values, (n - 1) * leading_dim + n) }
}

/// Number of elements from the first to the last feature, all sizes checked.
fn features_extent(
    (n_samples, n_features): (usize, usize),
    (sample_stride, feature_stride): (usize, usize),
    samples: usize,
    is_null: bool,
) -> Result<usize> {
    if is_null {
        return Err(Error::NullArgument { argument: "x" });
    }
    if !addressable::<f64>(n_samples.checked_mul(n_features)) {
        let what = format!("a feature matrix of {n_samples} samples and {n_features} features");
        return Err(Error::TooLarge { what });
    }
    let mismatch = |what: &str, given, expected| {
        Err(Error::Dimension { what: what.to_owned(), given, expected })
    };
    if n_samples != samples {
        let expected = format!("the model has {samples}");
        return mismatch("n_samples of the features", n_samples, expected);
    }
    if n_features == 0 {
        return mismatch("n_features", 0, "at least 1 expected".to_owned());
    }
    for (what, count, stride) in [
        ("sample_stride", n_samples, sample_stride),
        ("feature_stride", n_features, feature_stride),
    ] {
        if stride == 0 && count > 1 {
            return mismatch(what, 0, "at least 1 expected".to_owned());
        }
    }
    let last_sample = (n_samples - 1).checked_mul(sample_stride);
    let last_feature = (n_features - 1).checked_mul(feature_stride);
    let extent = last_sample
        .zip(last_feature)
        .and_then(|(sample, feature)| sample.checked_add(feature))
        .and_then(|last| last.checked_add(1));
    match extent {
        Some(extent) if addressable::<f64>(Some(extent)) => Ok(extent),
        _ => {
            let (what, stride) = if last_sample.is_none() || sample_stride > feature_stride {
                ("sample_stride", sample_stride)
            } else {
                ("feature_stride", feature_stride)
            };
            let expected =
                format!("{n_samples} samples of {n_features} features cannot be addressed");
            mismatch(what, stride, expected)
        }
    }
}
