//! The six methods that the paper compares with, one file each. `partition` is what the four
//! kernel k-means methods share, `spectral` what the two spectral ones share.

mod aasc;
mod kkm;
mod mkkm;
mod partition;
mod rkkm;
mod rmkkm;
mod sc;
mod spectral;

pub(crate) use aasc::fit as aasc;
pub(crate) use kkm::fit as kkm;
pub(crate) use mkkm::fit as mkkm;
pub(crate) use partition::memory_required as partition_memory;
pub(crate) use rkkm::fit as rkkm;
pub(crate) use rmkkm::fit as rmkkm;
pub(crate) use sc::fit as sc;
pub(crate) use spectral::memory_required as spectral_memory;
