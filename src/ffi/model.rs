//! A model and its kernels.

use super::caller::{self, Output, addressable, optional, set};
use super::fit::stoppable;
use super::guard;
use super::handle::{self, scmk_model};
use super::status::scmk_status;
use crate::arithmetic::Environment;
use crate::error::{Error, Result};
use crate::kernel::Features;
use crate::model::Model;
use std::ffi::c_char;
use std::fmt::Display;

/// Creates a model of n_samples samples that are to be divided into n_clusters clusters.
///
/// n_samples: at least 1, and stays as it is. n_clusters: from 1 to n_samples, or 0 to let each fit
/// choose it; scmk_set_clusters changes it.
/// out: receives the model, which is to be given back with scmk_destroy.
///
/// Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_DIMENSION, SCMK_E_TOO_LARGE, SCMK_E_OUT_OF_MEMORY. Any
/// thread.
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

/// Changes the number of clusters; 0 lets each fit choose it. Kernels and options stay, so that several numbers can be tried
/// without building the kernels again; a result of an earlier fit is discarded if it changes.
///
/// Errors: SCMK_E_DIMENSION; nothing has changed then. One thread at a time.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_set_clusters(model: *mut scmk_model, n_clusters: usize) -> scmk_status {
    guard::on_model(model, |state, _| state.model.set_clusters(n_clusters))
}

/// Names the view that the next scmk_add_features, scmk_add_kernel or scmk_borrow_kernel adds:
/// messages and scmk_kernel_name then call it so. A view without a name is called "view 0", "view 1"
/// and so on, or "kernel 0" if it was added as a kernel.
///
/// name: NUL-terminated, from 1 to 255 bytes. It waits for the next view that is added, also if a
/// call fails meanwhile; NULL takes it back.
///
/// Errors: SCMK_E_INVALID_ARGUMENT, SCMK_E_OUT_OF_MEMORY. One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_name_view(
    model: *mut scmk_model,
    name: *const c_char,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        // SAFETY: the caller promises text that ends with a NUL, or NULL.
        let name = (!name.is_null()).then(|| unsafe { caller::text("name", name) }).transpose()?;
        state.model.name_view(name)
    })
}

/// The name of a view. Each call that added features or a kernel added one view; the info "views"
/// tells how many there are.
///
/// view: counted from 0 in the order in which they were added.
/// buf, cap, needed: as for scmk_get_text.
///
/// Errors: SCMK_E_INVALID_ARGUMENT (no such view). One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_view_name(
    model: *const scmk_model,
    view: usize,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        let name = state.model.view_name(view)?;
        // SAFETY: the caller promises cap bytes at buf, and one element at needed or NULL.
        unsafe { caller::copy_text(&name, buf, cap, needed) }
    })
}

/// The name of a kernel: what it was built by, such as "gaussian(t=0.1)"; where there are several
/// views or the view has a name, after that name, such as "pixels: gaussian(t=0.1)"; and of a kernel
/// that was added as such the name of its view.
///
/// kernel: counted from 0 in the order of scmk_weights; the info "kernels" tells how many there are.
/// view: receives the number of the view it belongs to; may be NULL.
/// buf, cap, needed: as for scmk_get_text.
///
/// Errors: SCMK_E_INVALID_ARGUMENT (no such kernel). One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_kernel_name(
    model: *const scmk_model,
    kernel: usize,
    view: *mut usize,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> scmk_status {
    guard::on_model(model, |state, _| {
        let name = state.model.kernel_name(kernel)?;
        // SAFETY: the caller promises cap bytes at buf, and one element at view and needed or NULL.
        unsafe {
            let view = optional("view", view)?;
            caller::copy_text(&name, buf, cap, needed)?;
            set(view, state.model.view_of(kernel)?);
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
/// SCMK_E_OUT_OF_MEMORY (also if the option memory_limit would be exceeded), SCMK_E_THREADS,
/// SCMK_E_STOPPED; the message names the kernel, counted from the option index_base, and the
/// entry. The model is then as it was. One thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_add_kernel(
    model: *mut scmk_model,
    values: *const f64,
    n: usize,
    leading_dim: usize,
) -> scmk_status {
    let host = Environment::current();
    guard::on_model(model, |state, control| {
        // SAFETY: the caller promises n columns at a distance of leading_dim, unchanged until
        // this call returns.
        let values = unsafe { kernel(values, n, leading_dim, state.model.samples()) }?;
        stoppable(state, control, host, |model, watch| {
            model.add_kernel_watched(values, leading_dim, watch)
        })
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
    let host = Environment::current();
    guard::on_model(model, |state, control| {
        // SAFETY: the caller promises n columns at a distance of leading_dim, valid and unchanged
        // until the kernels are cleared or the model is destroyed. Both drop every reference to
        // them, so the lifetime 'static is never made use of.
        let values: &'static [f64] =
            unsafe { kernel(values, n, leading_dim, state.model.samples()) }?;
        stoppable(state, control, host, |model, watch| {
            model.borrow_kernel_watched(values, leading_dim, watch)
        })
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
/// kernels: NULL, "" or "auto" prepares the features by what they are and builds one kernel of them;
/// scmk_kernel_name tells what was done. "paper" is the paper's pool of twelve. Else a list such as
/// "gaussian(t=0.1); linear; polynomial(a=1,b=2)"; before the kernels it may prepare the features, as
/// in "standardize; gaussian(neighbors=7)" or "auto; linear" (see KERNELS).
///
/// Features whose largest entry is outside of 1e-30 to 1e30 are divided by a power of two s, and the
/// kernels multiplied by what that takes from them. A polynomial kernel is then (a + x'y/s^2)^b times
/// a factor; the info "rescaled_kernels" tells for how many that was done.
///
/// Errors: as for scmk_add_kernel, and SCMK_E_UNKNOWN_OPTION for an unknown kernel name; the message
/// names the view. The model is then as it was. One thread at a time.
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
    let host = Environment::current();
    guard::on_model(model, |state, control| {
        let list = (!kernels.is_null()).then(|| {
            // SAFETY: the caller promises text that ends with a NUL, or NULL.
            unsafe { caller::text("kernels", kernels) }
        });
        let list = list.transpose()?.unwrap_or_default();
        let samples = state.model.samples();
        let extent = features_extent(
            (n_samples, n_features),
            (sample_stride, feature_stride),
            samples,
            x.is_null(),
            &state.model.next_view_name(),
        )?;
        // SAFETY: the caller promises every element that the sizes and strides reach, unchanged
        // until this call returns.
        let values = unsafe { caller::input("x", x, extent) }?;
        let features =
            Features { values, samples, features: n_features, sample_stride, feature_stride };
        stoppable(state, control, host, |model, watch| {
            model.add_features_watched(features, list, watch)
        })
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
/// of this thread's last failed call, whatever it was.
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

/// The text of this thread's last failed call, whatever it was; "" if none has failed. Never NULL.
///
/// The string belongs to the library and is valid until a call of this thread fails again or the
/// thread ends: never free it, and copy it to keep it. Ask after the call has returned, not in the
/// same expression. scmk_error_message does that, and tells what
/// failed in another thread. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_last_error() -> *const c_char {
    guard::value(c"".as_ptr(), guard::thread_message_in_place)
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
    view: &dyn Display,
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
        return mismatch(&format!("n_samples of {view}"), n_samples, expected);
    }
    if n_features == 0 {
        let what = format!("n_features of {view}");
        return mismatch(&what, 0, "at least 1 expected".to_owned());
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
