//! How much work one answer may take.

/// How many steps a rule may take. The longest real ones take some thousands; a rule for which this
/// is not enough is not worth the time of a review.
const STEPS: u32 = 100_000;

/// How deep values may be nested that are compared.
const DEEPEST: u32 = 100;

/// What is left to spend. When it is spent, nothing more is known.
pub(super) struct Budget {
    steps: u32,
    depth: u32,
}

// === impl Budget ===

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            steps: STEPS,
            depth: DEEPEST,
        }
    }

    /// Takes one step; false when none was left.
    pub(super) fn spend(&mut self) -> bool {
        let left = self.steps.checked_sub(1);
        self.steps = left.unwrap_or_default();
        left.is_some()
    }

    /// Looks into values; nothing is known below some depth.
    pub(super) fn deeper(&mut self, look: impl Fn(&mut Self) -> Option<bool>) -> Option<bool> {
        self.depth = self.depth.checked_sub(1)?;
        let answer = look(self);
        self.depth += 1;
        answer
    }
}
