//! Limits of the work for evaluating rules.

/// The maximum number of steps of one rule. The longest real rules take some thousands; a rule that exceeds this is
/// not worth the time of a review.
const STEPS: usize = 100_000;

/// The maximum number of steps of all rules of one CRD, for parsing (one for each byte) and
/// evaluation. The largest real CRDs take a tenth of it.
const ALL_STEPS: usize = 200_000;

/// Bytes of a string that are compared or searched in one step.
const BYTES: usize = 64;

/// The maximum depth of values that are compared.
const DEEPEST: u32 = 100;

/// The remaining budget for the rules of one CRD. Once it is used up, every answer is unknown.
#[derive(Debug)]
pub struct CelBudget {
    steps: usize,
}

/// The remaining budget for one evaluation.
pub(super) struct Budget {
    steps: usize,
    depth: u32,
}

// === impl CelBudget ===

impl CelBudget {
    /// The budget of one CRD.
    pub fn new() -> Self {
        Self { steps: ALL_STEPS }
    }

    /// Takes some steps; `false` if fewer were left.
    pub fn spend(&mut self, steps: usize) -> bool {
        let left = self.steps.checked_sub(steps);
        self.steps = left.unwrap_or_default();
        left.is_some()
    }

    /// The budget of one evaluation.
    pub(super) fn budget(&self) -> Budget {
        Budget {
            steps: self.steps.min(STEPS),
            depth: DEEPEST,
        }
    }

    /// Subtracts the steps that one evaluation took.
    pub(super) fn settle(&mut self, left: &Budget) {
        let granted = self.steps.min(STEPS);
        self.spend(granted.saturating_sub(left.steps));
    }
}

impl Default for CelBudget {
    fn default() -> Self {
        Self::new()
    }
}

// === impl Budget ===

impl Budget {
    /// Takes one step; `false` if none was left.
    pub(super) fn spend(&mut self) -> bool {
        let left = self.steps.checked_sub(1);
        self.steps = left.unwrap_or_default();
        left.is_some()
    }

    /// Takes the steps for scanning a string.
    pub(super) fn look_through(&mut self, text: &str) -> bool {
        let left = self.steps.checked_sub(text.len() / BYTES);
        self.steps = left.unwrap_or_default();
        left.is_some()
    }

    /// Compares nested values; the result is unknown beyond the maximum depth.
    pub(super) fn deeper(&mut self, look: impl Fn(&mut Self) -> Option<bool>) -> Option<bool> {
        self.depth = self.depth.checked_sub(1)?;
        let answer = look(self);
        self.depth += 1;
        answer
    }
}
