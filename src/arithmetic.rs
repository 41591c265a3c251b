//! The floating-point environment: ours inside, the host's outside.
//!
//! A host may have unmasked traps, chosen another rounding or flush small numbers to zero. Inside the
//! library all of that is as Rust assumes it: nothing traps, results are rounded to nearest, small
//! numbers are kept. What the host had, its exception flags included, is put back when a call
//! returns, and while a function of the host runs.

/// Control words of the floating-point units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Environment(native::Words);

/// Puts back the environment it found when it goes, also when a panic passes.
struct Restore(Environment);

impl Drop for Restore {
    fn drop(&mut self) {
        native::set(self.0.0);
    }
}

impl Environment {
    /// That of this thread.
    pub(crate) fn current() -> Self {
        Self(native::get())
    }

    /// Runs `work` in this environment, and goes back to the one before.
    pub(crate) fn during<R>(self, work: impl FnOnce() -> R) -> R {
        let _restore = Restore(Self::current());
        native::set(self.0);
        work()
    }

    /// Sets this thread to it for good.
    pub(crate) fn enter(self) {
        native::set(self.0);
    }

    /// What Rust assumes.
    pub(crate) fn ours() -> Self {
        Self(native::DEFAULT)
    }
}

#[cfg(target_arch = "x86_64")]
mod native {
    use std::arch::asm;

    /// Of the SSE unit, which computes everything here, and of the x87 unit, which the C library
    /// uses for `long double`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Words {
        sse: u32,
        x87: u16,
    }

    pub(super) const DEFAULT: Words = Words { sse: 0x1F80, x87: 0x037F };

    pub(super) fn get() -> Words {
        let (mut sse, mut x87) = (0u32, 0u16);
        // SAFETY: both store a control word where they are told to.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &mut sse, options(nostack, preserves_flags));
            asm!("fnstcw [{}]", in(reg) &mut x87, options(nostack, preserves_flags));
        }
        Words { sse, x87 }
    }

    pub(super) fn set(words: Words) {
        // SAFETY: both words come from the unit itself or are its defaults. A pending exception of
        // the x87 unit is left pending: its status is not touched, and nothing here runs on it.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &words.sse, options(nostack, preserves_flags));
            asm!("fldcw [{}]", in(reg) &words.x87, options(nostack, preserves_flags));
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod native {
    use std::arch::asm;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Words {
        control: u64,
        status: u64,
    }

    pub(super) const DEFAULT: Words = Words { control: 0, status: 0 };

    pub(super) fn get() -> Words {
        let (control, status): (u64, u64);
        // SAFETY: reading these registers has no other effect.
        unsafe {
            asm!("mrs {}, fpcr", out(reg) control, options(nostack, preserves_flags));
            asm!("mrs {}, fpsr", out(reg) status, options(nostack, preserves_flags));
        }
        Words { control, status }
    }

    pub(super) fn set(words: Words) {
        // SAFETY: both words come from the registers themselves or are their defaults.
        unsafe {
            asm!("msr fpcr, {}", in(reg) words.control, options(nostack, preserves_flags));
            asm!("msr fpsr, {}", in(reg) words.status, options(nostack, preserves_flags));
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod native {
    /// Nothing is known about other machines.
    pub(super) type Words = ();
    pub(super) const DEFAULT: Words = ();
    pub(super) fn get() -> Words {}
    pub(super) fn set(_: Words) {}
}
