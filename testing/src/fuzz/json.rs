//! JSON as text: it preserves duplicate keys and numbers out of range, which a parsed value cannot hold.

use std::fmt::Write as _;

/// Deeper values are kept as text.
const DEPTH: usize = 64;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// A scalar, or a value that is too deep, as text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// Keys as written, with their quotes.
    Map(Vec<(String, Json)>),
}

impl Json {
    /// Parses one value leniently; `None` if it is not JSON.
    pub fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        (reader.at == text.len()).then_some(value)
    }

    /// A string.
    pub fn string(text: &str) -> Self {
        Self::Text(quoted(text))
    }

    /// The number of values, including itself.
    pub fn count(&self) -> usize {
        match self {
            Self::Text(_) => 1,
            Self::List(items) => 1 + items.iter().map(Self::count).sum::<usize>(),
            Self::Map(fields) => 1 + fields.iter().map(|(_, v)| v.count()).sum::<usize>(),
        }
    }

    /// The value at an index in document order; 0 is itself.
    pub fn at(&mut self, mut place: usize) -> Option<&mut Self> {
        if place == 0 {
            return Some(self);
        }
        place -= 1;
        let below: Box<dyn Iterator<Item = &mut Self>> = match self {
            Self::Text(_) => return None,
            Self::List(items) => Box::new(items.iter_mut()),
            Self::Map(fields) => Box::new(fields.iter_mut().map(|(_, value)| value)),
        };
        for value in below {
            let count = value.count();
            if place < count {
                return value.at(place);
            }
            place -= count;
        }
        None
    }

    /// Writes it as JSON.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i == 0 { "" } else { "," });
                    item.write(out);
                }
                out.push(']');
            }
            Self::Map(fields) => {
                out.push('{');
                for (i, (key, value)) in fields.iter().enumerate() {
                    let comma = if i == 0 { "" } else { "," };
                    let _ = write!(out, "{comma}{key}:");
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// Quotes a text as a JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|c| c.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn takes(&mut self, byte: u8) -> bool {
        self.space();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        self.space();
        let start = self.at;
        match self.peek()? {
            b'{' | b'[' if depth > DEPTH => {
                let mut open = 0_usize;
                loop {
                    match self.peek()? {
                        b'"' => {
                            self.string()?;
                            continue;
                        }
                        b'{' | b'[' => open += 1,
                        b'}' | b']' => open -= 1,
                        _ => {}
                    }
                    self.at += 1;
                    if open == 0 {
                        return Some(Json::Text(self.text.get(start..self.at)?.to_owned()));
                    }
                }
            }
            b'{' => {
                self.at += 1;
                let mut fields = Vec::new();
                while !self.takes(b'}') {
                    if !fields.is_empty() && !self.takes(b',') {
                        return None;
                    }
                    self.space();
                    let key = self.string()?;
                    if !self.takes(b':') {
                        return None;
                    }
                    fields.push((key, self.value(depth + 1)?));
                }
                Some(Json::Map(fields))
            }
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while !self.takes(b']') {
                    if !items.is_empty() && !self.takes(b',') {
                        return None;
                    }
                    items.push(self.value(depth + 1)?);
                }
                Some(Json::List(items))
            }
            b'"' => self.string().map(Json::Text),
            _ => {
                let is_word = |c: u8| c.is_ascii_alphanumeric() || b"+-._".contains(&c);
                while self.peek().is_some_and(is_word) {
                    self.at += 1;
                }
                let word = self.text.get(start..self.at)?;
                (!word.is_empty()).then(|| Json::Text(word.to_owned()))
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        if self.peek()? != b'"' {
            return None;
        }
        loop {
            self.at += 1;
            match self.peek()? {
                b'\\' => self.at += 1,
                b'"' => break,
                _ => {}
            }
        }
        self.at += 1;
        Some(self.text.get(start..self.at)?.to_owned())
    }
}
