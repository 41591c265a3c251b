//! The options of a fit: one table ([`TABLE`]) with name, type, default, bounds and
//! documentation. The C functions, the bindings and the README read it; nothing lists the
//! options a second time.

use crate::error::{Error, Hint, Result, Synonyms, quoted, unknown};

/// An option whose values are a few names.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum $name { $($(#[$value_doc])* $value),+ }

        impl $name {
            /// The names as an option's text value.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            /// The name of this value.
            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $text),+ }
            }

            fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$value),)+ _ => None }
            }
        }
    };
}

choice! {
    /// Which clustering method a fit runs.
    Method {
        /// SCMK (Algorithm 2 of the paper); with one kernel it is SCSK (Algorithm 1).
        Scmk = "scmk",
        /// Kernel k-means on the mean of the kernels.
        Kkm = "kkm",
        /// Spectral clustering with the mean of the kernels as affinities.
        Sc = "sc",
        /// Robust kernel k-means: the sum of distances, not of squared ones.
        Rkkm = "rkkm",
        /// Multiple kernel k-means: kernel k enters with w_k².
        Mkkm = "mkkm",
        /// Affinity aggregation for spectral clustering: kernel k enters with w_k².
        Aasc = "aasc",
        /// Robust multiple kernel k-means.
        Rmkkm = "rmkkm",
    }
}

impl Method {
    /// Whether a complete fit has this part of a result, or the info of that name.
    pub(crate) fn yields(self, part: &str) -> bool {
        match part {
            "similarity" | "similarity_nnz" | "kkt_residual" | "alpha_used" => self == Self::Scmk,
            "certified weights" | "certified embedding" => self == Self::Scmk,
            "embedding" | "embedding_residual" | "components" => {
                matches!(self, Self::Scmk | Self::Sc | Self::Aasc)
            }
            _ => true,
        }
    }
}

choice! {
    /// How kernels are scaled before they are mixed.
    Normalize {
        /// As given.
        None = "none",
        /// Divided by the largest absolute entry (the paper's choice).
        Max = "max",
        /// Centred in feature space, then scaled to a mean diagonal of 1.
        Unit = "unit",
    }
}

choice! {
    /// How labels are read from the embedding when the graph does not fall into exactly c parts.
    Labels {
        /// The library's choice, at present k-means.
        Auto = "auto",
        /// k-means with k-means++ starts, the best of `restarts`.
        Kmeans = "kmeans",
        /// Spectral rotation: the orthogonal transform closest to an indicator.
        Rotation = "rotation",
        /// Column-pivoted QR: direct and deterministic.
        Qr = "qr",
    }
}

choice! {
    /// Which embedding labels are read from.
    Embedding {
        /// P as the model has it: eigenvectors of the Laplacian L of Z.
        Model = "model",
        /// Eigenvectors of the symmetric normalised Laplacian of the final Z, rows scaled to
        /// unit length.
        Normalized = "normalized",
    }
}

choice! {
    /// Which Laplacian `sc` and `aasc` embed with.
    Laplacian {
        /// I − D^(−1/2) W D^(−1/2).
        Symmetric = "symmetric",
        /// D − W.
        Unnormalized = "unnormalized",
    }
}

/// Checked option values. Set by field or, checked, by name.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // TABLE documents each of them.
pub struct Options {
    pub method: Method,
    pub alpha: f64,
    pub beta: f64,
    pub learn_weights: bool,
    pub normalize: Normalize,
    pub max_iterations: usize,
    pub tolerance: f64,
    pub kkt_tolerance: f64,
    pub labels: Labels,
    pub embedding: Embedding,
    pub laplacian: Laplacian,
    pub gamma: f64,
    pub warm_start: bool,
    pub restarts: usize,
    pub seed: u64,
    pub threads: usize,
    pub time_limit: f64,
    pub memory_limit: usize,
    pub index_base: usize,
}

/// Type, bounds and place of an option.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A real number within closed bounds.
    #[allow(missing_docs)]
    Real { default: f64, min: f64, max: f64, get: fn(&Options) -> f64, set: fn(&mut Options, f64) },
    /// A whole number within closed bounds.
    #[allow(missing_docs)]
    Int { default: i64, min: i64, max: i64, get: fn(&Options) -> i64, set: fn(&mut Options, i64) },
    /// One of a few names.
    #[allow(missing_docs)]
    Text {
        default: &'static str,
        choices: &'static [&'static str],
        get: fn(&Options) -> &'static str,
        /// Called with one of `choices` only.
        set: fn(&mut Options, &str),
    },
}

/// One row of the option table.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Spec {
    pub name: &'static str,
    pub kind: Kind,
    pub doc: &'static str,
}

macro_rules! real {
    ($field:ident = $default:expr, $min:expr, $max:expr, $doc:expr) => {
        Spec {
            name: stringify!($field),
            doc: $doc,
            kind: Kind::Real {
                default: $default,
                min: $min,
                max: $max,
                get: |o| o.$field,
                set: |o, v| o.$field = v,
            },
        }
    };
}

macro_rules! int {
    ($field:ident = $default:expr, $min:expr, $max:expr, $doc:expr) => {
        Spec {
            name: stringify!($field),
            doc: $doc,
            kind: Kind::Int {
                default: $default,
                min: $min,
                max: $max,
                get: |o| o.$field as i64,
                set: |o, v| o.$field = v as _,
            },
        }
    };
}

macro_rules! switch {
    ($field:ident = $default:expr, $doc:expr) => {
        Spec {
            name: stringify!($field),
            doc: $doc,
            kind: Kind::Int {
                default: $default,
                min: 0,
                max: 1,
                get: |o| i64::from(o.$field),
                set: |o, v| o.$field = v != 0,
            },
        }
    };
}

macro_rules! text {
    ($field:ident: $type:ident = $default:expr, $doc:expr) => {
        Spec {
            name: stringify!($field),
            doc: $doc,
            kind: Kind::Text {
                default: $default,
                choices: $type::NAMES,
                get: |o| o.$field.name(),
                set: |o, v| o.$field = $type::from_name(v).unwrap_or(o.$field),
            },
        }
    };
}

/// Every option, in the order in which it is listed.
pub const TABLE: &[Spec] = &[
    text!(
        method: Method = "scmk",
        "clustering method: scmk (with one kernel it is SCSK), kkm, sc, rkkm, mkkm, aasc, rmkkm"
    ),
    Spec {
        name: "preset",
        doc: "sets normalize, alpha and beta together: paper is max, 0.01 and 1e-5; \
              reads custom when they match neither",
        kind: Kind::Text {
            default: "default",
            choices: &["default", "paper"],
            get: preset,
            set: set_preset,
        },
    },
    real!(
        alpha = 1.0,
        1e-12,
        1e12,
        "of scmk: weight of |Z|^2; small gives few neighbours, large many"
    ),
    real!(beta = 1e-3, 0.0, 1e12, "of scmk: weight of Tr(P'LP); 0 is pure self-expression"),
    switch!(
        learn_weights = 1,
        "1 learns the kernel weights, 0 keeps them equal; kkm, sc and rkkm never learn them"
    ),
    text!(
        normalize: Normalize = "unit",
        "scaling of each kernel: none, max (by its largest entry, the paper's), \
         unit (centred, mean diagonal 1)"
    ),
    int!(
        max_iterations = 100,
        1,
        1_000_000,
        "most iterations, of each start where there are several"
    ),
    real!(
        tolerance = 1e-5,
        0.0,
        1.0,
        "stop when the relative change of the objective is below this, and for scmk the change of Z still to come"
    ),
    real!(
        kkt_tolerance = 1e-9,
        1e-13,
        1e-2,
        "of scmk: largest duality gap of a column of Z, relative to max|K_w| + alpha"
    ),
    text!(
        labels: Labels = "auto",
        "how scmk, sc and aasc read labels from the embedding unless the graph has exactly c parts: \
         auto (k-means), kmeans, rotation, qr"
    ),
    text!(
        embedding: Embedding = "model",
        "what scmk reads labels from: model (P), normalized (normalised Laplacian of Z, unit rows)"
    ),
    text!(
        laplacian: Laplacian = "symmetric",
        "what sc and aasc embed with: symmetric (normalised), unnormalized"
    ),
    real!(gamma = 0.5, 0.01, 0.99, "of rmkkm: the weights obey sum(w^gamma) = 1"),
    int!(
        restarts = 20,
        1,
        1_000_000,
        "starts of k-means, and of the kernel k-means methods; the best is kept"
    ),
    int!(seed = 0, 0, i64::MAX, "seed of those starts; nothing else is random"),
    switch!(
        warm_start = 0,
        "1 starts scmk from the last result instead of from scratch: faster along a path of \
         alpha or beta, but the answer then depends on the path"
    ),
    int!(
        threads = 0,
        0,
        1024,
        "worker threads, at most one for 16 samples; 0 is one for each core; results do not depend on it"
    ),
    real!(
        time_limit = 0.0,
        0.0,
        1e12,
        "seconds after which a fit stops with what it has, and any other call fails (but not within \
         a tenth of a second); 0 is none"
    ),
    int!(
        memory_limit = 0,
        0,
        i64::MAX,
        "bytes, the library's own kernels included, beyond which kernels and fits are refused; 0 is none"
    ),
    int!(
        index_base = 0,
        0,
        1,
        "what messages count samples, features, kernels and views from: 0 or 1"
    ),
];

fn preset(o: &Options) -> &'static str {
    for name in ["default", "paper"] {
        let mut other = o.clone();
        set_preset(&mut other, name);
        if other == *o {
            return name;
        }
    }
    "custom"
}

fn set_preset(o: &mut Options, name: &str) {
    (o.normalize, o.alpha, o.beta) = match name {
        "paper" => (Normalize::Max, 0.01, 1e-5),
        _ => {
            let d = Options::default();
            (d.normalize, d.alpha, d.beta)
        }
    };
}

impl Default for Options {
    fn default() -> Self {
        let mut options = Self {
            method: Method::Scmk,
            alpha: 0.0,
            beta: 0.0,
            learn_weights: false,
            normalize: Normalize::None,
            max_iterations: 0,
            tolerance: 0.0,
            kkt_tolerance: 0.0,
            labels: Labels::Auto,
            embedding: Embedding::Model,
            laplacian: Laplacian::Symmetric,
            gamma: 0.0,
            warm_start: false,
            restarts: 0,
            seed: 0,
            threads: 0,
            time_limit: 0.0,
            memory_limit: 0,
            index_base: 0,
        };
        for spec in TABLE {
            match spec.kind {
                Kind::Real { default, set, .. } => set(&mut options, default),
                Kind::Int { default, set, .. } => set(&mut options, default),
                // The preset is a view of other options, not one of its own.
                Kind::Text { default, set, .. } if spec.name != "preset" => {
                    set(&mut options, default)
                }
                Kind::Text { .. } => {}
            }
        }
        options
    }
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
    /// Sets option `name` to a real number. Options that are whole numbers take a whole `value`.
    pub fn set_real(&mut self, name: &str, value: f64) -> Result<()> {
        match find(name)?.kind {
            Kind::Real { min, max, set, .. } => {
                if !(min..=max).contains(&value) {
                    let allowed = format!("a number from {} to {}", number(min), number(max));
                    return Err(refused(name, value, allowed));
                }
                set(self, value);
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
                set(self, value);
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
                set(self, value);
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
            Kind::Real { get, .. } => Ok(get(self)),
            Kind::Int { get, .. } => Ok(get(self) as f64),
            Kind::Text { get, .. } => Err(Error::InvalidArgument {
                name: name.to_owned(),
                value: format!("'{}'", get(self)),
                allowed: "this option is text, not a number".to_owned(),
            }),
        }
    }

    /// The value of option `name`, which must be a whole number.
    pub fn get_int(&self, name: &str) -> Result<i64> {
        match find(name)?.kind {
            Kind::Int { get, .. } => Ok(get(self)),
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
            Kind::Real { get, .. } => number(get(self)),
            Kind::Int { get, .. } => get(self).to_string(),
            Kind::Text { get, .. } => get(self).to_owned(),
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
    fn the_preset_sets_three_options_and_reads_back_what_they_are() {
        let mut options = Options::default();
        options.set_text("preset", "paper").unwrap();
        assert_eq!((options.normalize, options.alpha), (Normalize::Max, 0.01));
        assert_eq!(options.get_text("preset").unwrap(), "paper");
        options.set_real("alpha", 5.0).unwrap();
        assert_eq!(options.get_text("preset").unwrap(), "custom");
        options.set_text("preset", "default").unwrap();
        assert_eq!(options, Options::default());
    }
}
