//! The age of an object as a short text.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// `45s`, `12m`, `5h`, `13d`, `3y`: whole units, always two or more of a unit above seconds.
pub(crate) fn age(created: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(created.as_second()).max(0);
    let units = [(YEAR, 'y'), (DAY, 'd'), (HOUR, 'h'), (MINUTE, 'm')];
    let fits = units.into_iter().find(|(length, _)| seconds >= 2 * length);
    let (length, name) = fits.unwrap_or((1, 's'));
    format!("{}{name}", seconds / length)
}

#[cfg(test)]
mod tests {
    use super::{DAY, HOUR, MINUTE, YEAR, age};
    use jiff::Timestamp;

    #[test]
    fn a_unit_is_used_from_two_on() {
        for (seconds, text) in [
            (-5, "0s"),
            (0, "0s"),
            (119, "119s"),
            (2 * MINUTE, "2m"),
            (119 * MINUTE + 59, "119m"),
            (2 * HOUR, "2h"),
            (47 * HOUR, "47h"),
            (2 * DAY, "2d"),
            (729 * DAY, "729d"),
            (2 * YEAR, "2y"),
            (11 * YEAR + 300 * DAY, "11y"),
        ] {
            let created = Timestamp::from_second(1_000_000_000).unwrap();
            let now = Timestamp::from_second(1_000_000_000 + seconds).unwrap();
            assert_eq!(age(created, now), text, "{seconds}");
        }
        assert!(age(Timestamp::MIN, Timestamp::MAX).ends_with('y'));
    }
}
