//! The C contract: a thin layer that translates handles, memory and errors, and the only place where
//! the caller's memory is looked at.
//!
//! - `abi`, `status`: numbers that never change their meaning.
//! - `handle`: a model is a ticket into a table, never an address.
//! - `guard`: every exported function passes through it; panics end there.
//! - `caller`: the caller's memory, checked and then borrowed as slices.
//! - `model`, `options`, `fit`, `results`, `metrics`, `tables`: the functions, as `include/scmk.h` groups
//!   them. Their comments are the comments of that header.

// The comments below are C's: brackets in them are indices, not links.
#![allow(rustdoc::broken_intra_doc_links)]
// The header's comments state each promise of the caller in C's words; a second wording under a
// "Safety" heading would be noise there.
#![allow(clippy::missing_safety_doc)]

#[cfg(panic = "abort")]
compile_error!("scmk must be built with panic = \"unwind\": a guest never aborts its host");

mod abi;
mod caller;
mod fit;
mod guard;
mod handle;
mod metrics;
mod model;
mod options;
mod results;
mod status;
mod tables;
mod texts;

pub use abi::*;
pub use fit::*;
pub use handle::scmk_model;
pub use metrics::*;
pub use model::*;
pub use options::*;
pub use results::*;
pub use status::*;
pub use tables::*;
