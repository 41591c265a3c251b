//! What a fit of method scmk certifies, computed anew from the kernels as the library holds them.
//!
//! Centring takes differences of numbers that may be much larger than what is left, and a strong
//! pull hides the kernel: both are done in twice the digits. The products in between, which take the
//! time, have errors of a few roundings of the largest centred entry, far below what is checked.

use crate::ensure;
use crate::wide::{Wide, sum, two_product, two_sum, wide};
use scmk::kernel::Gram;
use scmk::matrix::Matrix;
use scmk::settings::{Laplacian, Normalize};
use scmk::{Fit, Model};
/// A kernel divided by a power of two, so that nothing overflows, and centred.
struct Centred {
    /// HKH and K, column after column.
    centred: Vec<f64>,
    given: Vec<f64>,
    /// What `normalize` multiplies them with.
    scale: f64,
    /// How far entries may be from those the library works with, relative to the largest.
    blur: f64,
}

fn centred(kernel: &Gram<'_>, normalize: Normalize) -> Centred {
    let n = kernel.samples();
    // Of features a common part may never have been in the entries that the library keeps: these are
    // rounded to be seen here, and little may be left of what tells samples apart.
    let exact = kernel.label().spec.is_none() && kernel.is_exactly_symmetric();
    // A power of two at or just below the largest entry.
    let power = f64::from_bits(kernel.largest().to_bits() & (0x7ff << 52));
    let columns: Vec<Vec<f64>> = (0..n)
        .map(|j| {
            let mut column = kernel.column(j).expect("memory");
            column.iter_mut().for_each(|v| *v /= power);
            column
        })
        .collect();
    let entry = |i: usize, j: usize| two_sum(0.5 * columns[j][i], 0.5 * columns[i][j]);
    let size = n as f64;
    let means: Vec<Wide> = (0..n).map(|j| sum((0..n).map(|i| entry(i, j))).over(wide(size))).collect();
    let grand = sum(means.iter().copied()).over(wide(size));
    let centred = |i: usize, j: usize| entry(i, j) - means[i] - means[j] + grand;
    let scale = match normalize {
        Normalize::None => kernel.scale(Normalize::None) * power,
        Normalize::Max => power / kernel.largest(),
        Normalize::Unit if exact => size / sum((0..n).map(|i| centred(i, i))).0,
        Normalize::Unit => kernel.scale(Normalize::Unit) * power,
    };
    let mut all = vec![0.0; n * n];
    let mut given = vec![0.0; n * n];
    for (i, j) in (0..n).flat_map(|j| (j..n).map(move |i| (i, j))) {
        let (centred, entry) = (centred(i, j).0, entry(i, j).0);
        (all[i + j * n], all[j + i * n]) = (centred, centred);
        (given[i + j * n], given[j + i * n]) = (entry, entry);
    }
    Centred { centred: all, given, scale, blur: if exact { 0.0 } else { 8.0 * f64::EPSILON } }
}

/// K_w, centred, and max|K_w|, both divided by a common unit.
struct Mixed {
    centred: Vec<f64>,
    largest: f64,
    blur: f64,
    unit: f64,
}

fn mix(kernels: &[Centred], weights: &[f64], alpha: f64, normalize: Normalize) -> Mixed {
    let entries = kernels[0].centred.len();
    let factors: Vec<f64> = kernels.iter().zip(weights).map(|(k, w)| w * k.scale).collect();
    // Close to max|K_w| + α, and never beyond the range of numbers.
    let unit = factors.iter().fold(alpha, |most, factor| most.max(*factor));
    let factors: Vec<f64> = factors.iter().map(|factor| factor / unit).collect();
    let mixed = |of: fn(&Centred) -> &[f64]| -> Vec<f64> {
        let mut sums = vec![Wide::default(); entries];
        for (kernel, factor) in kernels.iter().zip(&factors) {
            let add = |(sum, value): (&mut Wide, &f64)| *sum = *sum + two_product(*value, *factor);
            sums.iter_mut().zip(of(kernel)).for_each(add);
        }
        sums.iter().map(|sum| sum.0).collect()
    };
    let centred = mixed(|kernel| &kernel.centred);
    let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    let size = match normalize {
        Normalize::Unit => largest(&centred),
        _ => largest(&mixed(|kernel| &kernel.given)),
    };
    // Entries go up to 2, and blurred ones are centred too.
    let blur = kernels.iter().zip(&factors).map(|(kernel, factor)| 8.0 * kernel.blur * factor);
    Mixed { largest: size, blur: blur.sum(), centred, unit }
}

/// Whether K_w + αI is positive definite, as far as a Cholesky factorization can tell. Larger ones are
/// taken for convex.
pub fn is_convex(model: &Model<'_>, fit: &Fit) -> bool {
    let (n, options) = (model.samples(), model.options());
    let (Some(certified), Some(alpha)) = (&fit.certified, fit.alpha_used) else { return true };
    if n > 60 {
        return true;
    }
    let kernels: Vec<Centred> =
        model.kernels().iter().map(|k| centred(k, options.normalize)).collect();
    let mixed = mix(&kernels, &certified.weights, alpha, options.normalize);
    let mut a = mixed.centred;
    for j in 0..n {
        a[j + j * n] += alpha / mixed.unit;
        // The constant vector is no direction of the problem.
        (0..n).for_each(|i| a[i + j * n] += mixed.largest / n as f64);
    }
    for j in 0..n {
        let pivot = a[j + j * n];
        if pivot <= 0.0 {
            return false;
        }
        for i in j..n {
            a[i + j * n] /= pivot.sqrt();
        }
        for k in j + 1..n {
            for i in k..n {
                a[i + k * n] -= a[i + j * n] * a[k + j * n];
            }
        }
    }
    true
}

/// Checks gap and objective of a complete fit. `similarity` is its Z, a dense matrix.
pub fn check(model: &Model<'_>, fit: &Fit, similarity: &[f64]) {
    let (n, options) = (model.samples(), model.options());
    // With hundreds of clusters beside hundreds of samples it would take seconds.
    if n < 2 || n * n * model.clusters() > 20_000_000 {
        return;
    }
    let Some(certified) = &fit.certified else {
        crate::fail("a complete fit certifies nothing", file!(), line!())
    };
    let (Some(reported), Some(alpha)) = (fit.kkt_residual, fit.alpha_used) else {
        crate::fail("a complete fit without a gap", file!(), line!())
    };
    ensure!(alpha >= options.alpha, "alpha {alpha:e} used for {:e}", options.alpha);
    let beta = fit.beta_used.unwrap_or(options.beta);
    ensure!(
        certified.embedding.is_some() == (beta > 0.0 && !fit.trace.is_empty()),
        "certified P for beta {beta}"
    );
    let normalize = options.normalize;
    let kernels: Vec<Centred> = model.kernels().iter().map(|k| centred(k, normalize)).collect();

    let mixed = mix(&kernels, &certified.weights, alpha, normalize);
    let (alpha, beta) = (alpha / mixed.unit, beta / mixed.unit);
    let size = mixed.largest + alpha;
    // What is reported has the rounding of the pull in it.
    let allowed = 2.0 * reported + 1e-12 + mixed.blur / size;
    let pulls = pulls(certified.embedding.as_ref(), 0.25 * beta);
    for (i, z) in similarity.chunks_exact(n).enumerate() {
        let mut product = vec![0.0; n];
        for (j, column) in mixed.centred.chunks_exact(n).enumerate() {
            let step = if i == j { z[j] - 1.0 } else { z[j] };
            if step != 0.0 {
                product.iter_mut().zip(column).for_each(|(sum, k)| *sum += k * step);
            }
        }
        let gradient: Vec<Wide> = (0..n)
            .map(|row| {
                let plain = Wide(product[row], 0.0) + two_product(alpha, z[row]);
                pulls.get(row + i * n).map_or(plain, |pull| plain + *pull)
            })
            .collect();
        let level = sum(gradient.iter().zip(z).map(|(g, &z)| *g * z));
        let least = gradient.iter().copied().reduce(|a, b| if (b - a).0 < 0.0 { b } else { a });
        // Of a column that sums to 1 but for rounding.
        let total = sum(z.iter().map(|&z| Wide(z, 0.0)));
        let least = least.unwrap_or_default();
        let least = least * total.0 + least * total.1;
        let gap = 2.0 * (level - least).0 / size;
        ensure!(
            gap <= allowed,
            "column {i} has a gap of {gap:e}, reported {reported:e} (n {n}, {} kernels, {}, alpha \
             {:e}, used {:e}, beta {:e}, size {:e})",
            kernels.len(),
            normalize.name(),
            options.alpha,
            alpha * mixed.unit,
            beta * mixed.unit,
            size * mixed.unit
        );
    }
    check_objective(model, fit, similarity, &kernels);
}

/// factor |p_i - p_j|^2 of all pairs; nothing without P.
fn pulls(embedding: Option<&Matrix>, factor: f64) -> Vec<Wide> {
    let Some(p) = embedding else { return Vec::new() };
    let n = p.rows();
    let mut pulls = vec![Wide::default(); n * n];
    for (i, j) in (0..n).flat_map(|j| (j + 1..n).map(move |i| (i, j))) {
        let square = |k: usize| {
            let difference = two_sum(p.get(i, k), -p.get(j, k));
            difference * difference.0 + difference * difference.1
        };
        let pull = sum((0..p.cols()).map(square)) * factor;
        (pulls[i + j * n], pulls[j + i * n]) = (pull, pull);
    }
    pulls
}

fn check_objective(model: &Model<'_>, fit: &Fit, similarity: &[f64], kernels: &[Centred]) {
    let (n, options) = (model.samples(), model.options());
    // Otherwise the result has another P than the objective.
    let of_the_model = options.embedding == Laplacian::Unnormalized && options.neighbors == 0;
    let Some(p) = fit.embedding.as_ref().filter(|_| of_the_model) else { return };
    let mixed = mix(kernels, &fit.weights, options.alpha, options.normalize);
    let beta = fit.beta_used.unwrap_or(options.beta);
    let (alpha, beta) = (options.alpha / mixed.unit, beta / mixed.unit);
    let mut value = 0.0;
    for (i, z) in similarity.chunks_exact(n).enumerate() {
        let step = |j: usize| if i == j { 1.0 - z[j] } else { -z[j] };
        for (a, column) in mixed.centred.chunks_exact(n).enumerate() {
            let own = step(a);
            if own != 0.0 {
                value += own * column.iter().enumerate().map(|(b, k)| k * step(b)).sum::<f64>();
            }
            if z[a] != 0.0 {
                let square = |k: usize| (p.get(a, k) - p.get(i, k)).powi(2);
                let distance2: f64 = (0..p.cols()).map(square).sum();
                value += z[a] * (alpha * z[a] + 0.5 * beta * distance2);
            }
        }
    }
    let rounding = 1e-12 * n as f64 * (mixed.largest + alpha + beta + mixed.blur);
    let given = fit.objective / mixed.unit;
    ensure!(
        (given - value).abs() <= 1e-9 * value.abs() + rounding + n as f64 * mixed.blur,
        "objective {given:e}, true {value:e}, in units of {:e}",
        mixed.unit
    );
}
