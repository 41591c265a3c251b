//! Link arguments of libscmk.so.

use std::env;
use std::path::Path;
use std::process::Command;

include!("../../src/ffi/abi.rs");

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../../src/ffi/abi.rs");
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    let is = |variable: &str, value: &str| env::var(variable).is_ok_and(|found| found == value);
    if !is("CARGO_CFG_TARGET_OS", "linux") {
        return;
    }
    // A program finds the library by its ABI number, so that a release which breaks nothing can
    // replace an older one.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libscmk.so.{SCMK_ABI_VERSION}");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--no-undefined");
    if is("CARGO_CFG_TARGET_ENV", "gnu") {
        link_unwinder_statically();
    }
}

/// Some hosts (Julia) bring an unwinder whose symbols shadow those of libgcc_s; a panic would
/// abort in it instead of being caught. An unwinder of our own cannot be shadowed.
fn link_unwinder_statically() {
    let compiler = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let Ok(answer) = Command::new(compiler).arg("-print-file-name=libgcc_eh.a").output() else {
        return;
    };
    let answer = String::from_utf8_lossy(&answer.stdout);
    // A compiler that has no such file repeats the bare name.
    let file = Path::new(answer.trim());
    if let Some(folder) = file.parent().filter(|_| file.is_absolute() && file.is_file()) {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
}
