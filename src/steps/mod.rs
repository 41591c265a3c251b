//! The three steps of Algorithm 2, each an exact minimisation: Z ([`similarity`]), P ([`embedding`])
//! and w ([`weights`]); and weights that come before them ([`agreement`]).

pub(crate) mod agreement;
pub(crate) mod embedding;
pub(crate) mod similarity;
pub(crate) mod weights;
