//! The kernel functions: one table ([`FUNCTIONS`]) of which the list of kernels, its messages, their
//! computation and their documentation are made. A function is a row here, and nothing elsewhere.

use crate::vector;

/// Parameters that a kernel function has at most.
pub(crate) const MOST_PARAMETERS: usize = 2;

/// The values of a function's parameters, in the order in which it lists them.
pub(crate) type Values = [f64; MOST_PARAMETERS];

/// A parameter of a kernel function.
#[derive(Debug)]
pub struct Parameter {
    /// As a list of kernels calls it.
    pub name: &'static str,
    /// What it is where it is left out.
    pub default: f64,
    /// Whether its default means that there is none, and is not written.
    pub(crate) optional: bool,
    /// What is allowed, in words.
    pub allowed: &'static str,
    /// Whether a finite number is allowed.
    pub(crate) holds: fn(f64) -> bool,
}

impl Parameter {
    /// What it is where it is left out, unless there is none then.
    pub fn default_given(&self) -> Option<f64> {
        Some(self.default).filter(|_| !self.optional)
    }
}

/// What a kernel function is a function of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Of {
    /// xᵀy.
    Products,
    /// xᵀy/(|x||y|), 0 for a sample of length 0.
    Cosines,
    /// |x − y|².
    SquaredDistances,
}

/// One row of the table.
#[derive(Debug)]
pub struct Function {
    /// As a list of kernels calls it.
    pub name: &'static str,
    /// What it is called elsewhere.
    pub synonyms: &'static [&'static str],
    /// Its formula, in one line.
    pub doc: &'static str,
    /// What it depends on beside the samples.
    pub parameters: &'static [Parameter],
    pub(crate) of: Of,
    /// Writes the kernel's entries for products or squared distances. The squared distance that
    /// widths are relative to is given too: the largest of two samples, or of neighbours.
    pub(crate) entries: fn(&Values, f64, &[f64], &mut [f64]),
    /// The neighbour whose mean distance is that distance; 0 for the largest of all.
    pub(crate) neighbour: fn(&Values) -> usize,
    /// The kernel of features divided by s is that of the features divided by s to this power, but
    /// for what it adds to a product.
    pub(crate) degree: fn(&Values) -> i32,
    /// Whether a kernel of products plus a_i + a_j is the kernel plus a_i + a_j.
    pub(crate) additive: bool,
}

impl Function {
    /// Its parameters with their defaults, as a list of kernels writes them: "a=1,b=2".
    pub fn defaults(&self) -> String {
        let mut text = String::new();
        for Parameter { name, default, .. } in self.parameters.iter().filter(|p| !p.optional) {
            let comma = if text.is_empty() { "" } else { "," };
            text.push_str(&format!("{comma}{name}={default}"));
        }
        text
    }
}

/// Every kernel function, in the order in which they are listed.
pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "gaussian",
        synonyms: &["rbf", "rbfdot", "gauss", "radial"],
        doc: "exp(-|x-y|^2 / (t d^2)), d the largest distance between two samples or, with neighbors=k, \
              the mean distance to the k-th neighbour",
        parameters: &[
            Parameter {
                name: "t",
                default: 1.0,
                optional: false,
                allowed: "a finite number above 0",
                holds: |t| t > 0.0,
            },
            Parameter {
                name: "neighbors",
                default: 0.0,
                optional: true,
                allowed: "a whole number from 1 to 1000000",
                holds: |k| k.fract() == 0.0 && (1.0..=1e6).contains(&k),
            },
        ],
        of: Of::SquaredDistances,
        entries: |&[t, _], unit, distances, out| {
            // Samples that are all the same have a kernel of ones, which is refused as constant.
            let unit = if unit > 0.0 { unit } else { 1.0 };
            vector::exp_of_negative(distances, (unit * t).max(f64::MIN_POSITIVE), out);
        },
        neighbour: |&[_, neighbors]| neighbors as usize,
        degree: |_| 0,
        additive: false,
    },
    Function {
        name: "linear",
        synonyms: &["vanilladot", "vanilla", "dot"],
        doc: "x'y",
        parameters: &[],
        of: Of::Products,
        entries: |_, _, products, out| out.copy_from_slice(products),
        neighbour: |_| 0,
        degree: |_| 2,
        additive: true,
    },
    Function {
        name: "cosine",
        synonyms: &["angle", "cosine_similarity"],
        doc: "x'y / (|x| |y|), 0 for samples without any feature",
        parameters: &[],
        of: Of::Cosines,
        entries: |_, _, cosines, out| out.copy_from_slice(cosines),
        neighbour: |_| 0,
        degree: |_| 0,
        additive: false,
    },
    Function {
        name: "polynomial",
        synonyms: &["polydot", "poly"],
        doc: "(a + x'y)^b",
        parameters: &[
            Parameter {
                name: "a",
                default: 1.0,
                optional: false,
                allowed: "a finite number that is not negative",
                holds: |a| a >= 0.0,
            },
            Parameter {
                name: "b",
                default: 2.0,
                optional: false,
                allowed: "a whole number from 1 to 16",
                holds: |b| b.fract() == 0.0 && (1.0..=16.0).contains(&b),
            },
        ],
        of: Of::Products,
        entries: |&[a, b], _, products, out| {
            let entries = out.iter_mut().zip(products);
            match b as i32 {
                // Without a call for every entry where that is easy.
                2 => entries.for_each(|(out, g)| *out = (a + g) * (a + g)),
                4 => entries.for_each(|(out, g)| {
                    let square = (a + g) * (a + g);
                    *out = square * square;
                }),
                b => entries.for_each(|(out, g)| *out = (a + g).powi(b)),
            }
        },
        neighbour: |_| 0,
        degree: |&[_, b]| 2 * b as i32,
        additive: false,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_documented_and_its_defaults_are_allowed() {
        for function in FUNCTIONS {
            assert!(!function.doc.is_empty() && !function.doc.contains('\n'));
            assert!(function.parameters.len() <= MOST_PARAMETERS);
            for parameter in function.parameters {
                let allowed = (parameter.holds)(parameter.default);
                assert!(allowed != parameter.optional, "{}", parameter.name);
                assert!(!parameter.allowed.is_empty());
            }
        }
    }

    #[test]
    fn names_and_synonyms_are_those_of_one_function() {
        let names = FUNCTIONS.iter().flat_map(|f| f.synonyms.iter().chain([&f.name]));
        let all: Vec<_> = names.collect();
        for (place, name) in all.iter().enumerate() {
            assert!(!all[..place].contains(name), "{name}");
        }
    }

    #[test]
    fn entries_are_those_of_the_formulas() {
        let by_name = |name| FUNCTIONS.iter().find(|f| f.name == name).unwrap();
        let values = |name, parameters: Values, input: f64| {
            let mut out = [0.0];
            (by_name(name).entries)(&parameters, 4.0, &[input], &mut out);
            out[0]
        };
        assert!((values("gaussian", [0.5, 0.0], 3.0) - (-1.5f64).exp()).abs() < 1e-15);
        assert_eq!(values("linear", [0.0, 0.0], 3.0), 3.0);
        for b in 1..=16 {
            let expected = (0..b).map(|_| 4.5).product::<f64>();
            let found = values("polynomial", [1.5, f64::from(b)], 3.0);
            assert!((found / expected - 1.0).abs() < 1e-14, "{b}");
        }
    }
}
