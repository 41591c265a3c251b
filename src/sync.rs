//! The locks and flags of the handles, under names that tests/loom gives to its own.

pub(crate) use std::sync::atomic::AtomicBool;
pub(crate) use std::sync::{Arc, Mutex, MutexGuard, RwLock};

/// A variable of the whole program.
macro_rules! global {
    ($name:ident: $type:ty = $value:expr) => {
        static $name: $type = $value;
    };
}
pub(crate) use global;
