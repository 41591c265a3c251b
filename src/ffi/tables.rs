//! The library's own tables that have no other place: methods, kernel functions, preparing steps.

use super::caller::{Output, optional, set};
use super::guard;
use super::options::checked_index;
use super::status::scmk_status;
use super::texts;
use crate::kernel::{FUNCTIONS, PREPARATIONS};
use crate::method::METHODS;
use std::ffi::c_char;

/// Number of methods. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_method_count() -> usize {
    guard::value(0, || METHODS.len())
}

/// Describes a method. doc may be NULL. Strings are static: never free them.
///
/// index: from 0, the default, to scmk_method_count() - 1. name: as the option method takes it. doc:
/// one line of documentation.
///
/// Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_ARGUMENT (index). Any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_method_name(
    index: usize,
    name: *mut *const c_char,
    doc: *mut *const c_char,
) -> scmk_status {
    guard::call(|| {
        let index = checked_index(index, METHODS.len())?;
        // SAFETY: the caller promises room for one element at each output that is not NULL.
        let (name, doc) = unsafe { (Output::one("name", name)?, optional("doc", doc)?) };
        let texts = &texts::methods()[index];
        name.set(texts.name.as_ptr());
        set(doc, texts.doc.as_ptr());
        Ok(())
    })
}

/// Number of kernel functions. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_kernel_function_count() -> usize {
    guard::value(0, || FUNCTIONS.len())
}

/// Describes a kernel function of scmk_add_features. Any output but name may be NULL. Strings are
/// static: never free them.
///
/// index: from 0 to scmk_kernel_function_count() - 1. name: its name in a list of kernels.
/// parameters: with their defaults, such as "a=1,b=2"; empty if it has none. doc: its formula, in
/// one line.
///
/// Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_ARGUMENT (index). Any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_kernel_function_name(
    index: usize,
    name: *mut *const c_char,
    parameters: *mut *const c_char,
    doc: *mut *const c_char,
) -> scmk_status {
    guard::call(|| {
        let index = checked_index(index, FUNCTIONS.len())?;
        // SAFETY: the caller promises room for one element at each output that is not NULL.
        let (name, parameters, doc) = unsafe {
            (Output::one("name", name)?, optional("parameters", parameters)?, optional("doc", doc)?)
        };
        let (named, defaults) = &texts::functions()[index];
        name.set(named.name.as_ptr());
        set(parameters, defaults.as_ptr());
        set(doc, named.doc.as_ptr());
        Ok(())
    })
}

/// Number of steps in which features can be prepared. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn scmk_preparation_count() -> usize {
    guard::value(0, || PREPARATIONS.len())
}

/// Describes a step in which scmk_add_features prepares features. doc may be NULL. Strings are
/// static: never free them.
///
/// index: from 0 to scmk_preparation_count() - 1. name: its name in a list of kernels, where it stands
/// before the first kernel. doc: one line of documentation.
///
/// Errors: SCMK_E_NULL_ARGUMENT, SCMK_E_INVALID_ARGUMENT (index). Any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scmk_preparation_name(
    index: usize,
    name: *mut *const c_char,
    doc: *mut *const c_char,
) -> scmk_status {
    guard::call(|| {
        let index = checked_index(index, PREPARATIONS.len())?;
        // SAFETY: the caller promises room for one element at each output that is not NULL.
        let (name, doc) = unsafe { (Output::one("name", name)?, optional("doc", doc)?) };
        let texts = &texts::preparations()[index];
        name.set(texts.name.as_ptr());
        set(doc, texts.doc.as_ptr());
        Ok(())
    })
}
