//! Validation rules of CRDs (CEL), asked about values of which not everything is known.
//!
//! A rule says more than whether one object is valid: that it refuses every `kind` but two, or that
//! two fields may not stand together. What is not known, or not understood, makes an answer unknown
//! and never wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

mod budget;
mod each;
mod eval;
mod expr;
mod lex;
mod parse;
mod range;
mod value;

#[cfg(test)]
mod tests;

pub use budget::Effort;
use expr::Expr;
use lex::Token;

/// The longest rule that is read, in bytes. The longest seen in a CRD has 1,300.
const LONGEST: usize = 20_000;

/// A value of which not everything is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// It is there, and may be anything.
    Unknown,
    /// It is not there: a field of an object.
    Absent,
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number in a field of type `integer`.
    Int(i64),
    /// A text in a field that has no `format` (CEL reads some formats as times or bytes).
    Text(Arc<str>),
    /// A text that is not empty and equals no literal of any rule and no other known text.
    Stranger,
    /// A list of known length.
    List(Vec<Known>),
    /// A list that has these elements, anywhere in it, and may have others.
    Among(Vec<Known>),
    /// An object.
    Map {
        /// The fields that are there; `Unknown` for one that is there with any value, `Absent` for
        /// one that is not.
        fields: BTreeMap<Arc<str>, Known>,
        /// Whether a field that is not mentioned is absent. If not, nothing is known of it.
        whole: bool,
    },
}

/// A validation rule, ready to be asked.
#[derive(Clone, Debug)]
pub struct Rule {
    expr: Expr,
    texts: BTreeSet<Arc<str>>,
    /// Whether it compares with the object before the change.
    of_change: bool,
}

// === impl Rule ===

impl Rule {
    /// Reads a rule. None when it is not understood: no CEL, too long, or nested too deep; and when
    /// no effort is left for it.
    pub fn parse(text: &str, effort: &mut Effort) -> Option<Self> {
        if text.len() > LONGEST || !effort.spend(text.len()) {
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

    /// Whether it holds when `self` is this. None when that depends on what is not known, and where
    /// evaluation fails.
    pub fn holds(&self, this: &Known, effort: &mut Effort) -> Option<bool> {
        let holds = eval::holds(&self.expr, this, effort)?;
        // A rule that names `oldSelf` is not asked when an object is created, so that it refuses
        // something says nothing about what can exist.
        (holds || !self.of_change).then_some(holds)
    }

    /// The texts written in the rule, each once, in order: the candidates to try.
    pub fn texts(&self) -> BTreeSet<&str> {
        self.texts.iter().map(|text| &**text).collect()
    }
}
