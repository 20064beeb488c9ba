//! Decides what to do with attache's own certificates. Every replica decides by itself, from the Secret that all share.
//!
//! No call fails during a renewal. The CA of the next pair goes into `caBundle` first; the pair is served when every
//! webhook configuration has it and some time has passed, in which API servers read them. Older CAs stay until they
//! expire, so a replica that still serves the pair before is trusted too.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::stored::{contains, merged};
use super::{Lifetimes, Next, Pair, Previous, Stored, Validity, make};

/// The time for which CAs from before attache's own stay trusted: by then an upgrade is done.
const UPGRADE: SignedDuration = SignedDuration::from_hours(1);
/// The longest time between the publication of a CA and the first use of its pair.
const SETTLE: Duration = Duration::from_mins(5);

/// The settings with which certificates are made and renewed.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// The DNS names of the certificate; API servers use the first.
    pub names: Vec<String>,
    /// The time for which a pair is valid. It is renewed after two thirds of that.
    pub life: Duration,
}

/// The next step of a replica.
#[derive(Clone)]
pub enum Step {
    /// Nothing: the Secret is as it should be.
    Keep,
    /// Write this into the Secret, and say why.
    Write(Stored, &'static str),
}

// === impl Rotation ===

impl Rotation {
    /// The next step.
    ///
    /// - `stored` is what the Secret holds; `None` if there is no Secret, or it cannot be read.
    /// - `served` is what this replica serves.
    /// - `published` is the `caBundle` of each webhook configuration, in PEM.
    ///
    /// # Errors
    /// Fails if a certificate cannot be made for the names.
    pub fn step(
        &self,
        stored: Option<&Stored>,
        served: Option<&Stored>,
        published: &[String],
        now: Timestamp,
    ) -> Result<Step, rcgen::Error> {
        let usable = |stored: &&Stored| self.is_usable(&stored.ca, &stored.pair, now);
        let Some(current) = stored.filter(usable) else {
            let Some(served) = served.filter(usable) else {
                let new = self.start(stored, published, now)?;
                return Ok(Step::Write(new, "there is none that can be used"));
            };
            return Ok(Step::Write(
                served.clone(),
                "the Secret was deleted or broken; it gets what is served",
            ));
        };
        let mut after = current.clone();
        let mut why = "what has expired is removed";
        after.ca = merged(&[&current.ca], |ca| {
            Validity::from_der(ca).is_none_or(|validity| validity.until > now)
        });
        after.previous = current.previous.clone().filter(|past| past.until > now);
        after.next = current
            .next
            .clone()
            .filter(|next| self.is_usable(&current.ca, &next.pair, now));
        if let Some(next) = after
            .next
            .take_if(|next| is_due(next, current, published, now))
        {
            after.pair = next.pair;
            why = "the next pair is served from now on";
        } else if after.next.is_none() && self.is_old(&current.pair, now) {
            let made = make(&self.names, now, self.lifetimes())?;
            after.ca = merged(&[&after.ca, &made.ca_pem], |_| true);
            after.next = Some(Next {
                pair: Pair {
                    cert: made.cert_pem,
                    key: made.key_pem,
                },
                from: later(now, self.settle()),
            });
            why = "the pair is renewed after two thirds of its life";
        }
        Ok(if after == *current {
            Step::Keep
        } else {
            Step::Write(after, why)
        })
    }

    /// A first pair. CAs that are published already stay trusted for the time of an upgrade.
    fn start(
        &self,
        stored: Option<&Stored>,
        published: &[String],
        now: Timestamp,
    ) -> Result<Stored, rcgen::Error> {
        let made = make(&self.names, now, self.lifetimes())?;
        let mut before: Vec<&str> = published.iter().map(String::as_str).collect();
        before.extend(stored.map(|stored| stored.ca.as_str()));
        let ca = merged(&before, |ca| {
            Validity::from_der(ca).is_none_or(|validity| validity.until > now)
        });
        let until = now.checked_add(UPGRADE).unwrap_or(now);
        Ok(Stored {
            ca: made.ca_pem,
            pair: Pair {
                cert: made.cert_pem,
                key: made.key_pem,
            },
            next: None,
            previous: (!ca.is_empty()).then_some(Previous { ca, until }),
        })
    }

    /// Whether API servers accept a pair, for each name.
    pub fn is_usable(&self, ca: &str, pair: &Pair, now: Timestamp) -> bool {
        let mut names = self.names.iter();
        names.all(|name| pair.is_accepted(ca, name, now))
    }

    /// Whether less than a third of its life is left.
    fn is_old(&self, pair: &Pair, now: Timestamp) -> bool {
        let renewed = pair.until().map(|until| later(now, self.life / 3) >= until);
        renewed.unwrap_or(true)
    }

    /// The time in which API servers read a new `caBundle`.
    fn settle(&self) -> Duration {
        (self.life / 20).min(SETTLE)
    }

    fn lifetimes(&self) -> Lifetimes {
        Lifetimes {
            ca: self.life,
            leaf: self.life,
        }
    }
}

/// Whether the time of the next pair has come, and every webhook configuration trusts all CAs of the Secret.
fn is_due(next: &Next, current: &Stored, published: &[String], now: Timestamp) -> bool {
    let mut bundles = published.iter();
    now >= next.from && bundles.all(|bundle| contains(bundle, &current.ca))
}

fn later(now: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    now.checked_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
