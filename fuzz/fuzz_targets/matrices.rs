//! Any matrices and any options: a fit either fails with an error that the header lists for it, or
//! leaves a result that keeps every promise of the header.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scmk::matrix::Similarity;
use scmk::options::{Embedding, Labels, Laplacian, Method, Normalize};
use scmk::{Control, Error, Features, Fit, Model, Options, Outcome};
use scmk_fuzz::input::{Input, Random, square};
use scmk_fuzz::results::{
    check_labels, check_orthonormal, check_similarity, check_trace, check_weights,
};
use scmk_fuzz::{ensure, show};

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
            Ok(()) => {}
            Err(Error::Degenerate { .. }) => {}
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
    let Some(first) = fit(&mut model) else { return };
    show!("{first:#?}");
    check(&model, &first);
    if again && first.outcome != Outcome::TimeLimit && !model.options().warm_start {
        // Neither the number of threads nor an earlier fit may be seen in the result.
        let threads = 3 - model.options().threads;
        model.set(|options| options.set_int("threads", threads as i64)).expect("1 or 2");
        let second = fit(&mut model).expect("as it went before");
        if second.outcome != Outcome::TimeLimit {
            check_same(&first, &second);
        }
    }
});

fn options(input: &mut Input<'_>) -> Options {
    let alphas = [1.0, 1e-12, 1e-9, 1e-5, 1e-2, 0.1, 10.0, 1e4, 1e12];
    let betas = [1e-3, 0.0, 1e-12, 1e-5, 0.1, 1.0, 1e3, 1e12];
    let methods =
        [Method::Kkm, Method::Sc, Method::Rkkm, Method::Mkkm, Method::Aasc, Method::Rmkkm];
    Options {
        method: if input.rarely(3) { input.one_of(&methods) } else { Method::Scmk },
        alpha: input.one_of(&alphas),
        beta: input.one_of(&betas),
        learn_weights: !input.rarely(3),
        normalize: input.one_of(&[Normalize::Unit, Normalize::Max, Normalize::None]),
        max_iterations: 1 + input.below(6),
        tolerance: input.one_of(&[1e-5, 0.0, 1e-12, 1.0]),
        kkt_tolerance: input.one_of(&[1e-9, 1e-13, 1e-6, 1e-2]),
        labels: input.one_of(&[Labels::Auto, Labels::Kmeans, Labels::Rotation, Labels::Qr]),
        embedding: input.one_of(&[Embedding::Model, Embedding::Normalized]),
        laplacian: input.one_of(&[Laplacian::Symmetric, Laplacian::Unnormalized]),
        gamma: input.one_of(&[0.5, 0.01, 0.1, 0.9, 0.99]),
        restarts: 1 + input.below(3),
        seed: u64::from(input.byte()),
        threads: if input.rarely(8) { 2 } else { 1 },
        time_limit: TIME_LIMIT,
        ..Options::default()
    }
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

/// `None` for an error that the header allows.
fn fit(model: &mut Model<'_>) -> Option<Fit> {
    match model.fit(&Control::default(), None) {
        Ok(fit) => Some(fit.clone()),
        Err(error @ (Error::NotPsd { .. } | Error::NoConvergence { .. })) => {
            show!("{error}");
            None
        }
        Err(error) => {
            ensure!(false, "the fit failed with {error:?}");
            None
        }
    }
}

fn check(model: &Model<'_>, fit: &Fit) {
    let (options, samples, clusters) = (model.options(), model.samples(), model.clusters());
    ensure!(fit.method == options.method, "fitted by {:?}", fit.method);
    // The limit is 1; a machine may be busy with other things.
    ensure!(fit.seconds.total < 30.0, "{} seconds", fit.seconds.total);
    ensure!(fit.labels.len() == samples, "{} labels", fit.labels.len());
    let different = check_labels(&fit.labels, clusters);
    ensure!(fit.weights.len() == model.kernels().len(), "{} weights", fit.weights.len());
    check_weights(options.method.name(), options.gamma, &fit.weights);
    let finite = fit.objective.is_finite() || fit.trace.is_empty();
    ensure!(finite, "objective {}", fit.objective);
    check_trace(&fit.trace);
    if let Some(last) = fit.trace.last() {
        ensure!(*last == fit.objective, "objective {} after {last}", fit.objective);
    }
    ensure!(fit.trace.len() <= options.max_iterations, "{} iterations", fit.trace.len());

    // The rivals have no embedding until their first iteration is complete.
    let spectral = options.method == Method::Scmk
        || matches!(options.method, Method::Sc | Method::Aasc) && !fit.trace.is_empty();
    ensure!(fit.embedding.is_some() == spectral, "embedding of {}", options.method.name());
    ensure!(fit.components.is_some() == spectral, "components of {}", options.method.name());
    ensure!(fit.similarity.is_some() == (options.method == Method::Scmk), "similarity");
    if let Some(embedding) = &fit.embedding {
        let finite = embedding.values().iter().all(|v| v.is_finite());
        ensure!(finite, "embedding {:?}", embedding.values());
        ensure!(embedding.rows() == samples && embedding.cols() == clusters, "its shape");
        if options.method == Method::Scmk && options.embedding == Embedding::Model {
            check_orthonormal(embedding.values(), samples);
        }
    }
    if let Some(components) = fit.components {
        ensure!((1..=samples).contains(&components), "{components} parts");
    }
    let residual = fit.embedding_residual.unwrap_or(0.0);
    ensure!((0.0..1e-6).contains(&residual), "embedding residual {residual}");
    if let Some(similarity) = &fit.similarity {
        check_similarity(&dense(similarity), samples);
    }
    // What follows is promised of complete fits only.
    if fit.outcome == Outcome::TimeLimit {
        return;
    }
    ensure!(different == clusters, "{different} of {clusters} clusters: {:?}", fit.labels);
    ensure!(!fit.trace.is_empty(), "no iteration");
    if let Some(gap) = fit.kkt_residual {
        ensure!((0.0..=options.kkt_tolerance).contains(&gap), "gap {gap}");
        check_gap(model, fit, gap);
    }
}

/// Computes the duality gap anew where the last Z-step is known from the result: one kernel as it
/// was given, and no pull.
fn check_gap(model: &Model<'_>, fit: &Fit, reported: f64) {
    let options = model.options();
    let [kernel] = model.kernels() else { return };
    if options.beta != 0.0 || options.normalize == Normalize::Unit {
        return;
    }
    let samples = model.samples();
    let largest = kernel.largest();
    // All in units of max|K| + alpha, as the library reports it. Halves, since the sum may
    // overflow.
    let scale = if options.normalize == Normalize::Max { 1.0 } else { largest };
    let unit = 0.5 * scale + 0.5 * options.alpha;
    let (share, alpha) = (0.5 * scale / unit, 0.5 * options.alpha / unit);
    // Columns of Z sum to 1: a constant added to the kernel does not matter but for rounding,
    // which is what centring it saves.
    let mean = |j: usize| kernel.col(j).iter().map(|v| v / largest).sum::<f64>() / samples as f64;
    let means: Vec<f64> = (0..samples).map(mean).collect();
    let grand = means.iter().sum::<f64>() / samples as f64;
    let entry = |i: usize, j: usize| {
        let (lower, upper) = (kernel.col(j)[i] / largest, kernel.col(i)[j] / largest);
        (0.5 * (lower + upper) - means[i] - means[j] + grand) * share
    };
    let similarity = dense(fit.similarity.as_ref().expect("there is a gap, hence a graph"));
    for (j, z) in similarity.chunks_exact(samples).enumerate() {
        let half_gradient: Vec<f64> = (0..samples)
            .map(|i| {
                let product: f64 = (0..samples).map(|k| entry(i, k) * z[k]).sum();
                product + alpha * z[i] - entry(i, j)
            })
            .collect();
        let along: f64 = half_gradient.iter().zip(z).map(|(g, z)| g * z).sum();
        let least = half_gradient.iter().copied().fold(f64::INFINITY, f64::min);
        let gap = 2.0 * (along - least);
        let allowed = reported + 1e-13 * samples as f64;
        ensure!(gap <= allowed, "column {j} has a gap of {gap:e}, reported {reported:e}");
    }
}

fn dense(similarity: &Similarity) -> Vec<f64> {
    let samples = similarity.samples();
    let mut values = vec![0.0; samples * samples];
    for (column, out) in similarity.columns().iter().zip(values.chunks_exact_mut(samples)) {
        column.scatter(out);
    }
    values
}

fn check_same(first: &Fit, second: &Fit) {
    ensure!(first.labels == second.labels, "labels {:?} {:?}", first.labels, second.labels);
    ensure!(first.outcome == second.outcome, "{:?} {:?}", first.outcome, second.outcome);
    ensure!(first.components == second.components, "components differ");
    let numbers = |fit: &Fit| -> Vec<u64> {
        let embedding = fit.embedding.iter().flat_map(|matrix| matrix.values().to_vec());
        let similarity = fit.similarity.iter().flat_map(dense);
        let residuals = [fit.objective, fit.kkt_residual.unwrap_or(0.0)];
        let lists = fit.weights.iter().chain(&fit.trace).copied();
        lists.chain(residuals).chain(embedding).chain(similarity).map(f64::to_bits).collect()
    };
    ensure!(numbers(first) == numbers(second), "bits differ between two fits");
}
