//! Kernels from features: inner products and distances once for a whole list.

use super::features::{Features, Samples, Source, to_cosines};
use super::functions::Of;
use super::{Gram, KernelSpec, Label};
use crate::error::Result;
use crate::matrix::{Matrix, mirror};
use crate::memory;
use crate::monitor::{Monitor, Step};
use rayon::prelude::*;

/// Bytes that building so many kernels takes at most, the kernels included: a copy of the features,
/// and beside the kernels one matrix of inner products or distances.
pub(crate) fn memory_required(features: &Features<'_>, kernels: usize) -> usize {
    let square = features.samples.saturating_mul(features.samples);
    let copy = features.samples.saturating_mul(features.features);
    let numbers = square.saturating_mul(kernels.saturating_add(1)).saturating_add(copy);
    numbers.saturating_mul(size_of::<f64>())
}

/// The kernels of `specs`, the first of them with the number `first` in messages, from a view that
/// messages call `view`.
///
/// Inner products are those of the features as they are, not centred. Of features outside of 1e-30
/// to 1e30, divided by a power of two s, a polynomial kernel is s^2b (a + xᵀy/s²)^b: beside products
/// that large or small a would be nothing, or everything.
pub(crate) fn build(
    features: Features<'_>,
    view: &str,
    specs: &[KernelSpec],
    first: usize,
    monitor: &Monitor<'_>,
) -> Result<Vec<Gram<'static>>> {
    const WHAT: &str = "kernels";
    monitor.begin(Step::Kernels, specs.len() + 1);
    let mut samples = Samples::new(features, view, monitor)?;
    // All kernels of a list have the same steps; what "auto" chooses is told by their names.
    let mut suitable = memory::copied(specs, WHAT)?;
    if let Some(first) = specs.first() {
        let first = samples.suitable(first, monitor)?;
        suitable.iter_mut().for_each(|spec| *spec = spec.prepared_as(&first));
    }
    let specs = &*suitable;
    let steps = specs.first().into_iter().flat_map(KernelSpec::steps);
    samples.prepare(steps, view, monitor)?;
    let mut kernels: Vec<Option<Gram<'static>>> = memory::with_capacity(specs.len(), WHAT)?;
    kernels.resize_with(specs.len(), || None);
    monitor.advance(1);

    let (scale, n) = (samples.scale(), features.samples);
    let mut make = |spec: &KernelSpec, index, input: &Matrix, largest, common| {
        let values = entries(spec, input, largest, monitor)?;
        let label = Label { number: first + index, spec: Some(*spec) };
        let kernel = Gram::computed(label, values, common, n, monitor)?;
        let factor = scale.powi((spec.function.degree)(&spec.values));
        kernels[index] = Some(kernel.times(factor));
        monitor.advance(1);
        Result::Ok(())
    };
    let those = |of: Of, additive: bool| {
        let is =
            move |spec: &KernelSpec| spec.function.of == of && spec.function.additive == additive;
        specs.iter().enumerate().filter(move |(_, spec)| is(spec))
    };

    // One kind after the other, so that no more than one n×n matrix is held beside the kernels.
    if specs.iter().any(|spec| spec.function.of != Of::SquaredDistances) {
        let (mut gram, common) = samples.gram(monitor)?;
        for (index, spec) in those(Of::Products, true) {
            let common = common.as_ref().map(|common| memory::copied(common, WHAT)).transpose()?;
            make(spec, index, &gram, 0.0, common)?;
        }
        if let Some(common) = common {
            gram.values_mut().par_chunks_mut(n).zip(&common).for_each(|(column, own)| {
                column.iter_mut().zip(&common).for_each(|(g, other)| *g += other + own);
            });
        }
        for (index, spec) in those(Of::Products, false) {
            make(spec, index, &gram, 0.0, None)?;
        }
        if those(Of::Cosines, false).next().is_some() {
            let mut lengths = memory::with_capacity(n, WHAT)?;
            lengths.extend((0..n).map(|i| gram.get(i, i).sqrt()));
            let columns = gram.values_mut().par_chunks_mut(n).zip(&lengths);
            columns.for_each(|(column, &own)| to_cosines(&lengths, own, column));
        }
        for (index, spec) in those(Of::Cosines, false) {
            make(spec, index, &gram, 0.0, None)?;
        }
    }
    let mut units = memory::filled(specs.len(), 0.0, WHAT)?;
    if specs.iter().any(|spec| spec.function.of == Of::SquaredDistances) {
        let mut distances = samples.squared_distances(monitor)?;
        let largest = largest_of_lower(&distances);
        let neighbour = |spec: &KernelSpec| (spec.function.neighbour)(&spec.values);
        if specs.iter().any(|spec| neighbour(spec) > 0) {
            mirror(distances.values_mut(), n);
        }
        for (index, spec) in those(Of::SquaredDistances, false) {
            let near = match neighbour(spec) {
                0 => 0.0,
                k => neighbour_distance(&distances, k, monitor)?.powi(2),
            };
            // Where nearly all samples have equals, those tell no width.
            units[index] = if near > 0.0 { near } else { largest };
            make(spec, index, &distances, units[index], None)?;
        }
    }

    let anchors = memory::shared(samples, "a copy of the features")?;
    let mut all = memory::with_capacity(kernels.len(), WHAT)?;
    let with_source = |(kernel, (&spec, unit)): (Gram<'static>, (&KernelSpec, f64))| {
        kernel.from(Source::Function { spec, anchors: anchors.clone(), unit })
    };
    all.extend(kernels.into_iter().flatten().zip(specs.iter().zip(units)).map(with_source));
    Ok(all)
}

/// The kernel of products or distances of which the lower triangle is in `input`.
fn entries(
    spec: &KernelSpec,
    input: &Matrix,
    largest: f64,
    monitor: &Monitor<'_>,
) -> Result<Vec<f64>> {
    let order = input.rows();
    let mut values = memory::filled(order * order, 0.0, "a kernel")?;
    values.par_chunks_mut(order).enumerate().try_for_each(|(j, out)| {
        (spec.function.entries)(&spec.values, largest, &input.col(j)[j..], &mut out[j..]);
        monitor.go_on()
    })?;
    mirror(&mut values, order);
    Ok(values)
}

/// The mean distance to the k-th neighbour, or to the last where there are fewer.
fn neighbour_distance(squared: &Matrix, k: usize, monitor: &Monitor<'_>) -> Result<f64> {
    let n = squared.rows();
    let of_sample = |j: usize| {
        monitor.go_on()?;
        let mut column = memory::copied(squared.col(j), "distances of a sample")?;
        // The nearest is the sample itself.
        let (_, found, _) = column.select_nth_unstable_by(k.min(n - 1), f64::total_cmp);
        Ok(found.sqrt())
    };
    let found = memory::par_map(n, "distances of neighbours", of_sample)?;
    Ok(found.into_iter().flatten().sum::<f64>() / n as f64)
}

fn largest_of_lower(matrix: &Matrix) -> f64 {
    let of_column = |j: usize| matrix.col(j)[j..].iter().copied().fold(0.0, f64::max);
    (0..matrix.cols()).into_par_iter().map(of_column).reduce(|| 0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::kernel::parse;
    use crate::monitor;
    use crate::settings::Normalize;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{RngCore, SeedableRng};

    /// Samples × features random numbers from -1 to 1, the same in every run.
    fn random_rows(samples: usize, features: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut number = || random.next_u64() as f64 / 2f64.powi(63) - 1.0;
        (0..samples).map(|_| (0..features).map(|_| number()).collect()).collect()
    }

    fn build_list(features: Features<'_>, list: &str) -> Result<Vec<Gram<'static>>> {
        let specs = parse(list)?;
        monitor::idle(|monitor| build(features, "view 0", &specs, 0, monitor))
    }

    /// Sample after sample.
    fn flat(rows: &[Vec<f64>]) -> Vec<f64> {
        rows.concat()
    }

    fn row_major(values: &[f64], samples: usize) -> Features<'_> {
        let features = values.len() / samples;
        Features { values, samples, features, sample_stride: features, feature_stride: 1 }
    }

    /// The kernels of `list` by the formulas, pair after pair.
    fn naive(rows: &[Vec<f64>], list: &str) -> Vec<Vec<f64>> {
        let squared =
            |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum() };
        let inner = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
        let farthest =
            rows.iter().flat_map(|x| rows.iter().map(|y| squared(x, y))).fold(0.0, f64::max);
        let entry = |spec: KernelSpec, x: &[f64], y: &[f64]| {
            let [first, second] = spec.values;
            match spec.function.name {
                "gaussian" => (-squared(x, y) / (first * farthest)).exp(),
                "linear" => inner(x, y),
                "cosine" => inner(x, y) / (inner(x, x) * inner(y, y)).sqrt(),
                "polynomial" => (0..second as u32).map(|_| first + inner(x, y)).product(),
                other => panic!("what is {other}?"),
            }
        };
        let pairs = || rows.iter().flat_map(|y| rows.iter().map(move |x| (x, y)));
        let kernel = |spec| pairs().map(|(x, y)| entry(spec, x, y)).collect();
        parse(list).unwrap().into_iter().map(kernel).collect()
    }

    fn assert_close(kernel: &Gram<'_>, expected: &[f64], tolerance: f64) {
        let n = kernel.samples();
        let largest = expected.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        for j in 0..n {
            let column = kernel.column(j).unwrap();
            for i in 0..n {
                let difference = (column[i] - expected[i + j * n]).abs();
                let name = kernel.label();
                assert!(difference <= tolerance * largest, "{name} ({i}, {j}): {difference:e}");
            }
        }
    }

    #[test]
    fn kernels_are_those_of_the_formulas_for_any_strides() {
        for (samples, features) in [(2, 1), (5, 3), (33, 7), (130, 40), (140, 200)] {
            let rows = random_rows(samples, features, 1);
            let expected = naive(&rows, "paper");
            // Rows are samples, columns are samples, and each with padding that is not read.
            let (wide, tall) = (features + 3, samples + 2);
            for (sample_stride, feature_stride) in
                [(features, 1), (1, samples), (wide, 1), (1, tall), (2 * wide, 2)]
            {
                let last = (samples - 1) * sample_stride + (features - 1) * feature_stride;
                let mut values = vec![f64::NAN; last + 1];
                for (i, row) in rows.iter().enumerate() {
                    for (j, &value) in row.iter().enumerate() {
                        values[i * sample_stride + j * feature_stride] = value;
                    }
                }
                let features =
                    Features { values: &values, samples, features, sample_stride, feature_stride };
                let kernels = build_list(features, "paper").unwrap();
                assert_eq!(kernels.len(), 12);
                for (kernel, expected) in kernels.iter().zip(&expected) {
                    assert!(kernel.is_exactly_symmetric());
                    assert_close(kernel, expected, 1e-13);
                }
            }
        }
    }

    #[test]
    fn kernels_are_named_by_position_and_formula_in_the_order_of_the_list() {
        let values = flat(&random_rows(4, 2, 2));
        let specs = parse("linear; gaussian(t=0.1); polynomial").unwrap();
        let build =
            |monitor: &Monitor<'_>| build(row_major(&values, 4), "view 0", &specs, 3, monitor);
        let kernels = monitor::idle(build).unwrap();
        let names: Vec<_> = kernels.iter().map(|kernel| kernel.label().to_string()).collect();
        assert_eq!(
            names,
            ["kernel 3 (linear)", "kernel 4 (gaussian(t=0.1))", "kernel 5 (polynomial(a=1,b=2))"]
        );
        assert!(kernels[1].column(2).unwrap()[2] == 1.0);
    }

    #[test]
    fn equal_samples_are_at_distance_zero_and_near_ones_at_their_distance() {
        // Far from the origin, and so near that the product formula alone would see nothing.
        let samples = 150;
        let mut rows = random_rows(samples, 9, 3);
        for k in 0..samples / 3 {
            rows[samples - 1 - k] = rows[k].clone();
            rows[samples / 3 + k] = rows[k].iter().map(|v| v + 1e-7).collect();
        }
        rows.iter_mut().flatten().for_each(|v| *v += 1000.0);
        let t = 1e-14;
        let list = format!("gaussian(t={t})");
        let values = flat(&rows);
        let kernels = build_list(row_major(&values, samples), &list).unwrap();
        let expected = naive(&rows, &list);
        for k in 0..samples / 3 {
            assert_eq!(kernels[0].column(k).unwrap()[samples - 1 - k], 1.0);
            let near = kernels[0].column(k).unwrap()[samples / 3 + k];
            let expected = expected[0][k * samples + samples / 3 + k];
            assert!(
                expected > 0.01 && expected < 0.9,
                "the test is about near samples: {expected}"
            );
            assert!((near - expected).abs() < 1e-6, "{near} {expected}");
        }
    }

    #[test]
    fn samples_that_are_all_the_same_are_refused() {
        let values = [0.1, 0.2, 0.7].repeat(40);
        for list in ["gaussian", "linear", "polynomial", "paper"] {
            let error = build_list(row_major(&values, 40), list).unwrap_err();
            assert!(matches!(error, Error::Degenerate { .. }), "{error}");
            assert!(error.to_string().contains("constant"), "{error}");
        }
        for list in ["linear", "polynomial(a=0)"] {
            let error = build_list(row_major(&[0.0; 8], 4), list).unwrap_err();
            assert!(error.to_string().ends_with("all entries are zero"), "{error}");
        }
    }

    #[test]
    fn one_sample_has_kernels() {
        let kernels = build_list(row_major(&[3.0, 4.0], 1), "paper").unwrap();
        assert_eq!(kernels[0].column(0).unwrap(), [1.0]);
        assert_eq!(kernels[7].column(0).unwrap(), [25.0]);
        assert_eq!(kernels[10].column(0).unwrap(), [676.0]);
    }

    #[test]
    fn the_size_of_the_numbers_does_not_matter() {
        let rows = random_rows(30, 6, 4);
        let values = flat(&rows);
        for factor in [1e300, 1e-300, 1e-307] {
            let largest = values.iter().fold(0.0_f64, |m, v| m.max((v * factor).abs()));
            let power = largest.log2().floor().exp2();
            let divided: Vec<f64> = values.iter().map(|v| v * factor / power).collect();
            let expected = build_list(row_major(&divided, 30), "paper").unwrap();
            let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
            let kernels = build_list(row_major(&scaled, 30), "paper").unwrap();
            for (kernel, expected) in kernels.iter().zip(&expected) {
                let expected: Vec<f64> =
                    (0..30).flat_map(|j| expected.column(j).unwrap()).collect();
                assert_close(kernel, &expected, 1e-13);
                assert!(kernel.scale(Normalize::Unit).is_finite());
                let polynomial = kernel.label().spec.unwrap().function.name == "polynomial";
                assert_eq!(kernel.is_rescaled(), polynomial);
            }
        }
        // Within the range, kernels are those of the features as they are.
        for factor in [1e29, 1e-29] {
            let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
            let kernels = build_list(row_major(&scaled, 30), "linear").unwrap();
            let expected: Vec<f64> =
                naive(&rows, "linear")[0].iter().map(|v| v * factor * factor).collect();
            assert_close(&kernels[0], &expected, 1e-13);
        }
    }

    #[test]
    fn a_kernel_beyond_the_range_of_numbers_is_an_error() {
        let values: Vec<f64> = flat(&random_rows(5, 3, 5)).iter().map(|v| v * 1e25).collect();
        let error = build_list(row_major(&values, 5), "polynomial(b=16)").unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with("kernel 0 (polynomial(a=1,b=16)) entry (0, 0) is inf"));
    }

    #[test]
    fn the_first_feature_that_is_not_finite_is_named() {
        let (samples, features) = (70, 45);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (sample, feature) in [(0, 0), (69, 44), (33, 32), (1, 44), (69, 0)] {
                let mut values = flat(&random_rows(samples, features, 6));
                values[sample * features + feature] = bad;
                values[69 * features + 44] = bad;
                let error = build_list(row_major(&values, samples), "linear").unwrap_err();
                let expected = format!("features of view 0 entry ({sample}, {feature}) is {bad}");
                assert_eq!(error.to_string(), expected);
            }
        }
    }

    #[test]
    fn strides_that_leave_the_memory_are_refused() {
        let values = [0.5; 12];
        let with = |samples, features, sample_stride, feature_stride| {
            let features =
                Features { values: &values, samples, features, sample_stride, feature_stride };
            build_list(features, "linear").unwrap_err()
        };
        for error in [
            with(4, 0, 1, 4),
            with(0, 3, 3, 1),
            with(4, 4, 3, 1),
            with(5, 3, 1, 4),
            with(4, 3, 4, 1),
            with(2, 2, usize::MAX, 1),
            with(2, 2, usize::MAX, usize::MAX),
            with(3, 2, usize::MAX / 2 + 1, 1),
        ] {
            assert!(matches!(error, Error::Dimension { .. }), "{error}");
        }
        assert_eq!(
            with(4, 4, 3, 1).to_string(),
            "number of values of the features: 12 given, 13 expected for 4 samples of 4 features \
             with sample_stride = 3 and feature_stride = 1"
        );
        for error in [with(usize::MAX, 1, 0, 1), with(2, usize::MAX, 1, 0)] {
            assert!(matches!(error, Error::TooLarge { .. }), "{error}");
        }
        let error = with(1, usize::MAX / 16, 1, 0);
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
    }

    #[test]
    fn the_pool_passes_the_checks_of_a_callers_kernel_even_in_single_precision() {
        for (samples, features) in [(120, 5), (400, 5), (400, 300)] {
            let values = flat(&random_rows(samples, features, 9));
            for kernel in build_list(row_major(&values, samples), "paper").unwrap() {
                let entries: Vec<f64> =
                    (0..samples).flat_map(|j| kernel.column(j).unwrap()).collect();
                let rounded: Vec<f64> = entries.iter().map(|&v| f64::from(v as f32)).collect();
                for values in [&entries, &rounded] {
                    let label = kernel.label();
                    let copied = monitor::idle(|monitor| {
                        Gram::copied(label, values, samples, samples, monitor)
                    });
                    copied.unwrap();
                }
            }
        }
    }

    #[test]
    fn widths_by_neighbours_are_relative_to_their_mean_distance() {
        let rows = random_rows(90, 4, 10);
        let squared =
            |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum() };
        let distance = |k: usize| {
            let of = |x: &Vec<f64>| {
                let mut all: Vec<f64> = rows.iter().map(|y| squared(x, y).sqrt()).collect();
                all.sort_by(f64::total_cmp);
                all[k]
            };
            rows.iter().map(of).sum::<f64>() / rows.len() as f64
        };
        let values = flat(&rows);
        for (k, nearest) in [(1, 1), (7, 7), (89, 89), (5000, 89)] {
            let list = format!("gaussian(t=2,neighbors={k})");
            let kernels = build_list(row_major(&values, 90), &list).unwrap();
            assert_eq!(kernels[0].label().spec.unwrap().to_string(), list);
            let unit = 2.0 * distance(nearest).powi(2);
            let entry = |x: &[f64], y: &[f64]| (-squared(x, y) / unit).exp();
            let expected: Vec<f64> =
                rows.iter().flat_map(|x| rows.iter().map(move |y| entry(x, y))).collect();
            assert_close(&kernels[0], &expected, 1e-12);
        }
        // Every sample twice: the first neighbour is at no distance.
        let twice = [values.clone(), values].concat();
        let kernels = build_list(row_major(&twice, 180), "gaussian(neighbors=1)").unwrap();
        let plain = build_list(row_major(&twice, 180), "gaussian").unwrap();
        assert_eq!(kernels[0].column(3).unwrap(), plain[0].column(3).unwrap());
    }

    #[test]
    fn kernels_of_prepared_features_are_those_of_features_prepared_by_hand() {
        let (samples, features) = (60, 5);
        let mut rows = random_rows(samples, features, 12);
        rows.iter_mut().for_each(|row| (row[1], row[3]) = (row[1] * 1e9 + 3e9, 0.25));
        let mean = |j: usize| rows.iter().map(|row| row[j]).sum::<f64>() / samples as f64;
        let deviation = |j: usize| {
            let variance: f64 = rows.iter().map(|row| (row[j] - mean(j)).powi(2)).sum();
            (variance / samples as f64).sqrt()
        };
        let entry =
            |row: &Vec<f64>, j: usize| if j == 3 { 0.0 } else { (row[j] - mean(j)) / deviation(j) };
        let by_hand: Vec<Vec<f64>> =
            rows.iter().map(|row| (0..features).map(|j| entry(row, j)).collect()).collect();
        for factor in [1.0, 1e-200] {
            let values: Vec<f64> = flat(&rows).iter().map(|v| v * factor).collect();
            let list = "standardize; linear; gaussian(t=0.1); polynomial(a=1,b=2)";
            let kernels = build_list(row_major(&values, samples), list).unwrap();
            let expected = naive(&by_hand, "linear; gaussian(t=0.1); polynomial(a=1,b=2)");
            for (kernel, expected) in kernels.iter().zip(&expected) {
                assert_close(kernel, expected, 1e-9);
                assert!(!kernel.is_rescaled());
                // Samples that come later are prepared in the same way.
                let first = row_major(&values[..10 * features], 10);
                let block = kernel.source().block(first, "view 0").unwrap().unwrap();
                let largest = expected.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                for (i, j) in (0..samples).flat_map(|i| (0..10).map(move |j| (i, j))) {
                    let error = (block.get(i, j) - expected[i + j * samples]).abs();
                    assert!(error <= 1e-9 * largest, "({i}, {j}): {error:e}");
                }
            }
        }
    }

    #[test]
    fn counts_that_are_negative_are_named() {
        let mut values = vec![1.0; 12];
        values[7] = -2.0;
        let error = build_list(row_major(&values, 4), "tfidf; linear").unwrap_err().to_string();
        let expected = "features of view 0 entry (2, 1) is -2, and tfidf takes counts, \
                        which are not negative";
        assert_eq!(error, expected);
    }

    #[test]
    fn blocks_with_other_samples_are_those_of_the_formulas() {
        let (anchors, targets, features) = (140, 30, 5);
        for (offset, factor) in [(0.0, 1.0), (50.0, 1.0), (0.0, 1e40)] {
            let mut rows = random_rows(anchors + targets, features, 8);
            // The farthest two, which the width of the gaussian goes by, are anchors.
            rows[0] = vec![-2.0; features];
            rows[1] = vec![2.0; features];
            rows.iter_mut().flatten().for_each(|v| *v = (*v + offset) * factor);
            let values = flat(&rows);
            let (first, rest) = values.split_at(anchors * features);
            let list = "gaussian(t=0.1); linear; polynomial(a=0,b=3); cosine";
            let kernels = build_list(row_major(first, anchors), list).unwrap();
            for (kernel, expected) in kernels.iter().zip(naive(&rows, list)) {
                let block = |rows, count| {
                    let block = kernel.source().block(row_major(rows, count), "view 0");
                    block.unwrap().unwrap()
                };
                let (own, others) = (block(first, anchors), block(rest, targets));
                let spec = kernel.label().spec.unwrap();
                let entry = |i: usize, j: usize| expected[i + j * (anchors + targets)];
                let found = |i: usize, j: usize| match j < anchors {
                    true => own.get(i, j),
                    false => others.get(i, j - anchors),
                };
                // A common part of the linear kernel is left out; differences do not have it.
                let difference = |of: &dyn Fn(usize, usize) -> f64, i: usize, j: usize| {
                    let common = of(0, j) + of(i, 0) - of(0, 0);
                    of(i, j) - if spec.function.additive { common } else { 0.0 }
                };
                let largest = expected.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                for j in 0..anchors + targets {
                    for i in 0..anchors {
                        let error = difference(&entry, i, j) - difference(&found, i, j);
                        assert!(error.abs() <= 1e-11 * largest, "{spec} ({i}, {j}): {error:e}");
                    }
                }
            }
            let error = kernels[0].source().block(row_major(rest, 50), "view 7").unwrap_err();
            let expected = "n_features of view 7: 3 given, the samples of the fit have 5";
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn bits_are_the_same_for_any_number_of_threads() {
        let samples = 300;
        let values = flat(&random_rows(samples, 37, 7));
        let specs = parse("paper").unwrap();
        let bits = |threads: usize| -> Vec<u64> {
            let kernels = monitor::idle_on(threads, |monitor| {
                build(row_major(&values, samples), "view 0", &specs, 0, monitor)
            });
            let kernels = kernels.unwrap();
            let entry = |kernel: &Gram<'_>| -> Vec<u64> {
                let entries = (0..samples).flat_map(|j| kernel.column(j).unwrap());
                entries.chain([kernel.scale(Normalize::Unit)]).map(f64::to_bits).collect()
            };
            kernels.iter().flat_map(entry).collect()
        };
        let first = bits(1);
        assert!(bits(2) == first);
        assert!(bits(8) == first);
    }
}
