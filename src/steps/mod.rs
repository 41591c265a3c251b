//! The three steps of Algorithm 2, each an exact minimisation: Z ([`similarity`]), P ([`embedding`])
//! and w ([`weights`]).

pub(crate) mod embedding;
pub(crate) mod similarity;
pub(crate) mod weights;
