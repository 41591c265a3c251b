//! Clustering with several kernels: a similarity graph Z, the clusters (through an embedding P)
//! and a weight for every kernel are learned together, by minimising
//!
//! ```text
//! Tr(K_w − 2K_wZ + ZᵀK_wZ) + α|Z|² + β Tr(PᵀLP)
//! s.t. Zᵀ1 = 1, 0 ≤ Z ≤ 1, PᵀP = I, K_w = Σ w_i K^i, Σ √w_i = 1, w ≥ 0,  L = D − (Z+Zᵀ)/2
//! ```
//!
//! These are the models SCSK (one kernel) and SCMK (several) of Kang, Peng and Cheng, "Twin
//! Learning for Similarity and Clustering: A Unified Kernel Approach", AAAI 2017. The defaults are the
//! case β = 0, with weights by agreement that sum to 1; `docs/quality.md` says why. Start at [`Model`]:
//!
//! ```
//! use scmk::{Control, Features, Model};
//!
//! // Six samples of two features, sample after sample.
//! let x = [0.0, 0.1, 0.1, 0.0, 0.1, 0.1, 5.0, 5.1, 5.1, 5.0, 5.1, 5.1];
//! let view = Features { values: &x, samples: 6, features: 2, sample_stride: 2, feature_stride: 1 };
//!
//! let mut model = Model::new(6, 2)?;
//! model.add_features(view, "auto")?;
//! let fit = model.fit(&Control::default(), None)?;
//! assert_eq!(fit.labels, [0, 0, 0, 1, 1, 1]);
//! assert!(fit.kkt_residual.unwrap() <= 1e-9);
//! # Ok::<(), scmk::Error>(())
//! ```
//!
//! # The modules
//!
//! Data flows one way; a module knows only those above it in this list (`tests/order.rs`).
//!
//! | module | what it is |
//! | --- | --- |
//! | [`outcome`], [`error`] | how a fit ends; one variant for each cause |
//! | `sync`, `panics`, `arithmetic`, `vector` | locks; silence and a note; the host's floating-point environment; loops in wide instructions |
//! | `reserve`, `memory` | for allocations that may not fail; those that may |
//! | `threads`, [`monitor`] | workers that live for one call; progress, cancellation and time |
//! | [`matrix`] | the library's own matrices, dense and sparse |
//! | [`settings`], `resources` | one table: name, type, default, bounds, documentation; memory and threads a call may take |
//! | [`kernel`] | functions, lists, features, and checked kernel matrices, of which others read blocks |
//! | `blend` | several kernels mixed to one |
//! | `spectral` | graphs, eigenvectors, grouping of parts |
//! | `steps` | the three steps of Algorithm 2: Z, P and w |
//! | [`labels`] | embedding to labels |
//! | [`metrics`] | labels against a known truth |
//! | [`method`] | one table, one file a method: `scmk` is Algorithm 2 |
//! | [`quality`] | what an answer is worth without knowing the truth |
//! | [`suggest`] | how many clusters there are |
//! | [`fitted`] | the result of a fit, with all that other samples need |
//! | [`options`] | settings by name |
//! | [`Model`] | kernels, options and result in one place |
//! | [`infos`] | one table: numbers about a model and its result |
//! | [`ffi`] | the C interface |
//!
//! Unsafe code is in `ffi`, `reserve`, `threads` and `arithmetic` alone.
#![deny(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_macros, clippy::disallowed_methods))]

#[allow(unsafe_code)]
mod arithmetic;
mod blend;
pub mod error;
pub mod fitted;
pub mod infos;
pub mod kernel;
pub mod labels;
pub mod matrix;
mod memory;
pub mod method;
pub mod metrics;
mod model;
pub mod monitor;
pub mod options;
pub mod outcome;
mod panics;
pub mod quality;
#[allow(unsafe_code)]
mod reserve;
mod resources;
pub mod settings;
mod spectral;
mod steps;
pub mod suggest;
mod sync;
mod threads;
mod vector;

#[allow(unsafe_code)]
pub mod ffi;

pub use error::{Error, Result};
pub use fitted::Fit;
pub use kernel::Features;
pub use model::{Model, Watch};
pub use monitor::{Control, Progress, ProgressFn, Step};
pub use options::Options;
pub use outcome::Outcome;
pub use reserve::Allocator;
