//! Text as a kernel list and as "name=value" of an option, in Rust and through C: what is read is
//! printed so that it is read again, what is refused gets a message and changes nothing.
//!
//! The first byte says which: "l" a list, "o" an option, "c" an option through C, "n" the name of
//! an info or a metric through C.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scmk::ffi::*;
use scmk::kernel::parse;
use scmk::{Error, Options};
use scmk_fuzz::{ensure, is_one_line};
use std::ffi::CString;
use std::ptr;

fuzz_target!(|data: &[u8]| {
    let Some((what, data)) = data.split_first() else { return };
    let split = data.iter().position(|&byte| byte == b'=').unwrap_or(data.len());
    let (name, value) = (&data[..split], data.get(split + 1..).unwrap_or_default());
    match what {
        b'l' => kernel_list(&String::from_utf8_lossy(data)),
        b'o' => option(&String::from_utf8_lossy(name), &String::from_utf8_lossy(value)),
        b'c' => option_through_c(name, value),
        b'n' => name_through_c(data),
        _ => {}
    }
});

fn kernel_list(list: &str) {
    match parse(list) {
        Ok(specs) => {
            ensure!(!specs.is_empty(), "no kernel in {list:?}");
            let printed: Vec<String> = specs.iter().map(|spec| spec.to_string()).collect();
            let printed = printed.join(";");
            ensure!(parse(&printed).as_ref() == Ok(&specs), "{list:?} printed as {printed:?}");
        }
        Err(error) => check_message(&error, "a kernel list"),
    }
}

fn option(name: &str, value: &str) {
    let defaults = Options::default();
    let mut options = defaults.clone();
    if let Err(error) = options.set_text(name, value) {
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
        let status = scmk_set_text(model, name.as_ptr(), value.as_ptr());
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
        let status = scmk_info_real(model, name.as_ptr(), &mut real);
        let known = [SCMK_OK, SCMK_E_STATE, SCMK_E_UNKNOWN_OPTION, SCMK_E_INVALID_ARGUMENT];
        ensure!(known.contains(&status), "info {name:?} answered {status}");
        ensure!(status == SCMK_OK || real == 7.5, "a failed info wrote {real}");
        let metric =
            scmk_metric(name.as_ptr(), [0, 1, 1].as_ptr(), [1, 1, 0].as_ptr(), 3, &mut real);
        let known = [SCMK_OK, SCMK_E_UNKNOWN_OPTION, SCMK_E_INVALID_ARGUMENT];
        ensure!(known.contains(&metric), "metric {name:?} answered {metric}");
        ensure!(scmk_destroy(model) == SCMK_OK, "not destroyed");
    }
}

fn until_nul(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).expect("cut before the first NUL")
}
