//! libscmk.so exports the functions of the header and nothing else, under the name of its ABI,
//! and brings its own unwinder.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

/// The library in the state of the sources. Cargo does not build a cdylib for the tests beside
/// it, so they ask for it.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap();
    let profile = match folder.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        other => other,
    };
    let built = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--quiet", "--package", "scmk-c", "--profile", profile])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CARGO_TARGET_DIR", folder.parent().unwrap())
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    folder.join("libscmk.so")
}

fn asked(tool: &str, argument: &str) -> String {
    let answer = Command::new(tool).arg(argument).arg(library()).output();
    let answer = answer.unwrap_or_else(|error| panic!("{tool} is needed: {error}"));
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    String::from_utf8(answer.stdout).unwrap()
}

#[test]
fn only_the_functions_of_the_header_are_exported() {
    let symbols = asked("nm", "-D");
    let exported: BTreeSet<&str> = symbols
        .lines()
        .filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
            [_, kind, name] if kind != "U" && kind != "w" => Some(name),
            _ => None,
        })
        .collect();
    // A declaration is a line that begins with a type; comments begin with " *".
    let header = include_str!("../../../include/scmk.h");
    let declared: BTreeSet<&str> = header
        .lines()
        .filter(|line| !line.starts_with([' ', '/', '#']) && !line.starts_with("typedef"))
        .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
        .collect();
    assert!(declared.contains("scmk_fit") && declared.contains("scmk_version"));
    assert_eq!(exported, declared);
}

#[test]
fn the_soname_carries_the_abi_number() {
    let dynamic = asked("readelf", "-d");
    let soname = format!("[libscmk.so.{}]", scmk_rust::ffi::scmk_abi_version());
    assert!(dynamic.lines().any(|line| line.contains("SONAME") && line.contains(&soname)));
}

#[test]
#[cfg(target_env = "gnu")]
fn the_unwinder_is_not_the_hosts() {
    let dynamic = asked("readelf", "-d");
    assert!(!dynamic.contains("libgcc_s"), "{dynamic}");
}

#[test]
fn the_library_cannot_start_a_process() {
    let symbols = asked("nm", "-D");
    let needed = symbols.lines().filter_map(|line| line.trim_start().strip_prefix("U "));
    for name in needed.map(|name| name.split('@').next().unwrap_or(name)) {
        let starts = ["fork", "vfork", "system", "popen", "clone"].contains(&name)
            || ["exec", "posix_spawn", "pidfd_spawn"].iter().any(|start| name.starts_with(start));
        assert!(!starts, "{name}");
    }
}
