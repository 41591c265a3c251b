//! Features to kernels: the kernel list, the paper's pool of twelve, and their computation.

mod build;
mod list;
mod products;

pub use build::Features;
pub(crate) use build::{build, memory_required};
pub use list::{KernelSpec, parse};
