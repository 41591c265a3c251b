//! Any matrices and any options: a fit either fails with an error that the header lists for it, or
//! leaves a result that keeps every promise of the header.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scmk::{Error, Features, Model, Options, Outcome};
use scmk_fuzz::input::{Input, Random, square};
use scmk_fuzz::{ensure, fits, set_all, show};

/// Seconds, far beyond what the sizes here need.
const TIME_LIMIT: f64 = 1.0;

fuzz_target!(|data: &[u8]| {
    let input = &mut Input::new(data);
    // Most mistakes show in small matrices, and those are quick.
    let samples = match input.below(8) {
        0..3 => 1 + input.below(6),
        3..7 => 1 + input.below(14),
        _ => 1 + input.below(40),
    };
    let clusters = 1 + input.below(samples);
    let options = options(input);
    let mut kernels = Vec::new();
    for _ in 0..[1, 1, 2, 3][input.below(4)] {
        kernels.push((input.below(4), input.byte(), square(input, samples)));
    }
    show!("{samples} samples, {clusters} clusters, {options:#?}");
    // After the kernels, since it borrows from them.
    let mut model = Model::new(samples, clusters).expect("sizes that are allowed");
    model.set(|now| Ok(*now = options)).expect("checked options");
    for (how, extra, kernel) in &kernels {
        let added = match how {
            0 => model.add_kernel(&kernel.values, samples),
            1 => model.borrow_kernel(&kernel.values, samples),
            2 => padded(&kernel.values, samples, &mut |values, leading_dim| {
                model.add_kernel(values, leading_dim)
            }),
            _ => add_features(&mut model, &kernel.values, *extra),
        };
        let how = ["copied", "borrowed", "copied with padding", "as features"][*how];
        show!("{how} ({extra}): {:?} {added:?}", kernel.values);
        match added {
            // The time limit may pass where other work leaves no processor.
            Ok(()) | Err(Error::Degenerate { .. } | Error::Stopped { .. }) => {}
            Err(
                error @ (Error::NotFinite { .. } | Error::Asymmetric { .. } | Error::NotPsd { .. }),
            ) => ensure!(
                !kernel.sound || how == "as features",
                "a sound kernel was refused: {error}"
            ),
            Err(error) => ensure!(false, "adding a kernel failed with {error:?}"),
        }
    }
    if model.kernels().is_empty() {
        return;
    }
    let again = input.rarely(4);
    let Some(first) = fits::fit(&mut model) else { return };
    show!("{first:#?}");
    fits::check(&model, &first);
    if again && first.outcome != Outcome::TimeLimit && !model.options().warm_start {
        // Neither the number of threads nor an earlier fit may be seen in the result.
        let threads = 3 - model.options().threads;
        model.set(|options| options.set_int("threads", threads as i64)).expect("1 or 2");
        let second = fits::fit(&mut model).expect("as it went before");
        if second.outcome != Outcome::TimeLimit {
            fits::check_same(&first, &second);
        }
    }
});

fn options(input: &mut Input<'_>) -> Options {
    let alphas = [1.0, 1e-12, 1e-9, 1e-5, 1e-2, 0.1, 10.0, 1e4, 1e12];
    let betas = [1e-3, 0.0, 1e-12, 1e-5, 0.1, 1.0, 1e3, 1e12];
    let methods = ["kkm", "sc", "rkkm", "mkkm", "aasc", "rmkkm"];
    set_all(&[
        ("method", &if input.rarely(3) { input.one_of(&methods) } else { "scmk" }),
        ("alpha", &input.one_of(&alphas)),
        ("beta", &input.one_of(&betas)),
        ("learn_weights", &u8::from(!input.rarely(3))),
        ("weighting", &input.one_of(&["model", "agreement"])),
        ("adapt_beta", &u8::from(input.rarely(8))),
        ("neighbors", &input.one_of(&[-1, 0, 18, 1, 3])),
        ("diffusion", &input.one_of(&[4.0, 0.0, 0.5, 100.0])),
        ("subsamples", &if input.rarely(8) { 3 } else { 0 }),
        ("normalize", &input.one_of(&["unit", "max", "none"])),
        ("max_iterations", &(1 + input.below(6))),
        ("tolerance", &input.one_of(&[1e-5, 0.0, 1e-12, 1.0])),
        ("kkt_tolerance", &input.one_of(&[1e-9, 1e-13, 1e-6, 1e-2])),
        ("labels", &input.one_of(&["auto", "kmeans", "rotation", "qr"])),
        ("embedding", &input.one_of(&["model", "normalized"])),
        ("laplacian", &input.one_of(&["symmetric", "unnormalized"])),
        ("gamma", &input.one_of(&[0.5, 0.01, 0.1, 0.9, 0.99])),
        ("restarts", &(1 + input.below(3))),
        ("seed", &input.byte()),
        ("threads", &if input.rarely(8) { 2 } else { 1 }),
        ("time_limit", &TIME_LIMIT),
    ])
}

/// Hands the matrix over with a gap below each column, in which nothing may be read.
fn padded(
    values: &[f64],
    order: usize,
    add: &mut dyn FnMut(&[f64], usize) -> scmk::Result<()>,
) -> scmk::Result<()> {
    let leading_dim = order + 2;
    let mut padded = vec![f64::NAN; (order - 1) * leading_dim + order];
    for (to, from) in padded.chunks_mut(leading_dim).zip(values.chunks_exact(order)) {
        to[..order].copy_from_slice(from);
    }
    add(&padded, leading_dim)
}

/// The first columns of the matrix as features.
fn add_features(model: &mut Model<'_>, values: &[f64], extra: u8) -> scmk::Result<()> {
    let lists = [
        "gaussian(t=0.1)",
        "linear; gaussian",
        "paper",
        "polynomial(a=1,b=2)",
        "polynomial(a=0,b=16); gaussian(t=1e-300)",
        "gaussian(t=1e300)",
        "polynomial(a=1e300,b=1)",
        "linear",
        "standardize; linear; gaussian(neighbors=2)",
        "unit_rows; polynomial(a=0,b=3)",
        "cosine",
    ];
    let samples = model.samples();
    let mut random = Random::new(u64::from(extra));
    let features = 1 + random.below(samples);
    let list = lists[random.below(lists.len())];
    let view = if extra & 1 == 0 {
        Features { values, samples, features, sample_stride: 1, feature_stride: samples }
    } else {
        Features { values, samples, features, sample_stride: samples, feature_stride: 1 }
    };
    model.add_features(view, list)
}
