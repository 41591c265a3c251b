//! Reads the sources: what the compiler does not forbid but the library promises not to do.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The library's own files with their text up to the tests in them.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    files(&root.join("src"), &mut found);
    found.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
        (path.strip_prefix(root).unwrap().display().to_string(), text[..end].to_owned())
    };
    found.iter().map(read).collect()
}

/// Ways to allocate that abort when there is no memory. `memory` has one that fails for each of them.
const PLAIN: [&str; 17] = [
    "vec![",
    ".collect(",
    ".collect::<",
    ".to_vec()",
    "Vec::with_capacity",
    "Vec::from",
    "String::with_capacity",
    "Box::new",
    "Arc::new",
    "Rc::new",
    "Mat::zeros",
    "Mat::from_fn",
    "Mat::<f64>::zeros",
    ".concat()",
    ".repeat(",
    ".to_string_lossy()",
    "iter::repeat_n(",
];

/// Where they may be used, and why that is no danger: the size is not the caller's to decide.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("src/error.rs", ".collect(", "an excerpt has sixty characters"),
    ("src/ffi/handle.rs", ".to_string_lossy()", "a message is short"),
    ("src/ffi/texts.rs", ".collect(", "the library's own tables"),
    (
        "src/reserve.rs",
        "Mat::<f64>::zeros",
        "the one product that finds out how large its buffer is",
    ),
    ("src/memory.rs", "Arc::new", "memory::shared asks beforehand"),
    ("src/memory.rs", "iter::repeat_n(", "memory::filled has made room"),
    ("src/panics.rs", "Box::new", "the hook, once"),
    ("src/threads/native.rs", "Box::new", "what a worker starts with, from the reserve of a call"),
];

#[test]
fn no_allocation_whose_size_a_caller_decides_can_abort() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for pattern in PLAIN.iter().filter(|pattern| line.contains(**pattern)) {
                if !ALLOWED.iter().any(|(place, what, _)| *place == file && what == pattern) {
                    wrong.push(format!("{file}:{}: {}", number + 1, line.trim()));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "use crate::memory, or say in tests/source.rs why not:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn what_is_allowed_is_still_there() {
    let sources = sources();
    for &(place, what, _) in ALLOWED {
        let used = sources.iter().any(|(file, text)| file == place && text.contains(what));
        assert!(used, "{place} has no {what} any more: take it from the list");
    }
}

/// Loops without a `for`: each says in the code or a comment why it ends.
#[test]
fn every_open_loop_says_why_it_ends() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let is_loop = code.starts_with("loop {")
                || code.starts_with("while ")
                || code.contains(" in 0.. {")
                || code.ends_with(" loop {");
            if !is_loop || code.starts_with("//") {
                continue;
            }
            let told = lines[at.saturating_sub(4)..at].iter().any(|l| l.contains("Ends:"));
            if !told {
                wrong.push(format!("{file}:{}: {code}", at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "say why it ends (// Ends: ...):\n{}", wrong.join("\n"));
}

/// A library that aborts on a panic would take its host along. The compiler says so before it misses
/// the other crates, of which it is told nothing here.
#[test]
fn a_build_that_aborts_on_a_panic_does_not_compile() {
    let says_why = |panic: &str| {
        let answer = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()))
            .args(["--edition=2024", "--crate-type=lib", "--emit=metadata"])
            .arg(format!("-Cpanic={panic}"))
            .args(["--out-dir", env!("CARGO_TARGET_TMPDIR")])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&answer.stderr).contains("a guest never aborts its host")
    };
    assert!(says_why("abort"));
    assert!(!says_why("unwind"));
}
