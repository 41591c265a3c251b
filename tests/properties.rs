//! What a user relies on whatever the data: feasibility, certificates, a monotone trace, and
//! answers that depend on the input alone.

use scmk::{Control, Features, Fit, Model, Outcome, Progress, Step, metrics};

/// Points in `clusters` clouds, by rows: a small linear congruential generator, as spread out
/// as these tests need.
fn clouds(samples: usize, features: usize, clusters: usize, spread: f64) -> (Vec<f64>, Vec<i32>) {
    let mut state = 12345u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    };
    let centres: Vec<f64> = (0..clusters * features).map(|_| 4.0 * uniform()).collect();
    let classes: Vec<i32> = (0..samples).map(|i| (i * 7 % clusters) as i32).collect();
    let mut x = Vec::new();
    for &class in &classes {
        for feature in 0..features {
            x.push(centres[class as usize * features + feature] + spread * uniform());
        }
    }
    (x, classes)
}

fn rows(x: &[f64], samples: usize) -> Features<'_> {
    let features = x.len() / samples;
    Features { values: x, samples, features, sample_stride: features, feature_stride: 1 }
}

/// A model whose defaults are those of the joint model: weights by the paper's rule, labels from P.
fn joint<'a>(samples: usize, clusters: usize) -> scmk::Result<Model<'a>> {
    let mut model = Model::new(samples, clusters)?;
    set(&mut model, &[("preset", "joint")]);
    Ok(model)
}

fn set(model: &mut Model<'_>, options: &[(&str, &str)]) {
    model
        .set(|checked| options.iter().try_for_each(|(name, value)| checked.set_text(name, value)))
        .unwrap();
}

fn fit(model: &mut Model<'_>, options: &[(&str, &str)]) -> Fit {
    set(model, options);
    model.fit(&Control::default(), None).unwrap().clone()
}

fn dense(fit: &Fit) -> Vec<f64> {
    let n = fit.labels.len();
    let mut z = vec![0.0; n * n];
    for (column, out) in
        fit.similarity.as_ref().unwrap().columns().iter().zip(z.chunks_exact_mut(n))
    {
        column.scatter(out);
    }
    z
}

fn feasible(fit: &Fit, clusters: usize) {
    let n = fit.labels.len();
    for column in dense(fit).chunks_exact(n) {
        assert!((column.iter().sum::<f64>() - 1.0).abs() < 1e-10);
        assert!(column.iter().all(|v| (0.0..=1.0 + 1e-12).contains(v)));
    }
    let roots: f64 = fit.weights.iter().map(|w| w.sqrt()).sum();
    assert!((roots - 1.0).abs() < 1e-12 && fit.weights.iter().all(|&w| w >= 0.0));
    assert!(fit.labels.iter().all(|&label| (0..clusters as i32).contains(&label)));
    assert!(fit.trace.windows(2).all(|pair| pair[1] <= pair[0]), "{:?}", fit.trace);
    assert!(fit.kkt_residual.unwrap() <= 1e-9, "{:?}", fit.kkt_residual);
    assert!(fit.objective.is_finite());
    // Numbered by first occurrence.
    let mut next = 0;
    for &label in &fit.labels {
        assert!(label <= next);
        next = next.max(label + 1);
    }
}

/// The objective from its definition, with the kernels as the options scale them.
fn objective(kernels: &[Vec<f64>], fit: &Fit, alpha: f64, beta: f64) -> f64 {
    let n = fit.labels.len();
    let z = dense(fit);
    let at = |i: usize, j: usize| z[i + j * n];
    let mut value = 0.0;
    for (kernel, weight) in kernels.iter().zip(&fit.weights) {
        let largest = kernel.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        let k = |i: usize, j: usize| kernel[i + j * n] / largest;
        for i in 0..n {
            value += weight * k(i, i);
            for j in 0..n {
                value -= 2.0 * weight * k(i, j) * at(j, i);
                let inner: f64 = (0..n).map(|l| k(j, l) * at(l, i)).sum();
                value += weight * at(j, i) * inner;
            }
        }
    }
    value += alpha * z.iter().map(|v| v * v).sum::<f64>();
    for i in 0..n {
        for j in 0..n {
            let embedding = fit.embedding.as_ref().unwrap();
            let row = |i: usize, k: usize| embedding.get(i, k);
            let columns = 0..embedding.cols();
            let distance2: f64 = columns.map(|k| (row(i, k) - row(j, k)).powi(2)).sum();
            value += 0.5 * beta * distance2 * at(i, j);
        }
    }
    value
}

#[test]
fn results_are_feasible_and_certified_in_every_regime() {
    let (x, _) = clouds(90, 6, 4, 2.0);
    let mut model = joint(90, 4).unwrap();
    model.add_features(rows(&x, 90), "paper").unwrap();
    for normalize in ["none", "max", "unit"] {
        for alpha in ["1e-5", "1e-3", "0.1", "1", "100"] {
            for beta in ["0", "1e-5", "0.1", "10"] {
                let options = [("normalize", normalize), ("alpha", alpha), ("beta", beta)];
                feasible(&fit(&mut model, &options), 4);
            }
        }
    }
}

#[test]
fn the_objective_is_what_its_definition_says() {
    let (x, _) = clouds(40, 5, 3, 2.5);
    let mut model = joint(40, 3).unwrap();
    model.add_features(rows(&x, 40), "gaussian(t=0.1); linear; polynomial(a=1,b=2)").unwrap();
    let kernels: Vec<Vec<f64>> = model
        .kernels()
        .iter()
        .map(|kernel| (0..40).flat_map(|j| kernel.column(j).unwrap()).collect())
        .collect();
    for (alpha, beta) in [("0.01", "1e-3"), ("1", "0.5"), ("0.001", "0")] {
        let options = [("normalize", "max"), ("alpha", alpha), ("beta", beta)];
        let fit = fit(&mut model, &options);
        let (alpha, beta) = (alpha.parse().unwrap(), beta.parse().unwrap());
        let expected = objective(&kernels, &fit, alpha, beta);
        let error = (fit.objective - expected).abs() / expected;
        assert!(error < 1e-8, "{} and {expected}", fit.objective);
    }
}

#[test]
fn clear_clusters_are_found_by_every_way_of_reading_labels() {
    let (x, classes) = clouds(120, 8, 5, 0.8);
    let mut model = joint(120, 5).unwrap();
    model.add_features(rows(&x, 120), "gaussian(t=0.05); linear").unwrap();
    for labels in ["auto", "kmeans", "rotation", "qr"] {
        for embedding in ["model", "normalized"] {
            let fit = fit(&mut model, &[("labels", labels), ("embedding", embedding)]);
            let accuracy = metrics::metric("accuracy", &classes, &fit.labels).unwrap();
            assert_eq!(accuracy, 1.0, "{labels} {embedding}");
        }
    }
}

#[test]
fn reordered_samples_give_the_reordered_answer() {
    let (x, _) = clouds(70, 5, 3, 2.0);
    let order: Vec<usize> = (0..70).map(|i| i * 29 % 70).collect();
    let shuffled: Vec<f64> = order.iter().flat_map(|&i| x[i * 5..(i + 1) * 5].to_vec()).collect();
    for alpha in ["0.01", "5"] {
        let [one, other] = [&x, &shuffled].map(|x| {
            let mut model = joint(70, 3).unwrap();
            model.add_features(rows(x, 70), "gaussian(t=0.2); linear").unwrap();
            fit(&mut model, &[("alpha", alpha), ("labels", "qr")])
        });
        assert!((one.objective - other.objective).abs() < 1e-7 * one.objective);
        for (a, b) in one.weights.iter().zip(&other.weights) {
            assert!((a - b).abs() < 1e-6);
        }
        let (z, shuffled) = (dense(&one), dense(&other));
        for a in 0..70 {
            for b in 0..70 {
                let difference = z[order[a] + order[b] * 70] - shuffled[a + b * 70];
                assert!(difference.abs() < 1e-4, "alpha {alpha}: {difference}");
            }
        }
        let mapped: Vec<i32> = order.iter().map(|&i| one.labels[i]).collect();
        assert_eq!(metrics::metric("accuracy", &mapped, &other.labels).unwrap(), 1.0);
    }
}

#[test]
fn the_scale_of_a_kernel_means_nothing_under_unit() {
    let (x, _) = clouds(50, 4, 3, 2.0);
    let mut model = joint(50, 3).unwrap();
    model.add_features(rows(&x, 50), "gaussian(t=0.2); linear").unwrap();
    let kernels: Vec<Vec<f64>> = model
        .kernels()
        .iter()
        .map(|kernel| (0..50).flat_map(|j| kernel.column(j).unwrap()).collect())
        .collect();
    let plain = fit(&mut model, &[]);
    for factor in [1e-300, 3.7e-5, 1024.0, 1e300] {
        let mut scaled = joint(50, 3).unwrap();
        for kernel in &kernels {
            let values: Vec<f64> = kernel.iter().map(|v| v * factor).collect();
            scaled.add_kernel(&values, 50).unwrap();
        }
        let fit = fit(&mut scaled, &[]);
        assert_eq!(fit.labels, plain.labels);
        assert!((fit.objective - plain.objective).abs() < 1e-8 * plain.objective);
        // With the kernels as they are, the answer is another one, but it is one.
        set(&mut scaled, &[("normalize", "none")]);
        let fit = scaled.fit(&Control::default(), None).unwrap();
        assert!(fit.objective.is_finite() && fit.kkt_residual.unwrap() <= 1e-9);
    }
}

#[test]
fn a_large_alpha_spreads_each_column_evenly_as_theorem_2_says() {
    // Without the pull of P every sample draws evenly on all others …
    let (x, _) = clouds(40, 3, 2, 1.0);
    let mut model = joint(40, 2).unwrap();
    model.add_features(rows(&x, 40), "linear").unwrap();
    let even = fit(&mut model, &[("alpha", "1e9"), ("beta", "0")]);
    assert!(dense(&even).iter().all(|v| (v - 1.0 / 40.0).abs() < 1e-6));

    // … and with a pull that separates the parts, evenly on those of its own part.
    let (x, classes) = clouds(40, 3, 2, 0.2);
    let mut model = joint(40, 2).unwrap();
    model.add_features(rows(&x, 40), "gaussian(t=0.05)").unwrap();
    let split = fit(&mut model, &[("alpha", "1e-4"), ("beta", "0")]);
    let start = metrics::metric("accuracy", &classes, &split.labels).unwrap();
    assert_eq!(start, 1.0);
    let parts = fit(&mut model, &[("alpha", "1e3"), ("beta", "1e6")]);
    assert_eq!(parts.components, Some(2));
    let z = dense(&parts);
    for i in 0..40 {
        let own = parts.labels.iter().filter(|&&label| label == parts.labels[i]).count();
        for j in 0..40 {
            let same = parts.labels[i] == parts.labels[j];
            let expected = if same { 1.0 / own as f64 } else { 0.0 };
            assert!((z[j + i * 40] - expected).abs() < 1e-3);
        }
    }
}

#[test]
fn the_answer_has_the_same_bits_for_any_number_of_threads() {
    let (x, _) = clouds(400, 6, 6, 2.5);
    let mut model = joint(400, 6).unwrap();
    model.add_features(rows(&x, 400), "gaussian(t=0.01); gaussian(t=1); linear").unwrap();
    for alpha in ["0.001", "10"] {
        let fits = ["1", "2", "8"]
            .map(|threads| fit(&mut model, &[("threads", threads), ("alpha", alpha)]));
        for other in &fits[1..] {
            assert_eq!(fits[0].labels, other.labels);
            assert_eq!(fits[0].trace, other.trace);
            assert_eq!(fits[0].weights, other.weights);
            assert!(fits[0].similarity == other.similarity);
            assert!(fits[0].embedding == other.embedding);
        }
    }
}

#[test]
fn a_refit_and_a_borrowed_kernel_give_the_same_bits() {
    let (x, _) = clouds(80, 6, 3, 2.0);
    let mut model = joint(80, 3).unwrap();
    model.add_features(rows(&x, 80), "gaussian(t=0.1); linear").unwrap();
    let kernels: Vec<Vec<f64>> = model
        .kernels()
        .iter()
        .map(|kernel| (0..80).flat_map(|j| kernel.column(j).unwrap()).collect())
        .collect();
    let (first, second) = (fit(&mut model, &[]), fit(&mut model, &[]));
    let mut borrowed = joint(80, 3).unwrap();
    for kernel in &kernels {
        borrowed.borrow_kernel(kernel, 80).unwrap();
    }
    let third = fit(&mut borrowed, &[]);
    for other in [&second, &third] {
        assert_eq!(first.trace, other.trace);
        assert_eq!(first.labels, other.labels);
        assert!(first.similarity == other.similarity && first.embedding == other.embedding);
    }
}

#[test]
fn the_smallest_and_largest_numbers_of_clusters_work() {
    let (x, _) = clouds(12, 3, 3, 2.0);
    for (samples, clusters) in [(1, 1), (2, 1), (2, 2), (12, 1), (12, 12), (12, 11)] {
        let mut model = joint(samples, clusters).unwrap();
        let view = rows(&x[..samples * 3], samples);
        // One sample has no distances to build a Gaussian from.
        let kernels = if samples == 1 { "linear" } else { "gaussian(t=1); linear" };
        model.add_features(view, kernels).unwrap();
        for embedding in ["model", "normalized"] {
            let fit = fit(&mut model, &[("embedding", embedding)]);
            feasible(&fit, clusters);
            let distinct = fit.labels.iter().max().unwrap() + 1;
            assert_eq!(distinct as usize, clusters, "{samples} samples");
        }
    }
}

#[test]
fn degenerate_kernels_that_are_still_kernels_work() {
    let n = 12;
    let entry = |f: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..n * n).map(|e| f(e % n, e / n)).collect()
    };
    let same = |a: usize, b: usize| f64::from(u8::from(a == b));
    let identity = entry(&|i, j| same(i, j));
    // Six blocks of two equal samples each, three clusters wanted.
    let blocks = entry(&|i, j| same(i / 2, j / 2));
    let duplicates = entry(&|i, j| (1.0 + (i / 4) as f64) * (1.0 + (j / 4) as f64));
    for (name, kernel) in
        [("identity", &identity), ("blocks", &blocks), ("duplicates", &duplicates)]
    {
        for alpha in ["1e-5", "0.1", "1", "100"] {
            let mut model = joint(n, 3).unwrap();
            model.add_kernel(kernel, n).unwrap();
            let fit = fit(&mut model, &[("alpha", alpha)]);
            feasible(&fit, 3);
            assert_eq!(*fit.labels.iter().max().unwrap(), 2, "{name}, alpha {alpha}");
            // At a large α, P's last vector of a kernel of rank one is arbitrary.
            if name == "blocks" || name == "duplicates" && alpha != "100" {
                let pairs = (0..n).filter(|i| i % 2 == 0);
                assert!(
                    pairs.clone().all(|i| fit.labels[i] == fit.labels[i + 1]),
                    "{name}, alpha {alpha}: {:?}",
                    fit.labels
                );
            }
        }
    }
}

#[test]
fn a_host_that_stops_after_the_second_iteration_gets_that_iterate() {
    let (x, _) = clouds(200, 6, 4, 3.0);
    let mut model = joint(200, 4).unwrap();
    model.add_features(rows(&x, 200), "paper").unwrap();
    set(&mut model, &[("tolerance", "0"), ("alpha", "0.01"), ("beta", "1")]);
    let caller = std::thread::current().id();
    let mut seen = Vec::new();
    let mut progress = |progress: Progress| {
        assert_eq!(std::thread::current().id(), caller);
        if progress.step == Step::Iteration {
            seen.push(progress.objective);
        }
        progress.iteration >= 2
    };
    let control = Control::default();
    let stopped = model.fit(&control, Some(&mut progress)).unwrap().clone();
    assert_eq!(stopped.outcome, Outcome::Cancelled);
    assert_eq!(stopped.iterations(), 2);
    assert_eq!(seen, stopped.trace);
    feasible(&stopped, 4);
    // The next fit starts afresh, and its first two iterations are the same.
    let whole = model.fit(&Control::default(), None).unwrap();
    assert_eq!(whole.trace[..2], stopped.trace[..]);
}

#[test]
fn limits_end_a_fit_with_an_outcome_and_a_result() {
    let (x, _) = clouds(300, 6, 4, 3.0);
    let mut model = joint(300, 4).unwrap();
    model.add_features(rows(&x, 300), "paper").unwrap();
    let once = fit(&mut model, &[("max_iterations", "1"), ("tolerance", "0")]);
    assert_eq!((once.outcome, once.iterations()), (Outcome::IterationLimit, 1));
    feasible(&once, 4);
    let late = fit(&mut model, &[("max_iterations", "100"), ("time_limit", "1e-6")]);
    assert_eq!(late.outcome, Outcome::TimeLimit);
    assert_eq!(late.labels.len(), 300);
    assert_eq!(late.iterations(), 0);

    let needed = model.memory_required() + model.memory_kernels();
    set(&mut model, &[("time_limit", "0"), ("memory_limit", &(needed - 1).to_string())]);
    let error = model.fit(&Control::default(), None).unwrap_err();
    assert!(error.to_string().contains(&needed.to_string()), "{error}");
    set(&mut model, &[("memory_limit", &needed.to_string())]);
    assert!(model.fit(&Control::default(), None).is_ok());
}

#[test]
fn a_cancel_from_another_thread_stops_the_fit() {
    let (x, _) = clouds(700, 6, 4, 3.0);
    let mut model = joint(700, 4).unwrap();
    model.add_features(rows(&x, 700), "paper").unwrap();
    set(&mut model, &[("tolerance", "0"), ("max_iterations", "1000000"), ("beta", "10")]);
    let control = Control::default();
    std::thread::scope(|scope| {
        let cancel = || {
            std::thread::sleep(std::time::Duration::from_millis(5));
            control.cancel();
        };
        scope.spawn(cancel);
        let fit = model.fit(&control, None).unwrap();
        assert_eq!(fit.outcome, Outcome::Cancelled);
    });
}

#[test]
fn nothing_is_learned_twice_and_changes_discard_the_result() {
    let (x, _) = clouds(30, 4, 3, 2.0);
    let mut model = joint(30, 3).unwrap();
    assert!(model.fit(&Control::default(), None).is_err());
    assert!(model.result().is_err());
    model.add_features(rows(&x, 30), "linear").unwrap();
    model.fit(&Control::default(), None).unwrap();
    assert!(model.result().is_ok());
    set(&mut model, &[("alpha", "1")]); // the default: nothing changes
    assert!(model.result().is_ok());
    set(&mut model, &[("alpha", "2")]);
    assert!(model.result().is_err());
    model.fit(&Control::default(), None).unwrap();
    model.add_features(rows(&x, 30), "gaussian(t=1)").unwrap();
    assert!(model.result().is_err());
    assert!(model.info_int("memory_required").unwrap() > 0);
    assert!(model.info_int("iterations").is_err());
}

#[test]
fn a_progress_callback_that_panics_takes_nothing_along() {
    let (x, _) = clouds(60, 4, 3, 2.0);
    let mut model = joint(60, 3).unwrap();
    model.add_features(rows(&x, 60), "linear; gaussian(t=1)").unwrap();
    let control = Control::default();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        model.fit(&control, Some(&mut |_| panic!("the host's own bug"))).is_ok()
    }));
    assert!(caught.is_err());
    assert!(model.fit(&Control::default(), None).is_ok());
}
