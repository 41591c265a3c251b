//! How many clusters the samples have.
//!
//! For each number c the samples are divided as a fit would divide them, and the separation of the clusters
//! in the embedding is measured. More clusters of a cloud are separated too, by chance; so the same is done
//! with clouds that have the covariance of the samples, round ones and some with edges. What counts is how far
//! the separation is beyond theirs. Where it is not, there is no structure.

use crate::error::{Error, Result};
use crate::kernel::{self, Cloud, Gram};
use crate::labels;
use crate::memory;
use crate::method::{self, Problem};
use crate::monitor::{self, Control, Limit, Monitor, ProgressFn, Step};
use crate::resources;
use crate::settings::Settings;
use crate::spectral::graph::{Graph, Parts};
use crate::steps::embedding::{self, EigenSettings};
use crate::threads;

const WHAT: &str = "a suggestion of the number of clusters";

/// Clouds without structure of each kind that the samples are compared with. One with edges divides into
/// clearer parts where there are few dimensions.
const DRAWS: u64 = 2;

/// Entries of a column of Z that count where the number of clusters is not known.
const NEIGHBORS: i64 = 18;

/// How far beyond chance clusters have to be separated.
const LEAST: f64 = 0.12;

/// Of numbers whose scores are within this share of the best the smallest is taken.
const NEARLY: f64 = 0.9;

/// Residual of an eigenvector: enough for distances.
const TOLERANCE: f64 = 1e-6;

/// What was found about the number of clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The first number of the range.
    pub from: usize,
    /// A score for each number of the range; larger is better.
    pub scores: Vec<f64>,
    /// The number to take; 1 if the samples do not fall into clusters.
    pub best: usize,
    /// The one to look at next; 0 if there is none.
    pub next: usize,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
}

impl Suggestion {
    /// The last number of the range.
    pub fn to(&self) -> usize {
        (self.from + self.scores.len()).saturating_sub(1)
    }
}

/// The largest number of clusters that is looked for of its own accord.
pub(crate) fn most(samples: usize) -> usize {
    (samples / 4).clamp(1, 150)
}

/// Bytes that a suggestion needs at most beside what a fit does: the kernels of a cloud without structure, of
/// which the samples are drawn by an n×n matrix, and products on the way.
pub(crate) fn memory_required(kernels: &[Gram<'_>], samples: usize) -> usize {
    let squares = samples.saturating_mul(samples).saturating_mul(kernels.len().saturating_add(3));
    squares.saturating_mul(size_of::<f64>()).saturating_add(kernel::bytes_held(kernels))
}

/// The range that was asked for, or that of the library.
pub(crate) fn checked(range: Option<(usize, usize)>, samples: usize) -> Result<(usize, usize)> {
    let Some((from, to)) = range else { return Ok((2, most(samples).max(2).min(samples))) };
    let dimension = |what: &str, given, expected| {
        Err(Error::Dimension { what: what.to_owned(), given, expected })
    };
    if from == 0 || from > to {
        return dimension("from", from, format!("from 1 to 'to' = {to} expected"));
    }
    if to > samples {
        return dimension("to", to, format!("at most n_samples = {samples} expected"));
    }
    Ok((from, to))
}

/// Scores the numbers of a range, as a call of its own.
pub(crate) fn call(
    kernels: &[Gram<'_>],
    views: &[usize],
    (from, to): (usize, usize),
    settings: &Settings,
    control: &Control,
    progress: Option<ProgressFn<'_>>,
) -> Result<Suggestion> {
    let samples = kernels[0].samples();
    let bytes = method::memory_required(samples, to, settings)
        .saturating_add(memory_required(kernels, samples));
    resources::check_limit(bytes.saturating_add(kernel::bytes_held(kernels)), settings)?;
    let threads = resources::workers(samples, settings);
    let small = resources::small_memory(samples, to).saturating_add(256 * kernels.len());
    let _reserve = threads::set_aside(small, threads)?;
    let limit = Limit::of_call(settings.time_limit);
    monitor::monitored(threads, limit, control, progress, |monitor, report| {
        let problem = Problem { kernels, views, clusters: to, settings, monitor, report };
        score(problem, from)
    })?
}

/// Scores the numbers from `from` up to that of the problem.
pub(crate) fn score(problem: Problem<'_, '_>, from: usize) -> Result<Suggestion> {
    let Problem { kernels, settings, monitor, .. } = problem;
    let (samples, to) = (problem.samples(), problem.clusters);
    // One graph for all numbers, and weights that do not depend on the range.
    let mut own = settings.clone();
    own.neighbors = if own.neighbors < 0 { NEIGHBORS } else { own.neighbors };
    let settings = &own;
    let few = Problem { clusters: 2.min(samples), settings, ..problem };
    let candidates = candidates(from, to.min(samples.saturating_sub(2)))?;
    if candidates.is_empty() {
        // Too few samples to compare with any others.
        return Ok(decide(from, memory::filled((to + 1).saturating_sub(from), 0.0, WHAT)?, 0.0));
    }
    let (graph, weights) = method::graph(few, None)?;
    let found = separations(&graph, &candidates, settings, monitor)?;
    drop(graph);
    let mut chance = [Cloud::Round, Cloud::Edged].map(|cloud| (cloud, Vec::new()));
    for (cloud, mean) in &mut chance {
        *mean = memory::filled(candidates.len(), 0.0, WHAT)?;
        for draw in 0..DRAWS {
            let seed = settings.seed.wrapping_add(1 + draw);
            let of_cloud = || {
                let drawn = kernel::structureless(kernels, *cloud, seed, monitor)?;
                let weights = memory::copied(&weights, WHAT)?;
                let (graph, _) = method::graph(Problem { kernels: &drawn, ..few }, Some(weights))?;
                separations(&graph, &candidates, settings, monitor)
            };
            let others = match of_cloud() {
                // Extreme features may have no kernel in a cloud: then chance finds nothing there.
                Err(Error::Degenerate { .. } | Error::NotPsd { .. } | Error::NotFinite { .. }) => {
                    continue;
                }
                others => others?,
            };
            mean.iter_mut().zip(others).for_each(|(mean, s)| *mean += s / DRAWS as f64);
        }
    }
    let [(_, round), (_, edged)] = chance;
    let mut scores = memory::filled(to + 1 - from, 0.0, "scores")?;
    let mut most = 0.0f64;
    for (k, &c) in candidates.iter().enumerate() {
        let separation = found[k];
        most = most.max(separation - round[k].max(edged[k]));
        let beyond = separation - 0.5 * (round[k] + edged[k]);
        scores[c - from] = beyond.max(0.0) * separation.max(0.0);
    }
    let mut suggestion = decide(from, scores, most);
    interpolate(&mut suggestion.scores, &candidates, from);
    Ok(suggestion)
}

/// Fills in the scores of numbers between those that were looked at, which none of them exceeds.
fn interpolate(scores: &mut [f64], candidates: &[usize], from: usize) {
    for pair in candidates.windows(2) {
        let (low, high) = (pair[0] - from, pair[1] - from);
        let (first, last) = (scores[low], scores[high]);
        for (step, score) in scores[low..high].iter_mut().enumerate() {
            *score = first + (last - first) * step as f64 / (high - low) as f64;
        }
    }
}

/// The number to take, by scores of those from `from` on, where `most` is how far any is beyond chance.
fn decide(from: usize, scores: Vec<f64>, most: f64) -> Suggestion {
    let highest = scores.iter().copied().fold(0.0, f64::max);
    let first = scores.iter().position(|&score| score > 0.0 && score >= NEARLY * highest);
    let Some(best) = first.filter(|_| most > LEAST).map(|place| from + place) else {
        let confidence = (1.0 - most / (2.0 * LEAST)).clamp(0.0, 1.0);
        return Suggestion { from, scores, best: 1, next: 0, confidence };
    };
    let (mut next, mut second) = (0, 0.0);
    for (c, &score) in (from..).zip(&scores) {
        let other = c.abs_diff(best) > 1.max(best / 10);
        if other && score > second {
            (next, second) = (c, score);
        }
    }
    // Sure if no other number comes within a quarter of it, and clusters are clear.
    let margin = (scores[best - from] - second) / highest;
    let confidence = (4.0 * margin).clamp(0.0, 1.0) * (most / (2.5 * LEAST)).min(1.0);
    Suggestion { from, scores, best, next, confidence }
}

/// The numbers that are looked at: all of the first, then steps of five percent.
fn candidates(from: usize, to: usize) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    let mut c = from.max(2);
    // Ends: c grows.
    while c <= to {
        memory::push(&mut found, c, WHAT)?;
        c = (c + 1).max((c as f64 * 1.05).round() as usize);
    }
    Ok(found)
}

/// The separation of the clusters for each number.
fn separations(
    graph: &Graph,
    candidates: &[usize],
    settings: &Settings,
    monitor: &Monitor<'_>,
) -> Result<Vec<f64>> {
    let Some(&most) = candidates.last() else { return Ok(Vec::new()) };
    let by = embedding::fastest(graph.samples(), most);
    let how = EigenSettings { laplacian: settings.embedding, tolerance: TOLERANCE, by, beyond: 0 };
    let group = |parts: Parts| parts.largest(most);
    let all = embedding::solve(graph, most, group, how, None, monitor)?;
    monitor.begin(Step::Labels, candidates.len());
    let found = memory::par_map(candidates.len(), WHAT, |place| {
        monitor.go_on()?;
        let rows = embedding::leading(&all, candidates[place], settings)?;
        let separation = labels::separation(&rows, &|| monitor.stop().is_some());
        monitor.advance(1);
        separation
    })?;
    let mut separations = memory::with_capacity(candidates.len(), WHAT)?;
    separations.extend(found.into_iter().flatten());
    monitor.go_on()?;
    Ok(separations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nearly_equal_scores_the_smallest_number_is_taken() {
        let found = decide(2, vec![0.1, 0.95, 0.2, 1.0, 0.0, 0.0, 0.5], 0.5);
        assert_eq!((found.best, found.next, found.to()), (3, 5, 8));
        assert_eq!(found.confidence, 0.0);
        let found = decide(2, vec![0.1, 1.0, 0.2, 0.9], 0.5);
        assert_eq!((found.best, found.next), (3, 5));
        assert!((found.confidence - 0.4).abs() < 1e-12);
        assert_eq!(decide(2, vec![0.1, 1.0, 0.2, 0.5], 0.5).confidence, 1.0);
    }

    #[test]
    fn scores_between_are_interpolated() {
        let mut scores = [0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 2.0];
        interpolate(&mut scores, &[3, 5, 8], 2);
        assert_eq!(scores, [0.0, 1.0, 0.75, 0.5, 1.0, 1.5, 2.0]);
    }

    #[test]
    fn what_is_not_beyond_chance_is_no_structure() {
        for (scores, most) in [(vec![0.3, 0.2], 0.05), (vec![], 0.0), (vec![0.0; 3], 0.5)] {
            let found = decide(2, scores, most);
            assert_eq!((found.best, found.next), (1, 0));
        }
        assert_eq!(decide(2, vec![0.1], 0.0).confidence, 1.0);
    }

    #[test]
    fn ranges_that_cannot_be_are_refused_by_the_name_of_their_end() {
        let message = |range| checked(Some(range), 10).unwrap_err().to_string();
        assert!(message((5, 4)).contains("from"), "{}", message((5, 4)));
        assert!(message((2, 11)).contains("n_samples = 10"), "{}", message((2, 11)));
        assert!(message((0, 4)).contains("from"), "{}", message((0, 4)));
        assert_eq!(checked(None, 100).unwrap(), (2, 25));
        assert_eq!(candidates(2, 26).unwrap()[..4], [2, 3, 4, 5]);
    }
}
