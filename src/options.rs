//! The options: settings by name, checked against their [`TABLE`].

use crate::error::{Error, Hint, Result, Synonyms, quoted, unknown};
use crate::method::METHODS;
pub use crate::settings::{Kind, Spec};
use crate::settings::{Laplacian, Method, Normalize, ROWS, Settings, Weighting};
use std::ops::Deref;

/// Checked settings, which are set by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(Settings);

impl Deref for Options {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.0
    }
}

const METHOD_NAMES: [&str; METHODS.len()] = {
    let mut names = [""; METHODS.len()];
    let mut k = 0;
    // Ends: there are as many names as methods.
    while k < METHODS.len() {
        names[k] = METHODS[k].name;
        k += 1;
    }
    names
};

const METHOD: Spec = Spec {
    name: "method",
    doc: "clustering method: scmk, which is SCSK with one kernel, or one that the paper compares with",
    kind: Kind::Text {
        default: METHODS[0].name,
        choices: &METHOD_NAMES,
        get: |s| s.method.name(),
        set: |s, v| s.method = Method::from_name(v).unwrap_or(s.method),
    },
};

const PRESET: Spec = Spec {
    name: "preset",
    doc: "sets normalize, alpha, beta, weighting, embedding, neighbors and diffusion together: auto \
          (their defaults), joint (the model with kernels of one size), paper (the paper's scales and \
          settings); reads custom when they match none",
    kind: Kind::Text { default: PRESETS[0], choices: PRESETS, get: preset, set: set_preset },
};

/// Every option, in the order in which it is listed.
pub const TABLE: &[Spec] = &{
    let mut table = [METHOD; 2 + ROWS.len()];
    table[1] = PRESET;
    let mut k = 0;
    // Ends: there are as many rows as settings.
    while k < ROWS.len() {
        table[2 + k] = ROWS[k];
        k += 1;
    }
    table
};

const PRESETS: &[&str] = &["auto", "joint", "paper"];

fn preset(s: &Settings) -> &'static str {
    let matches = |name: &&&str| {
        let mut other = s.clone();
        set_preset(&mut other, name);
        other == *s
    };
    PRESETS.iter().find(matches).unwrap_or(&"custom")
}

fn set_preset(s: &mut Settings, name: &str) {
    let d = Settings::default();
    (s.normalize, s.alpha, s.beta) = match name {
        "paper" => (Normalize::Max, 0.01, 1e-5),
        "joint" => (Normalize::Unit, 1.0, 1e-3),
        _ => (d.normalize, d.alpha, d.beta),
    };
    (s.weighting, s.embedding, s.neighbors, s.diffusion) = match name {
        "paper" | "joint" => (Weighting::Model, Laplacian::Unnormalized, 0, 0.0),
        _ => (d.weighting, d.embedding, d.neighbors, d.diffusion),
    };
}

/// The row of option `name`.
pub fn find(name: &str) -> Result<&'static Spec> {
    let names = TABLE.iter().map(|spec| spec.name);
    let found = TABLE.iter().find(|spec| spec.name == name);
    found.ok_or_else(|| unknown("option", name, names, SYNONYMS))
}

/// What options are called elsewhere.
const SYNONYMS: Synonyms = &[
    (
        &["k", "c", "centers", "centres", "clusters", "n_clusters", "nclusters", "num_clusters"],
        Hint::Elsewhere("the number of clusters is no option but an argument of its own"),
    ),
    (
        &["kernel", "kernels", "sigma", "bandwidth", "degree", "t"],
        Hint::Elsewhere("kernels and their parameters are given with the features"),
    ),
    (&["lambda", "lambda1", "regularization"], Hint::Called("alpha")),
    (&["lambda2"], Hint::Called("beta")),
    (&["nstart", "n_init", "ninit", "replicates"], Hint::Called("restarts")),
    (
        &["iter_max", "iter.max", "max_iter", "maxiter", "maxit", "iterations"],
        Hint::Called("max_iterations"),
    ),
    (&["eps", "epsilon"], Hint::Called("tolerance")),
    (&["random_state", "rng"], Hint::Called("seed")),
    (&["n_jobs", "nthreads", "num_threads", "workers"], Hint::Called("threads")),
    (&["timeout"], Hint::Called("time_limit")),
    (&["assign_labels"], Hint::Called("labels")),
    (&["algorithm", "model"], Hint::Called("method")),
    (&["n_neighbors", "nn", "knn"], Hint::Called("neighbors")),
];

/// A number as a person would write it: 0.001, 1, 1e-9.
pub fn number(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

fn refused(name: &str, value: impl ToString, allowed: String) -> Error {
    Error::InvalidArgument { name: name.to_owned(), value: value.to_string(), allowed }
}

impl Options {
    /// Their values.
    pub(crate) fn settings(&self) -> &Settings {
        &self.0
    }

    /// Sets option `name` to a real number. Options that are whole numbers take a whole `value`.
    pub fn set_real(&mut self, name: &str, value: f64) -> Result<()> {
        match find(name)?.kind {
            Kind::Real { min, max, set, .. } => {
                if !(min..=max).contains(&value) {
                    let allowed = format!("a number from {} to {}", number(min), number(max));
                    return Err(refused(name, value, allowed));
                }
                set(&mut self.0, value);
                Ok(())
            }
            Kind::Int { min, max, .. } => {
                if value.fract() != 0.0 || value.abs() >= 2f64.powi(63) {
                    let allowed = format!("a whole number from {min} to {max}");
                    return Err(refused(name, value, allowed));
                }
                self.set_int(name, value as i64)
            }
            Kind::Text { choices, .. } => {
                Err(refused(name, value, format!("one of {}", choices.join(", "))))
            }
        }
    }

    /// Sets option `name` to a whole number. Options that are real numbers take it too.
    pub fn set_int(&mut self, name: &str, value: i64) -> Result<()> {
        match find(name)?.kind {
            Kind::Int { min, max, set, .. } => {
                if !(min..=max).contains(&value) {
                    let allowed = format!("a whole number from {min} to {max}");
                    return Err(refused(name, value, allowed));
                }
                set(&mut self.0, value);
                Ok(())
            }
            Kind::Real { .. } => self.set_real(name, value as f64),
            Kind::Text { choices, .. } => {
                Err(refused(name, value, format!("one of {}", choices.join(", "))))
            }
        }
    }

    /// Sets option `name` from text: one of its names, or a number as text.
    pub fn set_text(&mut self, name: &str, value: &str) -> Result<()> {
        match find(name)?.kind {
            Kind::Text { choices, set, .. } => {
                if !choices.contains(&value) {
                    let allowed = format!("one of {}", choices.join(", "));
                    return Err(refused(name, quoted(value), allowed));
                }
                set(&mut self.0, value);
                Ok(())
            }
            Kind::Real { .. } | Kind::Int { .. } => {
                if let Ok(whole) = value.trim().parse::<i64>() {
                    return self.set_int(name, whole);
                }
                match value.trim().parse::<f64>() {
                    Ok(real) => self.set_real(name, real),
                    Err(_) => Err(refused(name, quoted(value), "a number".to_owned())),
                }
            }
        }
    }

    /// The value of option `name`, which must be a number.
    pub fn get_real(&self, name: &str) -> Result<f64> {
        match find(name)?.kind {
            Kind::Real { get, .. } => Ok(get(&self.0)),
            Kind::Int { get, .. } => Ok(get(&self.0) as f64),
            Kind::Text { get, .. } => Err(Error::InvalidArgument {
                name: name.to_owned(),
                value: format!("'{}'", get(&self.0)),
                allowed: "this option is text, not a number".to_owned(),
            }),
        }
    }

    /// The value of option `name`, which must be a whole number.
    pub fn get_int(&self, name: &str) -> Result<i64> {
        match find(name)?.kind {
            Kind::Int { get, .. } => Ok(get(&self.0)),
            _ => Err(Error::InvalidArgument {
                name: name.to_owned(),
                value: self.get_text(name)?,
                allowed: "this option is not a whole number".to_owned(),
            }),
        }
    }

    /// The value of option `name` as text, whatever its type.
    pub fn get_text(&self, name: &str) -> Result<String> {
        Ok(match find(name)?.kind {
            Kind::Real { get, .. } => number(get(&self.0)),
            Kind::Int { get, .. } => get(&self.0).to_string(),
            Kind::Text { get, .. } => get(&self.0).to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_come_from_the_table_and_lie_within_bounds() {
        let options = Options::default();
        for spec in TABLE {
            match spec.kind {
                Kind::Real { default, min, max, get, .. } => {
                    assert_eq!(get(&options), default, "{}", spec.name);
                    assert!(min <= default && default <= max, "{}", spec.name);
                }
                Kind::Int { default, min, max, get, .. } => {
                    assert_eq!(get(&options), default, "{}", spec.name);
                    assert!(min <= default && default <= max, "{}", spec.name);
                }
                Kind::Text { default, choices, get, .. } => {
                    assert_eq!(get(&options), default, "{}", spec.name);
                    assert!(choices.contains(&default), "{}", spec.name);
                }
            }
            assert!(!spec.doc.is_empty() && !spec.doc.contains('\n'), "{}", spec.name);
        }
    }

    #[test]
    fn every_option_round_trips_through_its_text() {
        let mut options = Options::default();
        options.set_real("alpha", 0.1 + 0.2).unwrap();
        let mut copy = Options::default();
        for spec in TABLE.iter().filter(|spec| spec.name != "preset") {
            copy.set_text(spec.name, &options.get_text(spec.name).unwrap()).unwrap();
        }
        assert_eq!(copy, options);
    }

    #[test]
    fn bad_values_name_the_option_the_value_and_the_range() {
        let mut options = Options::default();
        for value in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            let message = options.set_real("alpha", value).unwrap_err().to_string();
            assert!(message.contains("alpha") && message.contains("1e-12 to 1e12"), "{message}");
        }
        let message = options.set_real("restarts", 2.5).unwrap_err().to_string();
        assert_eq!(message, "restarts = 2.5 is not allowed: a whole number from 1 to 1000000");
        let message = options.set_text("normalize", "maximum").unwrap_err().to_string();
        assert_eq!(message, "normalize = 'maximum' is not allowed: one of none, max, unit");
        let message = options.set_int("aplha", 1).unwrap_err().to_string();
        assert_eq!(message, "unknown option 'aplha': the nearest known one is 'alpha'");
        assert_eq!(options, Options::default());
    }

    #[test]
    fn the_preset_sets_several_options_and_reads_back_what_they_are() {
        let mut options = Options::default();
        options.set_text("preset", "paper").unwrap();
        assert_eq!((options.normalize, options.alpha), (Normalize::Max, 0.01));
        assert_eq!(options.get_text("preset").unwrap(), "paper");
        options.set_real("alpha", 5.0).unwrap();
        assert_eq!(options.get_text("preset").unwrap(), "custom");
        options.set_text("preset", "auto").unwrap();
        assert_eq!(options, Options::default());
        options.set_text("preset", "joint").unwrap();
        assert_eq!((options.weighting, options.neighbors), (Weighting::Model, 0));
        assert_eq!(options.get_text("preset").unwrap(), "joint");
    }
}
