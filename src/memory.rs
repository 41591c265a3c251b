//! Fallible allocation: a large buffer that cannot be had is an error, not an abort.

use crate::error::{Error, Result};

/// An empty vector with room for exactly `len` elements.
pub(crate) fn with_capacity<T>(len: usize, what: &'static str) -> Result<Vec<T>> {
    let mut v = Vec::new();
    v.try_reserve_exact(len)
        .map_err(|_| Error::OutOfMemory { bytes: len.saturating_mul(size_of::<T>()), what })?;
    Ok(v)
}

/// `len` copies of `value`.
pub(crate) fn filled<T: Clone>(len: usize, value: T, what: &'static str) -> Result<Vec<T>> {
    let mut v = with_capacity(len, what)?;
    v.resize(len, value);
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
    v.try_reserve(more)
        .map_err(|_| Error::OutOfMemory { bytes: more.saturating_mul(size_of::<T>()), what })
}
