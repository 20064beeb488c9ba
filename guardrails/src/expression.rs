//! A CEL expression that is compiled once: which variables it uses, and how much work it can be.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use attache_engine::model::hint::nearest;
use kube_cel::cel::common::ast::{EntryExpr, Expr, IdedExpr};
use kube_cel::cel::{Context, Program, Value};

use crate::cost::{self, Sizes, Work};
use crate::reason::{no_field, reason};
use crate::value_type::{BoundVariable, NameOf, Types, ValueType, is_library};
use crate::{mistake, nesting};

mod strict;

use strict::strict;
pub(crate) use strict::whole;

#[cfg(test)]
mod tests;

/// The variables of rules and messages.
pub(crate) const VARIABLES: [&str; 10] = [
    "effective",
    "protections",
    "policies",
    "target",
    "path",
    "gateway",
    "listener",
    "route",
    "before",
    "request",
];
/// The message of the parser for `has()` of something that is no field read with a dot.
const NO_FIELD: &str = "invalid argument to has() macro";
/// The remedy.
const NEEDS_FIELD: &str = "has() takes a field after a dot: has(target.labels.team); \
    for a key in [ ], write 'team' in target.labels";
/// An example of a message in YAML.
const QUOTED: &str = r#"message: "'no policy authenticates ' + target.name""#;
/// The most characters of an expression.
pub(crate) const MAX_EXPRESSION_CHARACTERS: usize = 10_000;
/// The most steps of one evaluation.
const MOST_STEPS: usize = 10_000_000;
/// The most values in a list, or pieces of [`cost::TEXT`] bytes in a text, that an evaluation may make.
const MOST_VALUES: usize = 1_000_000;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Expression {
    written: IdedExpr,
    /// The expression that is evaluated.
    strict: IdedExpr,
    uses: BTreeSet<&'static str>,
    /// The fields of settings that it reads by name, each as a path within `spec`.
    reads: BTreeSet<Vec<String>>,
    /// The texts that it compares with names.
    names: BTreeSet<(NameOf, String)>,
    /// The keys that it reads with `[ ]` alone, each with the first map that it reads it from.
    keys: BTreeMap<String, String>,
    text: String,
}

/// Finds the variables of an expression.
struct Names<'a> {
    types: Types<'a>,
    free: BTreeSet<&'a str>,
    /// The first mistake in a field or type.
    wrong: Option<String>,
    /// Paths of names below `effective.spec` and `before.spec`.
    settings: BTreeSet<Vec<String>>,
    /// Texts that are compared with names.
    compared: BTreeSet<(NameOf, String)>,
    /// The keys that are read with `[ ]`, each with the first map that it is read from.
    keys: BTreeMap<String, String>,
    /// The fields that are read with a dot.
    fields: BTreeSet<&'a str>,
}

// === impl Expression ===

impl Expression {
    /// Compiles an expression. `is_of_kind` is whether its guardrail names a policy kind.
    pub(crate) fn compile(text: &str, is_of_kind: bool) -> Result<Self, String> {
        if text.chars().count() > MAX_EXPRESSION_CHARACTERS {
            return Err(format!(
                "it has more than {MAX_EXPRESSION_CHARACTERS} characters"
            ));
        }
        nesting::check(text)?;
        let program = Program::compile(text).map_err(|errors| {
            let first = errors.errors.first();
            first.map_or_else(
                || "it is not a CEL expression".to_owned(),
                |error| {
                    let [line, column] = [error.pos.0, error.pos.1]
                        .map(|number| usize::try_from(number).unwrap_or_default());
                    format!("{}: {}", nesting::place(line, column), said(&error.msg))
                },
            )
        })?;
        let mut names = Names {
            types: Types {
                is_of_kind,
                bound: Vec::new(),
            },
            free: BTreeSet::new(),
            wrong: None,
            settings: BTreeSet::new(),
            compared: BTreeSet::new(),
            keys: BTreeMap::new(),
            fields: BTreeSet::new(),
        };
        names.visit(program.expression());
        if let Some(why) = names.wrong {
            return Err(why);
        }
        let (reads, compared, fields) = (names.settings, names.compared, names.fields);
        let mut keys = names.keys;
        // The error of an evaluation does not say which of the two reads failed.
        keys.retain(|key, _| !fields.contains(key.as_str()));
        let mut uses = BTreeSet::new();
        for name in names.free {
            match VARIABLES.into_iter().find(|known| *known == name) {
                Some(known) => uses.insert(known),
                None => {
                    return Err(no_variable(name));
                }
            };
        }
        let text = text.to_owned();
        Ok(Self {
            strict: strict(program.expression()),
            written: program.expression().clone(),
            uses,
            reads,
            names: compared,
            keys,
            text,
        })
    }

    /// Compiles a requirement.
    pub(crate) fn requirement(text: &str, is_of_kind: bool) -> Result<Self, String> {
        let requirement = Self::compile(text, is_of_kind)?;
        let bound = Vec::new();
        let types = Types { is_of_kind, bound };
        match mistake::why_no_truth(&requirement.written, &types) {
            Some(why) => Err(why),
            None => Ok(requirement),
        }
    }

    /// The texts that it compares with names, and the type of each name.
    pub(crate) fn names(&self) -> impl Iterator<Item = (NameOf, &str)> {
        self.names.iter().map(|(of, name)| (*of, name.as_str()))
    }

    /// Compiles a message.
    pub(crate) fn message(text: &str, is_of_kind: bool) -> Result<Self, String> {
        let is_quoted = text.contains(['\'', '"']);
        let is_parsed = || nesting::check(text).is_ok() && Program::compile(text).is_ok();
        let message = Self::compile(text, is_of_kind).map_err(|why| {
            if is_quoted || is_parsed() {
                why
            } else {
                format!("{why}; a message is a CEL expression, with strings in quotes: {QUOTED}")
            }
        })?;
        let bound = Vec::new();
        let types = Types { is_of_kind, bound };
        match mistake::why_no_text(&message.written, &types) {
            Some(why) => Err(why),
            None => Ok(message),
        }
    }

    /// The expression as it is written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The fields of settings that it reads by name, each as a path within `spec`.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &[String]> {
        self.reads.iter().map(Vec::as_slice)
    }

    /// Whether it uses a variable.
    pub(crate) fn uses(&self, variable: &str) -> bool {
        self.uses.contains(variable)
    }

    /// The most work that an evaluation is if its variables are this large.
    pub(crate) fn work(&self, sizes: &Sizes) -> Work {
        cost::work(&self.written, sizes)
    }

    /// Evaluates it. `work` is the most work that this is.
    pub(crate) fn evaluate(&self, context: &Context<'_>, work: Work) -> Result<Value, String> {
        let Work { steps, largest } = work;
        if steps > MOST_STEPS {
            return Err(format!("it may take {steps} steps, more than {MOST_STEPS}"));
        }
        if largest > MOST_VALUES {
            return Err(format!(
                "it may make a list or string of {largest} values, more than {MOST_VALUES}"
            ));
        }
        // The library panics on expressions that it does not support yet. The values are not used
        // afterwards.
        let executed = catch_unwind(AssertUnwindSafe(|| Value::resolve(&self.strict, context)));
        match executed {
            Ok(result) => result.map_err(|error| self.said_of_key(reason(&error))),
            Err(_) => Err("it cannot be evaluated".to_owned()),
        }
    }

    /// The reason with the remedy for a key that is read with `[ ]`: `has()` takes only fields that are read with a dot.
    fn said_of_key(&self, why: String) -> String {
        let mut keys = self.keys.iter();
        let Some((key, map)) = keys.find(|(key, _)| no_field(key) == why) else {
            return why;
        };
        let quoted = if key.contains(['\'', '\\']) {
            format!("{key:?}")
        } else {
            format!("'{key}'")
        };
        format!("there is no key {key:?} in {map}; write {quoted} in {map} && …")
    }
}

/// The message that a variable does not exist: its name may be misspelt, or meant as a string.
fn no_variable(name: &str) -> String {
    match nearest(name, &VARIABLES) {
        Some(near) => format!("there is no variable {name:?}; did you mean {near:?}?"),
        None => format!(
            "there is no variable {name:?}; there are {}; a string needs quotes: '{name}'",
            VARIABLES.join(", ")
        ),
    }
}

/// The message of the parser, without names of its own types and without the list of the tokens that it expects.
fn said(message: &str) -> String {
    let message = message.strip_prefix("Syntax error: ").unwrap_or(message);
    let (what, _) = message.split_once(" expecting ").unwrap_or((message, ""));
    if let Some(token) = what.strip_prefix("token recognition error at: ") {
        return if token.starts_with("'=") {
            "write == to compare".to_owned()
        } else {
            format!("{token} is not expected here")
        };
    }
    let input = what.strip_prefix("mismatched input ");
    let input = input.or_else(|| what.strip_prefix("extraneous input "));
    match input {
        Some("'<EOF>'") => "the expression ends too early".to_owned(),
        Some(input) => format!("{input} is not expected here"),
        None if what.starts_with("Incomplete") => "it is not complete".to_owned(),
        None if what == NO_FIELD => format!("{what}; {NEEDS_FIELD}"),
        None => what.to_owned(),
    }
}

// === impl Names ===

impl<'a> Names<'a> {
    fn visit(&mut self, expression: &'a IdedExpr) {
        if self.wrong.is_none() {
            self.wrong = mistake::why_wrong(expression, &self.types);
        }
        match &expression.expr {
            Expr::Ident(name) => {
                if !name.starts_with('@') && !self.is_bound(name) {
                    self.free.insert(name);
                }
            }
            Expr::Call(call) => {
                let names = mistake::names(expression, &self.types).into_iter();
                self.compared
                    .extend(names.map(|(of, name)| (of, name.to_owned())));
                // `ip.isCanonical(x)` is a function with a dot in its name.
                let library = call.target.as_ref().is_some_and(
                    |target| matches!(&target.expr, Expr::Ident(name) if is_library(name)),
                );
                if let Some(target) = call.target.as_ref().filter(|_| !library) {
                    self.visit(target);
                }
                call.args.iter().for_each(|part| self.visit(part));
                if let Some((key, map)) = mistake::key_of_map(call) {
                    self.keys.entry(key.to_owned()).or_insert(map);
                }
            }
            Expr::Comprehension(inner) => {
                self.visit(&inner.iter_range);
                self.visit(&inner.accu_init);
                let outside = self.types.bound.len();
                let element = self.types.type_of(&inner.iter_range).element();
                let texts = mistake::texts(&inner.iter_range, &self.types);
                let bound = |name, value_type, texts| BoundVariable {
                    name,
                    value_type,
                    texts,
                };
                // With two variables, the first one is the index.
                let variables = match inner.iter_var2.as_deref() {
                    Some(second) => vec![
                        bound(inner.iter_var.as_str(), ValueType::Any, Vec::new()),
                        bound(second, element, texts),
                    ],
                    None => vec![bound(&inner.iter_var, element, texts)],
                };
                self.types.bound.extend(variables);
                let result = bound(&inner.accu_var, ValueType::Any, Vec::new());
                self.types.bound.push(result);
                self.visit(&inner.loop_cond);
                self.visit(&inner.loop_step);
                self.visit(&inner.result);
                self.types.bound.truncate(outside);
            }
            Expr::List(list) => list.elements.iter().for_each(|part| self.visit(part)),
            Expr::Map(map) => map.entries.iter().for_each(|entry| self.entry(&entry.expr)),
            // The library would panic at the evaluation.
            Expr::Struct(made) => {
                let name = &made.type_name;
                let why = format!("there is no type {name:?}; write a map: {{\"key\": value}}");
                self.wrong.get_or_insert(why);
            }
            Expr::Select(select) => {
                if let Some(path) = self.setting(expression) {
                    self.settings.insert(path);
                }
                if !select.test {
                    self.fields.insert(&select.field);
                }
                self.visit(&select.operand);
            }
            Expr::Literal(_) | Expr::Unspecified => {}
        }
    }

    fn is_bound(&self, name: &str) -> bool {
        self.types.bound(name).is_some()
    }

    /// The path below the settings that a chain of names leads to.
    fn setting(&self, expression: &IdedExpr) -> Option<Vec<String>> {
        let mut path = Vec::new();
        let mut at = expression;
        while let Expr::Select(select) = &at.expr {
            path.push(select.field.clone());
            at = &select.operand;
        }
        let Expr::Ident(name) = &at.expr else {
            return None;
        };
        let is_ours = ["effective", "before"].contains(&name.as_str()) && !self.is_bound(name);
        path.reverse();
        let (first, setting) = path.split_first()?;
        (is_ours && first == "spec" && !setting.is_empty()).then(|| setting.to_vec())
    }

    fn entry(&mut self, entry: &'a EntryExpr) {
        match entry {
            EntryExpr::StructField(field) => self.visit(&field.value),
            EntryExpr::MapEntry(entry) => {
                self.visit(&entry.key);
                self.visit(&entry.value);
            }
        }
    }
}
