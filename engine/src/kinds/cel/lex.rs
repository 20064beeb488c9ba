//! The lexer: splits the text of a rule into tokens.

use std::str::Chars;
use std::sync::Arc;

/// A token of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// An identifier or a keyword.
    Name(Arc<str>),
    Text(Arc<str>),
    Int(i64),
    Unsigned(u64),
    /// An unsupported literal: a double, bytes, a number that is too large.
    Opaque,
    /// An operator or a bracket.
    Sign(&'static str),
}

/// Longer signs come before their prefixes.
const SIGNS: &[&str] = &[
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",",
    "(", ")", "[", "]", "{", "}",
];

/// All tokens of a rule; `None` if the text contains anything else.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut lexer = Lexer {
        chars: text.chars(),
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_space();
        if lexer.peek().is_none() {
            return Some(tokens);
        }
        tokens.push(lexer.token()?);
    }
}

struct Lexer<'a> {
    chars: Chars<'a>,
}

// === impl Lexer ===

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.clone().next()
    }

    fn second(&self) -> Option<char> {
        self.chars.clone().nth(1)
    }

    fn take(&mut self, prefix: &str) -> bool {
        let after_prefix = self.chars.as_str().strip_prefix(prefix);
        if let Some(after_prefix) = after_prefix {
            self.chars = after_prefix.chars();
        }
        after_prefix.is_some()
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(c) = self.peek().filter(|c| wanted(*c)) {
            taken.push(c);
            self.chars.next();
        }
        taken
    }

    fn skip_space(&mut self) {
        loop {
            self.take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c'));
            if !self.take("//") {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn token(&mut self) -> Option<Token> {
        let first = self.peek()?;
        if first == '_' || first.is_ascii_alphabetic() {
            let name = self.take_while(|c| c == '_' || c.is_ascii_alphanumeric());
            let quoted = matches!(self.peek(), Some('\'' | '"'));
            return match &*name.to_ascii_lowercase() {
                "r" if quoted => self.text(true),
                "b" if quoted => self.text(false).map(|_| Token::Opaque),
                "br" | "rb" if quoted => self.text(true).map(|_| Token::Opaque),
                _ => Some(Token::Name(name.into())),
            };
        }
        if matches!(first, '\'' | '"') {
            return self.text(false);
        }
        let fraction = first == '.' && self.second().is_some_and(|c| c.is_ascii_digit());
        if fraction || first.is_ascii_digit() {
            return self.number();
        }
        let sign = SIGNS.iter().find(|sign| self.take(sign))?;
        Some(Token::Sign(sign))
    }

    fn number(&mut self) -> Option<Token> {
        let hex = self.take("0x");
        let digits = self.take_while(|c| c.is_digit(if hex { 16 } else { 10 }));
        let mut double = false;
        if !hex {
            if self.peek() == Some('.') && self.second().is_some_and(|c| c.is_ascii_digit()) {
                double = true;
                self.take(".");
                self.take_while(|c| c.is_ascii_digit());
            }
            if self.take("e") || self.take("E") {
                double = true;
                let _ = self.take("+") || self.take("-");
                if self.take_while(|c| c.is_ascii_digit()).is_empty() {
                    return None;
                }
            }
        }
        let unsigned = !double && (self.take("u") || self.take("U"));
        let glued = self
            .peek()
            .is_some_and(|c| c == '_' || c.is_ascii_alphanumeric());
        if glued || (digits.is_empty() && !double) {
            return None;
        }
        let value = u64::from_str_radix(&digits, if hex { 16 } else { 10 });
        Some(match value {
            _ if double => Token::Opaque,
            Ok(value) if unsigned => Token::Unsigned(value),
            Ok(value) => i64::try_from(value).map_or(Token::Opaque, Token::Int),
            Err(_) => Token::Opaque,
        })
    }

    /// A string from its opening quote on. A raw string has no escapes.
    fn text(&mut self, raw: bool) -> Option<Token> {
        let quotes = ["'''", "\"\"\"", "'", "\""];
        let quote = *quotes.iter().find(|quote| self.take(quote))?;
        let mut text = String::new();
        while !self.take(quote) {
            match self.chars.next()? {
                '\\' if !raw => text.push(self.escaped()?),
                '\n' | '\r' if quote.len() == 1 => return None,
                c => text.push(c),
            }
        }
        Some(Token::Text(text.into()))
    }

    /// The character of an escape sequence, after the backslash.
    fn escaped(&mut self) -> Option<char> {
        Some(match self.chars.next()? {
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            c @ ('\\' | '\'' | '"' | '`' | '?') => c,
            'x' | 'X' => self.code_point(0, 2, 16)?,
            'u' => self.code_point(0, 4, 16)?,
            'U' => self.code_point(0, 8, 16)?,
            c @ '0'..='3' => self.code_point(c.to_digit(8)?, 2, 8)?,
            _ => return None,
        })
    }

    fn code_point(&mut self, first: u32, digits: usize, radix: u32) -> Option<char> {
        let mut code = first;
        for _ in 0..digits {
            let digit = self.chars.next()?.to_digit(radix)?;
            code = code.checked_mul(radix)?.checked_add(digit)?;
        }
        char::from_u32(code)
    }
}
