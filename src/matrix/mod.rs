//! Matrices: the caller's memory checked once on entry ([`Kernel`]), and the solver's own
//! ([`Matrix`] dense, [`Similarity`] sparse where it is sparse).

mod check;
mod compressed;
mod definite;
mod dense;
mod kernel;
mod similarity;

pub(crate) use compressed::Compressed;
pub use dense::Matrix;
pub(crate) use dense::{mirror, par_row_chunks};
pub use kernel::{Kernel, Label};
pub use similarity::{Column, Similarity};
