//! The numbers of a schema.

/// A number of a schema, by its bits: equal numbers are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(u64);

// === impl Number ===

impl Number {
    /// A number; `None` if it is infinite or not a number.
    pub fn new(number: f64) -> Option<Self> {
        number.is_finite().then(|| Self(number.to_bits()))
    }

    pub(super) fn get(self) -> f64 {
        f64::from_bits(self.0)
    }

    /// Whether a value is a multiple of it, as the API server computes it.
    pub(super) fn divides(self, value: f64) -> bool {
        let factor = self.get();
        if factor <= 0.0 {
            return true;
        }
        let times = if factor < 1.0 {
            1.0 / factor * value
        } else {
            value / factor
        };
        (times - times.round()).abs() <= 1e-9 * times.abs().max(1.0)
    }
}
