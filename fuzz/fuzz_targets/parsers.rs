//! Text as a kernel list and as "name=value" of an option, in Rust and through C: what is read is
//! printed so that it is read again, what is refused gets a message and changes nothing.
//!
//! The first byte says which: "l" a list, "o" an option, "c" an option through C, "n" the name of
//! an info, a metric or a view through C. As a capital, what follows up to a "|" is repeated until it
//! is long, up to a megabyte, and the rest put behind it: a fuzzer that mutates long texts is slow.
//!
//! No call may take long, whatever the length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scmk::ffi::*;
use scmk::kernel::parse;
use scmk::{Error, Options};
use scmk_fuzz::{ensure, is_one_line, watchdog};
use std::borrow::Cow;
use std::ffi::CString;
use std::ptr;

/// Seconds of processor time for one call.
const MOST: f64 = 0.2;
const LONGEST: usize = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let Some((what, data)) = data.split_first() else { return };
    let data = if what.is_ascii_uppercase() { long(data) } else { Cow::Borrowed(data) };
    let split = data.iter().position(|&byte| byte == b'=').unwrap_or(data.len());
    let (name, value) = (&data[..split], data.get(split + 1..).unwrap_or_default());
    match what.to_ascii_lowercase() {
        b'l' => kernel_list(&String::from_utf8_lossy(&data)),
        b'o' => option(&String::from_utf8_lossy(name), &String::from_utf8_lossy(value)),
        b'c' => option_through_c(name, value),
        b'n' => name_through_c(&data),
        _ => {}
    }
});

/// A length from the first byte, 64 bytes to a megabyte, and the rest repeated.
fn long(data: &[u8]) -> Cow<'_, [u8]> {
    let Some((length, data)) = data.split_first() else { return Cow::Borrowed(data) };
    let split = data.iter().position(|&byte| byte == b'|').unwrap_or(data.len());
    let (again, end) = (&data[..split], data.get(split + 1..).unwrap_or_default());
    // Most of them short: a megabyte takes its time.
    let length = match length {
        0..250 => 64 << (length % 8),
        250.. => LONGEST,
    };
    let times = length / again.len().max(1);
    // What is told apart by the first "=" keeps its name.
    let name = again.iter().position(|&byte| byte == b'=').map_or(0, |at| at + 1);
    let (name, again) = again.split_at(name);
    Cow::Owned([name, &again.repeat(times), end].concat())
}

fn kernel_list(list: &str) {
    match quick("a kernel list", || parse(list)) {
        Ok(specs) => {
            ensure!(!specs.is_empty(), "no kernel in {list:?}");
            let printed: Vec<String> = specs.iter().map(|spec| spec.to_string()).collect();
            let printed = printed.join(";");
            let again = quick("a kernel list printed", || parse(&printed));
            ensure!(again.as_ref() == Ok(&specs), "{list:?} printed as {printed:?}");
        }
        Err(error) => check_message(&error, "a kernel list"),
    }
}

fn option(name: &str, value: &str) {
    let defaults = Options::default();
    let mut options = defaults.clone();
    if let Err(error) = quick("an option", || options.set_text(name, value)) {
        check_message(&error, "an option");
        ensure!(options == defaults, "a refused {name:?} = {value:?} has changed something");
        return;
    }
    let mut again = defaults;
    let printed = options.get_text(name).expect("an option that can be set");
    ensure!(
        again.set_text(name, &printed).is_ok() && again == options,
        "{name} = {value:?} printed as {printed:?}"
    );
    if let Ok(real) = options.get_real(name) {
        ensure!(real.is_finite(), "{name} is {real}");
        let mut by_number = options.clone();
        // Beyond 2^53 a whole number is not a real one.
        if real.abs() < 9e15 {
            ensure!(
                by_number.set_real(name, real).is_ok() && by_number == options,
                "{name} = {real} is not taken back"
            );
        }
    }
    if let Ok(whole) = options.get_int(name) {
        let mut by_number = options.clone();
        ensure!(
            by_number.set_int(name, whole).is_ok() && by_number == options,
            "{name} = {whole} is not taken back"
        );
    }
}

fn check_message(error: &Error, what: &str) {
    let message = error.to_string();
    ensure!(!message.is_empty(), "an empty message about {what}");
    ensure!(is_one_line(&message), "not one line about {what}: {message:?}");
}

/// The same bytes as a C program would hand them over: up to the first NUL, UTF-8 or not.
fn option_through_c(name: &[u8], value: &[u8]) {
    let (name, value) = (until_nul(name), until_nul(value));
    let mut model = ptr::null_mut();
    // SAFETY: every pointer is to a living variable, text ends with a NUL, lengths are true.
    unsafe {
        ensure!(scmk_create(3, 2, &mut model) == SCMK_OK, "no model");
        let status = quick("set_text", || scmk_set_text(model, name.as_ptr(), value.as_ptr()));
        let mut buffer = [0; 64];
        let mut needed = 0;
        let mut read = || scmk_get_text(model, name.as_ptr(), buffer.as_mut_ptr(), 64, &mut needed);
        match status {
            SCMK_OK => {
                ensure!(read() == SCMK_OK && needed <= 64, "{name:?} is not read back");
                let again = scmk_set_text(model, name.as_ptr(), buffer.as_ptr());
                ensure!(again == SCMK_OK, "{name:?} = {value:?} is not taken back");
            }
            SCMK_E_UNKNOWN_OPTION => ensure!(read() == status, "{name:?} is no option, but read"),
            SCMK_E_INVALID_ARGUMENT => {}
            _ => ensure!(false, "{name:?} = {value:?} answered {status}"),
        }
        ensure!(scmk_destroy(model) == SCMK_OK, "not destroyed");
    }
}

fn name_through_c(name: &[u8]) {
    let name = until_nul(name);
    let mut model = ptr::null_mut();
    let mut real = 7.5;
    // SAFETY: as above.
    unsafe {
        ensure!(scmk_create(3, 2, &mut model) == SCMK_OK, "no model");
        let status = quick("info", || scmk_info_real(model, name.as_ptr(), &mut real));
        let known = [SCMK_OK, SCMK_E_STATE, SCMK_E_UNKNOWN_OPTION, SCMK_E_INVALID_ARGUMENT];
        ensure!(known.contains(&status), "info {name:?} answered {status}");
        ensure!(status == SCMK_OK || real == 7.5, "a failed info wrote {real}");
        let metric = quick("metric", || {
            scmk_metric(name.as_ptr(), [0, 1, 1].as_ptr(), [1, 1, 0].as_ptr(), 3, &mut real)
        });
        let known = [SCMK_OK, SCMK_E_UNKNOWN_OPTION, SCMK_E_INVALID_ARGUMENT];
        ensure!(known.contains(&metric), "metric {name:?} answered {metric}");
        let view = quick("name_view", || scmk_name_view(model, name.as_ptr()));
        let legal = name.to_str().is_ok_and(|name| (1..=255).contains(&name.len()));
        let expected = if legal { SCMK_OK } else { SCMK_E_INVALID_ARGUMENT };
        ensure!(view == expected, "the name {name:?} of a view answered {view}");
        ensure!(scmk_destroy(model) == SCMK_OK, "not destroyed");
    }
}

fn until_nul(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).expect("cut before the first NUL")
}

/// Makes a call that has to be quick.
fn quick<R>(what: &str, call: impl FnOnce() -> R) -> R {
    watchdog::quickly(MOST, what, call)
}
