//! How well labels agree with a known truth.
//!
//! Labels are names: any integers, and only which samples share one matters. Every metric is 1
//! for equal partitions and lies in [0, 1]; the adjusted Rand index in [−1, 1].

use crate::error::{Error, Result, unknown};
use crate::labels::numbered;
use crate::memory;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Asked again and again; fails if the work has to stop.
pub(crate) type Ask<'a> = &'a dyn Fn() -> Result<()>;

/// A metric of a contingency table.
pub(crate) type Metric = fn(&Overlap, Ask<'_>) -> Result<f64>;

/// Every metric: name, function, documentation.
pub(crate) const METRICS: &[(&str, Metric, &str)] = &[
    (
        "accuracy",
        |overlap, ask| Ok(overlap.best_matching(ask)? as f64 / overlap.samples as f64),
        "fraction of samples labelled correctly under the best one-to-one naming of the clusters",
    ),
    (
        "nmi",
        |overlap, _| Ok(overlap.shared_information(f64::max)),
        "mutual information divided by the larger entropy, as in the paper",
    ),
    (
        "nmi_arithmetic",
        |overlap, _| Ok(overlap.shared_information(|a, b| 0.5 * (a + b))),
        "mutual information divided by the mean entropy",
    ),
    (
        "purity",
        |overlap, _| overlap.purity(overlap.clusters.len(), |cell| cell.cluster),
        "fraction of samples in the most frequent class of their cluster",
    ),
    (
        "inverse_purity",
        |overlap, _| overlap.purity(overlap.classes.len(), |cell| cell.class),
        "fraction of samples in the most frequent cluster of their class",
    ),
    (
        "ari",
        |overlap, _| Ok(overlap.adjusted_rand_index()),
        "adjusted Rand index: agreement on pairs, 0 in the mean for random labels",
    ),
];

/// The names of all metrics.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    METRICS.iter().map(|(name, ..)| *name)
}

/// The metric called `name` of `labels` against `truth`.
pub fn metric(name: &str, truth: &[i32], labels: &[i32]) -> Result<f64> {
    metric_unless(name, truth, labels, &|| Ok(()))
}

/// As [`metric`]; fails when `ask` does.
pub(crate) fn metric_unless(
    name: &str,
    truth: &[i32],
    labels: &[i32],
    ask: Ask<'_>,
) -> Result<f64> {
    let found = METRICS.iter().find(|(known, ..)| *known == name);
    let &(_, function, _) = found.ok_or_else(|| unknown("metric", name, names(), &[]))?;
    function(&Overlap::new(truth, labels, ask)?, ask)
}

/// The samples that a class of the truth and a cluster of the labels share.
#[derive(Clone, Copy)]
struct Cell {
    class: u32,
    cluster: u32,
    count: usize,
}

/// The contingency table of two partitions, without its zeros: n clusters of one sample each
/// take n cells, not n².
pub(crate) struct Overlap {
    samples: usize,
    /// Sizes of the classes.
    classes: Vec<usize>,
    /// Sizes of the clusters.
    clusters: Vec<usize>,
    /// The cells that are not zero, by class and then cluster.
    cells: Vec<Cell>,
}

/// Samples that are counted between two questions whether to go on.
const LOT: usize = 1 << 16;

/// Sorts `items` into `sorted` by their `key`, of which there are as many as `sizes`; equal ones keep
/// their order.
fn sort_by_key<T: Copy>(
    items: &[T],
    sizes: &[usize],
    key: impl Fn(&T) -> u32,
    sorted: &mut [T],
    ask: Ask<'_>,
) -> Result<()> {
    let mut next = memory::with_capacity(sizes.len(), "metric")?;
    let mut total = 0;
    for size in sizes {
        next.push(total);
        total += size;
    }
    for lot in items.chunks(LOT) {
        ask()?;
        for item in lot {
            let place = &mut next[key(item) as usize];
            sorted[*place] = *item;
            *place += 1;
        }
    }
    Ok(())
}

impl Overlap {
    fn new(truth: &[i32], labels: &[i32], ask: Ask<'_>) -> Result<Self> {
        if truth.is_empty() || truth.len() != labels.len() {
            let expected = match truth.len() {
                0 => "at least 1 expected, for the truth and for the labels".to_owned(),
                some => format!("the truth has {some}"),
            };
            let what = "number of labels".to_owned();
            return Err(Error::Dimension { what, given: labels.len(), expected });
        }
        let (truth, classes) = numbered(truth, ask)?;
        let (labels, clusters) = numbered(labels, ask)?;
        let mut pairs = memory::with_capacity(truth.len(), "metric")?;
        pairs.extend(truth.iter().copied().zip(labels.iter().copied()));
        drop((truth, labels));
        let mut other = memory::filled(pairs.len(), (0, 0), "metric")?;
        sort_by_key(&pairs, &clusters, |pair| pair.1, &mut other, ask)?;
        sort_by_key(&other, &classes, |pair| pair.0, &mut pairs, ask)?;
        drop(other);
        let runs = || pairs.chunk_by(|a, b| a == b);
        let mut cells = memory::with_capacity(runs().count(), "metric")?;
        cells.extend(runs().map(|run| {
            let (class, cluster) = run[0];
            Cell { class, cluster, count: run.len() }
        }));
        Ok(Self { samples: pairs.len(), classes, clusters, cells })
    }

    /// The share of samples in the largest cell of their line, of which `line` tells the number.
    fn purity(&self, lines: usize, line: fn(&Cell) -> u32) -> Result<f64> {
        let mut largest = memory::filled(lines, 0, "metric")?;
        for cell in &self.cells {
            let largest = &mut largest[line(cell) as usize];
            *largest = cell.count.max(*largest);
        }
        Ok(largest.iter().sum::<usize>() as f64 / self.samples as f64)
    }

    fn adjusted_rand_index(&self) -> f64 {
        let pairs = |count: usize| 0.5 * count as f64 * (count as f64 - 1.0);
        let in_both: f64 = self.cells.iter().map(|cell| pairs(cell.count)).sum();
        let in_class: f64 = self.classes.iter().map(|&size| pairs(size)).sum();
        let in_cluster: f64 = self.clusters.iter().map(|&size| pairs(size)).sum();
        let all = pairs(self.samples);
        // Both all in one, or both all apart: the only partitions that chance cannot differ from.
        if in_class == in_cluster && (in_class == 0.0 || in_class == all) {
            return 1.0;
        }
        let expected = in_class * in_cluster / all;
        let largest = 0.5 * (in_class + in_cluster);
        ((in_both - expected) / (largest - expected)).clamp(-1.0, 1.0)
    }

    /// Mutual information divided by `scale` of the two entropies.
    fn shared_information(&self, scale: impl Fn(f64, f64) -> f64) -> f64 {
        if self.classes.len() == 1 && self.clusters.len() == 1 {
            return 1.0;
        }
        let samples = self.samples as f64;
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
    fn best_matching(&self, ask: Ask<'_>) -> Result<usize> {
        Matching::new(self, ask)?.complete(ask)
    }
}

/// A matching of lines (classes or clusters, whichever are fewer) with columns (the others), by
/// shortest augmenting paths: lines are matched one after the other, each along the cheapest path
/// that may move earlier ones to other partners, or leave one of them without. Only cells that are not
/// zero are edges. Prices of lines and columns sum to the count of a cell at least; what they exceed
/// it by is the length of that edge, so that a path is found as Dijkstra does. Everything is exact in
/// integers.
struct Matching {
    /// Edges (column, count), line after line, and where each line ends.
    edges: Vec<(u32, u64)>,
    ends: Vec<usize>,
    line_price: Vec<u64>,
    column_price: Vec<u64>,
    /// The partner of each line and of each column.
    column_of: Vec<u32>,
    line_of: Vec<u32>,
    /// Of a search: how far each column is, and the line before it.
    distance: Vec<u64>,
    before: Vec<u32>,
    /// Columns whose distance is known, in the order in which they were found.
    reached: Vec<u32>,
    queue: BinaryHeap<Reverse<(u64, u32)>>,
}

/// No partner.
const NONE: u32 = u32::MAX;

impl Matching {
    fn new(overlap: &Overlap, ask: Ask<'_>) -> Result<Self> {
        const WHAT: &str = "metric";
        let flip = overlap.classes.len() > overlap.clusters.len();
        let (lines, columns) = match flip {
            false => (overlap.classes.len(), overlap.clusters.len()),
            true => (overlap.clusters.len(), overlap.classes.len()),
        };
        let line = |cell: &Cell| if flip { cell.cluster } else { cell.class };
        let mut ends = memory::filled(lines, 0, WHAT)?;
        overlap.cells.iter().for_each(|cell| ends[line(cell) as usize] += 1);
        let mut edges = memory::with_capacity(overlap.cells.len(), WHAT)?;
        let edge = |cell: &Cell| (if flip { cell.class } else { cell.cluster }, cell.count as u64);
        if flip {
            let mut sorted = memory::copied(&overlap.cells, WHAT)?;
            sort_by_key(&overlap.cells, &ends, line, &mut sorted, ask)?;
            edges.extend(sorted.iter().map(edge));
        } else {
            edges.extend(overlap.cells.iter().map(edge));
        }
        let mut total = 0;
        for end in &mut ends {
            total += *end;
            *end = total;
        }
        Ok(Self {
            edges,
            ends,
            line_price: memory::filled(lines, 0, WHAT)?,
            column_price: memory::filled(columns, 0, WHAT)?,
            column_of: memory::filled(lines, NONE, WHAT)?,
            line_of: memory::filled(columns, NONE, WHAT)?,
            distance: memory::filled(columns, u64::MAX, WHAT)?,
            before: memory::filled(columns, NONE, WHAT)?,
            reached: memory::with_capacity(columns, WHAT)?,
            queue: BinaryHeap::new(),
        })
    }

    fn edges(&self, line: usize) -> std::ops::Range<usize> {
        (if line == 0 { 0 } else { self.ends[line - 1] })..self.ends[line]
    }

    /// Matches all lines that are worth it; returns the sum of the counts.
    fn complete(mut self, ask: Ask<'_>) -> Result<usize> {
        let lines = self.ends.len();
        // The largest count of a line is its price; where such a column is free, it is taken.
        for line in 0..lines {
            let edges = &self.edges[self.edges(line)];
            let most = edges.iter().map(|edge| edge.1).max().unwrap_or(0);
            self.line_price[line] = most;
            let free = |&&(column, count): &&(u32, u64)| {
                count == most && self.line_of[column as usize] == NONE
            };
            if let Some(&(column, _)) = edges.iter().find(free) {
                self.column_of[line] = column;
                self.line_of[column as usize] = line as u32;
            }
        }
        for line in 0..lines {
            if self.column_of[line] == NONE {
                self.match_line(line, ask)?;
            }
        }
        let mut total = 0;
        for line in 0..lines {
            let own = self.edges[self.edges(line)].iter();
            total +=
                own.filter(|edge| edge.0 == self.column_of[line]).map(|edge| edge.1).sum::<u64>();
        }
        Ok(total as usize)
    }

    /// Matches `start` along a shortest path, which ends at a free column or at a line that goes
    /// without.
    fn match_line(&mut self, start: usize, ask: Ask<'_>) -> Result<()> {
        self.queue.clear();
        self.reached.clear();
        // The end: its distance, the line that goes without, or the free column.
        let (mut least, mut without, mut free) = (self.line_price[start], start, NONE);
        let (mut line, mut here) = (start, 0);
        // Ends: each round settles a column.
        for round in 0.. {
            if round % 1024 == 0 {
                ask()?;
            }
            for edge in self.edges(line) {
                let (column, count) = self.edges[edge];
                let place = column as usize;
                let length = here + (self.line_price[line] + self.column_price[place] - count);
                if length >= self.distance[place] || length >= least {
                    continue;
                }
                if self.distance[place] == u64::MAX {
                    self.reached.push(column);
                }
                (self.distance[place], self.before[place]) = (length, line as u32);
                if self.line_of[place] == NONE {
                    (least, free) = (length, column);
                } else {
                    memory::push_heap(&mut self.queue, Reverse((length, column)), "metric")?;
                }
            }
            // The nearest column that is not settled; older entries of a column are longer.
            // Ends: the queue shrinks each time.
            let nearest = loop {
                match self.queue.pop() {
                    Some(Reverse((length, _))) if length >= least => break None,
                    Some(Reverse((length, column))) if length == self.distance[column as usize] => {
                        break Some((length, column));
                    }
                    Some(_) => {}
                    None => break None,
                }
            };
            let Some((length, column)) = nearest else { break };
            line = self.line_of[column as usize] as usize;
            here = length;
            if length + self.line_price[line] < least {
                (least, without, free) = (length + self.line_price[line], line, NONE);
            }
        }
        // Prices: what is nearer than the end was settled.
        self.line_price[start] -= least;
        for &column in &self.reached {
            let distance = std::mem::replace(&mut self.distance[column as usize], u64::MAX);
            let line = self.line_of[column as usize];
            if distance < least && line != NONE {
                self.column_price[column as usize] += least - distance;
                self.line_price[line as usize] -= least - distance;
            }
        }
        let mut column =
            if free != NONE { free } else { std::mem::replace(&mut self.column_of[without], NONE) };
        // Each line on the path takes the column behind it.
        // Ends: a path has no column twice.
        while column != NONE {
            let line = self.before[column as usize] as usize;
            self.line_of[column as usize] = line as u32;
            column = std::mem::replace(&mut self.column_of[line], column);
        }
        Ok(())
    }
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
        let others = [i32::MIN, 17, -5, i32::MAX, 0, 1_000_003];
        for (truth, labels) in cases() {
            let renamed: Vec<i32> = labels.iter().rev().map(|&l| others[l as usize]).collect();
            let reversed: Vec<i32> = truth.iter().rev().map(|&l| 5 - l).collect();
            for name in names() {
                assert_metric(name, &reversed, &renamed, metric(name, &truth, &labels).unwrap());
            }
        }
    }

    #[test]
    fn equal_partitions_score_exactly_one_and_all_stay_in_range() {
        for (truth, labels) in cases() {
            let same: Vec<i32> = truth.iter().map(|l| 3 - 7 * l).collect();
            for name in names() {
                assert_eq!(metric(name, &truth, &same), Ok(1.0), "{name} {truth:?}");
                let value = metric(name, &truth, &labels).unwrap();
                let lowest = if name == "ari" { -1.0 } else { 0.0 };
                assert!((lowest..=1.0).contains(&value), "{name} {value}");
            }
        }
    }

    #[test]
    fn one_cluster_and_singletons_have_their_conventions() {
        let (one, apart) = ([4; 5], [0, 1, 2, 3, 4]);
        for name in names() {
            assert_eq!(metric(name, &one, &one), Ok(1.0), "{name}");
            assert_eq!(metric(name, &apart, &apart), Ok(1.0), "{name}");
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
        let message =
            |truth: &[i32], labels: &[i32]| metric("nmi", truth, labels).unwrap_err().to_string();
        assert_eq!(message(&[0, 1], &[0]), "number of labels: 1 given, the truth has 2");
        assert_eq!(
            message(&[], &[]),
            "number of labels: 0 given, at least 1 expected, for the truth and for the labels"
        );
        for name in names() {
            assert!(matches!(metric(name, &[], &[3]), Err(Error::Dimension { .. })));
        }
    }
}
