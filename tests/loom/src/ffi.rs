//! What src/ffi does with a handle, by the two files that do it.

#[allow(dead_code)]
#[path = "../../../src/ffi/guard.rs"]
mod guard;
#[allow(dead_code)]
#[path = "../../../src/ffi/handle.rs"]
mod handle;

mod status {
    use crate::error::Error;

    #[allow(non_camel_case_types)]
    pub type scmk_status = i32;
    pub const SCMK_OK: i32 = 0;
    pub const SCMK_E_OUT_OF_MEMORY: i32 = -13;

    pub fn of(error: &Error) -> i32 {
        match error {
            Error::NullArgument { .. } => -1,
            Error::InvalidHandle => -2,
            Error::State(_) => -11,
            Error::Busy => -12,
            Error::Panic { .. } => -16,
        }
    }
}

use crate::error::Error;
use crate::model::Model;

/// A handle, to be given to threads.
#[derive(Clone, Copy, PartialEq)]
pub struct Handle(usize);

impl Handle {
    fn model(self) -> *mut handle::scmk_model {
        std::ptr::without_provenance_mut(self.0)
    }
}

pub fn create(model: Model<'static>) -> Handle {
    Handle(handle::insert(model).expect("a place").addr())
}

/// What a function does that needs the model.
pub fn call(handle: Handle, work: impl FnOnce(&mut Model<'static>)) -> i32 {
    guard::on_model(handle.model(), |state, _| {
        work(&mut state.model);
        Ok(())
    })
}

/// As [`call`], with a bug.
pub fn panicking_call(handle: Handle) -> i32 {
    guard::on_model(handle.model(), |state, _| {
        state.model.spoil();
        Err(Error::Panic { message: "a bug".into() })
    })
}

pub fn cancel(handle: Handle) -> i32 {
    guard::beside(handle.model(), |entry| {
        entry.control.cancel();
        Ok(())
    })
}

pub fn destroy(handle: Handle) -> i32 {
    guard::call(|| handle::remove(handle.model()).map(drop))
}

pub fn message(handle: Handle) -> Option<String> {
    handle::find(handle.model()).ok().map(|entry| entry.message())
}
