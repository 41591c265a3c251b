//! Clustering with several kernels: a similarity graph Z, the clusters (through an embedding P)
//! and a weight for every kernel are learned together, by minimising
//!
//! ```text
//! Tr(K_w − 2K_wZ + ZᵀK_wZ) + α|Z|² + β Tr(PᵀLP)
//! s.t. Zᵀ1 = 1, 0 ≤ Z ≤ 1, PᵀP = I, K_w = Σ w_i K^i, Σ √w_i = 1, w ≥ 0,  L = D − (Z+Zᵀ)/2
//! ```
//!
//! These are the models SCSK (one kernel) and SCMK (several) of Kang, Peng and Cheng, "Twin
//! Learning for Similarity and Clustering: A Unified Kernel Approach", AAAI 2017. Start at
//! [`Model`]:
//!
//! ```
//! use scmk::{Control, Features, Model};
//!
//! // Six samples of two features, sample after sample.
//! let x = [0.0, 0.1, 0.1, 0.0, 0.1, 0.1, 5.0, 5.1, 5.1, 5.0, 5.1, 5.1];
//! let view = Features { values: &x, samples: 6, features: 2, sample_stride: 2, feature_stride: 1 };
//!
//! let mut model = Model::new(6, 2)?;
//! model.add_features(view, "gaussian(t=0.1); linear")?;
//! model.set(|options| options.set_real("alpha", 0.1))?;
//! let fit = model.fit(&Control::default(), None)?;
//! assert_eq!(fit.labels, [0, 0, 0, 1, 1, 1]);
//! assert!(fit.kkt_residual.unwrap() <= 1e-9);
//! # Ok::<(), scmk::Error>(())
//! ```
//!
//! # The house
//!
//! Data flows one way; a module knows only those above it in this list.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`error`] | one variant for each cause |
//! | [`options`] | one table: name, type, default, bounds, documentation |
//! | [`matrix`] | the caller's memory, checked once; the solver's own matrices |
//! | [`kernel`] | features to kernels |
//! | `mixture` | several kernels mixed to one |
//! | [`result`] | what a fit leaves behind |
//! | [`monitor`] | progress, cancellation and time |
//! | `problem` | what a method works on |
//! | [`labels`] | embedding to labels |
//! | [`solver`] | the three steps and the loop around them |
//! | `baseline` | the six methods of the comparison |
//! | `method` | runs the method that the options ask for |
//! | [`metrics`] | labels against a known truth |
//! | [`Model`] | kernels, options and result in one place |
//! | [`ffi`] | the C interface; beside it only `lifeboat`, `threads` and `arithmetic` have unsafe code |
//!
//! Beside them stand `memory` (allocation that can fail), `lifeboat` (for what cannot), `threads` (workers that live for one
//! call), `panics` (silence and a note), `arithmetic` (the host's floating-point environment) and
//! `vector` (loops in wide instructions).
#![deny(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_macros, clippy::disallowed_methods))]

#[allow(unsafe_code)]
mod arithmetic;
mod baseline;
pub mod error;
pub mod kernel;
pub mod labels;
#[allow(unsafe_code)]
mod lifeboat;
pub mod matrix;
mod memory;
mod method;
pub mod metrics;
mod mixture;
mod model;
pub mod monitor;
pub mod options;
mod panics;
mod problem;
pub mod result;
pub mod solver;
mod sync;
mod threads;
mod vector;

#[allow(unsafe_code)]
pub mod ffi;

pub use error::{Error, Result};
pub use kernel::Features;
pub use lifeboat::Allocator;
pub use model::{Model, Watch};
pub use monitor::{Control, Progress, ProgressFn, Step};
pub use options::Options;
pub use result::{Fit, Outcome};
