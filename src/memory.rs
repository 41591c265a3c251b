//! Fallible allocation: a large buffer that cannot be had is an error, not an abort.

use crate::error::{Error, Result};
use crate::lifeboat::may_fail;
use faer::Mat;
use faer::dyn_stack::{MemBuffer, StackReq};
use rayon::prelude::*;

/// An empty vector with room for exactly `len` elements.
pub(crate) fn with_capacity<T>(len: usize, what: &'static str) -> Result<Vec<T>> {
    let mut v = Vec::new();
    may_fail(|| v.try_reserve_exact(len))
        .map_err(|_| Error::OutOfMemory { bytes: len.saturating_mul(size_of::<T>()), what })?;
    Ok(v)
}

/// Bytes from which a buffer is filled by all threads: what takes time is that the system hands out
/// each page of it when it is first written to.
const LARGE: usize = 1 << 20;

/// `len` copies of `value`.
pub(crate) fn filled<T: Copy + Send + Sync>(
    len: usize,
    value: T,
    what: &'static str,
) -> Result<Vec<T>> {
    let mut v = with_capacity(len, what)?;
    // Outside of the library's own workers, rayon would start threads of its own.
    if len * size_of::<T>() >= LARGE && rayon::current_thread_index().is_some() {
        v.par_extend(rayon::iter::repeat_n(value, len));
    } else {
        v.resize(len, value);
    }
    Ok(v)
}

/// Appends one element.
pub(crate) fn push<T>(v: &mut Vec<T>, value: T, what: &'static str) -> Result<()> {
    reserve(v, 1, what)?;
    v.push(value);
    Ok(())
}

/// Appends copies of all elements of `more`.
pub(crate) fn extend<T: Copy>(v: &mut Vec<T>, more: &[T], what: &'static str) -> Result<()> {
    reserve(v, more.len(), what)?;
    v.extend_from_slice(more);
    Ok(())
}

/// Makes `v` into `len` copies of `value`.
pub(crate) fn refill<T: Copy>(
    v: &mut Vec<T>,
    len: usize,
    value: T,
    what: &'static str,
) -> Result<()> {
    v.clear();
    reserve(v, len, what)?;
    v.resize(len, value);
    Ok(())
}

/// Makes room for `more` elements, and for some beyond.
pub(crate) fn reserve<T>(v: &mut Vec<T>, more: usize, what: &'static str) -> Result<()> {
    may_fail(|| v.try_reserve(more))
        .map_err(|_| Error::OutOfMemory { bytes: more.saturating_mul(size_of::<T>()), what })
}

/// A matrix of zeros for faer.
pub(crate) fn mat(rows: usize, cols: usize, what: &'static str) -> Result<Mat<f64>> {
    let mut mat = Mat::new();
    let bytes = rows.saturating_mul(cols).saturating_mul(size_of::<f64>());
    may_fail(|| mat.try_reserve(rows, cols)).map_err(|_| Error::OutOfMemory { bytes, what })?;
    mat.resize_with(rows, cols, |_, _| 0.0);
    Ok(mat)
}

/// Scratch memory of a faer routine.
pub(crate) fn scratch(request: StackReq, what: &'static str) -> Result<MemBuffer> {
    let bytes = request.size_bytes();
    may_fail(|| MemBuffer::try_new(request)).map_err(|_| Error::OutOfMemory { bytes, what })
}
