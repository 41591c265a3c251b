//! The library's own matrices: [`Matrix`] dense, [`Similarity`] with columns that are sparse where
//! that is smaller, `Compressed` sparse. None of them has to be square.

mod compressed;
mod dense;
mod similarity;

pub(crate) use compressed::Compressed;
pub use dense::Matrix;
pub(crate) use dense::{mirror, par_row_chunks};
pub use similarity::{Column, Similarity};
