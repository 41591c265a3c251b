//! How well labels agree with a known truth.
//!
//! Labels are names: any integers, and only which samples share one matters. Every metric is 1
//! for equal partitions and lies in [0, 1]; the adjusted Rand index in [−1, 1].

use crate::error::{Error, Result, nearest};
use crate::labels::canonical;
use crate::memory;

/// A metric of `labels` (second) against `truth` (first).
pub type Metric = fn(&[i32], &[i32]) -> Result<f64>;

/// Every metric: name, function, documentation.
pub const METRICS: &[(&str, Metric, &str)] = &[
    (
        "accuracy",
        accuracy,
        "fraction of samples labelled correctly under the best one-to-one naming of the clusters",
    ),
    ("nmi", nmi, "mutual information divided by the larger entropy, as in the paper"),
    ("nmi_arithmetic", nmi_arithmetic, "mutual information divided by the mean entropy"),
    ("purity", purity, "fraction of samples in the most frequent class of their cluster"),
    (
        "inverse_purity",
        inverse_purity,
        "fraction of samples in the most frequent cluster of their class",
    ),
    ("ari", ari, "adjusted Rand index: agreement on pairs, 0 in the mean for random labels"),
];

/// The metric called `name` of `labels` against `truth`.
pub fn metric(name: &str, truth: &[i32], labels: &[i32]) -> Result<f64> {
    let found = METRICS.iter().find(|(known, ..)| *known == name);
    let &(_, function, _) = found.ok_or_else(|| Error::UnknownName {
        kind: "metric",
        name: name.to_owned(),
        nearest: nearest(name, METRICS.iter().map(|(known, ..)| *known)),
    })?;
    function(truth, labels)
}

/// Fraction of samples labelled correctly under the best one-to-one naming of the clusters.
pub fn accuracy(truth: &[i32], labels: &[i32]) -> Result<f64> {
    let overlap = Overlap::new(truth, labels)?;
    Ok(overlap.best_matching()? as f64 / overlap.samples())
}

/// Mutual information divided by the larger of the two entropies.
pub fn nmi(truth: &[i32], labels: &[i32]) -> Result<f64> {
    Ok(Overlap::new(truth, labels)?.shared_information(f64::max))
}

/// Mutual information divided by the mean of the two entropies.
pub fn nmi_arithmetic(truth: &[i32], labels: &[i32]) -> Result<f64> {
    Ok(Overlap::new(truth, labels)?.shared_information(|a, b| 0.5 * (a + b)))
}

/// Fraction of samples that belong to the most frequent class of their cluster.
pub fn purity(truth: &[i32], labels: &[i32]) -> Result<f64> {
    let overlap = Overlap::new(truth, labels)?;
    let mut largest = memory::filled(overlap.clusters.len(), 0, "metric")?;
    for &Cell { cluster, count, .. } in &overlap.cells {
        largest[cluster] = count.max(largest[cluster]);
    }
    Ok(largest.iter().sum::<usize>() as f64 / overlap.samples())
}

/// Fraction of samples that belong to the most frequent cluster of their class: the purity
/// with the roles of truth and labels swapped.
pub fn inverse_purity(truth: &[i32], labels: &[i32]) -> Result<f64> {
    purity(labels, truth)
}

/// Adjusted Rand index.
pub fn ari(truth: &[i32], labels: &[i32]) -> Result<f64> {
    let overlap = Overlap::new(truth, labels)?;
    let pairs = |count: usize| 0.5 * count as f64 * (count as f64 - 1.0);
    let in_both: f64 = overlap.cells.iter().map(|cell| pairs(cell.count)).sum();
    let in_class: f64 = overlap.classes.iter().map(|&size| pairs(size)).sum();
    let in_cluster: f64 = overlap.clusters.iter().map(|&size| pairs(size)).sum();
    let all = pairs(truth.len());
    // Both all in one, or both all apart: the only partitions that chance cannot differ from.
    if in_class == in_cluster && (in_class == 0.0 || in_class == all) {
        return Ok(1.0);
    }
    let expected = in_class * in_cluster / all;
    let largest = 0.5 * (in_class + in_cluster);
    Ok(((in_both - expected) / (largest - expected)).clamp(-1.0, 1.0))
}

/// The samples that a class of the truth and a cluster of the labels share.
struct Cell {
    class: usize,
    cluster: usize,
    count: usize,
}

/// The contingency table of two partitions, without its zeros: n clusters of one sample each
/// take n cells, not n².
struct Overlap {
    /// Sizes of the classes.
    classes: Vec<usize>,
    /// Sizes of the clusters.
    clusters: Vec<usize>,
    /// The cells that are not zero, by class and then cluster.
    cells: Vec<Cell>,
}

impl Overlap {
    fn new(truth: &[i32], labels: &[i32]) -> Result<Self> {
        if truth.is_empty() || truth.len() != labels.len() {
            let expected = match truth.len() {
                0 => "at least 1 expected, for the truth and for the labels".to_owned(),
                some => format!("the truth has {some}"),
            };
            let what = "number of labels".to_owned();
            return Err(Error::Dimension { what, given: labels.len(), expected });
        }
        let (truth, labels) = (numbered(truth)?, numbered(labels)?);
        let mut pairs = memory::with_capacity(truth.len(), "metric")?;
        pairs.extend(truth.into_iter().zip(labels).map(|(a, b)| (a as usize, b as usize)));
        pairs.sort_unstable();
        let kinds = |of: fn(&(usize, usize)) -> usize| pairs.iter().map(of).max().unwrap_or(0) + 1;
        let mut classes = memory::filled(kinds(|pair| pair.0), 0, "metric")?;
        let mut clusters = memory::filled(kinds(|pair| pair.1), 0, "metric")?;
        let runs = || pairs.chunk_by(|a, b| a == b);
        let mut cells = memory::with_capacity(runs().count(), "metric")?;
        for run in runs() {
            let ((class, cluster), count) = (run[0], run.len());
            classes[class] += count;
            clusters[cluster] += count;
            cells.push(Cell { class, cluster, count });
        }
        Ok(Self { classes, clusters, cells })
    }

    fn samples(&self) -> f64 {
        self.classes.iter().sum::<usize>() as f64
    }

    /// Mutual information divided by `scale` of the two entropies.
    fn shared_information(&self, scale: impl Fn(f64, f64) -> f64) -> f64 {
        if self.classes.len() == 1 && self.clusters.len() == 1 {
            return 1.0;
        }
        let samples = self.samples();
        let entropy = |sizes: &mut dyn Iterator<Item = usize>| -> f64 {
            let parts = sizes.map(|size| size as f64 / samples);
            parts.map(|part| -part * part.ln()).sum()
        };
        let truth = entropy(&mut self.classes.iter().copied());
        let labels = entropy(&mut self.clusters.iter().copied());
        // In this form equal partitions give exactly 1: all three entropies have the same bits.
        let both = entropy(&mut self.cells.iter().map(|cell| cell.count));
        ((truth + labels - both) / scale(truth, labels)).clamp(0.0, 1.0)
    }

    /// The largest number of samples in cells no two of which share a class or a cluster.
    ///
    /// The assignment problem, solved by shortest augmenting paths: classes (or clusters,
    /// whichever are fewer) are matched one after the other, each along the cheapest path that
    /// may move earlier ones to other partners. Prices keep all remaining costs at or above
    /// zero, so that a path is found as Dijkstra does. Everything is exact in integers.
    fn best_matching(&self) -> Result<usize> {
        let flip = self.classes.len() > self.clusters.len();
        let (rows, cols) = match flip {
            false => (self.classes.len(), self.clusters.len()),
            true => (self.clusters.len(), self.classes.len()),
        };
        let entries = rows.checked_mul(cols).ok_or_else(|| Error::TooLarge {
            what: format!("a table of {rows} by {cols} clusters"),
        })?;
        let mut counts = memory::filled(entries, 0i64, "metric")?;
        for &Cell { class, cluster, count } in &self.cells {
            let (row, col) = if flip { (cluster, class) } else { (class, cluster) };
            counts[row * cols + col] = count as i64;
        }
        let most = counts.iter().copied().max().unwrap_or(0);

        let mut row_price = memory::filled(rows, 0i64, "metric")?;
        let mut col_price = memory::filled(cols, 0i64, "metric")?;
        let mut partner: Vec<Option<usize>> = memory::filled(cols, None, "metric")?;
        let mut distance = memory::filled(cols, i64::MAX, "metric")?;
        let mut before: Vec<Option<usize>> = memory::filled(cols, None, "metric")?;
        let mut settled = memory::filled(cols, false, "metric")?;
        for start in 0..rows {
            distance.fill(i64::MAX);
            settled.fill(false);
            let (mut row, mut via, mut length) = (start, None, 0);
            let end = loop {
                let mut nearest: Option<usize> = None;
                for col in 0..cols {
                    if settled[col] {
                        continue;
                    }
                    let cost = most - counts[row * cols + col];
                    let through = length + cost - row_price[row] - col_price[col];
                    if through < distance[col] {
                        (distance[col], before[col]) = (through, via);
                    }
                    if nearest.is_none_or(|best| distance[col] < distance[best]) {
                        nearest = Some(col);
                    }
                }
                let col = nearest.expect("no more rows than columns: one column is free");
                length = distance[col];
                match partner[col] {
                    None => break col,
                    Some(next) => {
                        settled[col] = true;
                        (row, via) = (next, Some(col));
                    }
                }
            };
            row_price[start] += length;
            for col in (0..cols).filter(|&col| settled[col]) {
                col_price[col] -= length - distance[col];
                if let Some(row) = partner[col] {
                    row_price[row] += length - distance[col];
                }
            }
            let mut col = end;
            while let Some(previous) = before[col] {
                partner[col] = partner[previous];
                col = previous;
            }
            partner[col] = Some(start);
        }
        let matched = partner.iter().enumerate();
        let total: i64 =
            matched.filter_map(|(col, row)| row.map(|row| counts[row * cols + col])).sum();
        Ok(total as usize)
    }
}

fn numbered(labels: &[i32]) -> Result<Vec<i32>> {
    let mut numbered = memory::with_capacity(labels.len(), "metric")?;
    numbered.extend_from_slice(labels);
    canonical(&mut numbered);
    Ok(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{RngCore, SeedableRng};

    fn random_labels(len: usize, kinds: u64, rng: &mut Xoshiro256PlusPlus) -> Vec<i32> {
        (0..len).map(|_| (rng.next_u64() % kinds) as i32).collect()
    }

    /// Pairs of partitions of many shapes, related and unrelated, with fewer and more clusters.
    fn cases() -> Vec<(Vec<i32>, Vec<i32>)> {
        let rng = &mut Xoshiro256PlusPlus::seed_from_u64(1);
        let mut cases = Vec::new();
        for len in [1, 2, 3, 5, 12, 40] {
            for kinds in [(1, 1), (1, 4), (2, 2), (2, 5), (4, 3), (6, 6), (6, 2), (5, 6)] {
                let truth = random_labels(len, kinds.0, rng);
                let unrelated = random_labels(len, kinds.1, rng);
                let changed = |(&a, &b): (&i32, &i32)| if b == 0 { 0 } else { a };
                let related = truth.iter().zip(&unrelated).map(changed).collect();
                cases.push((truth.clone(), unrelated));
                cases.push((truth, related));
            }
        }
        cases
    }

    fn count(truth: &[i32], labels: &[i32], of: impl Fn(i32, i32) -> bool) -> f64 {
        truth.iter().zip(labels).filter(|&(&a, &b)| of(a, b)).count() as f64
    }

    #[track_caller]
    fn assert_metric(name: &str, truth: &[i32], labels: &[i32], expected: f64) {
        let value = metric(name, truth, labels).unwrap();
        assert!((value - expected).abs() < 1e-12, "{name}: {value}, not {expected}");
    }

    #[test]
    fn accuracy_is_the_best_of_all_one_to_one_namings() {
        /// Tries all injective maps of labels 0.. to classes `free` (or to none).
        fn best(label: i32, free: &[i32], truth: &[i32], labels: &[i32]) -> f64 {
            if label == 6 {
                return 0.0;
            }
            let unnamed = best(label + 1, free, truth, labels);
            free.iter().fold(unnamed, |most, &class| {
                let rest: Vec<i32> = free.iter().copied().filter(|&other| other != class).collect();
                let hits = count(truth, labels, |a, b| a == class && b == label);
                most.max(hits + best(label + 1, &rest, truth, labels))
            })
        }
        for (truth, labels) in cases() {
            let hits = best(0, &[0, 1, 2, 3, 4, 5], &truth, &labels);
            assert_metric("accuracy", &truth, &labels, hits / truth.len() as f64);
        }
    }

    #[test]
    fn accuracy_needs_paths_that_move_earlier_choices() {
        // Rows (3, 4, 2), (4, 5, 0), (2, 5, 0): the largest entry of each row, or greedily of
        // the table, is not optimal; (2, 4, 5) = 11 is.
        let table = [[3, 4, 2], [4, 5, 0], [2, 5, 0]];
        let (mut truth, mut labels) = (Vec::new(), Vec::new());
        for (class, row) in table.iter().enumerate() {
            for (cluster, &count) in row.iter().enumerate() {
                truth.extend(std::iter::repeat_n(class as i32, count));
                labels.extend(std::iter::repeat_n(cluster as i32, count));
            }
        }
        assert_metric("accuracy", &truth, &labels, 11.0 / 25.0);
        assert_metric("accuracy", &labels, &truth, 11.0 / 25.0);
    }

    #[test]
    fn mutual_information_agrees_with_its_definition() {
        for (truth, labels) in cases() {
            let n = truth.len() as f64;
            let entropy = |of: &[i32]| -> f64 {
                let part = |k| count(of, of, |a, _| a == k) / n;
                (0..6).map(part).filter(|&p| p > 0.0).map(|p: f64| -p * p.ln()).sum()
            };
            let mut information = 0.0;
            for (a, b) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
                let both = count(&truth, &labels, |x, y| (x, y) == (a, b)) / n;
                let class = count(&truth, &labels, |x, _| x == a) / n;
                let cluster = count(&truth, &labels, |_, y| y == b) / n;
                if both > 0.0 {
                    information += both * (both / (class * cluster)).ln();
                }
            }
            let (h, g) = (entropy(&truth), entropy(&labels));
            if h + g > 0.0 {
                assert_metric("nmi", &truth, &labels, information / h.max(g));
                assert_metric("nmi_arithmetic", &truth, &labels, 2.0 * information / (h + g));
            }
        }
    }

    #[test]
    fn ari_agrees_with_counting_pairs() {
        for (truth, labels) in cases() {
            let n = truth.len();
            let [mut both, mut class, mut cluster, mut neither] = [0.0; 4];
            for (i, j) in (0..n).flat_map(|j| (0..j).map(move |i| (i, j))) {
                *match (truth[i] == truth[j], labels[i] == labels[j]) {
                    (true, true) => &mut both,
                    (true, false) => &mut class,
                    (false, true) => &mut cluster,
                    (false, false) => &mut neither,
                } += 1.0;
            }
            // Steinley's form by the four kinds of pairs.
            let above = 2.0 * (both * neither - class * cluster);
            let below = (both + class) * (class + neither) + (both + cluster) * (cluster + neither);
            if below > 0.0 {
                assert_metric("ari", &truth, &labels, above / below);
            } else {
                assert_metric("ari", &truth, &labels, 1.0);
            }
        }
    }

    #[test]
    fn values_worked_out_by_hand() {
        // One sample of the second class has strayed into the first cluster.
        let (truth, labels) = ([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]);
        assert_metric("accuracy", &truth, &labels, 5.0 / 6.0);
        assert_metric("purity", &truth, &labels, 5.0 / 6.0);
        assert_metric("inverse_purity", &truth, &labels, 5.0 / 6.0);
        // 4 pairs in both, 6 in a class, 7 in a cluster, 15 in all.
        assert_metric("ari", &truth, &labels, (4.0 - 42.0 / 15.0) / (6.5 - 42.0 / 15.0));
        let (ln2, ln3) = (2f64.ln(), 3f64.ln());
        // Entropies ln 2 and ln 3 − (2/3) ln 2; joint ln 2 / 2 + ln 6 / 6 + ln 3 / 3.
        let (h, g) = (ln2, ln3 - 2.0 / 3.0 * ln2);
        let information = h + g - (ln2 / 2.0 + (ln2 + ln3) / 6.0 + ln3 / 3.0);
        assert_metric("nmi", &truth, &labels, information / h);
        assert_metric("nmi_arithmetic", &truth, &labels, 2.0 * information / (h + g));
        // Worse than chance.
        assert_metric("ari", &[0, 0, 1, 1], &[0, 1, 0, 1], -0.5);
    }

    #[test]
    fn purity_and_inverse_purity_swap_with_their_arguments() {
        // Every cluster is pure, but the class is torn apart.
        let (truth, labels) = ([0, 0, 0, 0, 1, 1], [0, 1, 2, 2, 3, 3]);
        assert_metric("purity", &truth, &labels, 1.0);
        assert_metric("inverse_purity", &truth, &labels, 4.0 / 6.0);
        assert_metric("purity", &labels, &truth, 4.0 / 6.0);
        assert_metric("inverse_purity", &labels, &truth, 1.0);
    }

    #[test]
    fn names_of_clusters_and_order_of_samples_do_not_matter() {
        let names = [i32::MIN, 17, -5, i32::MAX, 0, 1_000_003];
        for (truth, labels) in cases() {
            let renamed: Vec<i32> = labels.iter().rev().map(|&l| names[l as usize]).collect();
            let reversed: Vec<i32> = truth.iter().rev().map(|&l| 5 - l).collect();
            for (name, function, _) in METRICS {
                assert_metric(name, &reversed, &renamed, function(&truth, &labels).unwrap());
            }
        }
    }

    #[test]
    fn equal_partitions_score_exactly_one_and_all_stay_in_range() {
        for (truth, labels) in cases() {
            let same: Vec<i32> = truth.iter().map(|l| 3 - 7 * l).collect();
            for (name, function, _) in METRICS {
                assert_eq!(function(&truth, &same), Ok(1.0), "{name} {truth:?}");
                let value = function(&truth, &labels).unwrap();
                let lowest = if *name == "ari" { -1.0 } else { 0.0 };
                assert!((lowest..=1.0).contains(&value), "{name} {value}");
            }
        }
    }

    #[test]
    fn one_cluster_and_singletons_have_their_conventions() {
        let (one, apart) = ([4; 5], [0, 1, 2, 3, 4]);
        for (name, function, _) in METRICS {
            assert_eq!(function(&one, &one), Ok(1.0), "{name}");
            assert_eq!(function(&apart, &apart), Ok(1.0), "{name}");
        }
        for name in ["nmi", "nmi_arithmetic", "ari"] {
            assert_eq!(metric(name, &one, &apart), Ok(0.0), "{name}");
            assert_eq!(metric(name, &apart, &one), Ok(0.0), "{name}");
        }
        assert_metric("accuracy", &one, &apart, 0.2);
        assert_metric("purity", &one, &apart, 1.0);
        assert_metric("inverse_purity", &one, &apart, 0.2);
    }

    #[test]
    fn an_unknown_metric_is_named_with_the_nearest_known_one() {
        let error = metric("acuracy", &[0], &[0]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown metric 'acuracy': the nearest known one is 'accuracy'"
        );
    }

    #[test]
    fn lengths_that_do_not_fit_are_named() {
        let message = |truth: &[i32], labels: &[i32]| nmi(truth, labels).unwrap_err().to_string();
        assert_eq!(message(&[0, 1], &[0]), "number of labels: 1 given, the truth has 2");
        assert_eq!(
            message(&[], &[]),
            "number of labels: 0 given, at least 1 expected, for the truth and for the labels"
        );
        for (_, function, _) in METRICS {
            assert!(matches!(function(&[], &[3]), Err(Error::Dimension { .. })));
        }
    }
}
