//! The tables of docs/reference.md are those of the library. `make reference` writes them anew.

use scmk::ffi::{SCMK_OK, scmk_metric_count, scmk_metric_name};
use scmk::infos;
use scmk::kernel::{FUNCTIONS, PREPARATIONS};
use scmk::method::METHODS;
use scmk::options::{self, number};
use std::ffi::CStr;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::ptr;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn whole(value: i64) -> String {
    if value == i64::MAX { "2^63 − 1".to_owned() } else { value.to_string() }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn yes(value: bool) -> String {
    let word = if value { "yes" } else { "no" };
    word.to_owned()
}

/// A table in Markdown. A cell must not end at a bar inside it.
fn table<const N: usize>(heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = format!("| {} |\n| {} |\n", heads.join(" | "), ["---"; N].join(" | "));
    for row in rows {
        let cells = row.map(|cell| cell.replace('|', "\\|"));
        writeln!(table, "| {} |", cells.join(" | ")).unwrap();
    }
    table
}

fn kernels() -> String {
    table(
        ["kernel", "parameters", "function of two samples x and y"],
        FUNCTIONS.iter().map(|function| {
            let parameters: Vec<String> = function
                .parameters
                .iter()
                .map(|p| match p.default_given() {
                    Some(default) => format!("`{}` = {}, {}", p.name, number(default), p.allowed),
                    None => format!("`{}`, {}", p.name, p.allowed),
                })
                .collect();
            let parameters =
                if parameters.is_empty() { "–".to_owned() } else { parameters.join("; ") };
            [code(function.name), parameters, function.doc.to_owned()]
        }),
    )
}

fn preparations() -> String {
    table(
        ["step", "what it does"],
        PREPARATIONS.iter().map(|step| [code(step.name), step.doc.to_owned()]),
    )
}

fn options() -> String {
    table(
        ["option", "default", "allowed", "what it does"],
        options::TABLE.iter().map(|spec| {
            let (default, allowed) = match spec.kind {
                options::Kind::Real { default, min, max, .. } => {
                    (number(default), format!("{} to {}", number(min), number(max)))
                }
                options::Kind::Int { default, min, max, .. } => {
                    (whole(default), format!("whole, {} to {}", whole(min), whole(max)))
                }
                options::Kind::Text { default, choices, .. } => {
                    let choices: Vec<String> = choices.iter().map(|choice| code(choice)).collect();
                    (code(default), choices.join(", "))
                }
            };
            [code(spec.name), default, allowed, spec.doc.to_owned()]
        }),
    )
}

fn methods() -> String {
    table(
        ["method", "what it is", "an iteration", "learns weights", "similarity", "embedding"],
        METHODS.iter().map(|spec| {
            [
                code(spec.name),
                spec.doc.to_owned(),
                spec.iteration.to_owned(),
                yes(spec.learns_weights),
                yes(spec.has_similarity),
                yes(spec.has_embedding),
            ]
        }),
    )
}

fn infos() -> String {
    table(
        ["info", "type", "what it is"],
        infos::TABLE.iter().map(|info| {
            let kind = match info.kind {
                infos::Value::Real(_) => "real",
                infos::Value::Int(_) => "int",
                infos::Value::Text(_) => "text",
            };
            [code(info.name), kind.to_owned(), info.doc.to_owned()]
        }),
    )
}

/// As the packages read them: the table itself is not public.
fn metrics() -> String {
    table(
        ["metric", "what it is"],
        (0..scmk_metric_count()).map(|index| {
            let (mut name, mut doc) = (ptr::null(), ptr::null());
            // SAFETY: there is room for one pointer at each output.
            let status = unsafe { scmk_metric_name(index, &mut name, &mut doc) };
            assert_eq!(status, SCMK_OK);
            // SAFETY: on success both are static texts that end with a NUL.
            let (name, doc) = unsafe { (CStr::from_ptr(name), CStr::from_ptr(doc)) };
            [code(name.to_str().unwrap()), doc.to_str().unwrap().to_owned()]
        }),
    )
}

/// The codes as src/ffi/status.rs declares them, each with its doc comment.
fn statuses() -> String {
    let source = fs::read_to_string(root().join("src/ffi/status.rs")).unwrap();
    let mut rows = Vec::new();
    let mut doc = Vec::new();
    for line in source.lines() {
        if let Some(text) = line.strip_prefix("/// ") {
            doc.push(text);
            continue;
        }
        let constant =
            line.strip_prefix("pub const ").and_then(|rest| rest.split_once(": scmk_status = "));
        if let Some((name, number)) = constant {
            let number = number.trim_end_matches(';').to_owned();
            rows.push([code(name), number, doc.join(" ")]);
        }
        doc.clear();
    }
    table(["status", "code", "meaning"], rows.into_iter())
}

/// `page` with the part between the markers of `name` replaced by `table`.
fn with_table(page: &str, name: &str, table: &str) -> String {
    let open = format!("<!-- {name}: written by make reference -->\n");
    let close = format!("<!-- end of {name} -->");
    let (before, rest) = page.split_once(&open).expect("the marker before the table");
    let (_, after) = rest.split_once(&close).expect("the marker after the table");
    format!("{before}{open}{table}{close}{after}")
}

#[test]
fn the_tables_of_the_reference_are_those_of_the_library() {
    let path = root().join("docs/reference.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut expected = with_table(&page, "kernels", &kernels());
    expected = with_table(&expected, "preparations", &preparations());
    expected = with_table(&expected, "options", &options());
    expected = with_table(&expected, "methods", &methods());
    expected = with_table(&expected, "infos", &infos());
    expected = with_table(&expected, "metrics", &metrics());
    expected = with_table(&expected, "statuses", &statuses());
    if std::env::var_os("SCMK_UPDATE_REFERENCE").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert!(page == expected, "docs/reference.md is out of date: run make reference");
    }
}

#[test]
fn the_statuses_are_read_from_their_source() {
    let table = statuses();
    assert!(
        table.contains("| `SCMK_OK` | 0 |") && table.contains("`SCMK_E_NOT_FINITE`"),
        "{table}"
    );
}
