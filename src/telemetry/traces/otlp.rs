//! Spans as OTLP has them: `ExportTraceServiceRequest` in the encoding of Protocol Buffers.
//!
//! Written by hand: it takes six messages of few fields, against a dozen crates.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::span::{Attribute, Recorded, Side, Span, Value};

/// A message that is being written: fields one after another, each with its number.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

// Wire types.
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
const FIXED32: u64 = 5;

/// The body of an export. `resource` is what is known of this process.
pub(super) fn request(resource: &[(String, String)], reviews: &[Recorded]) -> Vec<u8> {
    let mut all = Message::default();
    all.message(1, |of_resource| {
        of_resource.message(1, |message| {
            for (key, value) in resource {
                message.message(1, |pair| pair.pair(key, |any| any.text(1, value)));
            }
        });
        of_resource.message(2, |of_scope| {
            of_scope.message(1, |scope| {
                scope.text(1, env!("CARGO_PKG_NAME"));
                scope.text(2, env!("CARGO_PKG_VERSION"));
            });
            for review in reviews {
                for (i, span) in review.spans.iter().enumerate() {
                    let remote = i == 0 && review.joined;
                    of_scope.message(2, |message| message.span(review, span, remote));
                }
            }
        });
    });
    all.0
}

// === impl Message ===

impl Message {
    fn span(&mut self, review: &Recorded, span: &Span, remote: bool) {
        self.bytes(1, &review.trace.0);
        self.bytes(2, &span.id.0);
        self.text(3, &review.state);
        if let Some(parent) = &span.parent {
            self.bytes(4, &parent.0);
        }
        self.text(5, span.name);
        self.number(
            6,
            match span.side {
                Side::Within => 1,
                Side::Asked => 2,
                Side::Asking => 3,
            },
        );
        let began = review.began + span.after;
        self.fixed64(7, nanos(began));
        self.fixed64(8, nanos(began + span.took));
        for attribute in &span.attributes {
            self.message(9, |pair| pair.attribute(attribute));
        }
        if let Some(why) = span.failed {
            self.message(15, |status| {
                status.text(2, why);
                status.number(3, 2);
            });
        }
        // Sampled; known whether the parent is of another process; and whether it is.
        self.fixed32(16, 0x101 | if remote { 0x200 } else { 0 });
    }

    fn attribute(&mut self, (key, value): &Attribute) {
        self.pair(key, |any| match value {
            Value::Text(text) => any.text(1, text),
            Value::Is(is) => any.number(2, u64::from(*is)),
            Value::Number(number) => any.number(3, number.cast_unsigned()),
            Value::Words(words) => any.message(5, |list| {
                for word in words {
                    list.message(1, |any| any.text(1, word));
                }
            }),
        });
    }

    fn pair(&mut self, key: &str, value: impl FnOnce(&mut Self)) {
        self.text(1, key);
        self.message(2, value);
    }

    fn message(&mut self, field: u64, write: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        write(&mut inner);
        self.bytes(field, &inner.0);
    }

    fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn number(&mut self, field: u64, number: u64) {
        self.varint(field << 3 | VARINT);
        self.varint(number);
    }

    fn fixed64(&mut self, field: u64, number: u64) {
        self.varint(field << 3 | FIXED64);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn fixed32(&mut self, field: u64, number: u32) {
        self.varint(field << 3 | FIXED32);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Seven bits at a time, the lowest first; all but the last are marked.
    fn varint(&mut self, mut number: u64) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                self.0.push(low & 0x7f);
                return;
            }
            self.0.push(low | 0x80);
        }
    }
}

fn nanos(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
