//! Redoes the experiments of Kang, Peng and Cheng (AAAI 2017): eight methods, eight data sets,
//! twelve kernels, beside the numbers of the paper.
//!
//! `cargo run --release --example paper_table -- --data DIR`, with the `.npz` files of the data
//! sets in DIR; `--help` lists what can be chosen.

mod data;
mod experiment;
mod figures;
mod table;

use clap::Parser;
use experiment::{Method, Settings};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Redo the paper's table: results.csv, table.md and figures.
#[derive(Parser)]
struct Arguments {
    /// Folder with the data sets as .npz files (arrays X and y)
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Data sets, by comma
    #[arg(long, value_delimiter = ',', default_values_t = data::ALL.map(str::to_owned))]
    datasets: Vec<String>,
    /// Methods, by comma
    #[arg(long, value_delimiter = ',', default_values_t = Method::ALL)]
    methods: Vec<Method>,
    /// Folder for what is written
    #[arg(long, value_name = "DIR", default_value = "paper-table")]
    out: PathBuf,
    /// Repetitions of randomised steps; the one with the best objective counts
    #[arg(long, default_value_t = 20)]
    repetitions: usize,
    /// Fits that run side by side; 0 is one for each core
    #[arg(long, default_value_t = 0)]
    jobs: usize,
    /// Start every fit from scratch instead of from its neighbour in alpha
    #[arg(long)]
    cold: bool,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments { data: folder, datasets, methods, out, repetitions, jobs, cold } = arguments;
    if !folder.is_dir() {
        return Err(format!(
            "The data folder '{}' does not exist. It should hold the paper's data sets as .npz \
             files with arrays X (samples by features) and y (classes).",
            folder.display()
        )
        .into());
    }
    let mut sets = Vec::new();
    for name in &datasets {
        sets.push(experiment::Set::load(&folder, name)?);
    }
    std::fs::create_dir_all(&out)?;
    let jobs = match jobs {
        0 => std::thread::available_parallelism()?.get(),
        jobs => jobs,
    };
    let settings = Settings { repetitions, cold };
    let rows = experiment::run(&sets, &methods, settings, jobs)?;
    let mut csv = csv::Writer::from_path(out.join("results.csv"))?;
    for row in &rows {
        csv.serialize(row)?;
    }
    csv.flush()?;
    std::fs::write(out.join("table.md"), table::markdown(&rows, &datasets, &methods)?)?;
    let mut written = vec!["results.csv".to_owned(), "table.md".to_owned()];
    if methods.contains(&Method::Scmk) {
        written.extend(figures::draw(&sets, &rows, settings, &out)?);
    }
    println!("{}", table::markdown(&rows, &datasets, &methods)?);
    for name in written {
        println!("written: {}", out.join(name).display());
    }
    Ok(())
}
