//! The w-step: min Σ w_i h_i subject to Σ √w_i = 1, in closed form (equation (20) of the paper),
//! and its kin with another power.

use crate::error::Result;
use crate::memory;

/// The constraint of the paper: Σ √w = 1.
pub(crate) const HALF: f64 = 0.5;

/// The weights that minimise Σ w_i h_i subject to Σ w_i^γ = 1 for costs `h` and 0 < γ < 1:
/// w_i ∝ h_i^(−1/(1−γ)). Kernels whose cost is zero, or by rounding below, share the weight.
pub(crate) fn optimal(h: &[f64], gamma: f64) -> Result<Vec<f64>> {
    let least = h.iter().copied().fold(f64::INFINITY, f64::min).max(0.0);
    // Relative to the smallest cost, so that nothing overflows. These are shares of w^γ.
    let share = |h: &f64| match least {
        0.0 => f64::from(u8::from(*h <= 0.0)),
        least => (least / h).powf(gamma / (1.0 - gamma)),
    };
    let mut shares = memory::with_capacity(h.len(), "weights")?;
    shares.extend(h.iter().map(share));
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share = (*share / total).powf(1.0 / gamma));
    Ok(shares)
}

/// Equal weights with Σ w^γ = 1.
pub(crate) fn equal(kernels: usize, gamma: f64) -> Result<Vec<f64>> {
    memory::filled(kernels, (kernels as f64).powf(-1.0 / gamma), "weights")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power_sum(w: &[f64], gamma: f64) -> f64 {
        w.iter().map(|w| w.powf(gamma)).sum()
    }

    #[test]
    fn no_other_feasible_weights_are_better() {
        let h = [3.0, 0.5, 1.25];
        let value = |w: &[f64]| w.iter().zip(&h).map(|(w, h)| w * h).sum::<f64>();
        for gamma in [0.1, 0.3, 0.5, 0.9] {
            let best = optimal(&h, gamma).unwrap();
            assert!((power_sum(&best, gamma) - 1.0).abs() < 1e-14);
            let steps = 200;
            for a in 0..=steps {
                for b in 0..=steps - a {
                    let powers = [a, b, steps - a - b].map(|k| k as f64 / steps as f64);
                    assert!(value(&powers.map(|p| p.powf(1.0 / gamma))) >= value(&best) - 1e-15);
                }
            }
        }
    }

    #[test]
    fn kernels_without_cost_share_the_weight() {
        assert_eq!(optimal(&[0.0, 2.0, 0.0], HALF).unwrap(), [0.25, 0.0, 0.25]);
        assert_eq!(optimal(&[0.0], 0.3).unwrap(), [1.0]);
        assert_eq!(equal(4, HALF).unwrap(), [1.0 / 16.0; 4]);
    }

    #[test]
    fn costs_of_any_size_give_finite_weights() {
        for h in [[1e300, 1e-300], [1e-320, 1e-310], [1e308, 1e308]] {
            for gamma in [0.1, HALF, 0.99] {
                let w = optimal(&h, gamma).unwrap();
                assert!(w.iter().all(|w| w.is_finite()), "{w:?}");
                assert!((power_sum(&w, gamma) - 1.0).abs() < 1e-12, "{w:?}");
            }
        }
    }
}
