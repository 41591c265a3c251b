//! Fits, and what the header promises of each of them.

use crate::results::{
    check_labels, check_orthonormal, check_similarity, check_trace, check_weights,
};
use crate::{certificate, ensure, show, watchdog};
use scmk::matrix::Similarity;
use scmk::settings::{Laplacian, Method};
use scmk::{Control, Error, Fit, Model, Outcome};

/// Seconds that a call may take beyond the option time_limit.
const GRACE: f64 = 5.0;

/// `None` for an error that the header allows.
pub fn fit(model: &mut Model<'_>) -> Option<Fit> {
    let limit = model.options().time_limit + GRACE;
    match watchdog::within(limit, "a fit", || model.fit(&Control::default(), None).cloned()) {
        Ok(fit) => Some(fit),
        Err(error @ (Error::NotPsd { .. } | Error::NoConvergence { .. })) => {
            show!("{error}");
            None
        }
        // Sums of kernels as they are may be beyond the range of numbers.
        Err(Error::InvalidArgument { name, .. }) if name == "normalize" => None,
        Err(error) => {
            ensure!(false, "the fit failed with {error:?}");
            None
        }
    }
}

pub fn check(model: &Model<'_>, fit: &Fit) {
    let (options, samples, clusters) = (model.options(), model.samples(), model.clusters());
    ensure!(fit.method == options.method, "fitted by {:?}", fit.method);
    ensure!(fit.labels.len() == samples, "{} labels", fit.labels.len());
    let different = check_labels(&fit.labels, clusters);
    ensure!(fit.weights.len() == model.kernels().len(), "{} weights", fit.weights.len());
    check_weights(options.method.name(), options.weighting.name(), options.gamma, &fit.weights);
    let finite = fit.objective.is_finite() || fit.trace.is_empty();
    ensure!(finite, "objective {}", fit.objective);
    check_trace(&fit.trace);
    if let Some(last) = fit.trace.last() {
        ensure!(*last == fit.objective, "objective {} after {last}", fit.objective);
    }
    ensure!(fit.trace.len() <= options.max_iterations, "{} iterations", fit.trace.len());

    // The rivals have no embedding until their first iteration is complete.
    let spec = options.method.spec();
    let scmk = options.method == Method::default();
    let spectral = scmk || spec.has_embedding && !fit.trace.is_empty();
    ensure!(fit.embedding.is_some() == spectral, "embedding of {}", options.method.name());
    ensure!(fit.components.is_some() == spectral, "components of {}", options.method.name());
    ensure!(fit.similarity.is_some() == spec.has_similarity, "similarity");
    if let Some(embedding) = &fit.embedding {
        let finite = embedding.values().iter().all(|v| v.is_finite());
        ensure!(finite, "embedding {:?}", embedding.values());
        ensure!(embedding.rows() == samples && embedding.cols() == clusters, "its shape");
        if scmk && options.embedding == Laplacian::Unnormalized {
            check_orthonormal(embedding.values(), samples);
        }
    }
    if let Some(components) = fit.components {
        ensure!((1..=samples).contains(&components), "{components} parts");
    }
    let residual = fit.embedding_residual.unwrap_or(0.0);
    ensure!((0.0..1e-6).contains(&residual), "embedding residual {residual}");
    let similarity = fit.similarity.as_ref().map(dense);
    if let Some(similarity) = &similarity {
        check_similarity(similarity, samples);
    }
    // What follows is promised of complete fits only.
    if fit.outcome == Outcome::TimeLimit {
        return;
    }
    ensure!(different == clusters, "{different} of {clusters} clusters: {:?}", fit.labels);
    ensure!(!fit.trace.is_empty(), "no iteration");
    if let Some(gap) = fit.kkt_residual {
        // With many samples and an alpha lost beside the kernel, rounding leaves more than the
        // smallest tolerances. What is reported has to be true all the same, see below.
        let rounding = if samples > 40 { 1e-8 } else { 0.0 };
        // What the rounding of the pull may hide is reported too, and grows with beta.
        let terms = (model.clusters() + 4) as f64;
        let beta = fit.beta_used.unwrap_or(options.beta);
        let pull = 2.0 * terms * f64::EPSILON * beta / options.alpha;
        // A kernel that is indefinite by up to 1e-6, as rounding of its entries leaves it, is taken.
        // Where alpha does not make up for it the problem is not convex, and a gap may stay.
        let indefinite = if certificate::is_convex(model, fit) { 0.0 } else { 1e-5 };
        let most = options.kkt_tolerance.max(rounding).max(indefinite) + pull;
        ensure!((0.0..=most).contains(&gap), "gap {gap:e} of {:e}", options.kkt_tolerance);
    }
    if let Some(similarity) = &similarity {
        certificate::check(model, fit, similarity);
    }
}

fn dense(similarity: &Similarity) -> Vec<f64> {
    let samples = similarity.targets();
    let mut values = vec![0.0; samples * samples];
    for (column, out) in similarity.columns().iter().zip(values.chunks_exact_mut(samples)) {
        column.scatter(out);
    }
    values
}

pub fn check_same(first: &Fit, second: &Fit) {
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
