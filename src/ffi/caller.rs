//! The caller's memory: checked here, borrowed for one call, never adopted.

use super::handle::whole_characters;
use crate::error::{Error, Result, quoted};
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::slice;

fn check_pointer<T>(argument: &'static str, pointer: *const T) -> Result<()> {
    if pointer.is_null() {
        return Err(Error::NullArgument { argument });
    }
    if !pointer.is_aligned() {
        return Err(Error::InvalidArgument {
            name: argument.to_owned(),
            value: format!("{pointer:p}"),
            allowed: format!("an address that is a multiple of {}", align_of::<T>()),
        });
    }
    Ok(())
}

/// Whether `len` elements fit into the address space.
pub(super) fn addressable<T>(len: Option<usize>) -> bool {
    let bytes = len.and_then(|len| len.checked_mul(size_of::<T>()));
    bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok())
}

/// `len` elements of the caller to read.
///
/// # Safety
/// If `values` is not NULL, `len` elements can be read there and do not change during `'a`.
pub(super) unsafe fn input<'a, T>(
    argument: &'static str,
    values: *const T,
    len: usize,
) -> Result<&'a [T]> {
    check_pointer(argument, values)?;
    if !addressable::<T>(Some(len)) {
        return Err(Error::TooLarge { what: format!("'{argument}' with {len} elements") });
    }
    // SAFETY: not NULL, aligned, addressable; the rest is this function's own promise.
    Ok(unsafe { slice::from_raw_parts(values, len) })
}

/// A buffer of the caller to be filled. Nothing is known about what it holds.
#[derive(Debug)]
pub(super) struct Output<'a, T>(&'a mut [MaybeUninit<T>]);

impl<'a, T: Copy> Output<'a, T> {
    /// The first `needed` elements of a buffer of `len`.
    ///
    /// # Safety
    /// If `out` is not NULL, `len` elements can be written there and nobody else uses them
    /// during `'a`.
    pub(super) unsafe fn new(
        argument: &'static str,
        out: *mut T,
        len: usize,
        needed: usize,
    ) -> Result<Self> {
        check_pointer(argument, out)?;
        if len < needed {
            return Err(Error::Dimension {
                what: format!("length of '{argument}'"),
                given: len,
                expected: format!("at least {needed} needed"),
            });
        }
        // SAFETY: not NULL, aligned, and `needed` is the size of something in memory; the rest
        // is this function's own promise.
        Ok(Self(unsafe { slice::from_raw_parts_mut(out.cast(), needed) }))
    }

    /// A single value.
    ///
    /// # Safety
    /// If `out` is not NULL, one element can be written there and nobody else uses it during
    /// `'a`.
    pub(super) unsafe fn one(argument: &'static str, out: *mut T) -> Result<Self> {
        // SAFETY: the same promise.
        unsafe { Self::new(argument, out, 1, 1) }
    }

    /// The first `count` elements that have not been split off yet.
    pub(super) fn split(&mut self, count: usize) -> Output<'a, T> {
        let (first, rest) = std::mem::take(&mut self.0).split_at_mut(count);
        self.0 = rest;
        Output(first)
    }

    pub(super) fn set(self, value: T) {
        self.fill([value]);
    }

    pub(super) fn fill(self, values: impl IntoIterator<Item = T>) {
        for (place, value) in self.0.iter_mut().zip(values) {
            place.write(value);
        }
    }

    /// The buffer as a slice, all elements `value`.
    pub(super) fn filled(self, value: T) -> &'a mut [T] {
        for place in self.0.iter_mut() {
            place.write(value);
        }
        // SAFETY: all elements have just been written, and MaybeUninit<T> is laid out as T is.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len()) }
    }
}

/// A single value, if the caller wants it.
///
/// # Safety
/// If `out` is not NULL, one element can be written there.
pub(super) unsafe fn optional<T: Copy>(
    argument: &'static str,
    out: *mut T,
) -> Result<Option<Output<'static, T>>> {
    if out.is_null() {
        return Ok(None);
    }
    // SAFETY: the same promise.
    unsafe { Output::one(argument, out) }.map(Some)
}

/// Writes an output that the caller may not want.
pub(super) fn set<T: Copy>(out: Option<Output<'_, T>>, value: T) {
    if let Some(out) = out {
        out.set(value);
    }
}

/// Text of the caller.
///
/// # Safety
/// If `text` is not NULL, it ends with a NUL and does not change during `'a`.
pub(super) unsafe fn text<'a>(argument: &'static str, text: *const c_char) -> Result<&'a str> {
    check_pointer(argument, text)?;
    // SAFETY: not NULL; the rest is this function's own promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|error| {
        // As much of it as a message shows, whatever its length.
        let readable = &text.to_bytes()[..error.valid_up_to()];
        let readable = std::str::from_utf8(readable).unwrap_or_default();
        Error::InvalidArgument {
            name: argument.to_owned(),
            value: quoted(readable),
            allowed: format!("text in UTF-8, which ends after {} bytes", error.valid_up_to()),
        }
    })
}

/// Copies `text` into a buffer of the caller: as much as fits with its NUL, whole characters.
///
/// # Safety
/// `cap` bytes can be written at `buf`, and one element at `needed` unless it is NULL.
pub(super) unsafe fn copy_text(
    text: &str,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> Result<()> {
    // SAFETY: the promise about `needed`.
    let needed = unsafe { optional("needed", needed) }?;
    if cap > 0 {
        let kept = &text.as_bytes()[..whole_characters(text, cap - 1)];
        // SAFETY: the promise about `buf`.
        let buf = unsafe { Output::new("buf", buf, cap, kept.len() + 1) }?;
        buf.fill(kept.iter().map(|&byte| byte as c_char).chain([0]));
    }
    set(needed, text.len() + 1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(text: &str, cap: usize) -> (Vec<u8>, usize) {
        let mut buf = [b'#' as c_char; 12];
        let mut needed = 0;
        // SAFETY: `cap` is at most the length of `buf`.
        unsafe { copy_text(text, buf.as_mut_ptr(), cap, &mut needed) }.unwrap();
        (buf.iter().map(|&c| c as u8).collect(), needed)
    }

    #[test]
    fn text_is_cut_to_the_buffer_between_characters_and_always_ends() {
        assert_eq!(copied("alpha", 6), (b"alpha\0######".to_vec(), 6));
        assert_eq!(copied("alpha", 5), (b"alph\0#######".to_vec(), 6));
        assert_eq!(copied("alpha", 1), (b"\0###########".to_vec(), 6));
        assert_eq!(copied("alpha", 0), (b"############".to_vec(), 6));
        assert_eq!(copied("n\u{e4}h", 3), (b"n\0##########".to_vec(), 5));
        assert_eq!(copied("", 12), (b"\0###########".to_vec(), 1));
    }

    #[test]
    fn pointers_and_lengths_are_refused_before_a_slice_is_formed() {
        let values = [0.0f64; 4];
        let odd = values.as_ptr().wrapping_byte_add(1);
        // SAFETY: every call is refused before it looks.
        unsafe {
            let null = input::<f64>("x", std::ptr::null(), 4).unwrap_err();
            assert_eq!(null, Error::NullArgument { argument: "x" });
            let misaligned = input("x", odd, 1).unwrap_err().to_string();
            assert!(misaligned.ends_with("an address that is a multiple of 8"), "{misaligned}");
            let huge = input("x", values.as_ptr(), usize::MAX / 8).unwrap_err();
            assert!(matches!(huge, Error::TooLarge { .. }));
            let short = Output::new("out", values.as_ptr().cast_mut(), 3, 4).unwrap_err();
            assert_eq!(short.to_string(), "length of 'out': 3 given, at least 4 needed");
        }
    }
}
