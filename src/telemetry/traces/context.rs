//! Which trace a request belongs to: the headers of W3C Trace Context.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::HeaderMap;

/// Names a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceId(pub(super) [u8; 16]);

/// Names a span of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SpanId(pub(super) [u8; 8]);

/// The span of the caller that a request is part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parent {
    /// Its trace.
    pub(super) trace: TraceId,
    /// The span itself.
    pub(super) span: SpanId,
    /// Whether the caller records it.
    pub(super) sampled: bool,
    /// What the systems on the way have noted; handed on as it is.
    pub(super) state: String,
}

/// Makes names that no other process makes.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Its keys are random.
    keys: RandomState,
    next: AtomicU64,
}

/// The most that has to be handed on of `tracestate`.
const LONGEST_STATE: usize = 512;

// === impl TraceId ===

impl std::fmt::Display for TraceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

// === impl Parent ===

impl Parent {
    /// What the headers say; none where they say nothing that can be understood, and the request then begins a
    /// trace of its own, as the standard has it.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all("traceparent").iter();
        let value = values.next()?.to_str().ok()?;
        if values.next().is_some() {
            return None;
        }
        let mut parts = value.split('-');
        let version: [u8; 1] = bytes(parts.next()?)?;
        let trace: [u8; 16] = bytes(parts.next()?)?;
        let span: [u8; 8] = bytes(parts.next()?)?;
        let flags: [u8; 1] = bytes(parts.next()?)?;
        // A later version may say more behind; the first one may not.
        let is_known =
            version == [0] && parts.next().is_none() || version != [0] && version != [0xff];
        if !is_known || trace == [0; 16] || span == [0; 8] {
            return None;
        }
        let [flags] = flags;
        Some(Self {
            trace: TraceId(trace),
            span: SpanId(span),
            sampled: flags & 1 == 1,
            state: state(headers),
        })
    }
}

/// `tracestate`, its lines joined; nothing where it is longer than has to be handed on.
fn state(headers: &HeaderMap) -> String {
    let lines = headers.get_all("tracestate").iter();
    let lines: Vec<&str> = lines.filter_map(|line| line.to_str().ok()).collect();
    let joined = lines.join(",");
    if joined.len() > LONGEST_STATE {
        return String::new();
    }
    joined
}

/// Bytes written as lower-case hexadecimal digits, exactly so many.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    if text.len() != 2 * N || !text.bytes().all(is_hex) {
        return None;
    }
    let mut all = [0; N];
    for (i, byte) in all.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()?;
    }
    Some(all)
}

// === impl Ids ===

impl Ids {
    /// A new trace.
    pub(super) fn trace(&self) -> TraceId {
        let (high, low) = (self.number(), self.number());
        TraceId((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
    }

    /// A new span.
    pub(super) fn span(&self) -> SpanId {
        SpanId(self.number().to_be_bytes())
    }

    /// A number between 0 and 1 that is the same for the same trace, whoever asks.
    pub(super) fn share(trace: TraceId) -> f64 {
        let [.., a, b, c, d] = trace.0;
        f64::from(u32::from_be_bytes([a, b, c, d])) / f64::from(u32::MAX)
    }

    /// Never 0, which names nothing.
    fn number(&self) -> u64 {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        self.keys.hash_one(next).max(1)
    }
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;
    use hyper::header::HeaderValue;

    use super::{Ids, Parent};

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn parent(lines: &[(&'static str, &str)]) -> Option<Parent> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        Parent::of(&headers)
    }

    #[test]
    fn the_examples_of_the_standard_are_read() {
        let of = |flags: &str| format!("00-{TRACE}-00f067aa0ba902b7-{flags}");
        let read = parent(&[
            ("traceparent", &of("01")),
            ("tracestate", "a=1"),
            ("tracestate", "b=2"),
        ]);
        let read = read.unwrap();
        assert_eq!(read.trace.to_string(), TRACE);
        assert_eq!(read.span.0, [0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]);
        assert!(read.sampled);
        assert_eq!(read.state, "a=1,b=2");
        assert!(!parent(&[("traceparent", &of("00"))]).unwrap().sampled);
        // A later version may say more.
        let later = format!("cc-{TRACE}-00f067aa0ba902b7-01-what-comes");
        assert!(parent(&[("traceparent", &later)]).unwrap().sampled);
    }

    #[test]
    fn what_cannot_be_understood_is_no_parent() {
        let zeros = "0".repeat(32);
        let upper = TRACE.to_uppercase();
        for odd in [
            "",
            "00",
            &format!("ff-{TRACE}-00f067aa0ba902b7-01"),
            &format!("00-{zeros}-00f067aa0ba902b7-01"),
            &format!("00-{TRACE}-0000000000000000-01"),
            &format!("00-{TRACE}-00f067aa0ba902b7-01-more"),
            &format!("00-{upper}-00f067aa0ba902b7-01"),
            &format!("00-{TRACE}é-00f067aa0ba902b7-01"),
            &format!("00-{TRACE}-00f067aa0ba902b7"),
            &format!("00-{TRACE}-+0f067aa0ba902b7-01"),
        ] {
            assert_eq!(parent(&[("traceparent", odd)]), None, "{odd}");
        }
        let good = format!("00-{TRACE}-00f067aa0ba902b7-01");
        let twice = [("traceparent", &*good), ("traceparent", &*good)];
        assert_eq!(parent(&twice), None, "two are none");
        let long = "a".repeat(513);
        let read = parent(&[("traceparent", &good), ("tracestate", &long)]);
        assert_eq!(read.unwrap().state, "");
    }

    #[test]
    fn names_differ_and_shares_are_spread() {
        let ids = Ids::default();
        let traces: Vec<_> = (0..1000).map(|_| ids.trace()).collect();
        let below = traces.iter().filter(|id| Ids::share(**id) < 0.25).count();
        assert!((150..350).contains(&below), "{below}");
        let mut names: Vec<_> = traces.into_iter().map(|id| id.0).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 1000);
    }
}
