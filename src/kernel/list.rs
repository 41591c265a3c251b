//! The kernel list: "paper", or kernels by name and parameters separated by semicolons.

use super::functions::{FUNCTIONS, Function, MOST_PARAMETERS, Parameter, Values};
use super::prepare::{AUTO, PREPARATIONS, Preparation};
use crate::error::{Error, Hint, Result, Synonyms, excerpt, quoted, unknown};
use crate::memory;
use std::fmt;

/// Preparing steps that a list has at most.
const MOST_STEPS: usize = 4;

/// One kernel: what is done to the features, a function, and the values of its parameters.
#[derive(Clone, Copy, Debug)]
pub struct KernelSpec {
    /// One after the other; none behind the last.
    steps: [Option<&'static Preparation>; MOST_STEPS],
    pub(crate) function: &'static Function,
    pub(crate) values: Values,
}

impl KernelSpec {
    /// What is done to the features first.
    pub(super) fn steps(&self) -> impl Iterator<Item = &'static Preparation> + use<> {
        self.steps.into_iter().flatten()
    }

    /// The same kernel of features that have been prepared.
    pub(super) fn unprepared(&self) -> Self {
        Self { steps: [None; MOST_STEPS], ..*self }
    }

    /// The same kernel of features that are prepared as those of another.
    pub(super) fn prepared_as(&self, other: &Self) -> Self {
        Self { steps: other.steps, ..*self }
    }

    /// The same kernel with each step replaced by those that `stands_for` gives for it.
    pub(super) fn with_steps<I: Iterator<Item = &'static Preparation>>(
        &self,
        stands_for: impl Fn(&'static Preparation) -> Result<I>,
    ) -> Result<Self> {
        let mut steps = [None; MOST_STEPS];
        let mut places = steps.iter_mut();
        for step in self.steps() {
            // A list has room for what one step stands for: `parse` has counted it.
            stands_for(step)?.zip(&mut places).for_each(|(step, place)| *place = Some(step));
        }
        Ok(Self { steps, ..*self })
    }
}

impl PartialEq for KernelSpec {
    fn eq(&self, other: &Self) -> bool {
        let names = |spec: &Self| spec.steps.map(|step| step.map(|step| step.name));
        self.function.name == other.function.name
            && self.values == other.values
            && names(self) == names(other)
    }
}

/// The paper's pool of twelve, and how a list calls it.
const PAPER: (&str, &str) = (
    "paper",
    "gaussian(t=0.01); gaussian(t=0.05); gaussian(t=0.1); gaussian(t=1); gaussian(t=10); \
     gaussian(t=50); gaussian(t=100); linear; polynomial(a=0,b=2); polynomial(a=0,b=4); \
     polynomial(a=1,b=2); polynomial(a=1,b=4)",
);

/// The kernel of a view for which none is named: nearly as flat as a linear one, which suits data of
/// many features, and bent enough for clusters that are not convex.
const SUITABLE: &str = "gaussian(t=25,neighbors=7)";

/// Reads a kernel list such as "paper" or "gaussian(t=0.1); linear; polynomial(a=1,b=2)".
///
/// Names are read in any case, parameters in any order; t = 1, a = 1 and b = 2 may be left out.
/// "paper" stands for twelve kernels and may be one element among others. Before the kernels the list
/// may say how to prepare the features: "tfidf; unit_rows; linear". "auto" prepares them by what they
/// are, and alone it chooses the kernel too; so does an empty list.
pub fn parse(list: &str) -> Result<Vec<KernelSpec>> {
    let list = if list.trim().is_empty() { AUTO } else { list };
    const WHAT: &str = "the kernel list";
    let (mut specs, mut pool) = (Vec::new(), Vec::new());
    let (mut steps, mut prepared) = ([None; MOST_STEPS], 0);
    for element in list.split(';') {
        let element = element.trim();
        if element.is_empty() {
            let allowed = "there is a kernel missing before, between or after the semicolons";
            return Err(refused(list, allowed.to_owned()));
        }
        let (name, assignments) = split(element)?;
        if let Some(step) = PREPARATIONS.iter().find(|step| step.name.eq_ignore_ascii_case(name)) {
            parameters(element, assignments, &[])?;
            if !specs.is_empty() {
                let allowed = "features are prepared before the first kernel of the list";
                return Err(refused(element, allowed.to_owned()));
            }
            if prepared == MOST_STEPS {
                let allowed = format!("features are prepared in at most {MOST_STEPS} steps");
                return Err(refused(element, allowed));
            }
            if prepared > 0
                && (step.name == AUTO
                    || steps[0].is_some_and(|step: &Preparation| step.name == AUTO))
            {
                let allowed = "auto chooses all steps, and is the only one";
                return Err(refused(element, allowed.to_owned()));
            }
            steps[prepared] = Some(step);
            prepared += 1;
        } else if name.eq_ignore_ascii_case(PAPER.0) {
            parameters(element, assignments, &[])?;
            if pool.is_empty() {
                let mut kernels = PAPER.1.split(';').map(|kernel| one(kernel.trim()));
                kernels.try_for_each(|kernel| memory::push(&mut pool, kernel?, WHAT))?;
            }
            memory::extend(&mut specs, &pool, WHAT)?;
        } else {
            memory::push(&mut specs, one(element)?, WHAT)?;
        }
    }
    if specs.is_empty() && steps[0].is_some_and(|step| step.name == AUTO) {
        memory::push(&mut specs, one(SUITABLE)?, WHAT)?;
    }
    if specs.is_empty() {
        let allowed = "there is no kernel behind the preparing steps, such as linear";
        return Err(refused(list, allowed.to_owned()));
    }
    specs.iter_mut().for_each(|spec: &mut KernelSpec| spec.steps = steps);
    Ok(specs)
}

/// The kernel "name(assignments)".
fn one(element: &str) -> Result<KernelSpec> {
    let (name, assignments) = split(element)?;
    let found = FUNCTIONS.iter().find(|function| function.name.eq_ignore_ascii_case(name));
    let function = found.ok_or_else(|| unknown_kernel(name))?;
    let values = parameters(element, assignments, function.parameters)?;
    Ok(KernelSpec { steps: [None; MOST_STEPS], function, values })
}

/// That there is no kernel called `name`, with what may have been meant.
fn unknown_kernel(name: &str) -> Error {
    let is = |other: &&str| name.eq_ignore_ascii_case(other);
    let functions = FUNCTIONS.iter().map(|function| (function.name, function.synonyms));
    let steps = PREPARATIONS.iter().map(|step| (step.name, step.synonyms));
    let all = functions.chain(steps);
    let names = [PAPER.0].into_iter().chain(all.clone().map(|(name, _)| name));
    match all.clone().find(|(_, synonyms)| synonyms.iter().any(is)) {
        Some((called, _)) => {
            let hint = Hint::Called(called);
            Error::UnknownName { kind: "kernel", name: excerpt(name), hint }
        }
        None => unknown("kernel", name, names, SYNONYMS),
    }
}

/// What is looked for in a list of kernels, and is elsewhere.
const SYNONYMS: Synonyms = &[(
    &["precomputed"],
    Hint::Elsewhere("a kernel matrix is not given as features but added as a kernel"),
)];

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
fn parameters(element: &str, assignments: &str, known: &[Parameter]) -> Result<Values> {
    let mut given = [None; MOST_PARAMETERS];
    for assignment in assignments.split(',').filter(|_| !assignments.trim().is_empty()) {
        let Some((name, text)) = assignment.split_once('=') else {
            let allowed = "parameters are written as name=number, separated by commas";
            return Err(refused(element, allowed.to_owned()));
        };
        let (name, text) = (name.trim(), text.trim());
        let Some(index) = known.iter().position(|p| p.name.eq_ignore_ascii_case(name)) else {
            let takes = match known {
                [] => "none".to_owned(),
                [first] => first.name.to_owned(),
                [first, .., last] => format!("{} and {}", first.name, last.name),
            };
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
    let default = |k: usize| known.get(k).map_or(0.0, |parameter| parameter.default);
    Ok(std::array::from_fn(|k| given[k].unwrap_or_else(|| default(k))))
}

fn refused(part: &str, allowed: String) -> Error {
    Error::InvalidArgument { name: "kernels".to_owned(), value: quoted(part), allowed }
}

impl fmt::Display for KernelSpec {
    /// The kernel as [`parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in self.steps() {
            write!(f, "{}; ", step.name)?;
        }
        f.write_str(self.function.name)?;
        let all = self.function.parameters.iter().zip(self.values);
        let mut before = '(';
        for (parameter, value) in all.filter(|(p, value)| !p.optional || *value != p.default) {
            write!(f, "{before}{}={}", parameter.name, Number(value))?;
            before = ',';
        }
        if before == '(' { Ok(()) } else { f.write_str(")") }
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

    fn kernel(name: &str, values: Values) -> KernelSpec {
        let function = FUNCTIONS.iter().find(|function| function.name == name).unwrap();
        KernelSpec { steps: [None; MOST_STEPS], function, values }
    }

    fn gaussian(t: f64) -> KernelSpec {
        kernel("gaussian", [t, 0.0])
    }

    fn linear() -> KernelSpec {
        kernel("linear", [0.0; 2])
    }

    fn polynomial(a: f64, b: u32) -> KernelSpec {
        kernel("polynomial", [a, f64::from(b)])
    }

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
        assert_eq!(longer[0], linear());
        assert_eq!(longer[1..13], pool);
        assert_eq!(longer[13..], [gaussian(1.0)]);
    }

    #[test]
    fn spaces_case_and_the_order_of_parameters_do_not_matter() {
        assert_eq!(
            parse("\tGaussian ( T = 1e-1 )\n;LINEAR()  ;polynomial(b=3,a=.5)").unwrap(),
            [gaussian(0.1), linear(), polynomial(0.5, 3)]
        );
    }

    #[test]
    fn parameters_left_out_have_their_defaults() {
        assert_eq!(
            parse("gaussian;gaussian( );polynomial;polynomial(a=0);polynomial(b=4.0)").unwrap(),
            [
                gaussian(1.0),
                gaussian(1.0),
                polynomial(1.0, 2),
                polynomial(0.0, 2),
                polynomial(1.0, 4),
            ]
        );
    }

    #[test]
    fn a_printed_kernel_is_read_back_the_same() {
        let mut specs = parse("paper").unwrap();
        for t in [f64::MIN_POSITIVE, 5e-324, 1e-5, 1.0 / 3.0, 123456.789, 1e22, f64::MAX] {
            specs.push(gaussian(t));
            specs.push(polynomial(t, 16));
        }
        for spec in specs {
            let text = spec.to_string();
            assert!(text.len() < 50, "{text}");
            assert_eq!(parse(&text).unwrap(), [spec], "{text}");
        }
        assert_eq!(gaussian(0.1).to_string(), "gaussian(t=0.1)");
        assert_eq!(polynomial(0.0, 4).to_string(), "polynomial(a=0,b=4)");
        assert_eq!(parse("polynomial(a=-0)").unwrap()[0].to_string(), "polynomial(a=0,b=2)");
    }

    #[test]
    fn features_are_prepared_before_the_kernels() {
        let list = parse("TFIDF; unit_rows(); linear; gaussian(t=0.1)").unwrap();
        let names: Vec<_> = list.iter().map(KernelSpec::to_string).collect();
        assert_eq!(names, ["tfidf; unit_rows; linear", "tfidf; unit_rows; gaussian(t=0.1)"]);
        assert_eq!(parse(&names[0]).unwrap(), list[..1]);
        assert!(parse("unit_rows; linear").unwrap() != parse("linear").unwrap());
        for (list, expected) in [
            ("linear; tfidf", "features are prepared before the first kernel of the list"),
            ("standardize", "there is no kernel behind the preparing steps"),
            ("tfidf(t=1); linear", "it has no parameter 't', it takes none"),
            ("tfidf; tfidf; tfidf; tfidf; tfidf; linear", "in at most 4 steps"),
            ("zscore; linear", "here it is called 'standardize'"),
            ("standardise; linear", "the nearest known one is 'standardize'"),
        ] {
            let message = message(list);
            assert!(message.contains(expected), "{list}: {message}");
        }
    }

    #[test]
    fn an_empty_list_is_auto_which_chooses_the_kernel_unless_one_is_named() {
        let names = |list| {
            let specs = parse(list).unwrap().into_iter();
            specs.map(|spec| spec.to_string()).collect::<Vec<_>>()
        };
        for list in ["", " \n", "auto", "Auto()"] {
            assert_eq!(names(list), ["auto; gaussian(t=25,neighbors=7)"]);
        }
        assert_eq!(names("auto; linear"), ["auto; linear"]);
        for list in ["auto; unit_rows; linear", "tfidf; auto"] {
            assert!(message(list).ends_with("auto chooses all steps, and is the only one"));
        }
    }

    #[test]
    fn an_unknown_kernel_is_answered_with_the_nearest() {
        assert_eq!(
            message("linear; gausian(t=1)"),
            "unknown kernel 'gausian': the nearest known one is 'gaussian'"
        );
        assert_eq!(message("rbf(t=1)"), "unknown kernel 'rbf': here it is called 'gaussian'");
        let known = message("exponentiated");
        assert!(known.contains("there are paper, "), "{known}");
        assert!(FUNCTIONS.iter().all(|function| known.contains(function.name)), "{known}");
        assert_eq!(message("LINAER"), "unknown kernel 'LINAER': the nearest known one is 'linear'");
        message("(t=1)");
    }

    #[test]
    fn a_message_says_what_is_wrong_with_the_list() {
        for (list, expected) in [
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
