//! Letters from a worker to the calling thread. The standard library's channel would do, but it
//! allocates behind the back of [`reserve`](crate::reserve) when it waits.

use crate::error::{Error, Result};
use crate::reserve::may_fail;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A queue between two threads.
pub(crate) struct Mailbox<T> {
    inside: Mutex<Inside<T>>,
    news: Condvar,
}

struct Inside<T> {
    letters: VecDeque<T>,
    closed: bool,
}

/// What waiting for a letter has brought.
pub(crate) enum Received<T> {
    /// A letter.
    Letter(T),
    /// None in the time allowed.
    Nothing,
    /// None, and there will be none.
    Closed,
}

/// Closes the mailbox when it goes.
pub(super) struct Open<'m, T>(&'m Mailbox<T>);

impl<T> Drop for Open<'_, T> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.news.notify_all();
    }
}

impl<T> Mailbox<T> {
    pub(crate) fn new() -> Self {
        let inside = Inside { letters: VecDeque::new(), closed: false };
        Self { inside: Mutex::new(inside), news: Condvar::new() }
    }

    /// With room for so many letters, so that sending them needs no memory.
    pub(crate) fn with_room(letters: usize) -> Result<Self> {
        let mailbox = Self::new();
        may_fail(|| mailbox.lock().letters.try_reserve_exact(letters)).map_err(|_| {
            Error::OutOfMemory {
                bytes: letters.saturating_mul(size_of::<T>()),
                what: "worker threads",
            }
        })?;
        Ok(mailbox)
    }

    fn lock(&self) -> MutexGuard<'_, Inside<T>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sender's end.
    pub(super) fn open(&self) -> Open<'_, T> {
        Open(self)
    }

    pub(crate) fn send(&self, letter: T) {
        self.lock().letters.push_back(letter);
        self.news.notify_all();
    }

    /// The next letter, which is waited for so long.
    pub(crate) fn receive(&self, most: Duration) -> Received<T> {
        let waiting = |inside: &mut Inside<T>| inside.letters.is_empty() && !inside.closed;
        let inside = self.news.wait_timeout_while(self.lock(), most, waiting);
        let mut inside = inside.unwrap_or_else(PoisonError::into_inner).0;
        match inside.letters.pop_front() {
            Some(letter) => Received::Letter(letter),
            None if inside.closed => Received::Closed,
            None => Received::Nothing,
        }
    }
}
