//! Keeps a panic inside the library silent, and remembers where it happened.
//!
//! A guest must not write to its host's stderr. [`caught`] marks the current thread as
//! working for the library; [`inherit`] carries the mark to worker threads. The process-wide
//! panic hook stays the host's own for every other thread.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Mutex, Once};

/// Where the panic of one guarded call is noted down.
type Note = Arc<Mutex<Option<String>>>;

thread_local! {
    static NOTE: RefCell<Option<Note>> = const { RefCell::new(None) };
}

fn text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("panic")
}

// The one place: it leaves the host's own panics to the host's hook.
#[allow(clippy::disallowed_methods)]
fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            let note = NOTE.try_with(|note| note.borrow().clone()).ok().flatten();
            let Some(note) = note else { return previous(info) };
            let place = info.location().map_or_else(String::new, |location| {
                format!(" at {}:{}", location.file(), location.line())
            });
            if let Ok(mut note) = note.lock() {
                note.get_or_insert_with(|| format!("{}{place}", text(info.payload())));
            }
        }));
    });
}

/// Runs `work`; a panic in it, or in a worker thread that inherited its mark, is returned as
/// text with file and line. Nothing is printed.
pub(crate) fn caught<R>(work: impl FnOnce() -> R) -> std::result::Result<R, String> {
    install_hook();
    let note = Note::default();
    // A host may call while its thread is ending, when there are no thread-local variables left.
    let outer = NOTE.try_with(|slot| slot.replace(Some(note.clone())));
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let _ = NOTE.try_with(|slot| slot.replace(outer.ok().flatten()));
    outcome.map_err(|payload| {
        let noted = note.lock().ok().and_then(|mut note| note.take());
        noted.unwrap_or_else(|| text(&*payload).to_owned())
    })
}

/// The mark of the current thread, to be set in a worker thread by calling the result there.
pub(crate) fn inherit() -> impl Fn() + Send + Sync {
    let note = NOTE.try_with(|slot| slot.borrow().clone()).ok().flatten();
    move || {
        let _ = NOTE.try_with(|slot| slot.replace(note.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_returned_with_file_and_line() {
        let message = caught(|| panic!("number {}", 7)).unwrap_err();
        assert!(message.starts_with("number 7 at src/panics.rs:"), "{message}");
        assert_eq!(caught(|| 5), Ok(5));
    }

    #[test]
    fn a_panic_in_a_worker_thread_is_noted_too() {
        let message = caught(|| {
            let mark = inherit();
            std::thread::scope(|scope| {
                let worker = scope.spawn(|| {
                    mark();
                    panic!("in a worker");
                });
                std::panic::resume_unwind(worker.join().unwrap_err());
            })
        })
        .unwrap_err();
        assert!(message.starts_with("in a worker at src/panics.rs:"), "{message}");
    }
}
