//! Threads that are waited for to their very end.
//!
//! Those of the standard library would do but for two things: they allocate in a way that cannot
//! fail, behind the back of [`reserve`](crate::reserve), and a scope of them does not wait for the
//! destructors of their thread-local variables, which may then meet a library that is unloaded.

use crate::error::Result;
use crate::memory;
use std::io;

/// Bytes of a worker's stack.
pub(super) const STACK: usize = 4 << 20;

/// Threads that end before it does: dropping it waits for them.
pub(super) struct Team<'w> {
    threads: Vec<Thread>,
    /// What the threads run may borrow what outlives the team.
    work: std::marker::PhantomData<&'w ()>,
}

impl<'w> Team<'w> {
    /// An empty team with room for so many threads.
    pub(super) fn new(threads: usize) -> Result<Self> {
        let threads = memory::with_capacity(threads, "worker threads")?;
        Ok(Self { threads, work: std::marker::PhantomData })
    }

    /// Starts one more thread, with a number for its name.
    pub(super) fn start(
        &mut self,
        number: usize,
        work: impl FnOnce() + Send + 'w,
    ) -> io::Result<()> {
        let work: Box<dyn FnOnce() + Send + 'w> = Box::new(work);
        // SAFETY: only the lifetime changes. Dropping the team waits for the thread, and the team
        // does not outlive 'w; it is not forgotten, since it never leaves this module's parent.
        let work: Box<dyn FnOnce() + Send + 'static> = unsafe { std::mem::transmute(work) };
        self.threads.push(start(number, work)?);
        Ok(())
    }
}

impl Drop for Team<'_> {
    fn drop(&mut self) {
        self.threads.drain(..).for_each(join);
    }
}

type Work = Box<dyn FnOnce() + Send>;

/// Whether this thread can have some memory of the system's allocator.
///
/// The C library ends the process if it has none when a thread registers the destructor of a
/// thread-local variable. That takes a few bytes each time; they are there if this much was.
pub(super) fn has_memory() -> bool {
    const ENOUGH: usize = 4 << 10;
    // SAFETY: what was allocated is given back, and not looked at.
    unsafe {
        let block = std::hint::black_box(libc::malloc(ENOUGH));
        libc::free(block);
        !block.is_null()
    }
}

#[cfg(unix)]
use unix::{Thread, join, start};

#[cfg(unix)]
mod unix {
    use super::{STACK, Work};
    use std::ffi::c_void;
    use std::io::{self, Write};
    use std::mem::{MaybeUninit, zeroed};
    use std::ptr::{null, null_mut};

    pub(super) type Thread = libc::pthread_t;

    struct Start {
        number: usize,
        work: Work,
    }

    #[allow(clippy::disallowed_methods)]
    pub(super) fn start(number: usize, work: Work) -> io::Result<Thread> {
        let start = Box::into_raw(Box::new(Start { number, work }));
        // SAFETY: plain calls of the C library with initialised arguments. The thread takes over
        // `start`, unless there is none.
        unsafe {
            let mut attributes = MaybeUninit::uninit();
            libc::pthread_attr_init(attributes.as_mut_ptr());
            libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK);
            let mut thread = zeroed();
            // The mask of the calling thread is inherited.
            let mut host: libc::sigset_t = zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, &asynchronous(), &mut host);
            let failed = libc::pthread_create(&mut thread, attributes.as_ptr(), run, start.cast());
            libc::pthread_sigmask(libc::SIG_SETMASK, &host, null_mut());
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            if failed != 0 {
                drop(Box::from_raw(start));
                return Err(io::Error::from_raw_os_error(failed));
            }
            Ok(thread)
        }
    }

    /// The signals that a host's handlers should meet on the host's own threads: all but those
    /// which a thread raises by what it does.
    unsafe fn asynchronous() -> libc::sigset_t {
        // SAFETY: the set is initialised by sigfillset.
        unsafe {
            let mut signals = zeroed();
            libc::sigfillset(&mut signals);
            for own in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP] {
                libc::sigdelset(&mut signals, own);
            }
            signals
        }
    }

    extern "C" fn run(start: *mut c_void) -> *mut c_void {
        // SAFETY: this is the box of `start`, which belongs to this thread.
        let start = unsafe { Box::from_raw(start.cast::<Start>()) };
        name(start.number);
        // Workers catch the panics of what they run; nothing else unwinds.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(start.work));
        null::<c_void>().cast_mut()
    }

    /// For debuggers and profilers.
    fn name(number: usize) {
        #[cfg(target_os = "linux")]
        {
            // At most 15 characters and a NUL.
            let mut name = [0u8; 16];
            let _ = write!(&mut name[..15], "scmk-{number}");
            // SAFETY: the name ends with a NUL.
            unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr().cast()) };
        }
        #[cfg(not(target_os = "linux"))]
        let _ = number;
    }

    pub(super) fn join(thread: Thread) {
        // SAFETY: every thread of a team is joined once.
        unsafe { libc::pthread_join(thread, null_mut()) };
    }
}

#[cfg(not(unix))]
use elsewhere::{Thread, join, start};

#[cfg(not(unix))]
mod elsewhere {
    use super::{STACK, Work};
    use std::io;

    pub(super) type Thread = std::thread::JoinHandle<()>;

    #[allow(clippy::disallowed_methods)]
    pub(super) fn start(number: usize, work: Work) -> io::Result<Thread> {
        std::thread::Builder::new().name(format!("scmk-{number}")).stack_size(STACK).spawn(work)
    }

    pub(super) fn join(thread: Thread) {
        let _ = thread.join();
    }
}
