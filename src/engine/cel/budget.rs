//! How much work answers may take.

/// How many steps a rule may take. The longest real ones take some thousands; a rule for which this
/// is not enough is not worth the time of a review.
const STEPS: usize = 100_000;

/// How many steps all rules of one definition may take, to be read (one for each byte) and to be
/// asked. The largest real definitions take a tenth of it.
const ALL_STEPS: usize = 200_000;

/// How many bytes of text are compared or searched in one step.
const BYTES: usize = 64;

/// How deep values may be nested that are compared.
const DEEPEST: u32 = 100;

/// What is left to spend on the rules of one definition. When it is spent, nothing more is known.
#[derive(Debug)]
pub struct Effort {
    steps: usize,
}

/// What is left to spend on one answer.
pub(super) struct Budget {
    steps: usize,
    depth: u32,
}

// === impl Effort ===

impl Effort {
    /// Enough for a definition.
    pub fn new() -> Self {
        Self { steps: ALL_STEPS }
    }

    /// Takes some steps; false when there were not as many left.
    pub fn spend(&mut self, steps: usize) -> bool {
        let left = self.steps.checked_sub(steps);
        self.steps = left.unwrap_or_default();
        left.is_some()
    }

    /// What one answer may take of it.
    pub(super) fn budget(&self) -> Budget {
        Budget {
            steps: self.steps.min(STEPS),
            depth: DEEPEST,
        }
    }

    /// Takes what one answer took.
    pub(super) fn settle(&mut self, left: &Budget) {
        let granted = self.steps.min(STEPS);
        self.spend(granted.saturating_sub(left.steps));
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self::new()
    }
}

// === impl Budget ===

impl Budget {
    /// Takes one step; false when none was left.
    pub(super) fn spend(&mut self) -> bool {
        let left = self.steps.checked_sub(1);
        self.steps = left.unwrap_or_default();
        left.is_some()
    }

    /// Takes the steps for looking through a text.
    pub(super) fn look_through(&mut self, text: &str) -> bool {
        let left = self.steps.checked_sub(text.len() / BYTES);
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
