//! Random problems that are the same in every run.

/// Random numbers from 0 to 1.
pub struct Random(u64);

impl Random {
    /// Those of a problem by its number.
    pub fn new(number: usize) -> Self {
        let mut random = Self((number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..8).for_each(|_| {
            random.next();
        });
        random
    }

    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() * bound as f64) as usize
    }
}
