//! The w-step: min Σ w_i h_i subject to Σ √w_i = 1, in closed form (equation (20) of the paper).

/// The optimal weights for the costs `h`, none of which is negative: √w_i ∝ 1/h_i. Kernels whose
/// cost is zero share the weight.
pub(crate) fn optimal(h: &[f64]) -> Vec<f64> {
    let least = h.iter().copied().fold(f64::INFINITY, f64::min);
    // Relative to the smallest cost, so that nothing overflows.
    let share = |h: &f64| match least {
        0.0 => f64::from(u8::from(*h == 0.0)),
        least => least / h,
    };
    let roots: Vec<f64> = h.iter().map(share).collect();
    let total: f64 = roots.iter().sum();
    roots.iter().map(|root| (root / total).powi(2)).collect()
}

/// Equal weights with Σ √w = 1.
pub(crate) fn equal(kernels: usize) -> Vec<f64> {
    vec![(kernels as f64).powi(-2); kernels]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_sum(w: &[f64]) -> f64 {
        w.iter().map(|w| w.sqrt()).sum()
    }

    #[test]
    fn no_other_feasible_weights_are_better() {
        let h = [3.0, 0.5, 1.25];
        let best = optimal(&h);
        let value = |w: &[f64]| w.iter().zip(&h).map(|(w, h)| w * h).sum::<f64>();
        assert!((root_sum(&best) - 1.0).abs() < 1e-15);
        let steps = 200;
        for a in 0..=steps {
            for b in 0..=steps - a {
                let roots = [a, b, steps - a - b].map(|k| k as f64 / steps as f64);
                assert!(value(&roots.map(|r| r * r)) >= value(&best) - 1e-15);
            }
        }
    }

    #[test]
    fn kernels_without_cost_share_the_weight() {
        assert_eq!(optimal(&[0.0, 2.0, 0.0]), [0.25, 0.0, 0.25]);
        assert_eq!(optimal(&[0.0]), [1.0]);
        assert_eq!(equal(4), [1.0 / 16.0; 4]);
    }

    #[test]
    fn costs_of_any_size_give_finite_weights() {
        for h in [[1e300, 1e-300], [1e-320, 1e-310], [1e308, 1e308]] {
            let w = optimal(&h);
            assert!(w.iter().all(|w| w.is_finite()) && (root_sum(&w) - 1.0).abs() < 1e-12, "{w:?}");
        }
    }
}
