//! The tables of README.md are those of the library. `make readme` writes them anew.

use scmk::options::{Kind, TABLE, number};
use scmk::result::{INFOS, InfoKind};
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn whole(value: i64) -> String {
    if value == i64::MAX { "2^63 − 1".to_owned() } else { value.to_string() }
}

/// A cell must not end at a bar inside it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn options() -> String {
    let mut table =
        "| option | default | allowed | what it does |\n| --- | --- | --- | --- |\n".to_owned();
    for spec in TABLE {
        let (default, allowed) = match spec.kind {
            Kind::Real { default, min, max, .. } => {
                (number(default), format!("{} to {}", number(min), number(max)))
            }
            Kind::Int { default, min, max, .. } => {
                (whole(default), format!("whole, {} to {}", whole(min), whole(max)))
            }
            Kind::Text { default, choices, .. } => {
                let choices: Vec<String> = choices.iter().map(|c| format!("`{c}`")).collect();
                (format!("`{default}`"), choices.join(", "))
            }
        };
        writeln!(table, "| `{}` | {default} | {allowed} | {} |", spec.name, cell(spec.doc))
            .unwrap();
    }
    table
}

fn infos() -> String {
    let mut table = "| info | type | what it is |\n| --- | --- | --- |\n".to_owned();
    for (name, kind, doc) in INFOS {
        let kind = match kind {
            InfoKind::Real(_) => "real",
            InfoKind::Int(_) => "int",
        };
        writeln!(table, "| `{name}` | {kind} | {} |", cell(doc)).unwrap();
    }
    table
}

/// The codes as src/ffi/status.rs declares them, each with its doc comment.
fn statuses(root: &Path) -> String {
    let source = fs::read_to_string(root.join("src/ffi/status.rs")).unwrap();
    let mut table = "| status | code | meaning |\n| --- | --- | --- |\n".to_owned();
    let mut doc = Vec::new();
    for line in source.lines() {
        if let Some(text) = line.strip_prefix("/// ") {
            doc.push(text);
            continue;
        }
        let code = line
            .strip_prefix("pub const SCMK_")
            .and_then(|rest| rest.split_once(": scmk_status = "));
        if let Some((name, code)) = code {
            let code = code.trim_end_matches(';');
            writeln!(table, "| `SCMK_{name}` | {code} | {} |", cell(&doc.join(" "))).unwrap();
        }
        doc.clear();
    }
    table
}

/// `readme` with the part between the markers of `name` replaced by `table`.
fn with_table(readme: &str, name: &str, table: &str) -> String {
    let open = format!("<!-- {name}: written by make readme -->\n");
    let close = format!("<!-- end of {name} -->");
    let (before, rest) = readme.split_once(&open).expect("the marker before the table");
    let (_, after) = rest.split_once(&close).expect("the marker after the table");
    format!("{before}{open}{table}{close}{after}")
}

#[test]
fn the_tables_of_the_readme_are_those_of_the_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let mut expected = with_table(&readme, "options", &options());
    expected = with_table(&expected, "infos", &infos());
    expected = with_table(&expected, "statuses", &statuses(root));
    if std::env::var_os("SCMK_UPDATE_README").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert!(readme == expected, "README.md is out of date: run make readme");
    }
}

#[test]
fn every_option_info_and_status_is_in_its_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(options().lines().count(), 2 + TABLE.len());
    assert_eq!(infos().lines().count(), 2 + INFOS.len());
    let table = statuses(root);
    assert!(
        table.contains("| `SCMK_OK` | 0 |") && table.contains("`SCMK_E_NOT_FINITE`"),
        "{table}"
    );
}
