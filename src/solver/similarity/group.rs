//! The order in which columns are solved: samples that are close to each other in one group.
//!
//! Their supports overlap, so that a group reads a small part of the kernel again and again, from
//! the cache, instead of all of it.

use super::{BLOCK, Quadratic};
use crate::error::Result;
use crate::memory;

/// All samples, group after group of [`BLOCK`]: the first sample that is left and those nearest
/// to it.
pub(super) fn order(problem: &Quadratic<'_>) -> Result<Vec<usize>> {
    let n = problem.samples();
    let mut order = memory::with_capacity(n, "order of the columns")?;
    order.extend(0..n);
    for start in (0..n).step_by(BLOCK) {
        // What is left stays sorted behind the groups taken out, so that the first one leads.
        let left = &mut order[start..];
        if left.len() <= BLOCK {
            break;
        }
        let closer = problem.closer_to(left[0]);
        left[1..].select_nth_unstable_by(BLOCK - 2, closer);
        left[..BLOCK].sort_unstable();
        left[BLOCK..].sort_unstable();
    }
    Ok(order)
}
