//! The six methods of the comparison against slow computations that share no code with them, and
//! what a user relies on whatever the method.

use faer::{Mat, Side};
use scmk::method::METHODS;
use scmk::{Control, Features, Fit, Model, Outcome};

/// The names of all methods.
fn methods() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|method| method.name)
}

fn generator(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e3779b97f4a7c15) | 1;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    }
}

/// Samples by rows.
type Points = Vec<Vec<f64>>;

fn random_points(samples: usize, features: usize, seed: u64) -> Points {
    let mut random = generator(seed);
    (0..samples).map(|_| (0..features).map(|_| random()).collect()).collect()
}

fn linear(points: &Points) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum();
    points.iter().flat_map(|a| points.iter().map(move |b| dot(a, b))).collect()
}

fn gaussian(points: &Points, width: f64) -> Vec<f64> {
    let distance2 =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let value = |a: &[f64], b: &[f64]| (-distance2(a, b) / width).exp();
    points.iter().flat_map(|a| points.iter().map(move |b| value(a, b))).collect()
}

fn model(kernels: &[Vec<f64>], clusters: usize, options: &[(&str, &str)]) -> Model<'static> {
    let samples = kernels[0].len().isqrt();
    let mut model = Model::new(samples, clusters).unwrap();
    set(&mut model, &[("preset", "joint")]);
    kernels.iter().for_each(|kernel| model.add_kernel(kernel, samples).unwrap());
    set(&mut model, options);
    model
}

fn set(model: &mut Model<'_>, options: &[(&str, &str)]) {
    model.set(|o| options.iter().try_for_each(|(name, value)| o.set_text(name, value))).unwrap();
}

fn fit(kernels: &[Vec<f64>], clusters: usize, options: &[(&str, &str)]) -> Fit {
    let mut model = model(kernels, clusters, options);
    model.fit(&Control::default(), None).unwrap().clone()
}

/// Every division of `samples` samples into exactly `clusters` clusters, once.
fn partitions(samples: usize, clusters: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..samples {
        let longer = |labels: Vec<usize>| {
            let open = labels.iter().max().map_or(0, |most| most + 1);
            (0..clusters.min(open + 1)).map(move |label| [labels.clone(), vec![label]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all.retain(|labels: &Vec<usize>| labels.iter().max() == Some(&(clusters - 1)));
    all
}

/// Sum of squared distances to the cluster means, by the definition.
fn scatter(points: &Points, labels: &[usize], clusters: usize) -> f64 {
    let mut total = 0.0;
    for cluster in 0..clusters {
        let own: Vec<&Vec<f64>> =
            (0..labels.len()).filter(|&i| labels[i] == cluster).map(|i| &points[i]).collect();
        for feature in 0..points[0].len() {
            let mean = own.iter().map(|p| p[feature]).sum::<f64>() / own.len() as f64;
            total += own.iter().map(|p| (p[feature] - mean).powi(2)).sum::<f64>();
        }
    }
    total
}

/// The least sum of distances from one place to all of `points`, by trying steps along the axes
/// and their diagonals that get shorter: slow, and unlike reweighting.
fn median_cost(points: &[Vec<f64>]) -> f64 {
    let distance =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let cost = |at: &[f64]| points.iter().map(|p| distance(p, at)).sum::<f64>();
    let dims = points[0].len();
    let mut at: Vec<f64> =
        (0..dims).map(|k| points.iter().map(|p| p[k]).sum::<f64>() / points.len() as f64).collect();
    let mut best = points.iter().map(|p| cost(p)).fold(cost(&at), f64::min);
    let mut step = 0.5;
    while step > 1e-9 {
        // Pattern search: every direction of the axes and their pairs.
        let mut moved = false;
        for k in 0..dims {
            for l in 0..dims {
                for (a, b) in [(1.0, 0.0), (-1.0, 0.0), (1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
                    let mut next = at.clone();
                    next[k] += a * step;
                    next[l] += b * step;
                    if cost(&next) < cost(&at) {
                        at = next;
                        moved = true;
                    }
                }
            }
        }
        if !moved {
            step *= 0.5;
        }
    }
    best = best.min(cost(&at));
    best
}

fn robust_cost(points: &Points, labels: &[usize], clusters: usize) -> f64 {
    let own = |cluster: usize| -> Vec<Vec<f64>> {
        (0..labels.len()).filter(|&i| labels[i] == cluster).map(|i| points[i].clone()).collect()
    };
    (0..clusters).map(|cluster| median_cost(&own(cluster))).sum()
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * b.abs(), "{a} and {b}");
}

const MANY: (&str, &str) = ("restarts", "200");
const RAW: (&str, &str) = ("normalize", "none");

#[test]
fn kkm_finds_the_best_of_all_partitions() {
    for (samples, clusters, seed) in [(6, 2, 1), (7, 3, 2), (8, 4, 3), (8, 7, 4)] {
        let points = random_points(samples, 3, seed);
        let found = fit(&[linear(&points)], clusters, &[("method", "kkm"), MANY, RAW]);
        let all = partitions(samples, clusters);
        let costs = all.iter().map(|labels| scatter(&points, labels, clusters));
        close(found.objective, costs.fold(f64::INFINITY, f64::min), 1e-12);
    }
}

#[test]
fn kkm_of_several_kernels_is_that_of_their_mean() {
    let points = random_points(40, 3, 5);
    let kernels = [linear(&points), gaussian(&points, 0.3)];
    let mean: Vec<f64> = kernels[0].iter().zip(&kernels[1]).map(|(a, b)| 0.5 * (a + b)).collect();
    let several = fit(&kernels, 4, &[("method", "kkm"), RAW]);
    let one = fit(&[mean], 4, &[("method", "kkm"), RAW]);
    assert_eq!(several.labels, one.labels);
    close(several.objective, one.objective, 1e-12);
    assert_eq!(several.weights, [0.5, 0.5]);
}

#[test]
fn rkkm_finds_the_best_of_all_partitions() {
    for (samples, clusters, seed) in [(6, 2, 1), (7, 3, 2), (7, 2, 3)] {
        let points = random_points(samples, 2, seed);
        let options =
            [("method", "rkkm"), MANY, RAW, ("tolerance", "0"), ("max_iterations", "5000")];
        let found = fit(&[linear(&points)], clusters, &options);
        let all = partitions(samples, clusters);
        let costs = all.iter().map(|labels| robust_cost(&points, labels, clusters));
        // The guard moves the objective by up to half of 1e-5 of the spread a sample.
        close(found.objective, costs.fold(f64::INFINITY, f64::min), 1e-4);
    }
}

#[test]
fn one_far_sample_moves_robust_clusters_less() {
    // Nine samples at 0 and one at 100: the mean is at 10, the median at 0.
    let mut points = vec![vec![0.0]; 9];
    points.push(vec![100.0]);
    let kernel = [linear(&points)];
    let plain = fit(&kernel, 1, &[("method", "kkm"), RAW]);
    let robust = fit(&kernel, 1, &[("method", "rkkm"), RAW]);
    close(plain.objective, 9000.0, 1e-12);
    close(robust.objective, 100.0, 1e-3);
}

#[test]
fn mkkm_finds_the_best_of_all_partitions() {
    for (samples, clusters, seed) in [(6, 2, 1), (7, 3, 2), (8, 3, 3)] {
        let views = [random_points(samples, 2, seed), random_points(samples, 3, seed + 50)];
        let kernels = [linear(&views[0]), linear(&views[1])];
        let found = fit(&kernels, clusters, &[("method", "mkkm"), MANY, RAW]);
        // With w ∝ 1/h and Σ w = 1, Σ w²h is 1/Σ(1/h).
        let cost = |labels: &Vec<usize>| {
            1.0 / views.iter().map(|view| 1.0 / scatter(view, labels, clusters)).sum::<f64>()
        };
        let all = partitions(samples, clusters);
        close(found.objective, all.iter().map(cost).fold(f64::INFINITY, f64::min), 1e-12);
        let labels: Vec<usize> = found.labels.iter().map(|&label| label as usize).collect();
        let h = [0, 1].map(|k| scatter(&views[k], &labels, clusters));
        close(found.weights[0] * h[0], found.weights[1] * h[1], 1e-10);
        close(found.weights.iter().sum(), 1.0, 1e-14);
    }
}

/// The weights have corners (all of it on one kernel) that are minima of their own, so that the
/// alternation need not find the least of all. Where it ends, nothing nearby is better.
#[test]
fn rmkkm_ends_where_neither_centres_nor_weights_can_be_improved() {
    let clusters = 2;
    for (samples, gamma, seed) in [(6, 0.3, 1), (6, 0.6, 2), (8, 0.5, 3), (8, 0.9, 4)] {
        let views = [random_points(samples, 1, seed), random_points(samples, 1, seed + 50)];
        let kernels = [linear(&views[0]), linear(&views[1])];
        let text = gamma.to_string();
        let options = [
            ("method", "rmkkm"),
            ("gamma", &text),
            MANY,
            RAW,
            ("tolerance", "0"),
            ("max_iterations", "5000"),
        ];
        let found = fit(&kernels, clusters, &options);
        let powers: Vec<f64> = found.weights.iter().map(|w| w.powf(gamma)).collect();
        close(powers.iter().sum(), 1.0, 1e-12);
        // The cost of the labels, with the best centres, for a share of the first kernel; the
        // second weight follows from Σ w^γ = 1.
        let cost = |labels: &[usize], share: f64| {
            let w = [share, 1.0 - share].map(|share: f64| share.powf(1.0 / gamma));
            let scaled: Points = (0..samples)
                .map(|i| vec![w[0].sqrt() * views[0][i][0], w[1].sqrt() * views[1][i][0]])
                .collect();
            robust_cost(&scaled, labels, clusters)
        };
        let labels: Vec<usize> = found.labels.iter().map(|&label| label as usize).collect();
        close(found.objective, cost(&labels, powers[0]), 1e-3);
        for step in [-0.02, -0.005, 0.005, 0.02] {
            let other = cost(&labels, (powers[0] + step).clamp(0.0, 1.0));
            assert!(other >= found.objective * (1.0 - 1e-3), "{other} {}", found.objective);
        }
        for other in partitions(samples, clusters) {
            let moved = other.iter().zip(&labels).filter(|(a, b)| a != b).count();
            if moved == 1 {
                let other = cost(&other, powers[0]);
                assert!(other >= found.objective * (1.0 - 1e-3), "{other} {}", found.objective);
            }
        }
    }
}

/// The Laplacian of affinities with negative entries and the diagonal taken out, and the degrees.
fn laplacian(affinities: &[f64], symmetric: bool) -> (Mat<f64>, Vec<f64>) {
    let n = affinities.len().isqrt();
    let w = |i: usize, j: usize| if i == j { 0.0 } else { affinities[i + j * n].max(0.0) };
    let degrees: Vec<f64> = (0..n).map(|i| (0..n).map(|j| w(i, j)).sum()).collect();
    let matrix = Mat::from_fn(n, n, |i, j| {
        let plain = if i == j { degrees[i] } else { -w(i, j) };
        if symmetric { plain / (degrees[i] * degrees[j]).sqrt() } else { plain }
    });
    (matrix, degrees)
}

/// The smallest eigenpairs, by faer.
fn smallest(matrix: &Mat<f64>, count: usize) -> (Vec<f64>, Mat<f64>) {
    let eigen = matrix.self_adjoint_eigen(Side::Lower).unwrap();
    let values = (0..count).map(|k| eigen.S().column_vector()[k]).collect();
    (values, eigen.U().subcols(0, count).to_owned())
}

#[test]
fn sc_embeds_with_the_smallest_eigenvectors() {
    for (samples, clusters) in [(30, 3), (700, 5), (1700, 4)] {
        let points = random_points(samples, 2, 7);
        let kernel = gaussian(&points, 0.05);
        for laplacian_name in ["symmetric", "unnormalized"] {
            let options = [("method", "sc"), ("laplacian", laplacian_name), RAW];
            let found = fit(std::slice::from_ref(&kernel), clusters, &options);
            if samples > 1000 {
                // The iteration, whose certificate has to do: a dense check would take minutes.
                assert!(found.embedding_residual.unwrap() <= 1e-10);
                continue;
            }
            let (matrix, _) = laplacian(&kernel, laplacian_name == "symmetric");
            let (values, vectors) = smallest(&matrix, clusters);
            close(found.objective, values.iter().sum(), 1e-8);
            // Rows of unit length that span what the eigenvectors span: equal inner products.
            let embedding = found.embedding.as_ref().unwrap();
            let length = |i: usize| vectors.row(i).iter().map(|v| v * v).sum::<f64>().sqrt();
            for (i, j) in [(0, 1), (2, 9), (11, 11), (3, samples - 1)] {
                let ours: f64 =
                    (0..clusters).map(|k| embedding.get(i, k) * embedding.get(j, k)).sum();
                let theirs: f64 =
                    vectors.row(i).iter().zip(vectors.row(j).iter()).map(|(a, b)| a * b).sum();
                assert!((ours - theirs / (length(i) * length(j))).abs() < 1e-7);
            }
        }
    }
}

#[test]
fn negative_entries_are_no_affinity() {
    let points = random_points(25, 2, 8);
    let kernel = linear(&points);
    assert!(kernel.iter().any(|&value| value < 0.0));
    let found = fit(std::slice::from_ref(&kernel), 3, &[("method", "sc"), RAW]);
    let (matrix, _) = laplacian(&kernel, true);
    close(found.objective, smallest(&matrix, 3).0.iter().sum(), 1e-9);
}

/// Tr(FᵀAF) column by column.
fn trace(f: &Mat<f64>, a: &Mat<f64>) -> f64 {
    let product = f.transpose() * a * f;
    (0..product.ncols()).map(|k| product[(k, k)]).sum()
}

#[test]
fn aasc_agrees_with_a_slow_alternation() {
    let (samples, clusters) = (24, 3);
    let points = random_points(samples, 2, 9);
    let kernels = [gaussian(&points, 0.3), gaussian(&points, 0.1), linear(&points)];
    for symmetric in [false, true] {
        let mut v = vec![1.0 / 3.0; 3];
        let mut best = (f64::INFINITY, v.clone());
        for _ in 0..200 {
            let entry = |at: usize| {
                kernels.iter().zip(&v).map(|(kernel, v)| v * v * kernel[at].max(0.0)).sum()
            };
            let mixed: Vec<f64> = (0..samples * samples).map(entry).collect();
            let (matrix, degrees) = laplacian(&mixed, symmetric);
            let (values, mut f) = smallest(&matrix, clusters);
            let objective = values.iter().sum::<f64>();
            if objective > best.0 {
                break;
            }
            best = (objective, v.clone());
            if symmetric {
                f = Mat::from_fn(samples, clusters, |i, k| f[(i, k)] / degrees[i].sqrt());
            }
            let parts: Vec<(f64, f64)> = kernels
                .iter()
                .map(|kernel| {
                    let (matrix, degrees) = laplacian(kernel, false);
                    let diagonal =
                        Mat::from_fn(
                            samples,
                            samples,
                            |i, j| {
                                if i == j { degrees[i] } else { 0.0 }
                            },
                        );
                    (trace(&f, &matrix), trace(&f, &diagonal))
                })
                .collect();
            if symmetric {
                // The best v on a fine grid of directions, at the volume c, with Σ v ≥ 1.
                let mut least = (f64::INFINITY, v.clone());
                let steps = 400;
                for a in 0..=steps {
                    for b in 0..=steps - a {
                        let raw = [a, b, steps - a - b].map(|k| k as f64 / steps as f64);
                        let volume: f64 = raw.iter().zip(&parts).map(|(v, p)| v * v * p.1).sum();
                        let scale = (clusters as f64 / volume).sqrt();
                        let cut: f64 =
                            raw.iter().zip(&parts).map(|(v, p)| (v * scale).powi(2) * p.0).sum();
                        if scale >= 1.0 - 1e-9 && cut < least.0 {
                            least = (cut, raw.to_vec());
                        }
                    }
                }
                v = least.1;
            } else {
                let total: f64 = parts.iter().map(|part| 1.0 / part.0).sum();
                v = parts.iter().map(|part| 1.0 / part.0 / total).collect();
            }
        }
        let name = if symmetric { "symmetric" } else { "unnormalized" };
        let options = [("method", "aasc"), ("laplacian", name), RAW, ("tolerance", "1e-12")];
        let found = fit(&kernels, clusters, &options);
        // The slow weights of the symmetric case lie on a grid.
        let tolerance = if symmetric { 2e-2 } else { 1e-6 };
        close(found.objective, best.0, tolerance);
        for (ours, slow) in found.weights.iter().zip(&best.1) {
            assert!((ours - slow).abs() < tolerance.max(1e-4), "{:?} {:?}", found.weights, best.1);
        }
    }
}

/// Three clouds, two views.
fn clouds(samples: usize) -> Vec<Vec<f64>> {
    let noise = [random_points(samples, 2, 3), random_points(samples, 2, 4)];
    let view = |noise: &Points| -> Points {
        let place = |i: usize| [[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]][i % 3];
        (0..samples).map(|i| (0..2).map(|k| place(i)[k] + noise[i][k]).collect()).collect()
    };
    vec![gaussian(&view(&noise[0]), 2.0), gaussian(&view(&noise[1]), 4.0)]
}

#[test]
fn every_method_finds_clear_clusters_with_a_monotone_trace() {
    let kernels = clouds(60);
    for method in methods() {
        let found = fit(&kernels, 3, &[("method", method)]);
        assert_eq!(found.method.name(), method);
        assert!(
            found.labels.iter().enumerate().all(|(i, &label)| label == (i % 3) as i32),
            "{method}"
        );
        assert!(
            found.trace.windows(2).all(|pair| pair[1] <= pair[0]),
            "{method}: {:?}",
            found.trace
        );
        assert_eq!(found.trace.last(), Some(&found.objective), "{method}");
        assert_eq!(found.outcome, Outcome::Converged, "{method}");
        assert!(found.weights.len() == 2 && found.weights.iter().all(|&w| w > 0.0), "{method}");
    }
}

#[test]
fn weights_stay_equal_when_they_are_not_to_be_learned() {
    let points = random_points(50, 2, 6);
    let kernels = [linear(&points), gaussian(&points, 0.2)];
    for method in methods() {
        let found = fit(&kernels, 4, &[("method", method), ("learn_weights", "0")]);
        assert_eq!(found.weights[0], found.weights[1], "{method}");
        if ["scmk", "mkkm", "aasc", "rmkkm"].contains(&method) {
            let learned = fit(&kernels, 4, &[("method", method)]);
            assert_ne!(learned.weights[0], learned.weights[1], "{method}");
        }
    }
}

#[test]
fn identical_samples_single_clusters_and_singletons_are_handled() {
    // Twelve samples at four places.
    let points: Points = (0..12).map(|i| random_points(4, 2, 1)[i % 4].clone()).collect();
    let kernels = [linear(&points), gaussian(&points, 0.5)];
    for method in methods() {
        for clusters in [1, 2, 4, 7, 12] {
            let found = fit(&kernels, clusters, &[("method", method)]);
            let mut labels = found.labels.clone();
            labels.sort_unstable();
            labels.dedup();
            let all: Vec<i32> = (0..clusters as i32).collect();
            assert_eq!(labels, all, "{method} {clusters}");
            assert!(found.objective.is_finite(), "{method} {clusters}");
            let finite = |w: &f64| w.is_finite() && *w >= 0.0;
            assert!(found.weights.iter().all(finite), "{method} {clusters} {:?}", found.weights);
            if clusters == 4 && method != "scmk" {
                let same = (4..12).all(|i| found.labels[i] == found.labels[i - 4]);
                assert!(same, "{method}: {:?}", found.labels);
            }
        }
    }
}

#[test]
fn one_sample_is_enough() {
    for method in methods() {
        let found = fit(&[vec![2.0]], 1, &[("method", method)]);
        assert_eq!(found.labels, [0], "{method}");
        assert_eq!(found.weights, [1.0], "{method}");
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let points = random_points(600, 3, 10);
    let kernels = [linear(&points), gaussian(&points, 0.2), gaussian(&points, 1.0)];
    for method in methods().filter(|&method| method != "scmk") {
        let run = |threads: &str| {
            fit(&kernels, 6, &[("method", method), ("threads", threads), ("restarts", "3")])
        };
        let one = run("1");
        for threads in ["2", "5"] {
            let other = run(threads);
            assert!(one.labels == other.labels && one.weights == other.weights, "{method}");
            assert!(one.trace == other.trace && one.embedding == other.embedding, "{method}");
        }
    }
}

#[test]
fn the_size_of_the_numbers_does_not_matter() {
    let kernels = clouds(30);
    for method in methods() {
        let plain = fit(&kernels, 3, &[("method", method)]);
        for factor in [1e-280, 1e280] {
            let scaled: Vec<Vec<f64>> =
                kernels.iter().map(|k| k.iter().map(|v| v * factor).collect()).collect();
            let found = fit(&scaled, 3, &[("method", method)]);
            assert_eq!(found.labels, plain.labels, "{method} {factor}");
            for (a, b) in found.weights.iter().zip(&plain.weights) {
                close(*a, *b, 1e-6);
            }
        }
    }
}

#[test]
fn a_fit_that_is_stopped_leaves_a_result() {
    let points = random_points(300, 3, 11);
    let kernels = [linear(&points), gaussian(&points, 0.2)];
    for method in methods() {
        let mut stopped = model(&kernels, 5, &[("method", method), ("restarts", "50")]);
        let control = Control::default();
        control.cancel();
        let found = stopped.fit(&control, None).unwrap();
        assert_eq!(found.outcome, Outcome::Cancelled, "{method}");
        assert_eq!(found.labels.len(), 300, "{method}");

        // Stopped by the progress function after the first complete iteration.
        let control = Control::default();
        let mut calls = 0;
        let mut progress = |progress: scmk::Progress| {
            calls += 1;
            progress.step == scmk::Step::Iteration
        };
        let found = stopped.fit(&control, Some(&mut progress)).unwrap();
        assert!(found.objective.is_finite() && !found.trace.is_empty(), "{method}");
        assert!(calls > 0, "{method}");

        set(&mut stopped, &[("time_limit", "1e-9")]);
        let found = stopped.fit(&Control::default(), None).unwrap();
        assert_eq!(found.outcome, Outcome::TimeLimit, "{method}");
    }
}

#[test]
fn the_seed_decides_and_more_restarts_are_never_worse() {
    let points = random_points(200, 3, 12);
    let kernels = [linear(&points), gaussian(&points, 0.2)];
    for method in ["kkm", "rkkm", "mkkm", "rmkkm"] {
        let run = |seed: &str, restarts: &str| {
            fit(&kernels, 12, &[("method", method), ("seed", seed), ("restarts", restarts)])
        };
        let one = run("3", "1");
        assert_eq!(one.labels, run("3", "1").labels, "{method}");
        let different = (0..8).any(|seed| run(&seed.to_string(), "1").labels != one.labels);
        assert!(different, "{method}");
        assert!(run("3", "10").objective <= one.objective, "{method}");
    }
}

#[test]
fn what_a_method_does_not_have_is_said_by_name() {
    let kernels = clouds(30);
    let mut fitted = model(&kernels, 3, &[("method", "kkm")]);
    fitted.fit(&Control::default(), None).unwrap();
    let message = fitted.info_real("kkt_residual").unwrap_err().to_string();
    assert_eq!(message, "method kkm has no kkt_residual");
    assert!(fitted.info_int("components").is_err() && fitted.info_int("similarity_nnz").is_err());
    let part = fitted.embedding();
    assert_eq!(part.unwrap_err().to_string(), "method kkm has no embedding");
    assert!(fitted.info_real("objective").is_ok() && fitted.info_int("iterations").is_ok());
    set(&mut fitted, &[("method", "sc")]);
    fitted.fit(&Control::default(), None).unwrap();
    assert!(fitted.info_int("components").is_ok() && fitted.info_real("kkt_residual").is_err());
}

#[test]
fn what_a_stopped_fit_has_not_reached_is_said_so() {
    for method in ["sc", "aasc"] {
        let mut stopped = model(&clouds(30), 3, &[("method", method)]);
        let control = Control::default();
        control.cancel();
        assert_eq!(stopped.fit(&control, None).unwrap().outcome, Outcome::Cancelled);
        let part = stopped.embedding();
        let expected = "the fit was stopped before this part of the result was there";
        assert_eq!(part.unwrap_err().to_string(), expected);
        assert_eq!(stopped.info_int("components").unwrap_err().to_string(), expected);
    }
}

#[test]
fn bad_options_are_refused_in_words() {
    let mut fitted = model(&clouds(30), 3, &[]);
    let mut refused = |name: &str, value: &str| {
        fitted.set(|options| options.set_text(name, value)).unwrap_err().to_string()
    };
    let all: Vec<_> = methods().collect();
    assert_eq!(
        refused("method", "kmeans"),
        format!("method = 'kmeans' is not allowed: one of {}", all.join(", "))
    );
    assert_eq!(
        refused("laplacian", "normalized"),
        "laplacian = 'normalized' is not allowed: one of symmetric, unnormalized"
    );
    for value in ["0", "1", "nan", "-0.5"] {
        let message = refused("gamma", value);
        assert!(message.ends_with("is not allowed: a number from 0.01 to 0.99"), "{message}");
    }
    assert_eq!(
        refused("warm_start", "2"),
        "warm_start = 2 is not allowed: a whole number from 0 to 1"
    );
}

#[test]
fn a_warm_start_takes_over_only_weights_it_may_have() {
    let kernels = clouds(90);
    let mut warm = model(&kernels, 3, &[("warm_start", "1"), ("method", "aasc")]);
    warm.fit(&Control::default(), None).unwrap();
    // Another method's weights sum to 1 themselves, not their roots.
    set(&mut warm, &[("method", "scmk"), ("max_iterations", "1")]);
    let found = warm.fit(&Control::default(), None).unwrap();
    close(found.weights.iter().map(|w| w.sqrt()).sum(), 1.0, 1e-12);
    assert_eq!(found.labels, fit(&kernels, 3, &[("max_iterations", "1")]).labels);
    assert!(found.weights[0] != found.weights[1]);
    set(&mut warm, &[("learn_weights", "0")]);
    let found = warm.fit(&Control::default(), None).unwrap();
    let equal = 1.0 / (kernels.len() as f64).powi(2);
    assert!(found.weights.iter().all(|w| (w - equal).abs() < 1e-15), "{:?}", found.weights);
}

#[test]
fn a_warm_start_ends_where_a_cold_one_does_on_clear_data() {
    let kernels = clouds(90);
    let mut warm = model(&kernels, 3, &[("warm_start", "1"), ("alpha", "0.05"), ("beta", "1e-4")]);
    warm.fit(&Control::default(), None).unwrap();
    set(&mut warm, &[("alpha", "0.1")]);
    assert!(warm.result().is_err(), "a changed option discards the result");
    let warm = warm.fit(&Control::default(), None).unwrap();
    let cold = fit(&kernels, 3, &[("alpha", "0.1"), ("beta", "1e-4")]);
    assert_eq!(warm.labels, cold.labels);
    close(warm.objective, cold.objective, 1e-4);
    assert!(warm.kkt_residual.unwrap() <= 1e-9);
    assert!(warm.trace.windows(2).all(|pair| pair[1] <= pair[0]));
}

/// Enough samples for the iteration of the P-step; a warm fit may make fewer iterations, but has to
/// arrive at the same Z within a few times the tolerance.
#[test]
fn a_path_of_warm_starts_stays_with_the_cold_fits() {
    let kernels = clouds(600);
    let mut warm = model(&kernels, 3, &[("warm_start", "1"), ("alpha", "0.05")]);
    for beta in ["1e-5", "2e-5", "1e-4", "1e-3", "1e-2"] {
        set(&mut warm, &[("beta", beta)]);
        let warm = warm.fit(&Control::default(), None).unwrap();
        let cold = fit(&kernels, 3, &[("alpha", "0.05"), ("beta", beta)]);
        let (mut change2, mut size2) = (0.0, 0.0);
        let columns = |fit: &Fit| fit.similarity.clone().unwrap();
        let (found, expected) = (columns(warm), columns(&cold));
        for (found, expected) in found.columns().iter().zip(expected.columns()) {
            for i in 0..600 {
                change2 += (found.entry(i) - expected.entry(i)).powi(2);
                size2 += expected.entry(i).powi(2);
            }
        }
        let change = (change2 / size2).sqrt();
        assert!(change <= 5e-5, "beta {beta}: {change}");
        assert_eq!(warm.labels, cold.labels);
    }
}

/// Theorem 2 of the paper: as α grows, with a graph of exactly c parts, SCSK becomes kernel
/// k-means. Z is then uniform within the parts, and its corollary: K·Z holds the cluster means,
/// so that the clusters are a stationary point of kernel k-means.
#[test]
fn scsk_with_large_alpha_is_a_stationary_point_of_kernel_k_means() {
    for (samples, seed) in [(30, 1u64), (45, 2), (60, 3)] {
        let noise = random_points(samples, 2, seed);
        let points: Points = (0..samples)
            .map(|i| {
                let place = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]][i % 3];
                (0..2).map(|k| place[k] + noise[i][k]).collect()
            })
            .collect();
        let kernel = gaussian(&points, 2.0);
        let found =
            fit(std::slice::from_ref(&kernel), 3, &[("alpha", "1e6"), ("beta", "1e8"), RAW]);
        assert_eq!(found.components, Some(3));
        let members = |label: i32| -> Vec<usize> {
            (0..samples).filter(|&i| found.labels[i] == label).collect()
        };
        for (j, column) in found.similarity.as_ref().unwrap().columns().iter().enumerate() {
            let own = members(found.labels[j]);
            for i in 0..samples {
                let expected = if own.contains(&i) { 1.0 / own.len() as f64 } else { 0.0 };
                assert!((column.entry(i) - expected).abs() < 1e-5, "{}", column.entry(i));
            }
        }
        // Every sample is nearest to the mean of its own cluster in the space of the kernel.
        let k = |i: usize, j: usize| kernel[i + j * samples];
        let distance2 = |i: usize, own: &[usize]| {
            let size = own.len() as f64;
            let cross = own.iter().map(|&j| k(i, j)).sum::<f64>() / size;
            let within: f64 =
                own.iter().flat_map(|&a| own.iter().map(move |&b| k(a, b))).sum::<f64>()
                    / size.powi(2);
            k(i, i) - 2.0 * cross + within
        };
        for i in 0..samples {
            let own = distance2(i, &members(found.labels[i]));
            assert!((0..3).all(|label| own <= distance2(i, &members(label)) + 1e-12));
        }
        // Kernel k-means agrees.
        let kkm = fit(&[kernel], 3, &[("method", "kkm"), RAW]);
        assert_eq!(kkm.labels, found.labels);
    }
}

#[test]
fn features_reach_every_method() {
    let points = random_points(40, 3, 13);
    let flat = points.concat();
    let view =
        Features { values: &flat, samples: 40, features: 3, sample_stride: 3, feature_stride: 1 };
    for method in methods() {
        let mut model = Model::new(40, 4).unwrap();
        model.add_features(view, "paper").unwrap();
        set(&mut model, &[("method", method)]);
        let found = model.fit(&Control::default(), None).unwrap();
        assert_eq!(found.weights.len(), 12, "{method}");
        assert!(found.trace.windows(2).all(|pair| pair[1] <= pair[0]), "{method}");
    }
}
