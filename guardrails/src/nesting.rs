//! The depth of an expression, found before the CEL library reads it: the library parses, evaluates
//! and drops by recursion, so a deep expression would use up the stack of the thread.
//!
//! The text is split as the grammar of the library does it. Invalid expressions are left to the
//! library, unless they could hide brackets: a text or an escape that does not end.

use std::str::CharIndices;

#[cfg(test)]
mod tests;

/// The most brackets and conditions (`a ? b : c`) within each other. The parser takes about 10 KB of stack for each, as it
/// is built for tests too (`profile.dev` in `Cargo.toml`).
const MOST_NESTED: usize = 32;
/// The most operators, fields, calls and brackets within each other and in a row; an evaluation takes about 1 KB for each.
const DEEPEST: usize = 100;

/// Checks that an expression may be given to the CEL library. An error says where it may not, and why.
pub(crate) fn check(text: &str) -> Result<(), String> {
    let mut scan = Scan {
        text,
        rest: text.char_indices(),
        open: Vec::new(),
        level: Level::default(),
        last: PreviousToken::Nothing,
    };
    scan.all().map_err(|(at, why)| {
        let (before, _) = text.split_at_checked(at).unwrap_or((text, ""));
        let line = before.rsplit('\n').next().unwrap_or(before);
        let (row, column) = (before.matches('\n').count(), line.chars().count());
        format!("{}: {why}", place(row + 1, column + 1))
    })
}

/// A place in an expression, from 1.
pub(crate) fn place(line: usize, column: usize) -> String {
    if line > 1 {
        format!("line {line}, column {column}")
    } else {
        format!("column {column}")
    }
}

/// The token before the current one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PreviousToken {
    Nothing,
    Operand,
    /// A sign before its operand: `!` or `-`.
    Sign,
}

/// Why an expression is refused, and at which byte.
type Fault = (usize, String);

struct Scan<'a> {
    text: &'a str,
    rest: CharIndices<'a>,
    /// The open brackets, with the index of each and the depth around it.
    open: Vec<(char, usize, Level)>,
    level: Level,
    last: PreviousToken,
}

/// The depth so far of the part of an expression within a pair of brackets.
#[derive(Default)]
struct Level {
    /// The fields, calls and signs of the current operand, and how deep its brackets are.
    links: usize,
    inside: usize,
    /// The operators since the last `&&`, `||`, `?`, `:` or comma, and the deepest operand between them.
    operators: usize,
    deepest_operand: usize,
    /// The `&&` and `||` since the last comma, and the conditions.
    joins: usize,
    conditions: usize,
    deepest_part: usize,
    /// The deepest of the elements that commas separate.
    deepest: usize,
}

// === impl Level ===

impl Level {
    fn end_operand(&mut self) {
        self.deepest_operand = self.deepest_operand.max(self.links + self.inside);
        (self.links, self.inside) = (0, 0);
    }

    fn operator(&mut self) {
        self.end_operand();
        self.operators += 1;
    }

    fn end_part(&mut self) {
        self.end_operand();
        self.deepest_part = self.deepest_part.max(self.operators + self.deepest_operand);
        (self.operators, self.deepest_operand) = (0, 0);
    }

    fn end_element(&mut self) {
        self.end_part();
        // The library makes balanced trees of `&&` and of `||`.
        let joins = 2 * self.joins.checked_ilog2().map_or(0, |levels| levels + 1);
        let depth = self.deepest_part + self.conditions + joins as usize;
        self.deepest = self.deepest.max(depth);
        (self.joins, self.conditions, self.deepest_part) = (0, 0, 0);
    }
}

// === impl Scan ===

impl Scan<'_> {
    fn all(&mut self) -> Result<(), Fault> {
        while let Some((at, c)) = self.rest.next() {
            match c {
                ' ' | '\t' | '\r' | '\n' | '\u{c}' => {}
                '/' if self.take("/") => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.rest.next();
                    }
                }
                '\'' | '"' => self.literal(at, c, false)?,
                c if c == '_' || c.is_ascii_alphanumeric() => self.word(at)?,
                c => self.sign(at, c)?,
            }
        }
        if let Some((bracket, at, _)) = self.open.last() {
            return Err((*at, format!("{bracket:?} is not closed")));
        }
        self.level.end_element();
        self.is_deep(0, self.level.deepest)
    }

    fn peek(&self) -> Option<char> {
        self.rest.clone().next().map(|(_, c)| c)
    }

    fn take(&mut self, prefix: &str) -> bool {
        let is_next = self.rest.as_str().starts_with(prefix);
        if is_next {
            for _ in prefix.chars() {
                self.rest.next();
            }
        }
        is_next
    }

    fn is_deep(&self, at: usize, depth: usize) -> Result<(), Fault> {
        let conditions = self.open.iter().map(|(_, _, level)| level.conditions);
        let nested = self.open.len() + self.level.conditions + conditions.sum::<usize>();
        if nested <= MOST_NESTED && depth <= DEEPEST {
            return Ok(());
        }
        let why = format!(
            "it is nested too deeply: at most {MOST_NESTED} brackets and conditions, and {DEEPEST} operators, may be within each other"
        );
        Err((at, why))
    }

    /// A name or a number; a name may begin a text.
    fn word(&mut self, at: usize) -> Result<(), Fault> {
        while self
            .peek()
            .is_some_and(|c| c == '_' || c.is_ascii_alphanumeric())
        {
            self.rest.next();
        }
        let word = self.text.get(at..self.rest.offset()).unwrap_or_default();
        if let Some(quote @ ('\'' | '"')) = self.peek() {
            let prefix = word.to_ascii_lowercase();
            if ["r", "b", "br"].contains(&prefix.as_str()) {
                let at = self.rest.offset();
                self.rest.next();
                return self.literal(at, quote, prefix.ends_with('r'));
            }
            if word.starts_with(|c: char| c.is_ascii_digit()) {
                return Err((at, "a string follows a number".to_owned()));
            }
        }
        if word == "in" {
            self.level.operator();
            self.last = PreviousToken::Nothing;
        } else {
            self.last = PreviousToken::Operand;
        }
        Ok(())
    }

    /// A text, after its first quote.
    fn literal(&mut self, at: usize, quote: char, is_raw: bool) -> Result<(), Fault> {
        let long = [quote; 3].iter().collect::<String>();
        let end = if self.take(long.get(1..).unwrap_or_default()) {
            long
        } else {
            quote.to_string()
        };
        while !self.take(&end) {
            match self.rest.next() {
                Some((at, '\\')) if !is_raw => self.escape(at)?,
                None => return Err((at, "a string has no end".to_owned())),
                Some((_, '\n' | '\r')) if end.len() == 1 => {
                    return Err((at, "a string does not end on its line".to_owned()));
                }
                Some(_) => {}
            }
        }
        self.last = PreviousToken::Operand;
        Ok(())
    }

    /// An escape in a text, after the backslash.
    fn escape(&mut self, at: usize) -> Result<(), Fault> {
        let c = self.rest.next().map(|(_, c)| c);
        let (digits, radix) = match c {
            Some('a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '\\' | '\'' | '"' | '`' | '?') => (0, 8),
            Some('x' | 'X') => (2, 16),
            Some('u') => (4, 16),
            Some('U') => (8, 16),
            Some('0'..='3') => (2, 8),
            _ => {
                return Err((
                    at,
                    "no escape begins so; write \\\\ for a backslash".to_owned(),
                ));
            }
        };
        for _ in 0..digits {
            let digit = self.rest.next();
            if digit.is_none_or(|(_, digit)| !digit.is_digit(radix)) {
                return Err((at, "the escape lacks a digit".to_owned()));
            }
        }
        Ok(())
    }

    fn sign(&mut self, at: usize, c: char) -> Result<(), Fault> {
        let is_operand = self.last == PreviousToken::Operand;
        let mut next = PreviousToken::Nothing;
        match c {
            '(' | '[' | '{' => {
                self.level.links += 1;
                self.open.push((c, at, std::mem::take(&mut self.level)));
                self.is_deep(at, 0)?;
            }
            ')' | ']' | '}' => {
                self.close(at, c)?;
                next = PreviousToken::Operand;
            }
            '&' | '|' => {
                self.take(c.encode_utf8(&mut [0; 4]));
                self.level.end_part();
                self.level.joins += 1;
            }
            '?' => {
                self.level.end_part();
                self.level.conditions += 1;
                self.is_deep(at, 0)?;
            }
            ':' => self.level.end_part(),
            ',' => self.level.end_element(),
            '.' => self.level.links += 1,
            '`' => {
                let why = "names in ` are not known here; write [\"name\"] in the place of .`name`";
                return Err((at, why.to_owned()));
            }
            '!' if self.take("=") => self.level.operator(),
            '!' | '-' if !is_operand => {
                // The library reads an even number of signs as one.
                if self.last == PreviousToken::Sign {
                    return Err((at, "two operators in a row; write one or none".to_owned()));
                }
                self.level.links += 1;
                next = PreviousToken::Sign;
            }
            '=' | '<' | '>' => {
                self.take("=");
                self.level.operator();
            }
            _ => self.level.operator(),
        }
        self.last = next;
        Ok(())
    }

    fn close(&mut self, at: usize, c: char) -> Result<(), Fault> {
        let Some((opened, _, around)) = self.open.pop() else {
            return Err((at, format!("{c:?} closes nothing")));
        };
        if !matches!((opened, c), ('(', ')') | ('[', ']') | ('{', '}')) {
            return Err((at, format!("{c:?} does not close {opened:?}")));
        }
        self.level.end_element();
        let depth = self.level.deepest;
        self.level = around;
        self.level.inside = self.level.inside.max(depth);
        self.is_deep(at, depth)
    }
}
