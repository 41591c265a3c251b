/// Number of the binary interface this header describes: the 1 of libscmk.so.1. It is not the
/// release number, and grows only when a program built against an older header would break.
pub const SCMK_ABI_VERSION: u32 = 1;
