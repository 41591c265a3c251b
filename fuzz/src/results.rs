//! What the header promises of a result, whatever the data were.

use crate::ensure;

/// Labels from 0, numbered by first occurrence, at most `clusters` different ones. Returns how
/// many there are.
pub fn check_labels(labels: &[i32], clusters: usize) -> usize {
    let mut next = 0;
    for &label in labels {
        ensure!((0..=next).contains(&label), "labels not by first occurrence: {labels:?}");
        next = next.max(label + 1);
    }
    let different = next as usize;
    ensure!(different <= clusters, "{different} labels for {clusters} clusters: {labels:?}");
    different
}

/// Weights that obey the constraint of the method.
pub fn check_weights(method: &str, weighting: &str, gamma: f64, weights: &[f64]) {
    let power = match method {
        "scmk" if weighting == "model" => 0.5,
        "rmkkm" => gamma,
        _ => 1.0,
    };
    let legal = weights.iter().all(|w| w.is_finite() && *w >= 0.0);
    ensure!(legal, "weights of {method}: {weights:?}");
    let sum: f64 = weights.iter().map(|w| w.powf(power)).sum();
    // What a weight below the smallest number would add.
    let lost = weights.len() as f64 * f64::MIN_POSITIVE.powf(power);
    ensure!(
        (sum - 1.0).abs() <= 1e-9 + lost,
        "weights of {method} to the power {power} sum to {sum}: {weights:?}"
    );
}

/// An objective that is finite and never rises.
pub fn check_trace(trace: &[f64]) {
    ensure!(trace.iter().all(|v| v.is_finite()), "trace {trace:?}");
    ensure!(trace.windows(2).all(|pair| pair[1] <= pair[0]), "a rising trace {trace:?}");
}

/// An embedding with orthonormal columns.
pub fn check_orthonormal(embedding: &[f64], samples: usize) {
    for (b, right) in embedding.chunks_exact(samples).enumerate() {
        for (a, left) in embedding.chunks_exact(samples).enumerate().take(b + 1) {
            let inner: f64 = left.iter().zip(right).map(|(x, y)| x * y).sum();
            let expected = f64::from(u8::from(a == b));
            ensure!((inner - expected).abs() <= 1e-9, "columns {a} and {b} of P: {inner}");
        }
    }
}

/// The graph, a dense matrix: columns on the simplex.
pub fn check_similarity(similarity: &[f64], samples: usize) {
    for (j, column) in similarity.chunks_exact(samples).enumerate() {
        let legal = column.iter().all(|z| (0.0..=1.0 + 1e-9).contains(z));
        ensure!(legal, "column {j} of Z: {column:?}");
        let sum: f64 = column.iter().sum();
        ensure!((sum - 1.0).abs() <= 1e-9, "column {j} of Z sums to {sum}: {column:?}");
    }
}
