//! Preparing features before kernels are made of them: one table ([`PREPARATIONS`]) of which the list
//! of kernels, its messages and the documentation are made. A step learns what it needs from the
//! samples of a view, and does the same to samples that come later.

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::memory;
use crate::monitor::Monitor;
use crate::vector;
use rayon::prelude::*;

const WHAT: &str = "prepared features";

/// One row of the table.
#[derive(Debug)]
pub struct Preparation {
    /// As a list of kernels calls it.
    pub name: &'static str,
    /// What it is called elsewhere.
    pub synonyms: &'static [&'static str],
    /// What it does, in one line.
    pub doc: &'static str,
    /// Whether the unit of the features is gone afterwards.
    pub(super) unitless: bool,
    action: Action,
}

/// What a step does to samples, which are the columns of a matrix.
#[derive(Debug)]
enum Action {
    /// Something that is learned from them.
    Learned(fn(&Matrix, &Monitor<'_>) -> Result<Prepared>),
    /// Other steps, by what they are.
    Chosen(fn(&Matrix, &Monitor<'_>) -> Result<&'static [&'static str]>),
}

/// A step that has been learned.
#[derive(Debug)]
pub(super) enum Prepared {
    /// Feature j becomes (x_j − shift_j)·factor_j.
    Features { shift: Vec<f64>, factor: Vec<f64> },
    /// Each sample is divided by its length; one of length 0 stays.
    UnitLength,
}

/// Every preparing step, in the order in which they are listed.
pub const PREPARATIONS: &[Preparation] = &[
    Preparation {
        name: AUTO,
        synonyms: &["automatic", "default"],
        doc: "what suits the view: tfidf; unit_rows for counts of which four fifths are 0, unit_rows for other \
              such features that are not negative, standardize for all else",
        unitless: false,
        action: Action::Chosen(suitable),
    },
    Preparation {
        name: "standardize",
        synonyms: &["scale", "zscore", "standard"],
        doc: "each feature to mean 0 and variance 1; one that never changes to 0",
        unitless: true,
        action: Action::Learned(standardize),
    },
    Preparation {
        name: "tfidf",
        synonyms: &["tf-idf", "idf"],
        doc: "each feature, a count, times ln((1+n)/(1+m)) + 1, where m of n samples have it",
        unitless: false,
        action: Action::Learned(tfidf),
    },
    Preparation {
        name: "unit_rows",
        synonyms: &["normalize", "l2", "unit"],
        doc: "each sample divided by its length",
        unitless: true,
        action: Action::Learned(|_, _| Ok(Prepared::UnitLength)),
    },
];

/// The step that chooses others.
pub(super) const AUTO: &str = "auto";

/// What suits samples, whatever unit and order their features have. Words, links, genes and the like are
/// mostly absent, and what a sample has is meant relative to all it has: its length says how long a
/// text is, not what it is about. What nearly all samples have says little; where counts are weighed
/// already that has been done. All else are measurements, of which no unit is better than another.
fn suitable(samples: &Matrix, monitor: &Monitor<'_>) -> Result<&'static [&'static str]> {
    /// Share of zeros from which features are taken to be mostly absent.
    const ABSENT: f64 = 0.8;
    let mut zeros = 0usize;
    let (mut least, mut largest) = (f64::INFINITY, 0.0f64);
    for i in 0..samples.cols() {
        monitor.go_on()?;
        for &value in samples.col(i) {
            if value < 0.0 {
                return Ok(&["standardize"]);
            }
            if value > 0.0 {
                (least, largest) = (least.min(value), largest.max(value));
            } else {
                zeros += 1;
            }
        }
    }
    if (zeros as f64) < ABSENT * samples.values().len() as f64 {
        return Ok(&["standardize"]);
    }
    Ok(if are_counts(samples, least, largest) { &["tfidf", "unit_rows"] } else { &["unit_rows"] })
}

/// Whether all values are multiples of the smallest one above 0, up to rounding.
fn are_counts(samples: &Matrix, least: f64, largest: f64) -> bool {
    const ROUNDING: f64 = 1e-9;
    const MOST: f64 = 1e6;
    let multiple = |value: &f64| {
        let ratio = value / least;
        (ratio - ratio.round()).abs() <= ROUNDING * ratio
    };
    largest > least && largest <= MOST * least && samples.values().iter().all(multiple)
}

fn standardize(samples: &Matrix, monitor: &Monitor<'_>) -> Result<Prepared> {
    /// Deviations up to this multiple of the mean are the mean's rounding.
    const ROUNDING: f64 = 1e-14;
    let (features, count) = (samples.rows(), samples.cols() as f64);
    let mut shift = memory::filled(features, 0.0, WHAT)?;
    let mut largest = memory::filled(features, 0.0f64, WHAT)?;
    let mut squares = memory::filled(features, 0.0, WHAT)?;
    for i in 0..samples.cols() {
        monitor.go_on()?;
        // Divided beforehand: features may be as large as 1e30.
        vector::axpy(1.0 / count, samples.col(i), &mut shift);
    }
    for i in 0..samples.cols() {
        monitor.go_on()?;
        for ((largest, value), mean) in largest.iter_mut().zip(samples.col(i)).zip(&shift) {
            *largest = largest.max((value - mean).abs());
        }
    }
    for (largest, mean) in largest.iter_mut().zip(&shift) {
        if *largest <= ROUNDING * mean.abs() {
            *largest = 0.0;
        }
    }
    // In units of the largest, so that features of any size have squares.
    let unit = |largest: f64| if largest > 0.0 { 1.0 / largest } else { 0.0 };
    for i in 0..samples.cols() {
        monitor.go_on()?;
        let entries = samples.col(i).iter().zip(&shift).zip(&largest);
        for (square, ((value, mean), largest)) in squares.iter_mut().zip(entries) {
            *square += ((value - mean) * unit(*largest)).powi(2);
        }
    }
    for (square, largest) in squares.iter_mut().zip(&largest) {
        *square = if *square > 0.0 { unit(*largest) / (*square / count).sqrt() } else { 0.0 };
    }
    Ok(Prepared::Features { shift, factor: squares })
}

fn tfidf(samples: &Matrix, monitor: &Monitor<'_>) -> Result<Prepared> {
    let (features, count) = (samples.rows(), samples.cols() as f64);
    let mut factor = memory::filled(features, 0.0f64, WHAT)?;
    for i in 0..samples.cols() {
        monitor.go_on()?;
        for (j, (having, &value)) in factor.iter_mut().zip(samples.col(i)).enumerate() {
            if value < 0.0 {
                return Err(Error::Negative { what: String::new(), row: i, col: j, value });
            }
            *having += f64::from(u8::from(value > 0.0));
        }
    }
    factor.iter_mut().for_each(|having| *having = ((1.0 + count) / (1.0 + *having)).ln() + 1.0);
    Ok(Prepared::Features { shift: memory::filled(features, 0.0, WHAT)?, factor })
}

impl Preparation {
    /// The steps that this one stands for: itself, or those that suit samples, which are the columns of
    /// a matrix.
    pub(super) fn steps(
        &'static self,
        samples: &Matrix,
        monitor: &Monitor<'_>,
    ) -> Result<impl Iterator<Item = &'static Self> + use<>> {
        let names = match self.action {
            Action::Learned(_) => std::slice::from_ref(&self.name),
            Action::Chosen(choose) => choose(samples, monitor)?,
        };
        Ok(names.iter().filter_map(|name| PREPARATIONS.iter().find(|step| step.name == *name)))
    }

    /// Learns the step from samples, which are the columns of a matrix. One that stands for others
    /// learns nothing.
    pub(super) fn learn(
        &self,
        samples: &Matrix,
        monitor: &Monitor<'_>,
    ) -> Result<Option<Prepared>> {
        match self.action {
            Action::Learned(learn) => learn(samples, monitor).map(Some),
            Action::Chosen(_) => Ok(None),
        }
    }
}

impl Prepared {
    /// Does the step to samples, which are the columns of a matrix.
    pub(super) fn apply(&self, samples: &mut Matrix) {
        let features = samples.rows();
        samples.values_mut().par_chunks_mut(features).for_each(|sample| match self {
            Self::Features { shift, factor } => {
                for ((value, shift), factor) in sample.iter_mut().zip(shift).zip(factor) {
                    *value = (*value - shift) * factor;
                }
            }
            Self::UnitLength => {
                // In units of the largest, whose square is within the range of numbers.
                let largest = vector::max_abs(sample);
                if largest > 0.0 {
                    sample.iter_mut().for_each(|value| *value /= largest);
                    let length = vector::dot(sample, sample).sqrt();
                    sample.iter_mut().for_each(|value| *value /= length);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor;

    fn by_name(name: &str) -> &'static Preparation {
        PREPARATIONS.iter().find(|step| step.name == name).unwrap()
    }

    /// Two features of four samples each, prepared.
    fn prepared(name: &str, features: [[f64; 4]; 2]) -> Result<[[f64; 4]; 2]> {
        let mut samples = Matrix::zeros(2, 4, "test").unwrap();
        (0..4).for_each(|i| samples.col_mut(i).copy_from_slice(&features.map(|f| f[i])));
        let step = monitor::idle(|monitor| by_name(name).learn(&samples, monitor))?.unwrap();
        monitor::idle(|_| step.apply(&mut samples));
        Ok([0, 1].map(|j| [0, 1, 2, 3].map(|i| samples.get(j, i))))
    }

    fn close(found: [f64; 4], expected: [f64; 4]) {
        let near = |(a, b): (f64, f64)| (a - b).abs() < 1e-12;
        assert!(found.into_iter().zip(expected).all(near), "{found:?} {expected:?}");
    }

    #[test]
    fn every_step_is_documented() {
        for step in PREPARATIONS {
            assert!(!step.doc.is_empty() && !step.doc.contains('\n'), "{}", step.name);
        }
    }

    #[test]
    fn what_suits_a_view_depends_neither_on_its_unit_nor_on_the_order_of_its_features() {
        // Ten samples: words (one in ten there), weighed words, pixels, signed numbers.
        let word = |i: usize, j: usize| if i == j { (1 + i % 3) as f64 } else { 0.0 };
        let kinds: [&dyn Fn(usize, usize) -> f64; 4] = [
            &word,
            &|i, j| word(i, j) / (1.0 + i as f64).sqrt(),
            &|i, j| ((7 * i + j) % 5) as f64,
            &|i, j| if (i, j) == (3, 4) { -1.0 } else { word(i, j) },
        ];
        let suitable = ["tfidf; unit_rows", "unit_rows", "standardize", "standardize"];
        for (entry, expected) in kinds.into_iter().zip(suitable) {
            for unit in [1.0, 1e-6, 1e6, 0.3] {
                for shift in [0, 3] {
                    let mut samples = Matrix::zeros(10, 10, "test").unwrap();
                    for (i, j) in (0..100).map(|k| (k / 10, k % 10)) {
                        samples.col_mut(i)[j] = unit * entry(i, (j + shift) % 10);
                    }
                    let steps = monitor::idle(|monitor| by_name(AUTO).steps(&samples, monitor));
                    let names: Vec<_> = steps.unwrap().map(|step| step.name).collect();
                    assert_eq!(names.join("; "), expected, "{unit} {shift}");
                }
            }
        }
    }

    #[test]
    fn standardized_features_have_mean_0_and_variance_1_whatever_their_size() {
        let root = 5f64.sqrt();
        let expected = [-3.0 / root, -1.0 / root, 1.0 / root, 3.0 / root];
        for unit in [1.0, 1e-25, 1e25] {
            for shift in [0.0, 7.0, -1e3] {
                let feature = [0.0, 1.0, 2.0, 3.0].map(|v| (v + shift) * unit);
                let [first, second] = prepared("standardize", [feature, [0.1; 4]]).unwrap();
                close(first, expected);
                assert_eq!(second, [0.0; 4], "one that never changes");
            }
        }
    }

    #[test]
    fn tfidf_weighs_what_few_samples_have_more_and_refuses_what_is_no_count() {
        let [first, second] = prepared("tfidf", [[3.0, 0.0, 0.0, 0.0], [1.0; 4]]).unwrap();
        close(first, [3.0 * (2.5f64.ln() + 1.0), 0.0, 0.0, 0.0]);
        close(second, [1.0; 4]);
        let error = prepared("tfidf", [[1.0; 4], [0.0, 2.0, -1.0, 0.0]]).unwrap_err();
        assert!(matches!(error, Error::Negative { row: 2, col: 1, .. }), "{error:?}");
    }

    #[test]
    fn samples_of_unit_length_keep_their_direction() {
        let [first, second] =
            prepared("unit_rows", [[3.0, 0.0, -3e200, 1e-200], [4.0, 0.0, 4e200, 0.0]]).unwrap();
        close(first, [0.6, 0.0, -0.6, 1.0]);
        close(second, [0.8, 0.0, 0.8, 0.0]);
    }
}
