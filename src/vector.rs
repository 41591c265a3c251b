//! Loops over long vectors, compiled for the widest instructions the machine has.
//!
//! The crate is built for the baseline of its target; pulp picks the instruction set at run
//! time. Sums run over eight interleaved lanes in a fixed order, so that a result depends on
//! its input alone.

use pulp::{Arch, Simd, WithSimd};

/// Numbers that loops take at a time.
pub(crate) const LANES: usize = 8;

/// Defines a function whose body is compiled once for each instruction set. (Handing a closure
/// to pulp is shorter, but a closure that is not inlined falls back to the baseline: seen here
/// with all but the smallest.)
macro_rules! vectorized {
    ($(#[$doc:meta])* $vis:vis fn $name:ident<$life:lifetime>($($arg:ident: $type:ty),+) -> $out:ty $body:block) => {
        $(#[$doc])*
        $vis fn $name<$life>($($arg: $type),+) -> $out {
            struct Call<$life> { $($arg: $type),+ }
            impl<$life> pulp::WithSimd for Call<$life> {
                type Output = $out;
                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, _: S) -> $out {
                    let Self { $($arg),+ } = self;
                    $body
                }
            }
            pulp::Arch::new().dispatch(Call { $($arg),+ })
        }
    };
}
pub(crate) use vectorized;

vectorized! {
    /// xᵀy.
    pub(crate) fn dot<'a>(x: &'a [f64], y: &'a [f64]) -> f64 {
        let mut lanes = [0.0; LANES];
        let ((xs, rest), (ys, other)) = (pulp::as_arrays::<LANES, _>(x), pulp::as_arrays::<LANES, _>(&y[..x.len()]));
        let ys = &ys[..xs.len()];
        for i in 0..xs.len() {
            for k in 0..LANES {
                lanes[k] += xs[i][k] * ys[i][k];
            }
        }
        let mut sum = 0.0;
        for lane in lanes {
            sum += lane;
        }
        for i in 0..rest.len() {
            sum += rest[i] * other[i];
        }
        sum
    }
}

vectorized! {
    /// Σ x.
    pub(crate) fn sum<'a>(x: &'a [f64]) -> f64 {
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
    /// Σ a·x: the mean of numbers whose sum may be beyond the range.
    pub(crate) fn scaled_sum<'a>(a: f64, x: &'a [f64]) -> f64 {
        let mut lanes = [0.0; LANES];
        let xs = x.chunks_exact(LANES);
        let rest = xs.remainder();
        for x in xs {
            for k in 0..LANES {
                lanes[k] += a * x[k];
            }
        }
        let mut sum = 0.0;
        for lane in lanes {
            sum += lane;
        }
        for x in rest {
            sum += a * x;
        }
        sum
    }
}

vectorized! {
    /// The smallest entry; +∞ for none. NaN is not looked for.
    pub(crate) fn min<'a>(x: &'a [f64]) -> f64 {
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
    pub(crate) fn max_abs<'a>(x: &'a [f64]) -> f64 {
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
    /// How far a point with non-negative entries can go along `direction` before one of them turns
    /// negative; +∞ if none does.
    pub(crate) fn longest_step<'a>(point: &'a [f64], direction: &'a [f64]) -> f64 {
        let mut lanes = [f64::INFINITY; LANES];
        let (points, rest) = pulp::as_arrays::<LANES, _>(point);
        let (directions, other) = pulp::as_arrays::<LANES, _>(&direction[..point.len()]);
        let directions = &directions[..points.len()];
        for i in 0..points.len() {
            for k in 0..LANES {
                let ratio = -points[i][k] / directions[i][k];
                let ratio = if directions[i][k] < 0.0 { ratio } else { f64::INFINITY };
                lanes[k] = if ratio < lanes[k] { ratio } else { lanes[k] };
            }
        }
        let mut least = f64::INFINITY;
        for lane in lanes {
            least = if lane < least { lane } else { least };
        }
        for i in 0..rest.len() {
            if other[i] < 0.0 && -rest[i] / other[i] < least {
                least = -rest[i] / other[i];
            }
        }
        least
    }
}

vectorized! {
    /// The sum of x and the number of entries where `mask` is positive.
    pub(crate) fn sum_where_positive<'a>(x: &'a [f64], mask: &'a [f64]) -> (f64, usize) {
        let (mut lanes, mut counts) = ([0.0; LANES], [0.0; LANES]);
        let (xs, rest) = pulp::as_arrays::<LANES, _>(x);
        let (masks, other) = pulp::as_arrays::<LANES, _>(&mask[..x.len()]);
        let masks = &masks[..xs.len()];
        for i in 0..xs.len() {
            for k in 0..LANES {
                lanes[k] += if masks[i][k] > 0.0 { xs[i][k] } else { 0.0 };
                counts[k] += if masks[i][k] > 0.0 { 1.0 } else { 0.0 };
            }
        }
        let (mut sum, mut count) = (0.0, 0.0);
        for k in 0..LANES {
            sum += lanes[k];
            count += counts[k];
        }
        for i in 0..rest.len() {
            sum += if other[i] > 0.0 { rest[i] } else { 0.0 };
            count += if other[i] > 0.0 { 1.0 } else { 0.0 };
        }
        (sum, count as usize)
    }
}

vectorized! {
    /// y += a x.
    pub(crate) fn axpy<'a>(a: f64, x: &'a [f64], y: &'a mut [f64]) -> () {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    }
}

vectorized! {
    /// y += Σ a·(rows from `from` on of column j) over the terms (a, j) of a matrix of `rows` rows.
    /// Columns are taken four at a time so that y is read and written less often.
    pub(crate) fn axpy_columns<'a>(
        terms: &'a [(f64, usize)],
        matrix: &'a [f64],
        rows: usize,
        from: usize,
        y: &'a mut [f64]
    ) -> () {
        let len = y.len();
        let fours = terms.chunks_exact(4);
        let rest = fours.remainder();
        for four in fours {
            let (a, b, c, d) = (four[0].0, four[1].0, four[2].0, four[3].0);
            let p = &matrix[four[0].1 * rows + from..][..len];
            let q = &matrix[four[1].1 * rows + from..][..len];
            let r = &matrix[four[2].1 * rows + from..][..len];
            let s = &matrix[four[3].1 * rows + from..][..len];
            for i in 0..len {
                y[i] += (a * p[i] + b * q[i]) + (c * r[i] + d * s[i]);
            }
        }
        for term in rest {
            let p = &matrix[term.1 * rows + from..][..len];
            for i in 0..len {
                y[i] += term.0 * p[i];
            }
        }
    }
}

/// As [`axpy_columns`] for a few rows and many columns that are in the cache: the sums stay in
/// registers.
pub(crate) fn axpy_tile(
    terms: &[(f64, usize)],
    matrix: &[f64],
    rows: usize,
    from: usize,
    y: &mut [f64],
) {
    /// Words of the machine that are summed at a time.
    const WORDS: usize = 8;
    struct Call<'a> {
        terms: &'a [(f64, usize)],
        matrix: &'a [f64],
        rows: usize,
        from: usize,
        y: &'a mut [f64],
    }
    impl WithSimd for Call<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Self { terms, matrix, rows, from, y } = self;
            let len = WORDS * S::F64_LANES;
            let mut start = from;
            let mut tiles = y.chunks_exact_mut(len);
            for tile in &mut tiles {
                let tile = &mut pulp::as_arrays_mut::<WORDS, _>(S::as_mut_simd_f64s(tile).0).0[0];
                let mut sums = *tile;
                for term in terms {
                    let column = &matrix[term.1 * rows + start..][..len];
                    let column = &pulp::as_arrays::<WORDS, _>(S::as_simd_f64s(column).0).0[0];
                    let factor = simd.splat_f64s(term.0);
                    for k in 0..WORDS {
                        sums[k] = simd.mul_add_e_f64s(factor, column[k], sums[k]);
                    }
                }
                *tile = sums;
                start += len;
            }
            let rest = tiles.into_remainder();
            for term in terms {
                let column = &matrix[term.1 * rows + start..][..rest.len()];
                for (y, x) in rest.iter_mut().zip(column) {
                    *y += term.0 * x;
                }
            }
        }
    }
    Arch::new().dispatch(Call { terms, matrix, rows, from, y });
}

/// Right-hand sides of [`substitute`].
pub(crate) const SIDES: usize = 8;

/// Forward substitution with [`SIDES`] right-hand sides, their entries side by side; see
/// `similarity::factor`. `span` is where entries that are not zero start, and where unknown ones
/// do.
pub(crate) fn substitute(
    rows: &[f64],
    starts: &[usize],
    inverse_diagonal: &[f64],
    span: (usize, usize),
    sides: &mut [[f64; SIDES]],
) {
    struct Call<'a> {
        rows: &'a [f64],
        starts: &'a [usize],
        inverse_diagonal: &'a [f64],
        span: (usize, usize),
        sides: &'a mut [f64],
    }
    impl Call<'_> {
        /// `W` words of the machine hold an entry of all sides. (Left to itself, the compiler
        /// shuffles the sums between registers in every step: a fifth of the speed.)
        #[inline(always)]
        fn run<S: Simd, const W: usize>(self, simd: S) {
            let (zeros, from) = self.span;
            let sides = pulp::as_arrays_mut::<W, _>(S::as_mut_simd_f64s(self.sides).0).0;
            for j in from..self.inverse_diagonal.len() {
                // Four sums for each side: one would have to wait for itself.
                let mut sums = [[simd.splat_f64s(0.0); W]; 4];
                if zeros < j {
                    let row = &self.rows[self.starts[j] + zeros..self.starts[j] + j];
                    let (fours, rest) = pulp::as_arrays::<4, _>(row);
                    let (known, known_rest) = pulp::as_arrays::<4, _>(&sides[zeros..j]);
                    for (four, known) in fours.iter().zip(known) {
                        for u in 0..4 {
                            let factor = simd.splat_f64s(four[u]);
                            for k in 0..W {
                                sums[u][k] = simd.mul_add_e_f64s(factor, known[u][k], sums[u][k]);
                            }
                        }
                    }
                    for (value, known) in rest.iter().zip(known_rest) {
                        let factor = simd.splat_f64s(*value);
                        for k in 0..W {
                            sums[0][k] = simd.mul_add_e_f64s(factor, known[k], sums[0][k]);
                        }
                    }
                }
                let scale = simd.splat_f64s(self.inverse_diagonal[j]);
                for k in 0..W {
                    let sum = simd.add_f64s(
                        simd.add_f64s(sums[0][k], sums[1][k]),
                        simd.add_f64s(sums[2][k], sums[3][k]),
                    );
                    sides[j][k] = simd.mul_f64s(simd.sub_f64s(sides[j][k], sum), scale);
                }
            }
        }
    }
    impl WithSimd for Call<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            match S::F64_LANES {
                8 => self.run::<S, { SIDES / 8 }>(simd),
                4 => self.run::<S, { SIDES / 4 }>(simd),
                2 => self.run::<S, { SIDES / 2 }>(simd),
                _ => self.run::<S, SIDES>(simd),
            }
        }
    }
    let sides = sides.as_flattened_mut();
    Arch::new().dispatch(Call { rows, starts, inverse_diagonal, span, sides });
}

vectorized! {
    /// Backward substitution; see `similarity::factor`.
    pub(crate) fn substitute_back<'a>(
        rows: &'a [f64],
        starts: &'a [usize],
        inverse_diagonal: &'a [f64],
        x: &'a mut [f64]
    ) -> () {
        for j in (0..inverse_diagonal.len()).rev() {
            let value = x[j] * inverse_diagonal[j];
            x[j] = value;
            let row = &rows[starts[j]..][..j];
            let x = &mut x[..j];
            for k in 0..j {
                x[k] -= value * row[k];
            }
        }
    }
}

vectorized! {
    /// y = exp(−x/scale) for x ≥ 0, to a few units of the last place; what is below the smallest
    /// normal number becomes 0. (A call of the system's exp for each entry takes four times as
    /// long.)
    pub(crate) fn exp_of_negative<'a>(x: &'a [f64], scale: f64, y: &'a mut [f64]) -> () {
        // exp(v) = 2^k exp(r) with |r| ≤ ln 2 / 2; ln 2 in two parts, the first with few digits.
        const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
        const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
        // A sum with this number is rounded to a whole one, found in its last bits.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        const TAYLOR: [f64; 14] = [
            1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0,
            1.0 / 40320.0, 1.0 / 362_880.0, 1.0 / 3_628_800.0, 1.0 / 39_916_800.0,
            1.0 / 479_001_600.0, 1.0 / 6_227_020_800.0,
        ];
        let x = &x[..y.len()];
        for i in 0..y.len() {
            let wanted = -x[i] / scale;
            let v = if wanted < -708.0 { -708.0 } else { wanted };
            let shifted = v * std::f64::consts::LOG2_E + ROUND;
            let k = shifted - ROUND;
            let r = (v - k * LN2_HIGH) - k * LN2_LOW;
            let mut sum = TAYLOR[13];
            for c in 1..14 {
                sum = sum * r + TAYLOR[13 - c];
            }
            let exponent = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(1023);
            let result = sum * f64::from_bits(exponent << 52);
            y[i] = if wanted < -708.0 { 0.0 } else { result };
        }
    }
}

vectorized! {
    /// y += a max(x, 0).
    pub(crate) fn axpy_positive<'a>(a: f64, x: &'a [f64], y: &'a mut [f64]) -> () {
        for (y, &x) in y.iter_mut().zip(x) {
            *y += a * if x > 0.0 { x } else { 0.0 };
        }
    }
}

vectorized! {
    /// y += a Σ v·(row j of x) over the entries (j, v), rows of x as long as y.
    pub(crate) fn gather<'a>(entries: &'a [(u32, f64)], a: f64, x: &'a [f64], y: &'a mut [f64]) -> () {
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
    fn the_exponential_is_that_of_the_standard_library() {
        let x: Vec<f64> = (0..200_001).map(|i| f64::from(i) * f64::from(i) * 1.9e-8).collect();
        let mut y = vec![0.0; x.len()];
        for scale in [1.0, 0.37, 100.0] {
            exp_of_negative(&x, scale, &mut y);
            for (x, y) in x.iter().zip(&y) {
                let expected = (-x / scale).exp();
                assert!((y - expected).abs() <= 1e-15 * expected + 1e-307, "{x} {y} {expected}");
            }
            assert_eq!(y[0], 1.0);
        }
        exp_of_negative(&[f64::MAX, 1e4, 0.0], 1e-10, &mut y[..3]);
        assert_eq!(y[..3], [0.0, 0.0, 1.0]);
    }

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
            axpy_columns(&terms, &matrix, len, 0, &mut many);
            let mut tile = y.clone();
            axpy_tile(&terms, &matrix, len, 0, &mut tile);
            for i in 0..len {
                assert_eq!(z[i], y[i] + 2.5 * x[i]);
                assert_eq!(positive[i], y[i] + 2.5 * x[i].max(0.0));
                let plain: f64 = y[i] + terms.iter().map(|&(a, j)| a * columns[j][i]).sum::<f64>();
                assert!((many[i] - plain).abs() < 1e-9 * (1.0 + plain.abs()));
                assert!((tile[i] - plain).abs() < 1e-9 * (1.0 + plain.abs()));
            }
        }
    }
}
