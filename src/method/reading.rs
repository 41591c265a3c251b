//! How scmk reads clusters from its graph: which graph, which of its eigenvectors, and labels.
//!
//! The paper reads them from P. A learned graph has uneven degrees, and P then spends eigenvectors on
//! samples that are nearly alone; the default takes the largest entries of each column of Z, the
//! normalised Laplacian, and lets faint eigenvectors fade.

use super::problem::{Problem, timed};
use super::solution::Seconds;
use crate::error::{Error, Result};
use crate::labels;
use crate::matrix::{Matrix, Similarity};
use crate::memory;
use crate::metrics;
use crate::monitor::{self, Step};
use crate::settings::{Laplacian, Settings};
use crate::spectral::eigen::Vectors;
use crate::spectral::graph::{Graph, Parts};
use crate::spectral::ward;
use crate::steps::embedding::{self, AT_THE_END, EigenSettings, Embedding};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// What was read from a graph.
pub(super) struct Reading {
    pub(super) labels: Vec<i32>,
    pub(super) embedding: Embedding,
    pub(super) eigengap: Option<f64>,
    pub(super) stability: Option<f64>,
}

/// Whether labels are read from P as the model has it.
pub(super) fn is_of_the_model(settings: &Settings) -> bool {
    settings.embedding == Laplacian::Unnormalized && settings.neighbors == 0
}

/// Reads labels from Z. `of_the_model` is P as far as it is known, `kernel` the mixed one. A fit that was
/// stopped keeps the P it has; nothing if it has none and it would take long.
pub(super) fn read(
    problem: Problem<'_, '_>,
    similarity: &Similarity,
    of_the_model: Option<Embedding>,
    kernel: &Matrix,
    seconds: &mut Seconds,
) -> Result<Option<Reading>> {
    let settings = problem.settings;
    let mut embedding = match (of_the_model, is_of_the_model(settings)) {
        (Some(embedding), true) if embedding.residual <= AT_THE_END => embedding,
        (embedding, same) => {
            let warm = embedding.as_ref().and_then(|embedding| embedding.basis.as_ref());
            let again = |problem: Problem<'_, '_>| {
                let graph = graph(similarity, problem.clusters, settings)?;
                let how = (settings.embedding, AT_THE_END);
                embed(problem, &graph, how, warm.filter(|_| same), kernel)
            };
            let hurried = || monitor::in_grace(|monitor| again(Problem { monitor, ..problem }));
            let found = timed!(
                seconds.embedding,
                match again(problem) {
                    Err(Error::Stopped { .. }) if embedding.is_none() => hurried(),
                    found => found,
                }
            );
            match (found, embedding) {
                (Err(Error::Stopped { .. }), Some(embedding)) => embedding,
                (Err(Error::Stopped { .. }), None) => return Ok(None),
                (better, _) => better?,
            }
        }
    };
    let eigengap = embedding.eigengap();
    embedding::show(&mut embedding.vectors, &embedding.values, settings);
    problem.monitor.begin(Step::Labels, 1);
    let labels = timed!(seconds.labels, labels_of(problem, &embedding))?;
    let stability = match settings.subsamples {
        0 => None,
        _ => timed!(seconds.labels, stability(problem, similarity, &labels))?,
    };
    Ok(Some(Reading { labels, embedding, eigengap, stability }))
}

/// The graph that labels are read from.
pub(super) fn graph(
    similarity: &Similarity,
    clusters: usize,
    settings: &Settings,
) -> Result<Graph> {
    Graph::new(thinned(similarity, clusters, settings)?.as_ref().unwrap_or(similarity))
}

/// The entries of Z that labels are read from; nothing if it is taken as it is.
fn thinned(
    similarity: &Similarity,
    clusters: usize,
    settings: &Settings,
) -> Result<Option<Similarity>> {
    // What has been divided into as many parts as clusters is not to fall apart further.
    if settings.adapt_beta && Graph::new(similarity)?.parts()?.count == clusters {
        return Ok(None);
    }
    let count = neighbors(similarity.targets(), clusters, settings);
    count.map(|count| similarity.thinned(count)).transpose()
}

/// How many entries of a column of Z count; nothing if it is taken as it is. The neighbours of a sample
/// have to hold a cluster of n/c samples together, for which as many are needed as its logarithm tells;
/// further ones lead to other clusters.
fn neighbors(samples: usize, clusters: usize, settings: &Settings) -> Option<usize> {
    const LEAST: usize = 3;
    match settings.neighbors {
        0 => None,
        ..0 => {
            let share = samples as f64 / clusters as f64;
            Some((4.0 * share.ln()).ceil().max(LEAST as f64) as usize)
        }
        count => Some(count as usize),
    }
}

/// The embedding by a Laplacian of a graph. Parts in excess of the clusters are merged by their means in
/// the space of the kernel. Another graph than the model's is asked for its eigengap too.
pub(super) fn embed(
    Problem { clusters, settings, monitor, .. }: Problem<'_, '_>,
    graph: &Graph,
    (laplacian, tolerance): (Laplacian, f64),
    warm: Option<&Vectors>,
    kernel: &Matrix,
) -> Result<Embedding> {
    let group = |parts: Parts| ward::merge(&parts, clusters, kernel, monitor);
    let by = embedding::fastest(graph.samples(), clusters);
    let beyond = usize::from(tolerance == AT_THE_END && !is_of_the_model(settings));
    let how = EigenSettings { laplacian, tolerance, by, beyond };
    embedding::solve(graph, clusters, group, how, warm, monitor)
}

fn labels_of(
    Problem { clusters, settings, monitor, .. }: Problem<'_, '_>,
    embedding: &Embedding,
) -> Result<Vec<i32>> {
    match &embedding.groups {
        Some(groups) => groups.labels(),
        None => labels::of_embedding(&embedding.vectors, clusters, settings, monitor),
    }
}

/// What a fit leaves that was stopped before it had an embedding: the first c unit vectors and one
/// cluster, feasible but empty of meaning.
pub(super) fn nothing(problem: Problem<'_, '_>) -> Result<Embedding> {
    let (n, clusters) = (problem.samples(), problem.clusters);
    let mut vectors = Matrix::zeros(n, clusters, "embedding")?;
    (0..clusters).for_each(|k| vectors.col_mut(k)[k] = 1.0);
    Ok(Embedding {
        vectors,
        components: n,
        groups: Some(Parts { of: memory::filled(n, 0, "labels")?, count: 1 }),
        values: Vec::new(),
        beyond: Vec::new(),
        residual: 0.0,
        basis: None,
    })
}

/// How far the labels are found again from four fifths of the samples: the mean of the adjusted Rand
/// index over as many draws as the option `subsamples` says. The graph of a draw is that of all samples
/// without those left out, so that Z is not solved for again. Nothing if the fit was stopped.
fn stability(
    problem: Problem<'_, '_>,
    similarity: &Similarity,
    labels: &[i32],
) -> Result<Option<f64>> {
    const WHAT: &str = "a subsample";
    /// Starts of k-means: the best of a few is enough for a mean.
    const RESTARTS: usize = 5;
    let Problem { clusters, settings, monitor, .. } = problem;
    let n = problem.samples();
    let kept = (n - n / 5).max(clusters);
    let thinned = thinned(similarity, clusters, settings)?;
    let similarity = thinned.as_ref().unwrap_or(similarity);
    let draws = Settings { restarts: RESTARTS, ..settings.clone() };
    let mut total = 0.0;
    for draw in 0..settings.subsamples {
        if monitor.stop().is_some() {
            return Ok(None);
        }
        let samples = drawn(n, kept, settings.seed.wrapping_add(draw as u64))?;
        let graph = Graph::new(&similarity.among(&samples)?)?;
        let by = embedding::fastest(kept, clusters);
        let how =
            EigenSettings { laplacian: settings.embedding, tolerance: AT_THE_END, by, beyond: 0 };
        let group = |parts: Parts| parts.largest(clusters);
        let mut embedding = match embedding::solve(&graph, clusters, group, how, None, monitor) {
            Err(Error::Stopped { .. }) => return Ok(None),
            embedding => embedding?,
        };
        embedding::show(&mut embedding.vectors, &embedding.values, settings);
        let found = labels_of(Problem { settings: &draws, ..problem }, &embedding)?;
        let mut expected = memory::with_capacity(kept, WHAT)?;
        expected.extend(samples.iter().map(|&i| labels[i as usize]));
        total += metrics::metric_unless("ari", &expected, &found, &|| Ok(()))?;
    }
    Ok(Some(total / settings.subsamples as f64))
}

/// `count` of n samples, rising, by a seed.
fn drawn(n: usize, count: usize, seed: u64) -> Result<Vec<u32>> {
    const WHAT: &str = "a subsample";
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut all = memory::with_capacity(n, WHAT)?;
    all.extend(0..n as u32);
    for place in 0..count {
        let left = (n - place) as u64;
        all.swap(place, place + (random.next_u64() % left) as usize);
    }
    all.truncate(count);
    all.sort_unstable();
    Ok(all)
}
