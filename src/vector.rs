//! Loops over long vectors, compiled for the widest instructions the machine has.
//!
//! The crate is built for the baseline of its target; pulp picks the instruction set at run
//! time. Sums run over eight interleaved lanes in a fixed order, so that a result depends on
//! its input alone.

use pulp::{Arch, Simd, WithSimd};

const LANES: usize = 8;

/// Defines a function whose body is compiled once for each instruction set. (Handing a closure
/// to pulp is shorter, but a closure that is not inlined falls back to the baseline: seen here
/// with all but the smallest.)
macro_rules! vectorized {
    ($(#[$doc:meta])* fn $name:ident<$life:lifetime>($($arg:ident: $type:ty),+) -> $out:ty $body:block) => {
        $(#[$doc])*
        pub(crate) fn $name<$life>($($arg: $type),+) -> $out {
            struct Call<$life> { $($arg: $type),+ }
            impl<$life> WithSimd for Call<$life> {
                type Output = $out;
                #[inline(always)]
                fn with_simd<S: Simd>(self, _: S) -> $out {
                    let Self { $($arg),+ } = self;
                    $body
                }
            }
            Arch::new().dispatch(Call { $($arg),+ })
        }
    };
}

vectorized! {
    /// xᵀy.
    fn dot<'a>(x: &'a [f64], y: &'a [f64]) -> f64 {
        let mut lanes = [0.0; LANES];
        let (xs, ys) = (x.chunks_exact(LANES), y[..x.len()].chunks_exact(LANES));
        let rest = xs.remainder().iter().zip(ys.remainder());
        for (x, y) in xs.zip(ys) {
            for k in 0..LANES {
                lanes[k] += x[k] * y[k];
            }
        }
        let mut sum = 0.0;
        for lane in lanes {
            sum += lane;
        }
        for (x, y) in rest {
            sum += x * y;
        }
        sum
    }
}

vectorized! {
    /// Σ x.
    fn sum<'a>(x: &'a [f64]) -> f64 {
        let mut lanes = [0.0; LANES];
        let xs = x.chunks_exact(LANES);
        let rest = xs.remainder();
        for x in xs {
            for k in 0..LANES {
                lanes[k] += x[k];
            }
        }
        let mut sum = 0.0;
        for lane in lanes {
            sum += lane;
        }
        for x in rest {
            sum += x;
        }
        sum
    }
}

vectorized! {
    /// The smallest entry; +∞ for none. NaN is not looked for.
    fn min<'a>(x: &'a [f64]) -> f64 {
        let mut lanes = [f64::INFINITY; LANES];
        let xs = x.chunks_exact(LANES);
        let rest = xs.remainder();
        for x in xs {
            for k in 0..LANES {
                lanes[k] = if x[k] < lanes[k] { x[k] } else { lanes[k] };
            }
        }
        let mut least = f64::INFINITY;
        for &v in lanes.iter().chain(rest) {
            least = if v < least { v } else { least };
        }
        least
    }
}

vectorized! {
    /// The largest absolute entry; 0 for none. NaN is not looked for.
    fn max_abs<'a>(x: &'a [f64]) -> f64 {
        let mut lanes = [0.0f64; LANES];
        let xs = x.chunks_exact(LANES);
        let rest = xs.remainder();
        for x in xs {
            for k in 0..LANES {
                let v = x[k].abs();
                lanes[k] = if v > lanes[k] { v } else { lanes[k] };
            }
        }
        let mut most = 0.0;
        for v in lanes.iter().chain(rest) {
            most = if v.abs() > most { v.abs() } else { most };
        }
        most
    }
}

vectorized! {
    /// y += a x.
    fn axpy<'a>(a: f64, x: &'a [f64], y: &'a mut [f64]) -> () {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    }
}

vectorized! {
    /// y += Σ a·(column j of a matrix) over the terms (a, j), columns as long as y. They are
    /// taken four at a time so that y is read and written less often, and tile by tile so that
    /// it stays in the first-level cache.
    fn axpy_columns<'a>(terms: &'a [(f64, usize)], matrix: &'a [f64], y: &'a mut [f64]) -> () {
        const TILE: usize = 1024;
        let rows = y.len();
        let mut from = 0;
        while from < rows {
            let to = if from + TILE < rows { from + TILE } else { rows };
            let tile = &mut y[from..to];
            let len = tile.len();
            let fours = terms.chunks_exact(4);
            let rest = fours.remainder();
            for four in fours {
                let (a, b, c, d) = (four[0].0, four[1].0, four[2].0, four[3].0);
                let p = &matrix[four[0].1 * rows + from..][..len];
                let q = &matrix[four[1].1 * rows + from..][..len];
                let r = &matrix[four[2].1 * rows + from..][..len];
                let s = &matrix[four[3].1 * rows + from..][..len];
                for i in 0..len {
                    tile[i] += (a * p[i] + b * q[i]) + (c * r[i] + d * s[i]);
                }
            }
            for term in rest {
                let p = &matrix[term.1 * rows + from..][..len];
                for i in 0..len {
                    tile[i] += term.0 * p[i];
                }
            }
            from = to;
        }
    }
}

vectorized! {
    /// y += a max(x, 0).
    fn axpy_positive<'a>(a: f64, x: &'a [f64], y: &'a mut [f64]) -> () {
        for (y, &x) in y.iter_mut().zip(x) {
            *y += a * if x > 0.0 { x } else { 0.0 };
        }
    }
}

vectorized! {
    /// y += a Σ v·(row j of x) over the entries (j, v), rows of x as long as y.
    fn gather<'a>(entries: &'a [(u32, f64)], a: f64, x: &'a [f64], y: &'a mut [f64]) -> () {
        let width = y.len();
        for entry in entries {
            let row = &x[entry.0 as usize * width..][..width];
            let factor = a * entry.1;
            for k in 0..width {
                y[k] += factor * row[k];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_agree_with_plain_ones() {
        for len in [0, 1, 7, 8, 9, 100, 2500] {
            let x: Vec<f64> = (0..len).map(|i| ((i * 37 % 101) as f64 - 50.0) / 7.0).collect();
            let y: Vec<f64> = (0..len).map(|i| ((i * 53 % 89) as f64 - 44.0) / 3.0).collect();
            let plain: f64 = x.iter().zip(&y).map(|(a, b)| a * b).sum();
            assert!((dot(&x, &y) - plain).abs() <= 1e-9 * (1.0 + plain.abs()));
            assert!((sum(&x) - x.iter().sum::<f64>()).abs() < 1e-9);
            assert_eq!(min(&x), x.iter().copied().fold(f64::INFINITY, f64::min));
            assert_eq!(max_abs(&x), x.iter().fold(0.0, |m: f64, v| m.max(v.abs())));
            let mut z = y.clone();
            axpy(2.5, &x, &mut z);
            let mut positive = y.clone();
            axpy_positive(2.5, &x, &mut positive);
            let columns = [&x, &y, &x, &y, &x];
            let matrix = columns.map(|column| column.clone()).concat();
            let terms: Vec<(f64, usize)> = (0..5).map(|k| (k as f64 - 1.5, k)).collect();
            let mut many = y.clone();
            axpy_columns(&terms, &matrix, &mut many);
            for i in 0..len {
                assert_eq!(z[i], y[i] + 2.5 * x[i]);
                assert_eq!(positive[i], y[i] + 2.5 * x[i].max(0.0));
                let plain: f64 = y[i] + terms.iter().map(|&(a, j)| a * columns[j][i]).sum::<f64>();
                assert!((many[i] - plain).abs() < 1e-9 * (1.0 + plain.abs()));
            }
        }
    }
}
