//! Fallible allocation: a large buffer that cannot be had is an error, not an abort.

use crate::error::{Error, Result};
use crate::reserve::may_fail;
use crate::sync::Arc;
use faer::Mat;
use faer::dyn_stack::{MemBuffer, StackReq};
use rayon::prelude::*;
use std::collections::{BinaryHeap, HashMap};
use std::hash::Hash;

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

/// Puts one element into a heap.
pub(crate) fn push_heap<T: Ord>(
    heap: &mut BinaryHeap<T>,
    value: T,
    what: &'static str,
) -> Result<()> {
    may_fail(|| heap.try_reserve(1))
        .map_err(|_| Error::OutOfMemory { bytes: size_of::<T>(), what })?;
    heap.push(value);
    Ok(())
}

/// Makes room for one more entry.
pub(crate) fn reserve_map<K: Eq + Hash, V>(
    map: &mut HashMap<K, V>,
    what: &'static str,
) -> Result<()> {
    let bytes = map.capacity().saturating_mul(size_of::<(K, V)>());
    may_fail(|| map.try_reserve(1)).map_err(|_| Error::OutOfMemory { bytes, what })
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

/// What `work` gives for 0, 1, …, on all threads; none is missing.
pub(crate) fn par_map<T: Send>(
    len: usize,
    what: &'static str,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<Option<T>>> {
    let mut found = with_capacity(len, what)?;
    found.resize_with(len, || None);
    found.par_iter_mut().enumerate().try_for_each(|(index, found)| {
        *found = Some(work(index)?);
        Ok(())
    })?;
    Ok(found)
}

/// A copy of `values`.
pub(crate) fn copied<T: Copy>(values: &[T], what: &'static str) -> Result<Vec<T>> {
    let mut copy = with_capacity(values.len(), what)?;
    copy.extend_from_slice(values);
    Ok(copy)
}

/// A copy of `text`.
pub(crate) fn text(text: &str, what: &'static str) -> Result<String> {
    let mut copy = String::new();
    may_fail(|| copy.try_reserve_exact(text.len()))
        .map_err(|_| Error::OutOfMemory { bytes: text.len(), what })?;
    copy.push_str(text);
    Ok(copy)
}

/// A shared value. The standard library offers no way to be refused here, so that the same amount is
/// asked for beforehand: what fails for want of memory fails there.
pub(crate) fn shared<T>(value: T, what: &'static str) -> Result<Arc<T>> {
    // Two counters stand before the value.
    drop(with_capacity::<([usize; 2], T)>(1, what)?);
    Ok(Arc::new(value))
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
