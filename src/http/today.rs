//! The current date, which decides whether a suppression has expired. Deadlines do not use it.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// The date in UTC.
pub(super) fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}
