//! The kernel list: "paper", or kernels by name and parameters separated by semicolons.

use crate::error::{Error, Hint, Result, Synonyms, excerpt, quoted, unknown};
use crate::memory;
use std::fmt;

/// One kernel function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KernelSpec {
    /// exp(−|x−y|² / (t·d_max²)), d_max the largest distance between two samples.
    Gaussian {
        /// Width in units of d_max².
        t: f64,
    },
    /// xᵀy.
    Linear,
    /// (a + xᵀy)^b.
    Polynomial {
        /// Offset, not negative.
        a: f64,
        /// Degree, at least 1.
        b: u32,
    },
}

/// The paper's pool of twelve.
const PAPER: [KernelSpec; 12] = [
    KernelSpec::Gaussian { t: 0.01 },
    KernelSpec::Gaussian { t: 0.05 },
    KernelSpec::Gaussian { t: 0.1 },
    KernelSpec::Gaussian { t: 1.0 },
    KernelSpec::Gaussian { t: 10.0 },
    KernelSpec::Gaussian { t: 50.0 },
    KernelSpec::Gaussian { t: 100.0 },
    KernelSpec::Linear,
    KernelSpec::Polynomial { a: 0.0, b: 2 },
    KernelSpec::Polynomial { a: 0.0, b: 4 },
    KernelSpec::Polynomial { a: 1.0, b: 2 },
    KernelSpec::Polynomial { a: 1.0, b: 4 },
];

const NAMES: [&str; 4] = ["paper", "gaussian", "linear", "polynomial"];

/// What kernels are called elsewhere.
const SYNONYMS: Synonyms = &[
    (&["rbf", "rbfdot", "gauss", "radial"], Hint::Called("gaussian")),
    (&["vanilladot", "vanilla", "dot"], Hint::Called("linear")),
    (&["polydot", "poly"], Hint::Called("polynomial")),
    (
        &["precomputed"],
        Hint::Elsewhere("a kernel matrix is not given as features but added as a kernel"),
    ),
];

const T: Parameter =
    Parameter { name: "t", default: 1.0, allowed: "a finite number above 0", holds: |t| t > 0.0 };
const A: Parameter = Parameter {
    name: "a",
    default: 1.0,
    allowed: "a finite number that is not negative",
    holds: |a| a >= 0.0,
};
const B: Parameter = Parameter {
    name: "b",
    default: 2.0,
    allowed: "a whole number from 1 to 16",
    holds: |b| b.fract() == 0.0 && (1.0..=16.0).contains(&b),
};

/// A parameter of a kernel.
struct Parameter {
    name: &'static str,
    default: f64,
    allowed: &'static str,
    /// Whether a finite number is allowed.
    holds: fn(f64) -> bool,
}

/// Reads a kernel list such as "paper" or "gaussian(t=0.1); linear; polynomial(a=1,b=2)".
///
/// Names are read in any case, parameters in any order; t = 1, a = 1 and b = 2 may be left out.
/// "paper" stands for twelve kernels and may be one element among others.
pub fn parse(list: &str) -> Result<Vec<KernelSpec>> {
    if list.trim().is_empty() {
        let allowed = "a list such as 'paper' or 'gaussian(t=0.1); linear' is expected";
        return Err(refused(list, allowed.to_owned()));
    }
    let mut specs = Vec::new();
    for element in list.split(';') {
        let element = element.trim();
        if element.is_empty() {
            let allowed = "there is a kernel missing before, between or after the semicolons";
            return Err(refused(list, allowed.to_owned()));
        }
        let (name, assignments) = split(element)?;
        let known = NAMES.into_iter().find(|known| known.eq_ignore_ascii_case(name));
        match known.unwrap_or_default() {
            "paper" => {
                let [] = parameters(element, assignments, [])?;
                memory::extend(&mut specs, &PAPER, "the kernel list")?;
            }
            "gaussian" => {
                let [t] = parameters(element, assignments, [T])?;
                memory::push(&mut specs, KernelSpec::Gaussian { t }, "the kernel list")?;
            }
            "linear" => {
                let [] = parameters(element, assignments, [])?;
                memory::push(&mut specs, KernelSpec::Linear, "the kernel list")?;
            }
            "polynomial" => {
                let [a, b] = parameters(element, assignments, [A, B])?;
                let spec = KernelSpec::Polynomial { a, b: b as u32 };
                memory::push(&mut specs, spec, "the kernel list")?;
            }
            _ => return Err(unknown("kernel", name, NAMES.into_iter(), SYNONYMS)),
        }
    }
    Ok(specs)
}

/// "name(assignments)" in two; the parentheses may be left out.
fn split(element: &str) -> Result<(&str, &str)> {
    let Some((name, rest)) = element.split_once('(') else {
        return match element.contains(')') {
            true => Err(refused(element, "there is a '(' missing".to_owned())),
            false => Ok((element, "")),
        };
    };
    match rest.strip_suffix(')') {
        Some(assignments) if !assignments.contains(['(', ')']) => Ok((name.trim(), assignments)),
        Some(_) => Err(refused(element, "one pair of parentheses is expected".to_owned())),
        None => Err(refused(element, "a ')' is expected at the end".to_owned())),
    }
}

/// The values that "name=number, ..." gives to `known`, defaults for the others.
fn parameters<const N: usize>(
    element: &str,
    assignments: &str,
    known: [Parameter; N],
) -> Result<[f64; N]> {
    let mut given = [None; N];
    for assignment in assignments.split(',').filter(|_| !assignments.trim().is_empty()) {
        let Some((name, text)) = assignment.split_once('=') else {
            let allowed = "parameters are written as name=number, separated by commas";
            return Err(refused(element, allowed.to_owned()));
        };
        let (name, text) = (name.trim(), text.trim());
        let Some(index) = known.iter().position(|p| p.name.eq_ignore_ascii_case(name)) else {
            let names: Vec<_> = known.iter().map(|p| p.name).collect();
            let takes = if N == 0 { "none".to_owned() } else { names.join(" and ") };
            let allowed = format!("it has no parameter '{}', it takes {takes}", excerpt(name));
            return Err(refused(element, allowed));
        };
        let Parameter { name, allowed, holds, .. } = known[index];
        if given[index].is_some() {
            return Err(refused(element, format!("parameter '{name}' is given twice")));
        }
        match text.parse::<f64>() {
            // Adding 0 makes 0 of -0.
            Ok(value) if value.is_finite() && holds(value) => given[index] = Some(value + 0.0),
            _ => {
                return Err(Error::InvalidArgument {
                    name: format!("{name} of kernel '{}'", excerpt(element)),
                    value: quoted(text),
                    allowed: allowed.to_owned(),
                });
            }
        }
    }
    Ok(std::array::from_fn(|k| given[k].unwrap_or(known[k].default)))
}

fn refused(part: &str, allowed: String) -> Error {
    Error::InvalidArgument { name: "kernels".to_owned(), value: quoted(part), allowed }
}

impl fmt::Display for KernelSpec {
    /// The kernel as [`parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Gaussian { t } => write!(f, "gaussian(t={})", Number(t)),
            Self::Linear => f.write_str("linear"),
            Self::Polynomial { a, b } => write!(f, "polynomial(a={},b={b})", Number(a)),
        }
    }
}

/// A number in as many digits as it takes to read it back, and not in hundreds of zeros.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0.0 | 1e-4..1e9 => write!(f, "{}", self.0),
            _ => write!(f, "{:e}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use KernelSpec::{Gaussian, Linear, Polynomial};

    fn message(list: &str) -> String {
        let message = parse(list).unwrap_err().to_string();
        assert!(!message.contains('\n') && message.len() < 300, "{message}");
        message
    }

    #[test]
    fn paper_is_the_pool_of_twelve_in_its_order() {
        let spelt_out = "gaussian(t=0.01); gaussian(t=0.05); gaussian(t=0.1); gaussian(t=1); \
                         gaussian(t=10); gaussian(t=50); gaussian(t=100); linear; \
                         polynomial(a=0,b=2); polynomial(a=0,b=4); polynomial(a=1,b=2); \
                         polynomial(a=1,b=4)";
        let pool = parse("paper").unwrap();
        assert_eq!(pool.len(), 12);
        assert_eq!(pool, parse(spelt_out).unwrap());
        let longer = parse("linear; Paper ;gaussian").unwrap();
        assert_eq!(longer[0], Linear);
        assert_eq!(longer[1..13], pool);
        assert_eq!(longer[13..], [Gaussian { t: 1.0 }]);
    }

    #[test]
    fn spaces_case_and_the_order_of_parameters_do_not_matter() {
        assert_eq!(
            parse("\tGaussian ( T = 1e-1 )\n;LINEAR()  ;polynomial(b=3,a=.5)").unwrap(),
            [Gaussian { t: 0.1 }, Linear, Polynomial { a: 0.5, b: 3 }]
        );
    }

    #[test]
    fn parameters_left_out_have_their_defaults() {
        assert_eq!(
            parse("gaussian;gaussian( );polynomial;polynomial(a=0);polynomial(b=4.0)").unwrap(),
            [
                Gaussian { t: 1.0 },
                Gaussian { t: 1.0 },
                Polynomial { a: 1.0, b: 2 },
                Polynomial { a: 0.0, b: 2 },
                Polynomial { a: 1.0, b: 4 },
            ]
        );
    }

    #[test]
    fn a_printed_kernel_is_read_back_the_same() {
        let mut specs = PAPER.to_vec();
        for t in [f64::MIN_POSITIVE, 5e-324, 1e-5, 1.0 / 3.0, 123456.789, 1e22, f64::MAX] {
            specs.push(Gaussian { t });
            specs.push(Polynomial { a: t, b: 16 });
        }
        for spec in specs {
            let text = spec.to_string();
            assert!(text.len() < 50, "{text}");
            assert_eq!(parse(&text).unwrap(), [spec], "{text}");
        }
        assert_eq!(Gaussian { t: 0.1 }.to_string(), "gaussian(t=0.1)");
        assert_eq!(Polynomial { a: 0.0, b: 4 }.to_string(), "polynomial(a=0,b=4)");
        assert_eq!(parse("polynomial(a=-0)").unwrap()[0].to_string(), "polynomial(a=0,b=2)");
    }

    #[test]
    fn an_unknown_kernel_is_answered_with_the_nearest() {
        assert_eq!(
            message("linear; gausian(t=1)"),
            "unknown kernel 'gausian': the nearest known one is 'gaussian'"
        );
        assert_eq!(message("rbf(t=1)"), "unknown kernel 'rbf': here it is called 'gaussian'");
        assert!(message("spline").ends_with("there are paper, gaussian, linear, polynomial"));
        assert_eq!(message("LINAER"), "unknown kernel 'LINAER': the nearest known one is 'linear'");
        message("(t=1)");
    }

    #[test]
    fn a_message_says_what_is_wrong_with_the_list() {
        for (list, expected) in [
            ("", "kernels = '' is not allowed: a list such as"),
            (" \n ", "a list such as 'paper'"),
            ("linear;", "a kernel missing"),
            ("linear;;linear", "a kernel missing"),
            ("gaussian(s=1)", "it has no parameter 's', it takes t"),
            ("polynomial(t=1)", "it has no parameter 't', it takes a and b"),
            ("linear(t=1)", "it has no parameter 't', it takes none"),
            ("paper(t=1)", "it has no parameter 't', it takes none"),
            ("gaussian(t=1,T=2)", "parameter 't' is given twice"),
            ("gaussian(t)", "written as name=number"),
            ("gaussian(0.1)", "written as name=number"),
            ("gaussian(t=1,)", "written as name=number"),
            ("gaussian(t=1; linear", "a ')' is expected at the end"),
            ("gaussian(t=1) linear", "a ')' is expected at the end"),
            ("gaussian t=1)", "there is a '(' missing"),
            ("gaussian((t=1))", "one pair of parentheses"),
            ("gaussian(t=1)(t=1)", "one pair of parentheses"),
        ] {
            let message = message(list);
            assert!(message.contains(expected), "{list}: {message}");
        }
    }

    #[test]
    fn a_number_out_of_range_is_refused_with_what_is_allowed() {
        for t in ["0", "-1", "inf", "nan", "1e-400", "1e400", "", "one", "1 0", "0x1", "1=1"] {
            let message = message(&format!("gaussian(t={t})"));
            assert!(message.starts_with("t of kernel 'gaussian(t="), "{message}");
            assert!(message.ends_with("a finite number above 0"), "{message}");
        }
        for a in ["-1e-9", "-inf", "a"] {
            assert!(message(&format!("polynomial(a={a})")).ends_with("that is not negative"));
        }
        for b in ["0", "17", "2.5", "-2", "1e99", "nan"] {
            assert!(message(&format!("polynomial(b={b})")).ends_with("from 1 to 16"));
        }
    }

    #[test]
    fn any_text_is_answered() {
        // All texts of up to five of these pieces, among them every way to break a bracket.
        let pieces = ["(", ")", ";", ",", "=", "t", "gaussian", "\u{0}", "\u{301}é", "-1e9", " "];
        let mut texts = vec![String::new()];
        for _ in 0..5 {
            texts = texts.iter().flat_map(|t| pieces.map(|p| format!("{t}{p}"))).collect();
            for text in &texts {
                match parse(text) {
                    Ok(specs) => assert!(!specs.is_empty()),
                    Err(error) => assert!(!error.to_string().contains(char::is_control)),
                }
            }
        }
        message(&"é".repeat(100_000));
        message(&"gaussian(".repeat(100_000));
        message(&format!("gaussian(t={})", "9".repeat(100_000)));
    }
}
