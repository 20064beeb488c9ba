//! Validation rules of CRDs (CEL), evaluated on partly known values.
//!
//! A rule says more than whether one object is valid: it may reject every `kind` but two, or two fields together. A
//! part of a value that is unknown, or of a rule that is not understood, makes an answer unknown and never wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

mod budget;
mod eval;
mod expr;
mod lex;
mod parse;
mod quantifier;
mod range;
mod value;

#[cfg(test)]
mod tests;

pub use budget::CelBudget;
use expr::Expr;
use lex::Token;

/// The maximum length of a rule in bytes. The longest known rule of a CRD has 1,300.
const MAX_RULE_BYTES: usize = 20_000;

/// A partly known value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartialValue {
    /// A value that exists and may be anything.
    Unknown,
    /// A field that does not exist.
    Absent,
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number in a field of type `integer`.
    Int(i64),
    /// A string in a field without `format` (CEL parses some formats as times or bytes).
    Text(Arc<str>),
    /// Another string: it is not empty, and differs from every literal of any rule and from every known string.
    OtherString,
    /// A list of known length.
    List(Vec<PartialValue>),
    /// A list that contains these elements at any position, and possibly others.
    ListContaining(Vec<PartialValue>),
    /// An object.
    Map {
        /// The known fields; `Unknown` for a field that exists with any value, `Absent` for one that does not exist.
        fields: BTreeMap<Arc<str>, PartialValue>,
        /// Whether fields that are not listed are absent. Otherwise nothing is known of them.
        complete: bool,
    },
}

/// A parsed validation rule.
#[derive(Clone, Debug)]
pub struct CelRule {
    expr: Expr,
    texts: BTreeSet<Arc<str>>,
    /// Whether it compares with the object before the change.
    of_change: bool,
}

// === impl CelRule ===

impl CelRule {
    /// Parses a rule. `None` if it is not valid CEL, too long, nested too deeply, or if the budget is used up.
    pub fn parse(text: &str, budget: &mut CelBudget) -> Option<Self> {
        if text.len() > MAX_RULE_BYTES || !budget.spend(text.len()) {
            return None;
        }
        let tokens = lex::tokens(text)?;
        let mut texts = BTreeSet::new();
        let mut of_change = false;
        for token in &tokens {
            match token {
                Token::Text(text) => {
                    texts.insert(text.clone());
                }
                Token::Name(name) => of_change |= &**name == "oldSelf",
                _ => {}
            }
        }
        let expr = parse::parse(tokens)?;
        Some(Self {
            expr,
            texts,
            of_change,
        })
    }

    /// Whether the rule holds when `self` is this value. `None` if that depends on unknown parts, or if evaluation
    /// fails.
    pub fn holds(&self, this: &PartialValue, budget: &mut CelBudget) -> Option<bool> {
        let holds = eval::holds(&self.expr, this, budget)?;
        // The API server does not evaluate a rule with `oldSelf` on creation, so a rejection does not restrict the
        // objects that can exist.
        (holds || !self.of_change).then_some(holds)
    }

    /// The strings in the rule, sorted: the candidate values to try.
    pub fn texts(&self) -> BTreeSet<&str> {
        self.texts.iter().map(|text| &**text).collect()
    }
}
