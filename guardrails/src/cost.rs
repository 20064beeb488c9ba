//! The most steps that an evaluation of an expression takes. The CEL library has no limit of its own.
//!
//! A macro evaluates its body once for each element of a list or map. Everything else is done once.

use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue,
};

/// Values that a comparison or function reads per step.
const READ: usize = 8;
/// Bytes of text that count as one value.
pub(crate) const TEXT: usize = 64;

/// The most work of an evaluation, and the most values in any value that it makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) steps: usize,
    pub(crate) largest: usize,
}

/// The largest size that a value may have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    /// The most elements.
    pub(crate) elements: usize,
    /// The most values in one element.
    pub(crate) each: usize,
}

/// The sizes of the variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    /// By name; `before.policies` has a size of its own.
    pub(crate) known: Vec<(&'static str, Size)>,
}

/// The sizes of the variables of an expression, and those of the macros around it.
struct Scope<'a> {
    sizes: &'a Sizes,
    bound: Vec<(&'a str, Size)>,
    largest: usize,
}

/// The most work of an evaluation.
pub(crate) fn work(expression: &IdedExpr, sizes: &Sizes) -> Work {
    let mut scope = Scope {
        sizes,
        bound: Vec::new(),
        largest: 0,
    };
    let steps = scope.steps(expression);
    scope.size(expression);
    Work {
        steps,
        largest: scope.largest,
    }
}

// === impl Size ===

impl Size {
    /// A value whose elements may each be as large as the whole.
    pub(crate) fn of_list(values: usize) -> Self {
        Self {
            elements: values,
            each: values,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            elements: self.elements.saturating_add(other.elements),
            each: self.each.max(other.each),
        }
    }
}

// === impl Scope ===

impl<'a> Scope<'a> {
    fn steps(&mut self, expression: &'a IdedExpr) -> usize {
        match &expression.expr {
            Expr::Call(call) => {
                let parts = call.target.iter().map(AsRef::as_ref).chain(&call.args);
                parts.fold(1, |sum: usize, part| {
                    let read = self.size(part).each / READ;
                    sum.saturating_add(self.steps(part)).saturating_add(read)
                })
            }
            Expr::Comprehension(inner) => {
                let range = self.size(&inner.iter_range);
                let before = self
                    .steps(&inner.iter_range)
                    .saturating_add(self.steps(&inner.accu_init));
                let (turn, after) = self.inside(inner, range, |scope| {
                    let turn = scope
                        .steps(&inner.loop_cond)
                        .saturating_add(scope.steps(&inner.loop_step));
                    (turn, scope.steps(&inner.result))
                });
                turn.saturating_mul(range.elements)
                    .saturating_add(before)
                    .saturating_add(after)
            }
            Expr::Select(select) => self.steps(&select.operand).saturating_add(1),
            Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => 1,
            Expr::List(_) | Expr::Map(_) | Expr::Struct(_) => {
                let parts = parts(expression).into_iter();
                parts.fold(1, |sum: usize, part| sum.saturating_add(self.steps(part)))
            }
        }
    }

    /// The result of `ask`, called while the variables of a comprehension over values of this size
    /// are known.
    fn inside<T>(
        &mut self,
        inner: &'a ComprehensionExpr,
        range: Size,
        ask: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outside = self.bound.len();
        let element = Size::of_list(range.each);
        self.bound.push((&inner.iter_var, element));
        let second = inner.iter_var2.as_deref();
        self.bound.extend(second.map(|name| (name, element)));
        self.bound.push((&inner.accu_var, range));
        let said = ask(self);
        self.bound.truncate(outside);
        said
    }

    /// The largest size that the value of an expression may have.
    fn size(&mut self, expression: &'a IdedExpr) -> Size {
        let size = self.size_of(expression);
        self.largest = self.largest.max(size.each).max(size.elements);
        size
    }

    fn size_of(&mut self, expression: &'a IdedExpr) -> Size {
        match &expression.expr {
            Expr::Ident(name) => self.named(name),
            Expr::Select(select) => match &select.operand.expr {
                Expr::Ident(name) if name == "before" && select.field == "policies" => {
                    self.named("before.policies")
                }
                _ => Size::of_list(self.size(&select.operand).each),
            },
            Expr::Comprehension(inner) => {
                let range = self.size(&inner.iter_range);
                let each = self.inside(inner, range, |scope| scope.size(&inner.loop_step).each);
                Size {
                    elements: range.elements,
                    each: range.each.max(each),
                }
            }
            Expr::Call(call) if call.func_name == "replace" => self.replaced(call),
            Expr::Call(call) => {
                let parts = call.target.iter().map(AsRef::as_ref).chain(&call.args);
                let mut all = Size::default();
                for part in parts {
                    all = all.and(self.size(part));
                }
                all
            }
            Expr::Literal(LiteralValue::String(text)) => {
                Size::of_list(text.inner().len() / TEXT + 1)
            }
            Expr::Literal(_) | Expr::Unspecified => Size::of_list(1),
            Expr::List(_) | Expr::Map(_) | Expr::Struct(_) => {
                let parts = parts(expression);
                let count = parts.len();
                let sizes: Vec<Size> = parts.into_iter().map(|part| self.size(part)).collect();
                let each = sizes.iter().map(|size| size.each.max(size.elements)).max();
                Size {
                    elements: count,
                    each: each.unwrap_or(1),
                }
            }
        }
    }

    /// The largest size that a text may have after `text.replace(old, new)`.
    fn replaced(&mut self, call: &'a CallExpr) -> Size {
        let text = call
            .target
            .as_deref()
            .map_or(Size::of_list(1), |text| self.size(text));
        let [old, new, ..] = call.args.as_slice() else {
            return text;
        };
        let literal = |part: &IdedExpr| match &part.expr {
            Expr::Literal(LiteralValue::String(text)) => Some(text.inner().len()),
            _ => None,
        };
        let old = literal(old).unwrap_or_default().max(1);
        let new = literal(new).unwrap_or_else(|| self.size(new).elements.saturating_mul(TEXT));
        let times = new / old + 1;
        Size::of_list(text.elements.max(text.each).saturating_mul(times))
    }

    fn named(&self, name: &str) -> Size {
        let bound = self.bound.iter().rev().find(|(known, _)| *known == name);
        let known = || self.sizes.known.iter().find(|(known, _)| *known == name);
        let size = bound.map(|(_, size)| *size);
        size.or_else(|| known().map(|(_, size)| *size))
            .unwrap_or_else(|| Size::of_list(1))
    }
}

/// The parts of a list, map or struct.
fn parts(expression: &IdedExpr) -> Vec<&IdedExpr> {
    let entries = match &expression.expr {
        Expr::List(list) => return list.elements.iter().collect(),
        Expr::Map(map) => &map.entries,
        Expr::Struct(made) => &made.entries,
        _ => return Vec::new(),
    };
    let mut parts_of_entries = Vec::with_capacity(2 * entries.len());
    for entry in entries {
        match &entry.expr {
            EntryExpr::StructField(field) => parts_of_entries.push(&field.value),
            EntryExpr::MapEntry(entry) => parts_of_entries.extend([&entry.key, &entry.value]),
        }
    }
    parts_of_entries
}
