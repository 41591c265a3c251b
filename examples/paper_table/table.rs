//! The table: ours beside the paper's.

use crate::experiment::{Method, Row};
use serde::Deserialize;
use std::error::Error;
use std::fmt::Write;

/// A number of the paper.
#[derive(Deserialize)]
struct Published {
    dataset: String,
    metric: String,
    method: String,
    percent: f64,
}

type Value = fn(&Row) -> f64;

const METRICS: [(&str, &str, Value); 4] = [
    ("accuracy", "Accuracy", |row| row.accuracy),
    ("nmi", "NMI (by the larger entropy)", |row| row.nmi),
    ("purity", "Purity", |row| row.purity),
    ("inverse_purity", "Inverse purity", |row| row.inverse_purity),
];

/// A row of the table: which fits it is about.
struct Entry {
    /// As the paper writes it, if it has it.
    title: String,
    method: Method,
    /// The setting that belongs to it: the beginning of a variant.
    variant: &'static str,
    average: bool,
}

fn entries(methods: &[Method]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for &method in methods {
        // The paper's own methods read labels from P; the normalised embedding is ours.
        let readings: &[(&str, &'static str)] = match method {
            Method::Scsk | Method::Scmk => {
                &[("", "embedding=model"), ("*", "embedding=normalized")]
            }
            _ => &[("", "")],
        };
        for &(mark, variant) in readings {
            for average in [false, true] {
                if average && !method.is_single() {
                    continue;
                }
                let suffix = if average { "-a" } else { "" };
                let title = format!("{}{mark}{suffix}", method.name());
                entries.push(Entry { title, method, variant, average });
            }
        }
    }
    entries
}

impl Entry {
    /// The fit of the best accuracy, NMI deciding between equals; all metrics are of that fit. For
    /// averages there is one such fit for each kernel.
    fn value(&self, rows: &[Row], dataset: &str, metric: Value) -> Option<f64> {
        let own = rows.iter().filter(|row| {
            row.dataset == dataset
                && row.method == self.method
                && row.variant.starts_with(self.variant)
        });
        let mut bests: Vec<&Row> = Vec::new();
        let better = |a: &Row, b: &Row| (a.accuracy, a.nmi) > (b.accuracy, b.nmi);
        for row in own {
            match bests.iter_mut().find(|best| !self.average || best.kernel == row.kernel) {
                Some(best) if better(row, best) => *best = row,
                Some(_) => {}
                None => bests.push(row),
            }
        }
        let count = bests.len();
        (count > 0).then(|| bests.into_iter().map(metric).sum::<f64>() / count as f64)
    }
}

/// One Markdown table for each metric: "ours / the paper's".
pub fn markdown(
    rows: &[Row],
    datasets: &[String],
    methods: &[Method],
) -> Result<String, Box<dyn Error>> {
    let mut published = Vec::new();
    for record in csv::Reader::from_reader(include_str!("paper.csv").as_bytes()).deserialize() {
        let record: Published = record?;
        published.push(record);
    }
    let entries = entries(methods);
    let mut text = String::new();
    for (metric, title, value) in METRICS {
        writeln!(text, "**{title}**, percent, ours / the paper's\n")?;
        writeln!(text, "| | {} |", datasets.join(" | "))?;
        writeln!(text, "| --- |{}", " ---: |".repeat(datasets.len()))?;
        for entry in &entries {
            write!(text, "| {} |", entry.title)?;
            for dataset in datasets {
                // What the paper calls purity of its own methods is the inverse purity.
                let own = matches!(entry.method, Method::Scsk | Method::Scmk);
                let theirs = match metric {
                    "purity" if own => "",
                    "inverse_purity" if own => "purity",
                    "inverse_purity" => "",
                    other => other,
                };
                let found = published.iter().find(|p| {
                    p.dataset == *dataset && p.metric == theirs && p.method == entry.title
                });
                let theirs = found.map_or("–".to_owned(), |p| format!("{:.1}", p.percent));
                match entry.value(rows, dataset, value) {
                    Some(ours) => write!(text, " {ours:.1} / {theirs} |")?,
                    None => write!(text, " – / {theirs} |")?,
                }
            }
            writeln!(text)?;
        }
        writeln!(text)?;
    }
    Ok(text)
}
