//! The parser: builds the expression of a rule from its tokens.

use std::iter::Peekable;
use std::sync::Arc;
use std::vec::IntoIter;

use super::expr::{Expr, Step, function, method, unescaped};
use super::lex::Token;

/// The maximum nesting of a rule; real ones stay below 10. Parsing and evaluation recurse once per level of nesting
/// and never along a chain, so this bounds the stack: below 1 MB, unoptimized.
const DEEPEST: usize = 64;

/// The expression that consists of all of these tokens.
pub(super) fn parse(tokens: Vec<Token>) -> Option<Expr> {
    let mut parser = Parser {
        tokens: tokens.into_iter().peekable(),
        depth: 0,
    };
    let expr = parser.expr()?;
    parser.tokens.next().is_none().then_some(expr)
}

struct Parser {
    tokens: Peekable<IntoIter<Token>>,
    depth: usize,
}

/// Left-associative operators, those with the lowest precedence first. `in` is a word.
const CHAINS: &[&[&str]] = &[
    &["==", "!=", "<=", ">=", "<", ">", "in"],
    &["+", "-"],
    &["*", "/", "%"],
];

// === impl Parser ===

impl Parser {
    fn take(&mut self, sign: &str) -> bool {
        let is_sign = |token: &Token| matches!(token, Token::Sign(s) if *s == sign);
        self.tokens.next_if(is_sign).is_some()
    }

    fn expect(&mut self, sign: &str) -> Option<()> {
        self.take(sign).then_some(())
    }

    fn name(&mut self) -> Option<Arc<str>> {
        match self.tokens.next()? {
            Token::Name(name) => Some(name),
            _ => None,
        }
    }

    fn expr(&mut self) -> Option<Expr> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let expr = self.or()?;
        let expr = if self.take("?") {
            let then = self.expr()?;
            self.expect(":")?;
            Expr::If(Box::new([expr, then, self.expr()?]))
        } else {
            expr
        };
        self.depth -= 1;
        Some(expr)
    }

    fn or(&mut self) -> Option<Expr> {
        let mut parts = vec![self.and()?];
        while self.take("||") {
            parts.push(self.and()?);
        }
        Some(one_or(parts, Expr::Or))
    }

    fn and(&mut self) -> Option<Expr> {
        let mut parts = vec![self.chain(CHAINS)?];
        while self.take("&&") {
            parts.push(self.chain(CHAINS)?);
        }
        Some(one_or(parts, Expr::And))
    }

    fn chain(&mut self, levels: &[&[&'static str]]) -> Option<Expr> {
        let Some((level, tighter)) = levels.split_first() else {
            return self.unary();
        };
        let first = self.chain(tighter)?;
        let mut others = Vec::new();
        while let Some(operator) = self.operator(level) {
            others.push((operator, self.chain(tighter)?));
        }
        Some(if others.is_empty() {
            first
        } else {
            Expr::Chain(Box::new(first), others)
        })
    }

    fn operator(&mut self, level: &[&'static str]) -> Option<&'static str> {
        let known_sign = match self.tokens.peek()? {
            Token::Sign(sign) => level.iter().find(|o| *o == sign),
            Token::Name(name) if &**name == "in" => level.iter().find(|o| **o == "in"),
            _ => None,
        }?;
        self.tokens.next();
        Some(known_sign)
    }

    fn unary(&mut self) -> Option<Expr> {
        let (mut nots, mut minuses) = (0, 0);
        while self.take("!") {
            nots += 1;
        }
        while nots == 0 && self.take("-") {
            minuses += 1;
        }
        let operand = self.steps()?;
        Some(match (nots, minuses) {
            (0, 0) => operand,
            (0, minuses) => Expr::Minus(minuses, Box::new(operand)),
            (nots, _) => Expr::Not(nots, Box::new(operand)),
        })
    }

    fn steps(&mut self) -> Option<Expr> {
        let first = self.primary()?;
        let mut steps = Vec::new();
        loop {
            let step = if self.take("[") {
                let optional = self.take("?");
                let index = self.expr()?;
                self.expect("]")?;
                if optional {
                    Step::Opaque
                } else {
                    Step::Index(index)
                }
            } else if self.take(".") {
                let optional = self.take("?");
                let name = self.name()?;
                if self.take("(") {
                    method(&name, self.list(")")?)
                } else {
                    let field = unescaped(&name).filter(|_| !optional);
                    field.map_or(Step::Opaque, |field| Step::Field(field.into()))
                }
            } else {
                break;
            };
            steps.push(step);
        }
        Some(if steps.is_empty() {
            first
        } else {
            Expr::Steps(Box::new(first), steps)
        })
    }

    fn primary(&mut self) -> Option<Expr> {
        Some(match self.tokens.next()? {
            Token::Text(text) => Expr::Text(text),
            Token::Int(value) => Expr::Int(value),
            Token::Unsigned(value) => Expr::Unsigned(value),
            Token::Opaque => Expr::Opaque,
            Token::Sign("(") => {
                let expr = self.expr()?;
                self.expect(")")?;
                expr
            }
            Token::Sign("[") => Expr::List(self.list("]")?),
            Token::Sign("{") => {
                self.entries()?;
                Expr::Opaque
            }
            Token::Sign(_) => return None,
            Token::Name(name) => match &*name {
                "true" => Expr::Bool(true),
                "false" => Expr::Bool(false),
                "null" => Expr::Null,
                "in" => return None,
                _ if self.take("(") => function(&name, self.list(")")?),
                _ => Expr::Name(name),
            },
        })
    }

    /// Expressions separated by commas, up to the closing bracket.
    fn list(&mut self, close: &str) -> Option<Vec<Expr>> {
        let mut list = Vec::new();
        while !self.take(close) {
            // `[?a]` is an optional element.
            let optional = self.take("?");
            let expr = self.expr()?;
            list.push(if optional { Expr::Opaque } else { expr });
            if !self.take(",") {
                self.expect(close)?;
                break;
            }
        }
        Some(list)
    }

    /// The entries of a map, up to the closing brace.
    fn entries(&mut self) -> Option<()> {
        while !self.take("}") {
            self.take("?");
            self.expr()?;
            self.expect(":")?;
            self.expr()?;
            if !self.take(",") {
                return self.expect("}");
            }
        }
        Some(())
    }
}

fn one_or(mut parts: Vec<Expr>, several: impl Fn(Vec<Expr>) -> Expr) -> Expr {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            several(parts)
        }
    }
}
