//! What is said of a panic, which is a bug: where it was, and its message where the program has that in its text. One
//! that was put together may hold a piece of an object or a name, and these are for no log.

use std::any::Any;
use std::panic::{self, PanicHookInfo};

/// In place of a message that was put together.
const UNSAID: &str = "its message may hold what an object holds";

/// From now on panics are lines of the log, in its format.
pub fn log() {
    panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        let at = panic.location().map(ToString::to_string);
        let why = message(panic.payload());
        tracing::error!(at, why, "panicked");
    }));
}

/// What may be said of it.
pub fn message(payload: &(dyn Any + Send)) -> &'static str {
    payload.downcast_ref().copied().unwrap_or(UNSAID)
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::{UNSAID, message};

    #[test]
    fn a_message_that_was_put_together_is_not_said() {
        let fixed = catch_unwind(|| panic!("on purpose")).unwrap_err();
        assert_eq!(message(&*fixed), "on purpose");
        let text = String::from("é is a secret");
        let sliced = catch_unwind(|| text[1..].len()).unwrap_err();
        assert_eq!(message(&*sliced), UNSAID);
    }
}
