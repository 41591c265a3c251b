//! The files under test, with loom's locks and stand-ins for the rest of the crate.

/// What src/sync.rs is there.
mod sync {
    pub(crate) use loom::sync::atomic::AtomicBool;
    pub(crate) use loom::sync::{Arc, Mutex, MutexGuard, RwLock};

    // Loom makes it anew for every order that it tries.
    macro_rules! global {
        ($name:ident: $type:ty = $value:expr) => {
            loom::lazy_static! { static ref $name: $type = $value; }
        };
    }
    pub(crate) use global;
}

mod error {
    #[derive(Clone, Debug, PartialEq)]
    pub enum Error {
        NullArgument { argument: &'static str },
        InvalidHandle,
        Busy,
        Panic { message: String },
        State(&'static str),
    }

    pub type Result<T> = std::result::Result<T, Error>;

    impl std::fmt::Display for Error {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{self:?}")
        }
    }
}

mod model {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    /// Something that only one thread may use at a time: loom sees when two do.
    pub struct Model<'a> {
        pub number: usize,
        spoilt: UnsafeCell<bool>,
        uses: UnsafeCell<usize>,
        dropped: Arc<AtomicUsize>,
        borrows: std::marker::PhantomData<&'a ()>,
    }

    // What the real one is without saying so.
    unsafe impl Send for Model<'_> {}

    impl Model<'_> {
        pub fn new(number: usize, dropped: Arc<AtomicUsize>) -> Self {
            let (spoilt, uses) = (UnsafeCell::new(false), UnsafeCell::new(0));
            Self { number, spoilt, uses, dropped, borrows: std::marker::PhantomData }
        }

        pub fn use_it(&mut self) {
            assert!(!self.spoilt.with(|spoilt| unsafe { *spoilt }));
            self.uses.with_mut(|uses| unsafe { *uses += 1 });
        }

        pub fn uses(&self) -> usize {
            self.uses.with(|uses| unsafe { *uses })
        }

        pub fn spoil(&mut self) {
            self.spoilt.with_mut(|spoilt| unsafe { *spoilt = true });
        }
    }

    impl Drop for Model<'_> {
        fn drop(&mut self) {
            self.uses.with_mut(|_| ());
            self.dropped.fetch_add(1, SeqCst);
        }
    }
}

mod monitor {
    use loom::sync::atomic::{AtomicBool, Ordering::Relaxed};

    #[derive(Debug, Default)]
    pub struct Control {
        cancel: AtomicBool,
    }

    impl Control {
        pub fn cancel(&self) {
            self.cancel.store(true, Relaxed);
        }
    }
}

mod memory {
    use crate::error::Result;
    use crate::sync::Arc;

    pub fn reserve<T>(v: &mut Vec<T>, more: usize, _: &'static str) -> Result<()> {
        v.reserve(more);
        Ok(())
    }

    pub fn push<T>(v: &mut Vec<T>, value: T, _: &'static str) -> Result<()> {
        v.push(value);
        Ok(())
    }

    pub fn shared<T>(value: T, _: &'static str) -> Result<Arc<T>> {
        Ok(Arc::new(value))
    }
}

mod arithmetic {
    pub struct Environment;

    impl Environment {
        pub fn ours() -> Self {
            Self
        }

        pub fn during<R>(self, work: impl FnOnce() -> R) -> R {
            work()
        }
    }
}

mod threads {
    pub fn caller_has_memory() -> bool {
        true
    }
}

mod panics {
    /// A panic is played: loom takes a real one for the end of its test.
    pub fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
        Ok(work())
    }
}

mod ffi;

pub use ffi::{Handle, call, cancel, create, destroy, message, panicking_call};
pub use model::Model;

pub const OK: i32 = 0;
pub const INVALID_HANDLE: i32 = -2;
pub const BUSY: i32 = -12;
pub const PANIC: i32 = -16;
