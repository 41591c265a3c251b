//! The order in which columns are solved: targets that are close to each other in one group.
//!
//! Their supports overlap, so that a group reads a small part of the kernel again and again, from
//! the cache, instead of all of it.

use super::Quadratic;
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;

/// Columns of Z solved by one task. Depends on the number of samples alone, so that results do not
/// depend on the number of threads. Groups of 128 multiply at full speed (those of 64 take a fifth
/// longer); fewer samples are divided among more groups to keep all threads busy. Their number is
/// even, for two threads that share them.
pub(crate) fn size(samples: usize) -> usize {
    let largest = if samples < 768 { 64 } else { 128 };
    samples.div_ceil(2 * samples.div_ceil(2 * largest))
}

/// All targets, group after group of [`size`]: the first one that is left and those nearest to it.
/// Of targets that are no anchors distances are not known: as they come.
pub(super) fn order(problem: &Quadratic<'_>, monitor: &Monitor<'_>) -> Result<Vec<usize>> {
    let n = problem.targets();
    let mut order = memory::with_capacity(n, "order of the columns")?;
    order.extend(0..n);
    let size = size(n);
    if problem.cross.is_some() {
        return Ok(order);
    }
    for start in (0..n).step_by(size) {
        monitor.go_on()?;
        // What is left stays sorted behind the groups taken out, so that the first one leads.
        let left = &mut order[start..];
        if left.len() <= size {
            break;
        }
        let closer = problem.closer_to(left[0]);
        left[1..].select_nth_unstable_by(size - 1, closer);
        left[..size].sort_unstable();
        left[size..].sort_unstable();
    }
    Ok(order)
}
