//! The C library. Every exported function lives in `scmk::ffi`; this crate only
//! gives it the form of a shared and a static library.
pub use scmk_rust::ffi::*;

#[global_allocator]
static ALLOCATOR: scmk_rust::Allocator = scmk_rust::Allocator::new(std::alloc::System);
