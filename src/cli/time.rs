//! Times as kubectl reads them.

use std::time::Duration;

/// Parses `10s`, `1m30s`, or a number of seconds.
pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Ok(Duration::from_secs(seconds));
    }
    let time = text.parse::<jiff::SignedDuration>().ok();
    let time = time.and_then(|time| Duration::try_from(time).ok());
    time.ok_or_else(|| format!("{text:?} is not a time; write it like 10s or 1m"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::timeout;

    #[test]
    fn times_are_those_of_kubectl() {
        for (text, seconds) in [("0", 0), ("30", 30), ("10s", 10), ("1m", 60), ("1m30s", 90)] {
            assert_eq!(timeout(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for wrong in ["", "soon", "-1s", "s"] {
            assert!(timeout(wrong).is_err(), "{wrong}");
        }
    }
}
