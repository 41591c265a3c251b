//! What a call may take: memory and threads.

use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::threads;

/// Refuses what would take more bytes than the option `memory_limit` allows, the kernels that the
/// library holds included.
pub(crate) fn check_limit(bytes: usize, settings: &Settings) -> Result<()> {
    if settings.memory_limit > 0 && bytes > settings.memory_limit {
        let what = "kernels and working memory, more than the option memory_limit allows";
        return Err(Error::OutOfMemory { bytes, what });
    }
    Ok(())
}

/// Bytes that a call needs at most in pieces too small to be counted: vectors, small matrices, what
/// the thread pool and the libraries underneath allocate.
pub(crate) fn small_memory(samples: usize, clusters: usize) -> usize {
    let basis = 5 * (clusters + clusters / 8 + 4);
    let numbers = 64usize.saturating_mul(samples).saturating_add(8 * basis * basis);
    numbers.saturating_mul(size_of::<f64>()).saturating_add(2 << 20)
}

/// Worker threads for so many samples: no more than there is work for, since each of them sets
/// memory aside. Results do not depend on it.
pub(crate) fn workers(samples: usize, settings: &Settings) -> usize {
    /// Samples that keep a worker busy.
    const SAMPLES: usize = 16;
    threads::count(settings.threads).min(samples.div_ceil(SAMPLES))
}
