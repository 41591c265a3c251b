//! The fuzzer's bytes as values. Bytes that have run out read as zeros, so that every input means
//! something.

use arbitrary::Unstructured;

/// Numbers at which arithmetic goes wrong first.
const EDGES: [f64; 32] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.5,
    -0.5,
    1e-3,
    1e-5,
    1e-8,
    1e-9,
    1e-12,
    1e-13,
    1e-16,
    1e8,
    1e12,
    1e-300,
    1e300,
    1e-150,
    1e150,
    f64::MIN_POSITIVE,
    5e-324,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    // R's NA.
    f64::from_bits(0x7ff0_0000_0000_07a2),
    9_007_199_254_740_993.0,
    9.3e18,
    f64::EPSILON,
    1.0 + f64::EPSILON,
];

pub struct Input<'a>(Unstructured<'a>);

impl<'a> Input<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self(Unstructured::new(data))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub fn word(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// From 0 to `bound` - 1, `bound` at most 256.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    /// True once in `in_so_many` bytes, and never when the bytes have run out.
    pub fn rarely(&mut self, in_so_many: usize) -> bool {
        self.below(in_so_many) == in_so_many - 1
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Any number: a small one, an edge, or any bits.
    pub fn real(&mut self) -> f64 {
        match self.byte() {
            byte @ 0..128 => (f64::from(byte) - 64.0) / 8.0,
            byte @ 128..224 => EDGES[usize::from(byte) % EDGES.len()],
            _ => f64::from_bits(self.word()),
        }
    }

    pub fn whole(&mut self) -> i64 {
        match self.byte() {
            byte @ 0..192 => i64::from(byte) - 8,
            byte @ 192..224 => [i64::MAX, i64::MIN, 1 << 20, 1 << 40][usize::from(byte) % 4],
            _ => self.word() as i64,
        }
    }

    /// A size to which nothing has that many elements: too large, or wrong in some other way.
    pub fn wild_size(&mut self) -> usize {
        match self.below(8) {
            0 => usize::MAX,
            1 => usize::MAX / 8,
            2 => usize::MAX / 8 + 1,
            3 => isize::MAX as usize,
            4 => 1 << 61,
            5 => (1 << 32) + 1,
            6 => 0,
            _ => self.word() as usize,
        }
    }

    /// At most 40 bytes without a NUL, and then one.
    pub fn text(&mut self) -> Vec<u8> {
        let length = self.below(41);
        let mut text: Vec<u8> = (0..length).map(|_| self.byte()).take_while(|&b| b != 0).collect();
        text.push(0);
        text
    }
}

/// A short sequence of bytes becomes a long one of numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.word() % bound as u64) as usize
    }

    /// From -1 to 1.
    pub fn unit(&mut self) -> f64 {
        self.word() as f64 / 2f64.powi(63) - 1.0
    }
}

/// A matrix, column after column.
pub struct Square {
    pub values: Vec<f64>,
    /// Finite, symmetric and semi-definite by construction: only a constant one may be refused.
    pub sound: bool,
}

/// Any matrix of that order, of a few bytes.
pub fn square(input: &mut Input<'_>, order: usize) -> Square {
    let kind = input.below(8);
    let mut random = Random::new(u64::from(input.byte()));
    let mut sound = true;
    let mut values = match kind {
        // Samples of few features: of low rank, often with duplicates.
        0 | 1 => {
            let rank = 1 + input.below(if kind == 0 { 3 } else { 48 });
            let steps = [1, 2, 4, 64][input.below(4)];
            let rows: Vec<Vec<f64>> = (0..order)
                .map(|_| (0..rank).map(|_| random.below(2 * steps + 1) as f64).collect())
                .collect();
            let shift = if input.rarely(4) { 0.0 } else { steps as f64 };
            let inner = |i: usize, j: usize| {
                rows[i].iter().zip(&rows[j]).map(|(a, b)| (a - shift) * (b - shift)).sum()
            };
            from_entries(order, inner)
        }
        // Blocks: the graph falls apart.
        2 => {
            let blocks = 1 + input.below(order.max(1));
            let groups: Vec<usize> = (0..order).map(|_| random.below(blocks)).collect();
            let ridge = input.one_of(&[0.0, 1e-9, 1e-3, 1.0]);
            from_entries(order, |i, j| {
                f64::from(u8::from(groups[i] == groups[j])) + if i == j { ridge } else { 0.0 }
            })
        }
        3 => from_entries(order, |i, j| f64::from(u8::from(i == j))),
        // Points on a line, near and far.
        4 => {
            let points: Vec<f64> = (0..order).map(|_| random.unit()).collect();
            let width = input.one_of(&[1e-6, 1e-2, 1.0, 1e3, 1e8]);
            from_entries(order, |i, j| {
                let distance: f64 = points[i] - points[j];
                (-distance * distance / width).exp()
            })
        }
        // A few numbers, whatever they are, at random places.
        5 => {
            sound = false;
            let palette: Vec<f64> = (0..1 + input.below(4)).map(|_| input.real()).collect();
            let full = from_entries(order, |_, _| 0.0);
            full.iter().map(|_| palette[random.below(palette.len())]).collect()
        }
        6 => {
            sound = false;
            let palette: Vec<f64> = (0..1 + input.below(4)).map(|_| input.real()).collect();
            let vector: Vec<f64> =
                (0..order).map(|_| palette[random.below(palette.len())]).collect();
            from_entries(order, |i, j| vector[i] * vector[j])
        }
        _ => {
            sound = false;
            let entries: Vec<f64> = (0..order * order).map(|_| random.unit()).collect();
            from_entries(order, |i, j| entries[i.min(j) + i.max(j) * order])
        }
    };
    if input.rarely(4) {
        let scale = input.one_of(&[1e-300, 1e300, 1e-150, 1e150, 1e-8, 1e8, 0.1, 3.0]);
        values.iter_mut().for_each(|v| *v *= scale);
    }
    if input.rarely(6) {
        // The same sample twice.
        let (from, to) = (random.below(order), random.below(order));
        for k in 0..order {
            values[k + to * order] = values[k + from * order];
        }
        for k in 0..order {
            values[to + k * order] = values[from + k * order];
        }
    }
    if input.rarely(6) {
        let offset = input.one_of(&[1.0, 1e4, 1e8, 1e14, 1e16]);
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        values.iter_mut().for_each(|v| *v += offset * largest);
        sound = false;
    }
    if input.rarely(6) {
        sound = false;
        let shift = input.one_of(&[1e-16, 1e-12, 1e-7, 1e-6, 1e-3, 1.0]);
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        (0..order).for_each(|i| values[i * (order + 1)] -= shift * largest);
    }
    if input.rarely(6) {
        // Asymmetry of rounding, or more of it.
        sound = false;
        let size = input.one_of(&[1e-16, 1e-12, 1e-9, 9e-9, 1.1e-8, 1e-3]);
        values.iter_mut().for_each(|v| *v *= 1.0 + size * random.unit());
    }
    for _ in 0..[0, 0, 0, 1, 2][input.below(5)] {
        sound = false;
        let (i, j, value) = (random.below(order), random.below(order), input.real());
        values[i + j * order] = value;
        if input.rarely(2) {
            values[j + i * order] = value;
        }
    }
    Square { values, sound }
}

fn from_entries(order: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..order).flat_map(|j| (0..order).map(move |i| (i, j))).map(|(i, j)| entry(i, j)).collect()
}
