//! What spectral methods are made of: graphs and their Laplacians, eigenvectors, and the grouping of
//! the parts of a graph. `scmk`, `sc` and `aasc` share it.

pub(crate) mod eigen;
pub(crate) mod graph;
pub(crate) mod ward;
