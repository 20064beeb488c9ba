//! Logs a panic, which is a bug: where it happened, and its message if that is a constant of the program. A formatted
//! message may contain a name or a part of an object, and the log must have neither.

use std::any::Any;
use std::panic::{self, PanicHookInfo};

/// Replaces a formatted message.
const UNSAID: &str = "its message is left out: it may contain a part of an object";

/// Writes panics to the log from now on, in its format.
pub fn log() {
    panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        let at = panic.location().map(ToString::to_string);
        let why = message(panic.payload());
        tracing::error!(at, why, "panicked");
    }));
}

/// The message that the log may have.
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
