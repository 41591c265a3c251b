//! Random fits over the whole range of every option and of the numbers in the data: none runs beyond
//! its time limit, and none succeeds with something that is not a number.
//!
//! `SCMK_FITS` says how many, `SCMK_FIRST` where to start; each is told by its number should it fail.
//! The time is only looked at on request (`SCMK_WATCH=1`): a busy machine may take any time.

mod random;

use random::Random;
use scmk::infos;
use scmk::options::{Kind, TABLE};
use scmk::{Control, Error, Features, Model};
use std::time::{Duration, Instant};

/// A number whose logarithm is uniform.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    (low.ln() + random.next() * (high.ln() - low.ln())).exp().clamp(low, high)
}

/// Features of many shapes: a cloud, clusters, a line, equal samples, one far away, whole numbers.
fn features(n: usize, dims: usize, random: &mut Random) -> Vec<f64> {
    let scale = match random.below(3) {
        0 => 1.0,
        1 => between(random, 1e-10, 1e10),
        _ => between(random, 1e-150, 1e150),
    };
    let shape = random.below(7);
    let shift = if random.below(4) == 0 { between(random, 1.0, 1e12) } else { 0.0 };
    let centres: Vec<f64> = (0..8 * dims).map(|_| 10.0 * random.next()).collect();
    let mut x = Vec::new();
    for i in 0..n {
        for d in 0..dims {
            let value = match shape {
                0 => random.next(),
                1 => centres[i % 8 * dims + d] + random.next(),
                2 => i as f64 / n as f64,
                3 => centres[i % 3 * dims + d],
                4 if i == 0 => 1e9 * random.next(),
                5 => (4.0 * random.next()).floor(),
                6 if d == 0 => 1.0,
                _ => random.next() - 0.5,
            };
            x.push((value + shift) * scale);
        }
    }
    x
}

fn kernel_list(random: &mut Random) -> String {
    if random.below(6) == 0 {
        return "paper".to_owned();
    }
    let one = |random: &mut Random| match random.below(6) {
        0 => "linear".to_owned(),
        4 => "cosine".to_owned(),
        5 => format!("gaussian(neighbors={})", 1 + random.below(700)),
        1 | 2 => format!("gaussian(t={:e})", between(random, 1e-8, 1e6)),
        _ => format!("polynomial(a={:e},b={})", between(random, 1e-6, 1e6), 1 + random.below(4)),
    };
    if random.below(8) == 0 {
        return "auto".to_owned();
    }
    let prepared = ["", "standardize; ", "unit_rows; ", "standardize; unit_rows; "];
    let prepared = prepared[random.below(2) * random.below(4)];
    let kernels: Vec<_> = (0..1 + random.below(4)).map(|_| one(random)).collect();
    format!("{prepared}{}", kernels.join("; "))
}

/// Options over their whole ranges, some of them at the ends.
fn set_options(model: &mut Model<'_>, random: &mut Random) -> String {
    let mut told = String::new();
    for spec in TABLE {
        if matches!(spec.name, "time_limit" | "memory_limit" | "preset" | "index_base") {
            continue;
        }
        if random.below(3) == 0 {
            continue;
        }
        let text = match spec.kind {
            Kind::Real { min, max, .. } => match random.below(8) {
                0 => format!("{min:e}"),
                1 => format!("{max:e}"),
                _ => format!("{:e}", between(random, min.max(1e-12), max)),
            },
            Kind::Int { min, max, .. } => {
                // As large as they go takes longer, but not to stop.
                let most = if spec.name == "threads" { 8 } else { max.min(1_000_000) };
                (min + (between(random, 1.0, (most - min + 1) as f64) as i64 - 1)).to_string()
            }
            Kind::Text { choices, .. } => choices[random.below(choices.len())].to_owned(),
        };
        model.set(|options| options.set_text(spec.name, &text)).unwrap();
        told += &format!("{}={text} ", spec.name);
    }
    told
}

const LIMIT: f64 = 1.0;

/// One random fit. Returns how long it ran beyond its limit, and what was fitted.
fn check(number: usize) -> (f64, String) {
    let random = &mut Random::new(number);
    let n = match random.below(4) {
        0 => 1 + random.below(12),
        1 => 1 + random.below(60),
        2 => 41 + random.below(160),
        _ => 41 + random.below(560),
    };
    let clusters = match random.below(8) {
        0 | 1 => 1 + random.below(n),
        // The fit chooses.
        2 => 0,
        _ => 1 + random.below(n.min(12)),
    };
    let mut model = Model::new(n, clusters).unwrap();
    let mut told = format!("fit {number}: n {n}, clusters {clusters} ");
    for _ in 0..1 + random.below(2) {
        let dims = 1 + random.below(8);
        let (x, list) = (features(n, dims, random), kernel_list(random));
        let (samples, sample_stride) = (n, dims);
        let view =
            Features { values: &x, samples, features: dims, sample_stride, feature_stride: 1 };
        match model.add_features(view, &list) {
            Ok(()) => told += &format!("[{dims} features, {list}] "),
            // Constant, or beyond the range of numbers.
            Err(Error::Degenerate { .. } | Error::NotFinite { .. }) => {}
            Err(error) => panic!("{told}: {error}"),
        }
    }
    if model.kernels().is_empty() {
        return (0.0, told);
    }
    told += &set_options(&mut model, random);
    model.set(|options| options.set_real("time_limit", LIMIT)).unwrap();
    let rounds = if random.below(4) == 0 { 2 } else { 1 };
    let mut late = 0.0_f64;
    for _ in 0..rounds {
        let started = Instant::now();
        let fitted = model.fit(&Control::default(), None).map(|_| ());
        late = late.max(started.elapsed().as_secs_f64() - LIMIT);
        match fitted {
            Ok(()) => numbers(&model, n, &told),
            Err(Error::NotPsd { .. } | Error::InvalidArgument { .. }) => {}
            Err(error) => panic!("{told}: {error}"),
        }
        told += "again ";
        model.set(|options| options.set_text("alpha", "0.5")).unwrap();
        model.set(|options| options.set_real("time_limit", LIMIT)).unwrap();
    }
    (late, told)
}

/// That everything the model answers is a number.
fn numbers(model: &Model<'_>, n: usize, told: &str) {
    let fit = model.result().unwrap();
    assert_eq!(fit.labels.len(), n, "{told}");
    assert!(fit.weights.iter().all(|w| w.is_finite() && *w >= 0.0), "{told}: {:?}", fit.weights);
    assert!(fit.trace.iter().all(|value| value.is_finite()), "{told}: {:?}", fit.trace);
    if let Some(embedding) = &fit.embedding {
        assert!(embedding.values().iter().all(|v| v.is_finite()), "{told}: embedding");
    }
    if let Some(similarity) = &fit.similarity {
        for column in similarity.columns() {
            let sum: f64 = column.iter().map(|(_, v)| v).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{told}: a column of Z sums to {sum}");
        }
    }
    for name in infos::TABLE.iter().map(|info| info.name) {
        if let Ok(value) = model.info_real(name) {
            assert!(!value.is_nan(), "{told}: {name}");
        }
    }
    assert!(model.view_weights().unwrap().iter().all(|w| w.is_finite()), "{told}: views");
}

#[test]
fn no_fit_runs_beyond_its_time_limit_or_gives_what_is_no_number() {
    let variable = |name, otherwise| {
        std::env::var(name).map_or(otherwise, |text: String| text.parse::<usize>().unwrap())
    };
    let (first, fits) = (variable("SCMK_FIRST", 0), variable("SCMK_FITS", 60));
    let watch = std::env::var_os("SCMK_WATCH").is_some();
    let (mut worst, started, mut said) = ((0.0, String::new()), Instant::now(), Instant::now());
    for number in first..first + fits {
        let (late, told) = check(number);
        if late > worst.0 {
            worst = (late, told);
        }
        if watch && said.elapsed() > Duration::from_secs(60) {
            let seconds = started.elapsed().as_secs();
            eprintln!("{number} fits in {seconds} s, worst {:.2} s late: {}", worst.0, worst.1);
            said = Instant::now();
        }
    }
    if watch {
        eprintln!("{fits} fits, worst {:.3} s late: {}", worst.0, worst.1);
        assert!(worst.0 <= 1.5, "{:.2} s late: {}", worst.0, worst.1);
    }
}
