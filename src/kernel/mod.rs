//! Kernels: their functions and lists of them, features, and checked matrices ([`Gram`]), of which
//! everything below reads blocks.

mod build;
mod check;
mod definite;
mod features;
mod functions;
mod gram;
mod list;
mod null;
mod prepare;

pub(crate) use build::{build, memory_required};
pub use features::{Features, Samples, Source};
pub use functions::{FUNCTIONS, Function, Parameter};
pub use gram::{Gram, Label};
pub(crate) use gram::{Part, bytes_held};
pub use list::{KernelSpec, parse};
pub(crate) use null::{Cloud, structureless};
pub use prepare::{PREPARATIONS, Preparation};
