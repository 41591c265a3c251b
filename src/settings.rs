//! The settings of a fit: one table, of which the struct, its defaults, the bounds and the
//! documentation are made. [`options`](crate::options) reaches them by name.

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
            pub const fn name(self) -> &'static str {
                match self { $(Self::$value => $text),+ }
            }

            fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$value),)+ _ => None }
            }
        }
    };
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
    /// Which Laplacian of a graph an embedding is made of.
    Laplacian {
        /// I − D^(−1/2) W D^(−1/2).
        Symmetric = "symmetric",
        /// D − W, as the model has it.
        Unnormalized = "unnormalized",
    }
}

choice! {
    /// Where the weights of the kernels come from when they are learned.
    Weighting {
        /// From how far the kernels agree about who is near whom; Σw = 1.
        Agreement = "agreement",
        /// From the model: what is easy to reproduce counts more; Σ√w = 1.
        Model = "model",
    }
}

/// What the option `embedding` calls the Laplacian of Z that labels are read from: P as the model has
/// it, or the eigenvectors of the normalised one, rows scaled to unit length.
const EMBEDDINGS: &[&str] = &["model", "normalized"];

impl Laplacian {
    const fn embedding_name(self) -> &'static str {
        match self {
            Self::Unnormalized => "model",
            Self::Symmetric => "normalized",
        }
    }

    fn from_embedding_name(name: &str) -> Option<Self> {
        match name {
            "model" => Some(Self::Unnormalized),
            "normalized" => Some(Self::Symmetric),
            _ => None,
        }
    }
}

/// A method by its place in the table of methods, [`METHODS`](crate::method::METHODS).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Method(pub(crate) usize);

/// Type, bounds and place of a setting.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A real number within closed bounds.
    #[allow(missing_docs)]
    Real {
        default: f64,
        min: f64,
        max: f64,
        get: fn(&Settings) -> f64,
        set: fn(&mut Settings, f64),
    },
    /// A whole number within closed bounds.
    #[allow(missing_docs)]
    Int { default: i64, min: i64, max: i64, get: fn(&Settings) -> i64, set: fn(&mut Settings, i64) },
    /// One of a few names.
    #[allow(missing_docs)]
    Text {
        default: &'static str,
        choices: &'static [&'static str],
        get: fn(&Settings) -> &'static str,
        /// Called with one of `choices` only.
        set: fn(&mut Settings, &str),
    },
}

/// One row of the table.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Spec {
    pub name: &'static str,
    pub kind: Kind,
    pub doc: &'static str,
}

/// The type, the default and the row of a setting by its kind.
macro_rules! setting {
    (type real($($bounds:tt)*)) => {
        f64
    };
    (type whole($type:ty = $($bounds:tt)*)) => {
        $type
    };
    (type switch($default:expr)) => {
        bool
    };
    (type choice($type:ident = $default:ident)) => {
        $type
    };
    (type embedding($type:ident = $default:ident)) => {
        $type
    };

    (default real($default:expr, $min:expr, $max:expr)) => {
        $default
    };
    (default whole($type:ty = $default:expr, $min:expr, $max:expr)) => {
        $default
    };
    (default switch($default:expr)) => {
        $default
    };
    (default choice($type:ident = $default:ident)) => {
        $type::$default
    };
    (default embedding($type:ident = $default:ident)) => {
        $type::$default
    };

    (kind $field:ident real($default:expr, $min:expr, $max:expr)) => {
        Kind::Real {
            default: $default,
            min: $min,
            max: $max,
            get: |s| s.$field,
            set: |s, v| s.$field = v,
        }
    };
    (kind $field:ident whole($type:ty = $default:expr, $min:expr, $max:expr)) => {
        Kind::Int {
            default: $default,
            min: $min,
            max: $max,
            get: |s| s.$field as i64,
            set: |s, v| s.$field = v as _,
        }
    };
    (kind $field:ident switch($default:expr)) => {
        Kind::Int {
            default: $default as i64,
            min: 0,
            max: 1,
            get: |s| i64::from(s.$field),
            set: |s, v| s.$field = v != 0,
        }
    };
    (kind $field:ident choice($type:ident = $default:ident)) => {
        Kind::Text {
            default: $type::$default.name(),
            choices: $type::NAMES,
            get: |s| s.$field.name(),
            set: |s, v| s.$field = $type::from_name(v).unwrap_or(s.$field),
        }
    };
    (kind $field:ident embedding($type:ident = $default:ident)) => {
        Kind::Text {
            default: $type::$default.embedding_name(),
            choices: EMBEDDINGS,
            get: |s| s.$field.embedding_name(),
            set: |s, v| s.$field = $type::from_embedding_name(v).unwrap_or(s.$field),
        }
    };
}

macro_rules! settings {
    ($($field:ident: $kind:ident $spec:tt $doc:expr;)+) => {
        /// Checked values of all settings. They are set by name, through
        /// [`Options`](crate::Options).
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            /// Which method a fit runs.
            pub method: Method,
            $(#[doc = $doc] pub $field: setting!(type $kind $spec),)+
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { method: Method::default(), $($field: setting!(default $kind $spec),)+ }
            }
        }

        /// The settings that every method shares, in the order in which they are listed.
        pub(crate) const ROWS: &[Spec] = &[
            $(Spec {
                name: stringify!($field),
                doc: $doc,
                kind: setting!(kind $field $kind $spec),
            },)+
        ];
    };
}

settings! {
    alpha: real(1.0, 1e-12, 1e12)
        "of scmk: weight of |Z|^2; small gives few neighbours, large many";
    beta: real(0.0, 0.0, 1e12)
        "of scmk: weight of Tr(P'LP), which pulls the graph apart; 0 is pure self-expression";
    adapt_beta: switch(false)
        "of scmk: 1 raises or lowers beta until the graph falls into exactly c parts, none of them a single \
         sample; the info warning tells when it cannot";
    learn_weights: switch(true)
        "1 learns the kernel weights, 0 keeps them equal, as methods do that learn none";
    weighting: choice(Weighting = Agreement)
        "how scmk learns the weights: agreement (of the views with one another, sum(w) = 1) or model (the \
         paper's, sum(sqrt(w)) = 1); equal weights have the same sum";
    normalize: choice(Normalize = Unit)
        "scaling of each kernel: none, max (by its largest entry, the paper's), \
         unit (centred, mean diagonal 1)";
    max_iterations: whole(usize = 100, 1, 1_000_000)
        "most iterations, of each start where there are several";
    tolerance: real(1e-5, 0.0, 1.0)
        "stop when the relative change of the objective is below this, and for scmk the change of Z still to come";
    kkt_tolerance: real(1e-9, 1e-13, 1e-2)
        "of scmk: largest duality gap of a column of Z, relative to max|K_w| + alpha";
    labels: choice(Labels = Auto)
        "how scmk, sc and aasc read labels from the embedding unless the graph has exactly c parts: \
         auto (k-means), kmeans, rotation, qr";
    embedding: embedding(Laplacian = Symmetric)
        "what scmk reads labels from: model (P), normalized (normalised Laplacian of Z, unit rows)";
    neighbors: whole(i64 = -1, -1, 1_000_000)
        "of scmk: the largest entries of each column of Z that labels are read from, its diagonal left out; \
         -1 is 4 ln(n/c), 0 takes Z as it is";
    diffusion: real(4.0, 0.0, 100.0)
        "of scmk with embedding normalized: steps of a random walk on the graph, by which faint eigenvectors \
         count less; 0 counts all the same";
    laplacian: choice(Laplacian = Symmetric)
        "what sc and aasc embed with: symmetric (normalised), unnormalized";
    gamma: real(0.5, 0.01, 0.99)
        "of rmkkm: the weights obey sum(w^gamma) = 1";
    restarts: whole(usize = 20, 1, 1_000_000)
        "starts of k-means, and of the kernel k-means methods; the best is kept";
    seed: whole(u64 = 0, 0, i64::MAX)
        "seed of the starts of k-means and of the kernel k-means methods; nothing else is random";
    subsamples: whole(usize = 0, 0, 1000)
        "of scmk: so many times four fifths of the samples are clustered again, which gives the info \
         stability; 0 does not";
    warm_start: switch(false)
        "1 starts scmk from the last result instead of from scratch: faster along a path of \
         alpha or beta, but the answer then depends on the path";
    threads: whole(usize = 0, 0, 1024)
        "worker threads, at most one for 16 samples; 0 is one for each core; results do not depend on it";
    time_limit: real(0.0, 0.0, 1e12)
        "seconds after which a fit stops with what it has, and any other call fails (but not within \
         a tenth of a second); 0 is none";
    memory_limit: whole(usize = 0, 0, i64::MAX)
        "bytes, the library's own kernels included, beyond which kernels and fits are refused; 0 is none";
    index_base: whole(usize = 0, 0, 1)
        "what messages count samples, features, kernels and views from: 0 or 1";
}
