//! An expression as it is evaluated. If an expression asks for a field of a value without fields (a
//! list, a text, null), the library gives `false`. In CEL that is an error, and `!=` would always
//! hold. Whole numbers in settings are `int`, however they are written.

use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr, operators,
};

use crate::functions::{ABSENT, HAS};
use crate::macros::{ANY, DECIDED, ELEMENTS, EVERY};

/// The whole numbers that a `double` has exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The expression in which fields are asked for strictly, and whole numbers are compared as `int`.
pub(crate) fn strict(expression: &IdedExpr) -> IdedExpr {
    let expr = match &expression.expr {
        Expr::Select(select) if select.test => has(select),
        Expr::Select(select) => call(
            operators::INDEX,
            vec![strict(&select.operand), text(&select.field)],
        ),
        Expr::Call(made) => {
            let args: Vec<IdedExpr> = made.args.iter().map(strict).collect();
            Expr::Call(CallExpr {
                func_name: made.func_name.clone(),
                target: made.target.as_ref().map(|target| Box::new(strict(target))),
                args: if compares(&made.func_name) {
                    as_whole_numbers(&made.args, args)
                } else {
                    args
                },
            })
        }
        Expr::Comprehension(inner) => Expr::Comprehension(Box::new(comprehension(inner))),
        Expr::List(list) => {
            let mut list = list.clone();
            for element in &mut list.elements {
                *element = strict(element);
            }
            Expr::List(list)
        }
        Expr::Map(map) => {
            let mut map = map.clone();
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    entry.key = strict(&entry.key);
                    entry.value = strict(&entry.value);
                }
            }
            Expr::Map(map)
        }
        other => other.clone(),
    };
    IdedExpr {
        id: expression.id,
        expr,
    }
}

/// A macro over a list or a map. The keys of a map come in their order: the library takes them in a random one. As CEL says, one element
/// decides `exists` and `all`, whether others can be evaluated or not.
fn comprehension(inner: &ComprehensionExpr) -> ComprehensionExpr {
    let range = strict(&inner.iter_range);
    let mut made = ComprehensionExpr {
        iter_range: if is_list(&inner.iter_range) {
            range
        } else {
            new(call(ELEMENTS, vec![range]))
        },
        accu_init: strict(&inner.accu_init),
        loop_cond: strict(&inner.loop_cond),
        loop_step: strict(&inner.loop_step),
        result: strict(&inner.result),
        ..inner.clone()
    };
    let is_of_bool = matches!(
        inner.accu_init.expr,
        Expr::Literal(LiteralValue::Boolean(_))
    );
    if let (true, Expr::Call(step)) = (is_of_bool, &mut made.loop_step.expr) {
        let decide = match step.func_name.as_str() {
            operators::LOGICAL_OR => ANY,
            operators::LOGICAL_AND => EVERY,
            _ => return made,
        };
        decide.clone_into(&mut step.func_name);
        made.result = new(call(DECIDED, vec![made.result]));
    }
    made
}

/// Whether a value is known to be a list.
fn is_list(expression: &IdedExpr) -> bool {
    let is_variable = |name: &str| ["policies", "protections"].contains(&name);
    match &expression.expr {
        Expr::Ident(name) => is_variable(name),
        Expr::Select(select) => {
            is_variable(&select.field)
                && matches!(&select.operand.expr, Expr::Ident(name) if name == "before")
        }
        Expr::List(_) => true,
        _ => false,
    }
}

/// Whether there is a field. `HAS` copies the value; after a name, or a chain of fields, `in` finds the field without a copy.
fn has(select: &SelectExpr) -> Expr {
    let (operand, field) = (strict(&select.operand), text(&select.field));
    if !is_path(&select.operand) {
        return call(HAS, vec![operand, field]);
    }
    let is_in = new(call(operators::IN, vec![field, operand.clone()]));
    let yes = new(Expr::Literal(LiteralValue::Boolean(true.into())));
    call(
        operators::CONDITIONAL,
        vec![is_in, yes, new(call(ABSENT, vec![operand]))],
    )
}

fn compares(function: &str) -> bool {
    [operators::EQUALS, operators::NOT_EQUALS, operators::IN].contains(&function)
}

/// The arguments of a comparison with a setting: `5.0` is `5`.
fn as_whole_numbers(written: &[IdedExpr], mut args: Vec<IdedExpr>) -> Vec<IdedExpr> {
    if written.iter().any(is_path) {
        args.iter_mut().for_each(as_whole_number);
    }
    args
}

fn as_whole_number(expression: &mut IdedExpr) {
    match &mut expression.expr {
        Expr::Literal(LiteralValue::Double(number)) => {
            if let Some(whole) = whole(*number.inner()) {
                expression.expr = Expr::Literal(LiteralValue::Int(whole.into()));
            }
        }
        Expr::List(list) => list.elements.iter_mut().for_each(as_whole_number),
        _ => {}
    }
}

/// A whole number as an integer; `None` for another one.
pub(crate) fn whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() <= EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
    is_whole.then_some(number as i64)
}

/// Whether an expression is a name, or names and indices in a row.
fn is_path(expression: &IdedExpr) -> bool {
    match &expression.expr {
        Expr::Ident(_) => true,
        Expr::Select(select) => !select.test && is_path(&select.operand),
        Expr::Call(call) => match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::INDEX, [of, index]) => {
                is_path(of) && matches!(index.expr, Expr::Literal(_) | Expr::Ident(_))
            }
            _ => false,
        },
        _ => false,
    }
}

fn call(name: &str, args: Vec<IdedExpr>) -> Expr {
    Expr::Call(CallExpr {
        func_name: name.to_owned(),
        target: None,
        args,
    })
}

fn text(text: &str) -> IdedExpr {
    new(Expr::Literal(LiteralValue::String(text.into())))
}

fn new(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}
