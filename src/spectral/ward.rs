//! Merges the parts of a graph that has more of them than clusters are wanted.
//!
//! With k > c parts every grouping of the parts into c groups gives group indicators that are an
//! optimal P: the model leaves it open. The grouping chosen here means something: parts are
//! merged by their means in the space of K_w, by Ward's rule (the merger that adds least to the
//! within-group sum of squares), ties by first index.

use super::graph::Parts;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::memory;
use crate::monitor::Monitor;
use rayon::prelude::*;

/// Groups the parts into `clusters` groups, numbered by first occurrence.
pub(crate) fn merge(
    parts: &Parts,
    clusters: usize,
    kernel: &Matrix,
    monitor: &Monitor<'_>,
) -> Result<Parts> {
    const WHAT: &str = "groups of parts";
    let k = parts.count;
    let mut size = memory::filled(k, 0.0, WHAT)?;
    parts.of.iter().for_each(|&part| size[part as usize] += 1.0);
    let members = parts.members()?;
    // Means' inner products, then Ward's costs |a||b|/(|a|+|b|)·|mean_a − mean_b|².
    let mut cost = Matrix::zeros(k, k, "distances of parts")?;
    cost.values_mut().par_chunks_mut(k).enumerate().try_for_each(|(part, sums)| {
        for &(j, _) in members.line(part) {
            monitor.go_on()?;
            for (value, &part) in kernel.col(j as usize).iter().zip(&parts.of) {
                sums[part as usize] += value;
            }
        }
        sums.iter_mut().zip(&size).for_each(|(sum, other)| *sum /= size[part] * other);
        Ok(())
    })?;
    let mut squares = memory::with_capacity(k, WHAT)?;
    squares.extend((0..k).map(|a| cost.get(a, a)));
    for b in 0..k {
        for (a, value) in cost.col_mut(b).iter_mut().enumerate() {
            let distance2 = (squares[a] + squares[b] - 2.0 * *value).max(0.0);
            *value = size[a] * size[b] / (size[a] + size[b]) * distance2;
        }
    }

    let mut leader = memory::with_capacity(k, WHAT)?;
    leader.extend(0..k);
    let mut alive = memory::copied(&leader, WHAT)?;
    // For each group the best partner behind it: only rows that a merger touched are searched
    // again, which keeps the whole near k² steps.
    let partner = |cost: &Matrix, alive: &[usize], a: usize| {
        let behind = alive.iter().copied().filter(|&b| b > a);
        behind.min_by(|&x, &y| cost.get(x, a).total_cmp(&cost.get(y, a)))
    };
    let mut best: Vec<Option<usize>> = memory::with_capacity(k, WHAT)?;
    best.extend((0..k).map(|a| partner(&cost, &alive, a)));
    // Ends: two become one each time.
    while alive.len() > clusters {
        monitor.go_on()?;
        let pairs = alive.iter().filter_map(|&a| best[a].map(|b| (a, b)));
        let closest = pairs.min_by(|x, y| cost.get(x.1, x.0).total_cmp(&cost.get(y.1, y.0)));
        let Some((a, b)) = closest else { break };
        let joint = cost.get(b, a);
        alive.retain(|&other| other != b);
        for &other in alive.iter().filter(|&&other| other != a) {
            let (na, nb, no) = (size[a], size[b], size[other]);
            let sum = (na + no) * cost.get(other, a) + (nb + no) * cost.get(other, b) - no * joint;
            let value = (sum / (na + nb + no)).max(0.0);
            cost.col_mut(a)[other] = value;
            cost.col_mut(other)[a] = value;
        }
        size[a] += size[b];
        leader[b] = a;
        for &other in &alive {
            let touched = other == a || best[other] == Some(a) || best[other] == Some(b);
            let closer = other < a
                && best[other].is_none_or(|now| cost.get(a, other) < cost.get(now, other));
            if touched || closer {
                best[other] = partner(&cost, &alive, other);
            }
        }
    }
    let group = |mut part: usize| {
        // Ends: a leader came earlier, and the first leads itself.
        while leader[part] != part {
            part = leader[part];
        }
        part
    };
    let mut number = memory::filled(k, u32::MAX, WHAT)?;
    let mut count = 0;
    let mut of = memory::with_capacity(parts.of.len(), WHAT)?;
    for &part in &parts.of {
        let group = group(part as usize);
        if number[group] == u32::MAX {
            number[group] = count;
            count += 1;
        }
        of.push(number[group]);
    }
    Ok(Parts { of, count: count as usize })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor;

    /// Merges by the definition: the pair whose merger adds least to the sum of squares.
    fn slowly(parts: &Parts, clusters: usize, points: &[[f64; 2]]) -> Vec<u32> {
        let mut groups: Vec<Vec<usize>> = (0..parts.count as u32)
            .map(|part| (0..points.len()).filter(|&i| parts.of[i] == part).collect())
            .collect();
        let scatter = |group: &[usize]| -> f64 {
            let mean =
                |k: usize| group.iter().map(|&i| points[i][k]).sum::<f64>() / group.len() as f64;
            let means = [mean(0), mean(1)];
            group
                .iter()
                .map(|&i| (0..2).map(|k| (points[i][k] - means[k]).powi(2)).sum::<f64>())
                .sum()
        };
        while groups.len() > clusters {
            let mut best = (f64::INFINITY, 0, 0);
            for a in 0..groups.len() {
                for b in a + 1..groups.len() {
                    let both: Vec<usize> = groups[a].iter().chain(&groups[b]).copied().collect();
                    let cost = scatter(&both) - scatter(&groups[a]) - scatter(&groups[b]);
                    if cost < best.0 - 1e-12 {
                        best = (cost, a, b);
                    }
                }
            }
            let absorbed = groups.remove(best.2);
            groups[best.1].extend(absorbed);
        }
        let mut of = vec![0; points.len()];
        groups
            .iter()
            .enumerate()
            .for_each(|(g, group)| group.iter().for_each(|&i| of[i] = g as u32));
        of
    }

    #[test]
    fn mergers_are_those_of_the_definition() {
        let points: Vec<[f64; 2]> = (0..40u32)
            .map(|i| [f64::from(i * 7919 % 101) / 10.0, f64::from(i * 104_729 % 89) / 10.0])
            .collect();
        let mut of: Vec<u32> = (0..40).map(|i| (i * i + 3) % 17).collect();
        let mut seen: Vec<u32> = Vec::new();
        for part in &mut of {
            let position = seen.iter().position(|s| s == part).unwrap_or(seen.len());
            if position == seen.len() {
                seen.push(*part);
            }
            *part = position as u32;
        }
        let parts = Parts { of, count: seen.len() };
        let mut kernel = Matrix::zeros(40, 40, "test").unwrap();
        for j in 0..40 {
            for i in 0..40 {
                kernel.col_mut(j)[i] = (0..2).map(|k| points[i][k] * points[j][k]).sum();
            }
        }
        for clusters in 1..=parts.count {
            let merged =
                monitor::idle(|monitor| merge(&parts, clusters, &kernel, monitor)).unwrap();
            assert_eq!(merged.count, clusters);
            assert_eq!(merged.of, slowly(&parts, clusters, &points), "{clusters} clusters");
        }
    }

    #[test]
    fn ties_go_to_the_first_index() {
        // Four parts on the corners of a square: every neighbouring pair is equally close.
        let mut kernel = Matrix::zeros(4, 4, "test").unwrap();
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        for j in 0..4 {
            for i in 0..4 {
                kernel.col_mut(j)[i] = (0..2).map(|k| corners[i][k] * corners[j][k]).sum::<f64>();
            }
        }
        let parts = Parts { of: vec![0, 1, 2, 3], count: 4 };
        let merged = monitor::idle(|monitor| merge(&parts, 3, &kernel, monitor));
        assert_eq!(merged.unwrap().of, [0, 0, 1, 2]);
    }
}
