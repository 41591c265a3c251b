//! Runs the solver on the paper's data sets and checks what was promised of it: certificates,
//! clusterings, a monotone trace, bits that do not depend on threads, time against a matrix
//! product measured in the same run, and memory.
//!
//! `cargo bench --bench acceptance -- --data DIR`, with the `.npz` files of the data sets in DIR.

use data::{ALL, Data, set};
use faer::{Accum, Mat, MatMut, Par};
use scmk::{Control, Fit, Model, metrics};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

#[path = "../examples/paper_table/data.rs"]
mod data;

/// Prints one line and remembers whether it failed.
struct Report {
    passed: usize,
    failed: usize,
}

impl Report {
    fn line(&mut self, good: bool, text: &str) {
        println!("{} {text}", if good { "  ok " } else { "FAIL " });
        *(if good { &mut self.passed } else { &mut self.failed }) += 1;
    }
}

fn gap(fit: &Fit) -> f64 {
    fit.kkt_residual.unwrap_or(f64::INFINITY)
}

fn nnz(fit: &Fit) -> usize {
    fit.similarity.as_ref().map_or(0, |similarity| similarity.nnz())
}

fn accuracy(data: &Data, fit: &Fit) -> f64 {
    100.0 * metrics::metric("accuracy", &data.classes, &fit.labels).unwrap_or(f64::NAN)
}

fn never_rises(trace: &[f64]) -> bool {
    trace.windows(2).all(|pair| pair[1] <= pair[0])
}

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if arguments.first().is_some_and(|first| first == MEMORY_OF) {
        return ExitCode::from(u8::from(print_peak_memory(&arguments[1..]).is_err()));
    }
    let mut arguments = arguments.into_iter();
    let folder = match (arguments.next().as_deref(), arguments.next()) {
        (Some("--data"), Some(folder)) if Path::new(&folder).is_dir() => PathBuf::from(folder),
        (Some("--data"), Some(folder)) => {
            eprintln!("the data folder '{folder}' does not exist");
            return ExitCode::from(2);
        }
        _ => {
            eprintln!("usage: cargo bench --bench acceptance -- --data DIR");
            eprintln!("DIR holds the paper's data sets as .npz files with arrays X and y.");
            return ExitCode::from(2);
        }
    };
    let mut report = Report { passed: 0, failed: 0 };
    for part in [certificates, clusterings, threads, time_and_memory] {
        if let Err(error) = part(&folder, &mut report) {
            report.line(false, &format!("stopped: {error}"));
        }
    }
    println!("{} passed, {} failed", report.passed, report.failed);
    ExitCode::from(u8::from(report.failed > 0))
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn certificates(folder: &Path, report: &mut Report) -> Outcome {
    println!("Worst relative duality gap, one kernel, beta = 0 (at most 1e-8):");
    for name in ["YALE", "JAFFE", "TR11", "BA"] {
        let data = Data::load(folder, name)?;
        for kernel in ["linear", "gaussian(t=1)"] {
            let mut model = data.model(kernel, &["preset=paper", "beta=0"])?;
            for alpha in ["1e-5", "1e-3", "0.1", "1", "10", "100"] {
                set(&mut model, &[&format!("alpha={alpha}")])?;
                let fit = model.fit(&Control::default(), None)?;
                let text = format!(
                    "{name:5} {kernel:13} alpha {alpha:>4}: gap {:.1e}, support {:.0} of {}, Z {:.2} s, P {:.2} s",
                    gap(fit),
                    nnz(fit) as f64 / data.samples as f64,
                    data.samples,
                    fit.seconds.similarity,
                    fit.seconds.embedding,
                );
                report.line(gap(fit) <= 1e-8, &text);
            }
        }
    }
    Ok(())
}

fn clusterings(folder: &Path, report: &mut Report) -> Outcome {
    println!("Accuracy, the paper's twelve kernels, normalize = max, beta = 1e-5:");
    for (name, alpha, least) in [
        ("JAFFE", "1e-4", 100.0),
        ("YALE", "0.01", 57.0),
        ("TR45", "0.01", 73.0),
        ("ORL", "0.001", 60.0),
    ] {
        let data = Data::load(folder, name)?;
        let options = ["preset=paper", &format!("alpha={alpha}")];
        let mut model = data.model("paper", &options)?;
        let accuracy = accuracy(&data, model.fit(&Control::default(), None)?);
        let text = format!("{name:5} alpha {alpha:>5}: {accuracy:.1} % (at least {least} %)");
        report.line(accuracy >= least, &text);
    }
    Ok(())
}

fn threads(folder: &Path, report: &mut Report) -> Outcome {
    println!("Trace never rises, same bits for 1, 2 and 8 threads:");
    for name in ALL {
        let data = Data::load(folder, name)?;
        let mut model = data.model("paper", &["preset=paper"])?;
        let mut fits = Vec::new();
        for threads in [1, 2, 8] {
            set(&mut model, &[&format!("threads={threads}")])?;
            fits.push(model.fit(&Control::default(), None)?.clone());
        }
        let same = |other: &Fit| {
            let one = &fits[0];
            one.labels == other.labels
                && one.trace == other.trace
                && one.weights == other.weights
                && one.similarity == other.similarity
                && one.embedding == other.embedding
        };
        let good = never_rises(&fits[0].trace) && fits.iter().all(same);
        let text = format!(
            "{name:5}: {} iterations, {}, accuracy {:.1} %, seconds {:.2} / {:.2} / {:.2}",
            fits[0].iterations(),
            fits[0].outcome.name(),
            accuracy(&data, &fits[0]),
            fits[0].total_seconds,
            fits[1].total_seconds,
            fits[2].total_seconds
        );
        report.line(good, &text);
    }
    Ok(())
}

fn time_and_memory(folder: &Path, report: &mut Report) -> Outcome {
    println!("A whole fit of BA (12 kernels, alpha = 0.01, two threads):");
    let data = Data::load(folder, "BA")?;
    let n = data.samples;
    let mut built = data.model("paper", &[])?;
    let kernels: Vec<Vec<f64>> = built
        .kernels()
        .iter()
        .map(|k| (0..n).flat_map(|j| k.column(j).unwrap_or_default()).collect())
        .collect();
    built.clear_kernels();
    let mut model = Model::new(n, data.clusters())?;
    for kernel in &kernels {
        model.borrow_kernel(kernel, n)?;
    }
    set(&mut model, &["preset=paper", "threads=2"])?;

    match peak_memory(&kernels, data.clusters())? {
        Some(peak) => {
            let announced = squares(model.memory_required() as f64, n);
            let text = format!(
                "peak memory beyond the kernels: {:.2} n×n (below 4); announced at most {announced:.2}",
                squares(peak, n)
            );
            report.line(squares(peak, n) < 4.0, &text);
        }
        None => println!("      peak memory: not measured, the system does not tell"),
    }

    let mut best = f64::INFINITY;
    let mut product = f64::INFINITY;
    for _ in 0..3 {
        product = product.min(product_seconds(n)?);
        let fit = model.fit(&Control::default(), None)?;
        best = best.min(fit.total_seconds);
        let s = fit.seconds;
        println!(
            "      {:.2} s: Z {:.2}, P {:.2}, w {:.2}, labels {:.2}",
            fit.total_seconds, s.similarity, s.embedding, s.weights, s.labels
        );
        product = product.min(product_seconds(n)?);
    }
    let ratio = best / product;
    let text = format!(
        "fit {best:.2} s, one {n}^3 product {:.1} ms on two threads (faer): ratio {ratio:.1} (at most 40)",
        1e3 * product
    );
    report.line(ratio <= 40.0, &text);
    Ok(())
}

/// One n×n×n product of doubles on two threads.
fn product_seconds(n: usize) -> Result<f64, rayon::ThreadPoolBuildError> {
    let a = Mat::from_fn(n, n, |i, j| ((i * 7 + j * 13) % 101) as f64);
    let mut c = Mat::zeros(n, n);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    Ok(pool.install(|| {
        let run = |c: &mut Mat<f64>| {
            let started = Instant::now();
            // A half for each of the two.
            let (left, right) = c.as_mut().split_at_col_mut(n / 2);
            let half = |out: MatMut<'_, f64>, first: usize| {
                let columns = a.as_ref().subcols(first, out.ncols());
                faer::linalg::matmul::matmul(out, Accum::Replace, &a, columns, 1.0, Par::Seq);
            };
            rayon::join(|| half(left, 0), || half(right, n / 2));
            started.elapsed().as_secs_f64()
        };
        (0..5).map(|_| run(&mut c)).fold(f64::INFINITY, f64::min)
    }))
}

fn squares(bytes: f64, n: usize) -> f64 {
    bytes / (n * n * 8) as f64
}

/// Peak resident memory of a fit beyond its borrowed kernels, in bytes. Measured in a process of
/// its own: memory that this one has freed and kept would hide it.
fn peak_memory(
    kernels: &[Vec<f64>],
    clusters: usize,
) -> Result<Option<f64>, Box<dyn std::error::Error>> {
    let file = std::env::temp_dir().join(format!("scmk-acceptance-{}", std::process::id()));
    let bytes: Vec<u8> = kernels.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    std::fs::write(&file, bytes)?;
    let output = std::process::Command::new(std::env::current_exe()?)
        .arg(MEMORY_OF)
        .arg(&file)
        .args([kernels.len().to_string(), clusters.to_string()])
        .output();
    std::fs::remove_file(&file)?;
    Ok(String::from_utf8(output?.stdout)?.trim().parse().ok())
}

const MEMORY_OF: &str = "--memory-of";

/// The body of that process: prints the figure.
fn print_peak_memory(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [file, kernels, clusters] = arguments else {
        return Err("three arguments expected".into());
    };
    let (count, clusters): (usize, usize) = (kernels.parse()?, clusters.parse()?);
    let mut reader = std::io::BufReader::new(File::open(file)?);
    let entries = std::fs::metadata(file)?.len() as usize / 8 / count;
    let n = entries.isqrt();
    let mut kernels = Vec::with_capacity(entries * count);
    let mut word = [0; 8];
    while reader.read_exact(&mut word).is_ok() {
        kernels.push(f64::from_le_bytes(word));
    }
    let mut model = Model::new(n, clusters)?;
    for kernel in kernels.chunks_exact(entries) {
        model.borrow_kernel(kernel, n)?;
    }
    set(&mut model, &["preset=paper", "threads=2"])?;
    std::fs::write("/proc/self/clear_refs", "5")?;
    let before = status("VmRSS").ok_or("no VmRSS")?;
    model.fit(&Control::default(), None)?;
    println!("{}", status("VmHWM").ok_or("no VmHWM")? - before);
    Ok(())
}

/// A field of this process's status in bytes (Linux).
fn status(field: &str) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with(field))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024.0)
}
