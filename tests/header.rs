//! include/scmk.h is what cbindgen makes of src/ffi, is fit for C99 and C++17, and declares the
//! functions that pass through the guard, no more and no less.

use scmk::kernel::{FUNCTIONS, PREPARATIONS};
use scmk::method::METHODS;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files with declarations, in the order in which the header shows them.
const SOURCES: [&str; 9] =
    ["abi", "status", "handle", "model", "options", "fit", "results", "metrics", "tables"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn source(name: &str) -> PathBuf {
    root().join("src/ffi").join(name).with_extension("rs")
}

fn generated() -> String {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for name in SOURCES {
        builder = builder.with_src(source(name));
    }
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    let header = String::from_utf8(header).unwrap();
    let methods = METHODS.iter().map(|method| (method.name.to_owned(), method.doc));
    let functions = FUNCTIONS.iter().map(|function| {
        let defaults = function.defaults();
        let call = if defaults.is_empty() { defaults } else { format!("({defaults})") };
        (format!("{}{call}", function.name), function.doc)
    });
    let preparations = PREPARATIONS.iter().map(|step| (step.name.to_owned(), step.doc));
    header
        .replace("@methods@", &listed(methods.collect()))
        .replace("@functions@", &listed(functions.collect()))
        .replace("@preparations@", &listed(preparations.collect()))
}

/// The rows of a table of the library as lines of the comment at the top of the header.
fn listed(rows: Vec<(String, &str)>) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap();
    let mut lines = Vec::new();
    for (name, doc) in rows {
        let mut line = format!(" *   {name:width$} ");
        for word in doc.split(' ') {
            if line.len() + 1 + word.len() > 100 {
                lines.push(std::mem::replace(&mut line, format!(" *   {:width$} ", "")));
            }
            line.push(' ');
            line.push_str(word);
        }
        lines.push(line);
    }
    lines.join("\n")
}

#[test]
fn the_committed_header_is_the_generated_one() {
    let path = root().join("include/scmk.h");
    let generated = generated();
    if std::env::var_os("SCMK_UPDATE_HEADER").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let first = committed.lines().zip(generated.lines()).position(|(old, new)| old != new);
    assert!(
        committed == generated,
        "include/scmk.h is not what src/ffi declares (first difference in line {}): update it \
         with SCMK_UPDATE_HEADER=1 cargo test --test header",
        first.map_or(committed.lines().count().min(generated.lines().count()), |line| line) + 1
    );
}

/// The functions a header declares: names that stand before a parenthesis outside of comments.
fn declared(header: &str) -> BTreeSet<String> {
    let mut code = String::new();
    let mut rest = header;
    while let Some((before, comment)) = rest.split_once("/*") {
        code.push_str(before);
        rest = comment.split_once("*/").unwrap().1;
    }
    code.push_str(rest);
    code.match_indices('(')
        .filter_map(|(at, _)| {
            let word = code[..at].rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
            word.starts_with("scmk_").then(|| word.to_owned())
        })
        .collect()
}

#[test]
fn every_declared_function_passes_through_the_guard() {
    let mut guarded = BTreeSet::new();
    for file in fs::read_dir(root().join("src/ffi")).unwrap() {
        let path = file.unwrap().path();
        let source = fs::read_to_string(&path).unwrap();
        for exported in source.split("#[unsafe(no_mangle)]\n").skip(1) {
            let end = exported.find("\n}\n").unwrap();
            let (signature, body) = exported[..end].split_once(" {\n").unwrap();
            let name = signature.split(['(', ' ']).find(|word| word.starts_with("scmk_")).unwrap();
            let body = body.trim_start();
            // What is taken from the host before the guard changes it.
            let before = ["const ", "let host = Environment::current();"];
            let is_before = |line: &str| before.iter().any(|b| line.trim_start().starts_with(b));
            let first = body.lines().find(|line| !is_before(line));
            assert!(
                first.unwrap().trim_start().starts_with("guard::"),
                "{name} in {} does not begin with the guard",
                path.display()
            );
            assert!(
                body.trim_end().ends_with("})") || body.lines().count() == 1,
                "{name} in {} does something outside of the guard",
                path.display()
            );
            guarded.insert(name.to_owned());
        }
    }
    assert!(guarded.contains("scmk_create"));
    let header = fs::read_to_string(root().join("include/scmk.h")).unwrap();
    assert_eq!(declared(&header), guarded);
}

#[test]
fn the_header_compiles_without_a_warning_as_c_and_cpp_and_twice() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (compiler, standard, suffix) in [("cc", "c99", "c"), ("c++", "c++17", "cpp")] {
        let program = folder.join("header").with_extension(suffix);
        fs::write(
            &program,
            "#include <scmk.h>\n#include <scmk.h>\n\
             int main(void) { scmk_model *model; scmk_progress_fn none = 0; (void)none;\n\
             return scmk_create(1, SCMK_ABI_VERSION, &model) == SCMK_OK ? 0 : 1; }\n",
        )
        .unwrap();
        let run = Command::new(compiler)
            .arg(format!("-std={standard}"))
            .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I"])
            .arg(root().join("include"))
            .arg(&program)
            .output()
            .unwrap_or_else(|error| panic!("{compiler} is needed: {error}"));
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }
}
