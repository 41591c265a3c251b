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
