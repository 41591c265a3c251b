//! The infos: one table ([`TABLE`]) of numbers and texts about a model and its last fit, by name.

use crate::error::{Error, Result, quoted, unknown};
use crate::memory;
use crate::model::{EMBEDDING, Model, SIMILARITY};
use crate::options::number;

/// Type of an info, and how it is read.
#[derive(Clone, Copy)]
pub enum Value {
    /// A real number.
    Real(fn(&Model<'_>) -> Result<f64>),
    /// A whole number.
    Int(fn(&Model<'_>) -> Result<i64>),
    /// A text.
    Text(fn(&Model<'_>) -> Result<String>),
}

/// One row of the table.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Info {
    pub name: &'static str,
    pub kind: Value,
    pub doc: &'static str,
}

use Value::{Int, Real, Text};

fn whole(count: usize) -> Result<i64> {
    Ok(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Every info, in the order in which it is listed.
pub const TABLE: &[Info] = &[
    Info {
        name: "iterations",
        kind: Int(|m| whole(m.result()?.iterations())),
        doc: "iterations made, of the best restart where there are several",
    },
    Info {
        name: "objective",
        kind: Real(|m| m.part(None, "objective", |f| Some(f.objective).filter(|v| !v.is_nan()))),
        doc: "final value of the objective",
    },
    Info {
        name: "kkt_residual",
        kind: Real(|m| m.part(SIMILARITY, "kkt_residual", |f| f.kkt_residual)),
        doc: "worst duality gap of a column of Z, relative to max|K_w| + alpha",
    },
    Info {
        name: "embedding_residual",
        kind: Real(|m| m.part(EMBEDDING, "embedding_residual", |f| f.embedding_residual)),
        doc: "worst residual of an eigenvector, relative to the largest degree",
    },
    Info {
        name: "alpha_used",
        kind: Real(|m| m.part(SIMILARITY, "alpha_used", |f| f.alpha_used)),
        doc: "the alpha that Z was found with: larger than the option where that is below 1e-13 of the \
         kernel and lost in its rounding",
    },
    Info {
        name: "beta_used",
        kind: Real(|m| m.part(SIMILARITY, "beta_used", |f| f.beta_used)),
        doc: "the beta that Z was found with: another than the option where adapt_beta is 1",
    },
    Info {
        name: "warning",
        kind: Text(|m| memory::text(&m.result()?.quality.warning, "a warning")),
        doc: "what to know about the answer before it is trusted, such as clusters of single samples; empty \
         if nothing",
    },
    Info {
        name: "silhouette",
        kind: Real(|m| m.part(None, "silhouette", |f| f.quality.silhouette)),
        doc: "mean silhouette in the space of K_w, from -1 to 1: how much nearer samples are to their own \
         cluster than to the next; none for one cluster",
    },
    Info {
        name: "eigengap",
        kind: Real(|m| m.part(EMBEDDING, "eigengap", |f| f.eigengap)),
        doc: "of scmk, unless labels are read from P as the model has it: how far eigenvalue c + 1 of the \
         graph's Laplacian is beyond eigenvalue c; large if c clusters is what the graph has",
    },
    Info {
        name: "stability",
        kind: Real(|m| m.part(SIMILARITY, "stability", |f| f.stability)),
        doc: "of scmk with option subsamples: adjusted Rand index of the labels with those of four fifths of \
         the samples, 1 if they are always the same",
    },
    Info {
        name: "smallest_cluster",
        kind: Int(|m| whole(m.result()?.quality.smallest)),
        doc: "samples of the smallest cluster",
    },
    Info {
        name: "largest_cluster",
        kind: Int(|m| whole(m.result()?.quality.largest)),
        doc: "samples of the largest cluster",
    },
    Info {
        name: "suggested_clusters",
        kind: Int(|m| whole(m.suggestion()?.best)),
        doc: "number of clusters that scmk_suggest_clusters, or a fit with 0 clusters, found best; 1 if the \
         samples do not fall into clusters",
    },
    Info {
        name: "suggested_from",
        kind: Int(|m| whole(m.suggestion()?.from)),
        doc: "the first number of clusters that was scored",
    },
    Info {
        name: "suggested_to",
        kind: Int(|m| whole(m.suggestion()?.to())),
        doc: "the last number of clusters that was scored",
    },
    Info {
        name: "suggested_next",
        kind: Int(|m| whole(m.suggestion()?.next)),
        doc: "the number to look at next; 0 if there is none",
    },
    Info {
        name: "suggested_confidence",
        kind: Real(|m| Ok(m.suggestion()?.confidence)),
        doc: "how sure that is, from 0 to 1",
    },
    Info {
        name: "has_similarity",
        kind: Int(|m| Ok(m.result()?.similarity.is_some().into())),
        doc: "1 if the result has a similarity, with kkt_residual, alpha_used and similarity_nnz, else 0",
    },
    Info {
        name: "has_embedding",
        kind: Int(|m| Ok(m.result()?.embedding.is_some().into())),
        doc: "1 if the result has an embedding, with embedding_residual and components, else 0",
    },
    Info {
        name: "samples",
        kind: Int(|m| whole(m.samples())),
        doc: "samples of the model; known before a fit",
    },
    Info {
        name: "clusters",
        kind: Int(|m| whole(m.clusters())),
        doc: "clusters asked for, known before a fit; where the fit is to choose 0 before it and their number \
         after it",
    },
    Info {
        name: "views",
        kind: Int(|m| whole(m.views())),
        doc: "views of the model: each call that added features or a kernel added one; known before a fit",
    },
    Info {
        name: "kernels",
        kind: Int(|m| whole(m.kernels().len())),
        doc: "kernels of the model, as many as weights; known before a fit",
    },
    Info {
        name: "components",
        kind: Int(|m| whole(m.part(EMBEDDING, "components", |f| f.components)?)),
        doc: "connected parts of the graph",
    },
    Info {
        name: "similarity_nnz",
        kind: Int(|m| {
            whole(m.part(SIMILARITY, "similarity_nnz", |f| Some(f.similarity.as_ref()?.nnz()))?)
        }),
        doc: "nonzero entries of Z",
    },
    Info {
        name: "outcome",
        kind: Int(|m| Ok(m.result()?.outcome as i64)),
        doc: "0 converged, 1 iteration limit, 2 time limit, 3 cancelled",
    },
    Info {
        name: "seconds",
        kind: Real(|m| Ok(m.result()?.total_seconds)),
        doc: "wall-clock seconds of the fit",
    },
    Info {
        name: "seconds_similarity",
        kind: Real(|m| Ok(m.result()?.seconds.similarity)),
        doc: "of which for Z",
    },
    Info {
        name: "seconds_embedding",
        kind: Real(|m| Ok(m.result()?.seconds.embedding)),
        doc: "of which for P",
    },
    Info {
        name: "seconds_weights",
        kind: Real(|m| Ok(m.result()?.seconds.weights)),
        doc: "of which for the weights and K_w",
    },
    Info {
        name: "seconds_labels",
        kind: Real(|m| Ok(m.result()?.seconds.labels)),
        doc: "of which for the labels",
    },
    Info { name: "threads", kind: Int(|m| whole(m.result()?.threads)), doc: "worker threads used" },
    Info {
        name: "memory_required",
        kind: Int(|m| whole(m.memory_required())),
        doc: "bytes a fit needs at most beyond the kernels, estimated; known before a fit",
    },
    Info {
        name: "rescaled_kernels",
        kind: Int(|m| whole(m.kernels().iter().filter(|k| k.is_rescaled()).count())),
        doc: "polynomial kernels of features outside 1e-30 to 1e30, which were divided by a power of two \
         first, so that a counts relative to it; known before a fit",
    },
    Info {
        name: "memory_kernels",
        kind: Int(|m| whole(m.memory_kernels())),
        doc: "bytes of the kernels that the library itself holds, with the features behind them, borrowed \
         ones not; known before a fit",
    },
];

fn find(name: &str) -> Result<&'static Info> {
    let names = TABLE.iter().map(|info| info.name);
    let found = TABLE.iter().find(|info| info.name == name);
    found.ok_or_else(|| unknown("info", name, names, &[]))
}

impl Model<'_> {
    /// A whole-number info; those about the model itself are known before a fit.
    pub fn info_int(&self, name: &str) -> Result<i64> {
        match find(name)?.kind {
            Int(get) => get(self),
            Real(_) => Err(refused(name, "this info is a real number, not a whole one")),
            Text(_) => Err(refused(name, "this info is a text, not a number")),
        }
    }

    /// A real info; whole numbers are converted.
    pub fn info_real(&self, name: &str) -> Result<f64> {
        match find(name)?.kind {
            Int(get) => Ok(get(self)? as f64),
            Real(get) => get(self),
            Text(_) => Err(refused(name, "this info is a text, not a number")),
        }
    }

    /// An info that is a text; numbers are written as one.
    pub fn info_text(&self, name: &str) -> Result<String> {
        Ok(match find(name)?.kind {
            Int(get) => get(self)?.to_string(),
            Real(get) => number(get(self)?),
            Text(get) => get(self)?,
        })
    }
}

fn refused(name: &str, allowed: &str) -> Error {
    Error::InvalidArgument {
        name: "info".to_owned(),
        value: quoted(name),
        allowed: allowed.to_owned(),
    }
}
