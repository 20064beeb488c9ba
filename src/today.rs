//! The current date, on which suppressions and exceptions end. Deadlines do not use it.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// The date in UTC.
pub fn today() -> Date {
    date(Timestamp::now())
}

/// The date of a time in UTC.
pub fn date(now: Timestamp) -> Date {
    now.to_zoned(TimeZone::UTC).date()
}
