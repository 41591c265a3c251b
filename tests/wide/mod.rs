//! Arithmetic in twice the digits, for tests/truth.rs and the fuzz targets: slow, short, and nothing
//! that the library uses.

use std::ops::{Add, Mul, Sub};

/// A sum of two doubles: about 106 bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wide(pub f64, pub f64);

pub fn wide(value: f64) -> Wide {
    Wide(value, 0.0)
}

/// a + b without an error.
pub fn two_sum(a: f64, b: f64) -> Wide {
    let sum = a + b;
    let of_b = sum - a;
    Wide(sum, (a - (sum - of_b)) + (b - of_b))
}

/// a * b without an error. By halves of 26 bits: without the instruction, which not every build
/// may use, a fused product is a slow function.
pub fn two_product(a: f64, b: f64) -> Wide {
    let halves = |v: f64| {
        let far = v * 134_217_729.0;
        let high = far - (far - v);
        (high, v - high)
    };
    let (product, (a, a_low), (b, b_low)) = (a * b, halves(a), halves(b));
    Wide(product, a_low * b_low - (((product - a * b) - a_low * b) - a * b_low))
}

impl Add for Wide {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = (two_sum(self.0, other.0), two_sum(self.1, other.1));
        let once = two_sum(high.0, high.1 + low.0);
        two_sum(once.0, once.1 + low.1)
    }
}

impl Sub for Wide {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + Wide(-other.0, -other.1)
    }
}

impl Mul for Wide {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let Wide(high, low) = two_product(self.0, other.0);
        two_sum(high, low + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Mul<f64> for Wide {
    type Output = Self;
    fn mul(self, other: f64) -> Self {
        self * wide(other)
    }
}

impl Wide {
    pub fn over(self, divisor: Self) -> Self {
        let first = self.0 / divisor.0;
        let second = (self - divisor * first).0 / divisor.0;
        let third = (self - divisor * first - divisor * second).0 / divisor.0;
        wide(first) + wide(second) + wide(third)
    }
}

pub fn sum(values: impl Iterator<Item = Wide>) -> Wide {
    values.fold(Wide::default(), |sum, value| sum + value)
}
