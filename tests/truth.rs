//! What a fit certifies agrees with an independent computation in twice the digits: gap, objective and
//! residual of the embedding, for kernels with a large common part too.
//!
//! `SCMK_PROBLEMS` says how many random problems; each is told by its number should it fail.

mod random;
mod wide;

use random::Random;
use scmk::settings::Normalize;
use scmk::{Control, Error, Features, Fit, Model};
use wide::{Wide, sum, wide};

/// A kernel of random points: Gaussian plus a constant, or uncentred linear.
fn kernel(n: usize, random: &mut Random) -> Vec<f64> {
    let dims = 1 + random.below(6);
    let points: Vec<f64> = (0..n * dims).map(|_| random.next() - 0.5).collect();
    let point = |i: usize| &points[i * dims..][..dims];
    let common = match random.below(3) {
        0 => 0.0,
        _ => 2f64.powi(random.below(41) as i32),
    };
    let linear = random.below(2) == 0;
    let entry = |i: usize, j: usize| -> f64 {
        let pairs = || point(i).iter().zip(point(j));
        if linear {
            let shift = common.sqrt();
            pairs().map(|(x, y)| (x + shift) * (y + shift)).sum()
        } else {
            (-pairs().map(|(x, y)| (x - y).powi(2)).sum::<f64>()).exp() + common
        }
    };
    let scale = if random.below(4) == 0 { 2f64.powi(random.below(601) as i32 - 300) } else { 1.0 };
    let mut values = vec![0.0; n * n];
    for j in 0..n {
        for i in j..n {
            values[i + j * n] = entry(i, j) * scale;
            values[j + i * n] = values[i + j * n];
        }
    }
    values
}

/// HKH times what `normalize` multiplies a kernel with, and the largest entry that gaps are relative
/// to: of the kernel itself, or centred.
fn scaled(values: &[f64], n: usize, normalize: Normalize) -> (Vec<Wide>, Wide) {
    let size = wide(n as f64);
    let means: Vec<Wide> = values
        .chunks_exact(n)
        .map(|column| sum(column.iter().map(|&v| wide(v))).over(size))
        .collect();
    let grand = sum(means.iter().copied()).over(size);
    let centred = |i: usize, j: usize| wide(values[i + j * n]) - means[i] - means[j] + grand;
    let largest = values.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    let factor = match normalize {
        Normalize::None => wide(1.0),
        Normalize::Max => wide(1.0).over(wide(largest)),
        Normalize::Unit => size.over(sum((0..n).map(|i| centred(i, i)))),
    };
    let centred = (0..n * n).map(|e| centred(e % n, e / n) * factor).collect();
    (centred, factor)
}

/// The kernels mixed with `weights`, centred, and max|K_w|.
fn mix(
    kernels: &[Vec<f64>],
    scaled: &[(Vec<Wide>, Wide)],
    weights: &[f64],
    normalize: Normalize,
) -> (Vec<Wide>, f64) {
    let entries = kernels[0].len();
    let mixed = |of: &dyn Fn(usize, usize) -> Wide| -> Vec<Wide> {
        let entry = |e: usize| sum((0..weights.len()).map(|k| wide(weights[k]) * of(k, e)));
        (0..entries).map(entry).collect()
    };
    let centred = mixed(&|k, e| scaled[k].0[e]);
    let size = match normalize {
        Normalize::Unit => centred.iter().fold(0.0_f64, |most, v| most.max(v.0.abs())),
        _ => mixed(&|k, e| scaled[k].1 * wide(kernels[k][e]))
            .iter()
            .fold(0.0_f64, |most, v| most.max(v.0.abs())),
    };
    (centred, size)
}

/// The worst duality gap of a column of Z, relative to max|K_w| + α.
fn gap(mixed: &[Wide], size: f64, fit: &Fit, alpha: f64, beta: f64) -> f64 {
    let n = fit.labels.len();
    let certified = fit.certified.as_ref().unwrap();
    let mut z = vec![0.0; n];
    let mut worst = 0.0_f64;
    for (i, column) in fit.similarity.as_ref().unwrap().columns().iter().enumerate() {
        column.scatter(&mut z);
        let move_of = |j: usize| if i == j { wide(z[j]) - wide(1.0) } else { wide(z[j]) };
        let gradient: Vec<Wide> = (0..n)
            .map(|row| {
                let product = sum((0..n).map(|j| mixed[row + j * n] * move_of(j)));
                let pull = certified.embedding.as_ref().map_or(wide(0.0), |p| {
                    let difference = |k: usize| wide(p.get(row, k)) - wide(p.get(i, k));
                    sum((0..p.cols()).map(|k| difference(k) * difference(k)))
                        * wide(0.25)
                        * wide(beta)
                });
                product + wide(alpha) * wide(z[row]) + pull
            })
            .collect();
        let level = sum(gradient.iter().zip(&z).map(|(g, &z)| *g * wide(z)));
        let least =
            gradient.iter().copied().reduce(|a, b| if (b - a).0 < 0.0 { b } else { a }).unwrap();
        // Of a column that sums to 1 but for rounding.
        let total = sum(z.iter().map(|&z| wide(z)));
        worst = worst.max(2.0 * (level - least * total).0 / (size + alpha));
    }
    worst
}

/// The objective of the result.
fn objective(mixed: &[Wide], fit: &Fit, alpha: f64, beta: f64) -> f64 {
    let n = fit.labels.len();
    let p = fit.embedding.as_ref().unwrap();
    let mut z = vec![0.0; n];
    let mut value = Wide::default();
    for (i, column) in fit.similarity.as_ref().unwrap().columns().iter().enumerate() {
        column.scatter(&mut z);
        let y: Vec<Wide> =
            (0..n).map(|j| if i == j { wide(1.0) - wide(z[j]) } else { wide(-z[j]) }).collect();
        for a in 0..n {
            let product = sum((0..n).map(|b| mixed[a + b * n] * y[b]));
            value = value + y[a] * product + wide(alpha) * wide(z[a]) * wide(z[a]);
            let difference = |k: usize| wide(p.get(a, k)) - wide(p.get(i, k));
            let distance2 = sum((0..p.cols()).map(|k| difference(k) * difference(k)));
            value = value + wide(0.5 * beta) * wide(z[a]) * distance2;
        }
    }
    value.0
}

/// The worst |Lp − λp| of a column of P, relative to the largest degree.
fn residual(fit: &Fit) -> f64 {
    let n = fit.labels.len();
    let p = fit.embedding.as_ref().unwrap();
    let mut s = vec![Wide::default(); n * n];
    let mut z = vec![0.0; n];
    for (i, column) in fit.similarity.as_ref().unwrap().columns().iter().enumerate() {
        column.scatter(&mut z);
        for (j, &z) in z.iter().enumerate().filter(|(j, _)| *j != i) {
            s[i + j * n] = s[i + j * n] + wide(0.5 * z);
            s[j + i * n] = s[j + i * n] + wide(0.5 * z);
        }
    }
    let degrees: Vec<Wide> = (0..n).map(|i| sum(s[i * n..][..n].iter().copied())).collect();
    let largest = degrees.iter().fold(0.0_f64, |most, d| most.max(d.0));
    let mut worst = 0.0_f64;
    for k in 0..p.cols() {
        let image: Vec<Wide> = (0..n)
            .map(|i| {
                let others = sum((0..n).map(|j| s[i + j * n] * wide(p.get(j, k))));
                degrees[i] * wide(p.get(i, k)) - others
            })
            .collect();
        let value = sum((0..n).map(|i| image[i] * wide(p.get(i, k))));
        let left = |i: usize| image[i] - value * wide(p.get(i, k));
        worst = worst.max(sum((0..n).map(|i| left(i) * left(i))).0.max(0.0).sqrt());
    }
    if largest > 0.0 { worst / largest } else { 0.0 }
}

/// One random problem, fitted once or, warm, twice. False if it is none: rounding beside a large common
/// part may leave a kernel so indefinite that α does not make up for it.
fn check(number: usize) -> bool {
    let random = &mut Random::new(number);
    (0..5).for_each(|_| {
        random.next();
    });
    let n = 4 + random.below(if number % 10 == 0 { 60 } else { 20 });
    let clusters = 1 + random.below(4.min(n));
    let kernels: Vec<Vec<f64>> = (0..1 + random.below(3)).map(|_| kernel(n, random)).collect();
    let mut model = Model::new(n, clusters).unwrap();
    model.set(|o| o.set_text("preset", "joint")).unwrap();
    for values in &kernels {
        if random.below(2) == 0 {
            model.add_kernel(values, n).unwrap();
        } else {
            model.borrow_kernel(values, n).unwrap();
        }
    }
    let normalize = [Normalize::None, Normalize::Max, Normalize::Unit][random.below(3)];
    let size = if normalize == Normalize::None { kernels[0][0].abs() } else { 1.0 };
    let mut told = String::new();
    for round in 0..1 + random.below(2) {
        let mut alpha = (size * 10f64.powf(6.0 * random.next() - 4.0)).clamp(1e-12, 1e12);
        let beta = ([0.0, 1e-3, 0.3, 20.0][random.below(4)] * alpha).min(1e12);
        let (learn, iterations) = (random.below(2), [1, 2, 100][random.below(3)]);
        model
            .set(|o| {
                o.set_text("normalize", normalize.name())?;
                o.set_real("alpha", alpha)?;
                o.set_real("beta", beta)?;
                o.set_int("learn_weights", learn as i64)?;
                o.set_int("max_iterations", iterations)?;
                o.set_int("warm_start", 1)
            })
            .unwrap();
        let fit = match model.fit(&Control::default(), None) {
            Err(Error::NotPsd { .. }) => return false,
            fit => fit.unwrap().clone(),
        };
        alpha = fit.alpha_used.unwrap();
        told += &format!(
            "problem {number}, round {round}: n {n}, {} kernels, {}, alpha {alpha:e}, beta {beta:e}, \
             learn {learn}, kkt {:?}; ",
            kernels.len(),
            normalize.name(),
            fit.kkt_residual
        );
        let scaled: Vec<_> = kernels.iter().map(|values| scaled(values, n, normalize)).collect();
        let certified = &fit.certified.as_ref().unwrap().weights;
        let (mixed, largest) = mix(&kernels, &scaled, certified, normalize);
        let gap = gap(&mixed, largest, &fit, alpha, beta);
        assert!(gap <= 2.0 * fit.kkt_residual.unwrap() + 1e-12, "{told} gap {gap:e}");
        let (mixed, largest) = mix(&kernels, &scaled, &fit.weights, normalize);
        // Of the objective the option's own α is a part.
        let value = objective(&mixed, &fit, model.options().alpha, beta);
        let rounding = 1e-10 * value + 1e-13 * n as f64 * (largest + alpha);
        assert!(
            (fit.objective - value).abs() <= rounding,
            "{told} objective {:e}, true {value:e}",
            fit.objective
        );
        let residual = residual(&fit);
        let reported = fit.embedding_residual.unwrap();
        assert!(residual <= 2.0 * reported + 1e-12, "{told} residual {residual:e} {reported:e}");
    }
    true
}

#[test]
fn certificates_agree_with_twice_the_digits() {
    let problems = std::env::var("SCMK_PROBLEMS").map_or(100, |count| count.parse().unwrap());
    let checked = (0..problems).filter(|&number| check(number)).count();
    assert!(checked >= problems * 9 / 10, "{checked} of {problems}");
}

#[test]
fn a_gaussian_plus_two_to_the_thirty_is_certified_as_well_as_without() {
    let (n, random) = (60, &mut Random::new(7));
    let x: Vec<f64> = (0..n).map(|_| random.next()).collect();
    let plain: Vec<f64> = (0..n * n).map(|e| (-(x[e % n] - x[e / n]).powi(2)).exp()).collect();
    // Rounded, so that both kernels are exactly the same but for the constant.
    let common = 2f64.powi(30);
    let with: Vec<f64> = plain.iter().map(|v| v + common).collect();
    let without: Vec<f64> = with.iter().map(|v| v - common).collect();
    let fits = [&with, &without].map(|values| {
        let mut model = Model::new(n, 3).unwrap();
        model.add_kernel(values, n).unwrap();
        model.set(|o| o.set_real("beta", 0.0)).unwrap();
        let fit = model.fit(&Control::default(), None).unwrap().clone();
        let scaled = vec![scaled(values, n, Normalize::Unit)];
        let (mixed, largest) = mix(std::slice::from_ref(values), &scaled, &[1.0], Normalize::Unit);
        let gap = gap(&mixed, largest, &fit, 1.0, 0.0);
        assert!(gap <= 2.0 * fit.kkt_residual.unwrap() + 1e-12, "{gap:e}");
        fit
    });
    assert!((fits[0].objective / fits[1].objective - 1.0).abs() < 1e-9);
    assert_eq!(fits[0].labels, fits[1].labels);
}

#[test]
fn linear_kernels_of_features_far_from_the_origin_keep_their_digits() {
    let (n, dims, random) = (50, 4, &mut Random::new(11));
    // Whole numbers plus a power of two: exact near the origin and far from it.
    let near: Vec<f64> = (0..n * dims).map(|_| (random.next() * 1024.0).floor()).collect();
    for far in [2f64.powi(20), 2f64.powi(30)] {
        let shifted: Vec<f64> = near.iter().map(|v| v + far).collect();
        let fits = [&near, &shifted].map(|values| {
            let mut model = Model::new(n, 3).unwrap();
            let (sample_stride, feature_stride) = (dims, 1);
            let view =
                Features { values, samples: n, features: dims, sample_stride, feature_stride };
            model.add_features(view, "linear").unwrap();
            model.fit(&Control::default(), None).unwrap().clone()
        });
        assert!((fits[0].objective / fits[1].objective - 1.0).abs() < 1e-9, "{far}");
        assert_eq!(fits[0].labels, fits[1].labels);
    }
}
