//! Whole numbers that are known by their bounds.
//!
//! `(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1` has an answer for some objects of which only one field is
//! known, and bounds suffice to find it.

/// All whole numbers from `lo` to `hi`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    lo: i128,
    hi: i128,
    /// `1u` equals `1`, but its arithmetic is not supported: it has other bounds.
    unsigned: bool,
}

impl Range {
    pub(super) fn int(value: i64) -> Self {
        Self {
            lo: value.into(),
            hi: value.into(),
            unsigned: false,
        }
    }

    pub(super) fn unsigned(value: u64) -> Self {
        Self {
            lo: value.into(),
            hi: value.into(),
            unsigned: true,
        }
    }

    pub(super) fn count(count: usize) -> Option<Self> {
        i64::try_from(count).ok().map(Self::int)
    }

    pub(super) fn at_least(count: usize) -> Option<Self> {
        let least = Self::count(count)?;
        least.join(Self::int(i64::MAX))
    }

    /// The value, if there is only one.
    pub(super) fn exact(self) -> Option<i64> {
        let signed = !self.unsigned && self.lo == self.hi;
        signed.then(|| i64::try_from(self.lo).ok()).flatten()
    }

    /// The smallest range that contains both.
    pub(super) fn join(self, other: Self) -> Option<Self> {
        (self.unsigned == other.unsigned).then(|| Self {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            unsigned: self.unsigned,
        })
    }

    pub(super) fn equals(self, other: Self) -> Option<bool> {
        if self.hi < other.lo || other.hi < self.lo {
            return Some(false);
        }
        (self.lo == self.hi && other.lo == other.hi).then_some(true)
    }

    /// `Some(true)` if every value of `self` is less than every value of `other`, `Some(false)` if none is.
    pub(super) fn less(self, other: Self) -> Option<bool> {
        if self.hi < other.lo {
            Some(true)
        } else {
            (self.lo >= other.hi).then_some(false)
        }
    }

    pub(super) fn negate(self) -> Option<Self> {
        Self::int(0).minus(self)
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        self.corners(other, i128::checked_add)
    }

    pub(super) fn minus(self, other: Self) -> Option<Self> {
        self.corners(other, i128::checked_sub)
    }

    pub(super) fn times(self, other: Self) -> Option<Self> {
        self.corners(other, i128::checked_mul)
    }

    pub(super) fn over(self, other: Self) -> Option<Self> {
        self.exact()?.checked_div(other.exact()?).map(Self::int)
    }

    pub(super) fn modulo(self, other: Self) -> Option<Self> {
        self.exact()?.checked_rem(other.exact()?).map(Self::int)
    }

    /// The bounds of an operation whose extremes are at the bounds of its operands. `None` if it may overflow.
    fn corners(self, other: Self, op: impl Fn(i128, i128) -> Option<i128>) -> Option<Self> {
        if self.unsigned || other.unsigned {
            return None;
        }
        let all = [
            op(self.lo, other.lo)?,
            op(self.lo, other.hi)?,
            op(self.hi, other.lo)?,
            op(self.hi, other.hi)?,
        ];
        let lo = i64::try_from(*all.iter().min()?).ok()?;
        let hi = i64::try_from(*all.iter().max()?).ok()?;
        Self::int(lo).join(Self::int(hi))
    }
}
