//! Data flows one way: a module knows only those above it in the list of src/lib.rs.

use std::fs;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The modules in the order of the table in src/lib.rs. Those of one row are ordered too.
fn modules() -> Vec<String> {
    let text = fs::read_to_string(source().join("lib.rs")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | "));
    let cells = rows.filter_map(|row| row.split(" | ").next()).filter(|cell| cell.contains('`'));
    let names = cells.flat_map(|cell| cell.split(", ").map(str::to_lowercase));
    names.map(|name| name.replace(['[', ']', '`'], "")).collect()
}

/// The files of a module, without the tests in them.
fn files(module: &str) -> Vec<(String, String)> {
    fn walk(path: &Path, found: &mut Vec<PathBuf>) {
        if path.is_dir() {
            fs::read_dir(path).unwrap().for_each(|entry| walk(&entry.unwrap().path(), found));
        } else {
            found.push(path.to_owned());
        }
    }
    let mut paths = Vec::new();
    let folder = source().join(module);
    walk(&if folder.is_dir() { folder } else { folder.with_extension("rs") }, &mut paths);
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
        let name = path.strip_prefix(source()).unwrap().display().to_string();
        (name, text[..end].to_owned())
    };
    paths.iter().map(read).collect()
}

/// The modules of this crate that a file names, with the line.
fn named(text: &str) -> Vec<(usize, String)> {
    let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let of_line = |(number, line): (usize, &str)| {
        let places: Vec<_> = line.split("crate::").skip(1).map(str::to_owned).collect();
        places.into_iter().flat_map(move |rest| {
            // One name, or several in braces.
            let list = rest.strip_prefix('{').and_then(|rest| rest.split('}').next());
            let names: Vec<String> = match list {
                Some(list) => list.split(',').map(|name| name.trim().to_owned()).collect(),
                None => vec![rest],
            };
            let word = |name: String| {
                name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_owned()
            };
            names.into_iter().map(move |name| (number + 1, word(name)))
        })
    };
    code.flat_map(of_line).collect()
}

/// What is wrong with a file of the module at `place`.
fn violations(modules: &[String], place: usize, file: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (line, name) in named(text) {
        match modules.iter().position(|module| *module == name) {
            // Macros and the crate's own re-exports are none of its modules.
            None if name.chars().next().is_none_or(char::is_uppercase) => {
                wrong.push(format!("{file}:{line}: name the module that {name} is in"));
            }
            Some(other) if other > place => {
                wrong.push(format!("{file}:{line}: {name} is below {}", modules[place]));
            }
            _ => {}
        }
    }
    wrong
}

#[test]
fn a_module_knows_only_those_above_it() {
    let modules = modules();
    let mut wrong = Vec::new();
    for (place, module) in modules.iter().enumerate() {
        for (file, text) in files(module) {
            wrong.extend(violations(&modules, place, &file, &text));
        }
    }
    assert!(wrong.is_empty(), "against the order of src/lib.rs:\n{}", wrong.join("\n"));
}

#[test]
fn every_module_is_in_the_list() {
    let modules = modules();
    for entry in fs::read_dir(source()).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(
            name == "lib" || modules.contains(&name),
            "{name} is not in the list of src/lib.rs"
        );
    }
}

#[test]
fn a_planted_violation_is_found() {
    let modules = modules();
    let place = modules.iter().position(|module| module == "kernel").unwrap();
    for planted in [
        "use crate::method::Solution;",
        "    let n = crate::model::Model::samples(m);",
        "use crate::{memory, steps};",
        "use crate::Model;",
    ] {
        assert_eq!(violations(&modules, place, "planted", planted).len(), 1, "{planted}");
    }
    for allowed in ["use crate::memory;", "// see crate::method", "use crate::kernel::Gram;"] {
        assert!(violations(&modules, place, "allowed", allowed).is_empty(), "{allowed}");
    }
}
