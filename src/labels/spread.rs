//! Starts of k-means, in a space of points or of a kernel: greedy k-means++, and the random
//! stream of each restart.

use crate::error::Result;
use crate::memory;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// The random numbers of one restart.
pub(crate) fn stream(seed: u64, restart: u64) -> Xoshiro256PlusPlus {
    // Hashed, so that neighbouring seeds do not share the streams of their restarts.
    let key = SplitMix64::seed_from_u64(seed).next_u64();
    Xoshiro256PlusPlus::seed_from_u64(key ^ restart)
}

/// Greedy k-means++: each next centre is, of a few samples drawn in proportion to their squared
/// distance from the centres so far, the one that brings the samples closest.
///
/// `approach(centre, nearest, distances)` writes the squared distances to the nearest centre if
/// sample `centre` became one more, and returns their sum. Centres that cannot be had, because
/// every sample coincides with one already or because of `stop`, are copies of the first; the
/// clusters they leave empty are filled later.
pub(crate) fn centres(
    samples: usize,
    clusters: usize,
    rng: &mut Xoshiro256PlusPlus,
    stop: &(dyn Fn() -> bool + Sync),
    approach: impl Fn(usize, &[f64], &mut [f64]) -> f64,
) -> Result<Vec<usize>> {
    let draws = 2 + (clusters as f64).ln() as usize;
    let first = ((uniform(rng) * samples as f64) as usize).min(samples - 1);
    let mut chosen = memory::filled(clusters, first, "k-means")?;
    let mut nearest = memory::filled(samples, f64::INFINITY, "k-means")?;
    let mut candidate = memory::filled(samples, 0.0, "k-means")?;
    let mut best = memory::filled(samples, 0.0, "k-means")?;
    let mut potential = approach(first, &nearest, &mut candidate);
    std::mem::swap(&mut nearest, &mut candidate);
    for slot in &mut chosen[1..] {
        if potential == 0.0 || stop() {
            break;
        }
        let mut least = f64::INFINITY;
        for _ in 0..draws {
            let drawn = draw(&nearest, uniform(rng) * potential);
            let sum = approach(drawn, &nearest, &mut candidate);
            if sum < least {
                (*slot, least) = (drawn, sum);
                std::mem::swap(&mut best, &mut candidate);
            }
        }
        potential = least;
        std::mem::swap(&mut nearest, &mut best);
    }
    Ok(chosen)
}

pub(super) fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// The index at which the running sum of `weights` exceeds `target`.
fn draw(weights: &[f64], target: f64) -> usize {
    let mut sum = 0.0;
    let mut last = 0;
    for (index, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            sum += weight;
            last = index;
            if sum > target {
                break;
            }
        }
    }
    last
}
