//! The expressions of rules.

use std::sync::Arc;

/// An expression of a rule. Chains are lists, so that long chains are not nested deeply.
#[derive(Clone, Debug)]
pub(super) enum Expr {
    /// An unsupported expression.
    Opaque,
    Null,
    Bool(bool),
    Int(i64),
    Unsigned(u64),
    Text(Arc<str>),
    List(Vec<Expr>),
    Name(Arc<str>),
    /// `has(a.b)`: the object and the field.
    Has(Box<Expr>, Arc<str>),
    /// `size(a)`.
    Size(Box<Expr>),
    /// `!a`, with the number of negations.
    Not(usize, Box<Expr>),
    /// `-a`, with the number of signs.
    Minus(usize, Box<Expr>),
    Or(Vec<Expr>),
    And(Vec<Expr>),
    /// `a + b - c`, from left to right.
    Chain(Box<Expr>, Vec<(&'static str, Expr)>),
    /// `a ? b : c`.
    If(Box<[Expr; 3]>),
    /// `a.b[c].d()`, from left to right.
    Steps(Box<Expr>, Vec<Step>),
}

/// One access or call in a chain.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Opaque,
    Field(Arc<str>),
    Index(Expr),
    Size,
    Test(Test, Expr),
    Each(Quantifier, Arc<str>, Expr),
}

/// A comparison of two strings.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    StartsWith,
    EndsWith,
    Contains,
}

/// A macro over the elements of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quantifier {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

/// Builds a call of a function.
pub(super) fn function(name: &str, arguments: Vec<Expr>) -> Expr {
    let mut arguments = arguments.into_iter();
    match (name, arguments.next(), arguments.next()) {
        ("size", Some(measured), None) => Expr::Size(Box::new(measured)),
        ("has", Some(Expr::Steps(of, mut steps)), None) => match steps.pop() {
            Some(Step::Field(field)) if steps.is_empty() => Expr::Has(of, field),
            Some(Step::Field(field)) => Expr::Has(Box::new(Expr::Steps(of, steps)), field),
            _ => Expr::Opaque,
        },
        _ => Expr::Opaque,
    }
}

/// Builds a call of a method.
pub(super) fn method(name: &str, arguments: Vec<Expr>) -> Step {
    let mut arguments = arguments.into_iter();
    match (arguments.next(), arguments.next(), arguments.next()) {
        (None, ..) if name == "size" => Step::Size,
        (Some(argument), None, _) => match name {
            "startsWith" => Step::Test(Test::StartsWith, argument),
            "endsWith" => Step::Test(Test::EndsWith, argument),
            "contains" => Step::Test(Test::Contains, argument),
            _ => Step::Opaque,
        },
        (Some(Expr::Name(variable)), Some(body), None) => {
            let each = match name {
                "all" => Quantifier::All,
                "exists" => Quantifier::Exists,
                "exists_one" | "existsOne" => Quantifier::ExistsOne,
                "filter" => Quantifier::Filter,
                "map" => Quantifier::Map,
                _ => return Step::Opaque,
            };
            Step::Each(each, variable, body)
        }
        _ => Step::Opaque,
    }
}

/// The name of a field without the escapes of Kubernetes for characters that CEL does not allow in a name. `None` if
/// Kubernetes would not write such a name.
pub(super) fn unescaped(name: &str) -> Option<String> {
    const ESCAPES: [(&str, &str); 4] = [
        ("__underscores__", "__"),
        ("__dot__", "."),
        ("__dash__", "-"),
        ("__slash__", "/"),
    ];
    const RESERVED: [&str; 21] = [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ];
    let word = name.strip_prefix("__").and_then(|n| n.strip_suffix("__"));
    if let Some(word) = word.filter(|word| RESERVED.contains(word)) {
        return Some(word.to_owned());
    }
    let mut remaining = name;
    let mut plain = String::new();
    while let Some(at) = remaining.find("__") {
        let (before, escape) = remaining.split_at_checked(at)?;
        plain.push_str(before);
        let (meant, after) = ESCAPES.iter().find_map(|(escaped, meant)| {
            let after = escape.strip_prefix(escaped)?;
            Some((meant, after))
        })?;
        plain.push_str(meant);
        remaining = after;
    }
    Some(plain + remaining)
}
