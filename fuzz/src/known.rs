//! What was found and is not mended yet: the targets pass over it. Once it is mended, the constant
//! goes, and the checks that ask for it become plain ones.

/// Names of options, infos and metrics, and values of options, come back in messages as they were
/// given, line ends and all.
pub const RAW_TEXT_IN_MESSAGES: bool = true;

/// A fit that is asked to stop in the iteration in which it converges has the outcome "converged",
/// not "cancelled".
pub const CONVERGED_WHEN_STOPPED: bool = true;

/// A warm start keeps the weights of the last result even if another method, with another
/// constraint, has found them, or if weights are not to be learned any more.
pub const WARM_START_KEEPS_WEIGHTS: bool = true;

/// A debug assertion of mkkm and rmkkm fails by a rounding when the objective is exactly 0: the
/// targets fit with kkm instead.
pub const ASSERTION_OF_ALTERNATE: bool = true;
