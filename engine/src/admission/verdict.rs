//! The result of a review: sorted findings, and the lines that are reported to the user.

use std::collections::BTreeSet;

use json_patch::Patch;

use crate::admission::evidence::{Evidence, Reading};
use crate::admission::finding::{Code, Finding, Severity};
use crate::admission::mutation::Mutation;
use crate::model::ids::{GroupKind, ObjectKey};
pub use crate::model::printable::escape;
use crate::model::printable::push;

/// The maximum number of lines in one answer, including the closing line.
const MAX_LINES: usize = 10;
/// The maximum number of characters in one line.
const MAX_LINE: usize = 256;
/// The maximum number of characters in one answer: the API server truncates beyond 4,096 for all webhooks together.
const MAX_TOTAL: usize = 2_000;
/// The maximum number of refusals that are reported one by one: a person fixes them one by one.
const MAX_CAUSES: usize = 10;
/// The maximum number of characters of one refusal: each name in it has at most 253.
const MAX_REFUSAL: usize = 1_024;

/// The result of a review.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// All findings, in the order in which they are reported.
    pub findings: Vec<Finding>,
    /// The patch to apply to the object; empty unless the mutating endpoint was called.
    pub patch: Patch,
    /// The mutations that the patch consists of.
    pub mutations: BTreeSet<Mutation>,
    confirmed: bool,
    rests_on_state: bool,
}

/// One refusal, for `status.details.causes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The code of the finding.
    pub reason: &'static str,
    /// The field path.
    pub field: String,
    /// One line.
    pub message: String,
}

// === impl Verdict ===

impl Verdict {
    /// Sorts findings. A finding that depends on a failed read becomes a warning that says so.
    pub fn new(mut findings: Vec<Finding>, evidence: &Evidence) -> Self {
        for finding in &mut findings {
            confirm(finding, evidence);
        }
        findings.sort();
        findings.dedup();
        Self {
            findings,
            patch: Patch::default(),
            mutations: BTreeSet::new(),
            confirmed: !matches!(evidence, Evidence::Cached),
            rests_on_state: true,
        }
    }

    /// A verdict that the object could not be checked. It depends on no other object.
    pub fn unreadable(object: &ObjectKey, message: String) -> Self {
        Self {
            findings: vec![Finding::new(Code::Unverified, object, message)],
            confirmed: true,
            ..Self::default()
        }
    }

    /// Adds findings. One that depends on a failed read becomes a warning that says so.
    #[must_use]
    pub fn and(mut self, more: impl Iterator<Item = Finding>, evidence: &Evidence) -> Self {
        self.findings.extend(more.map(|mut finding| {
            confirm(&mut finding, evidence);
            finding
        }));
        self.findings.sort();
        self
    }

    /// Whether the object was compared with other objects; `false` for a request that needs no review.
    pub fn depends_on_state(&self) -> bool {
        self.rests_on_state
    }

    /// A verdict without findings that changes the object.
    pub fn patching(patch: Patch) -> Self {
        Self {
            patch,
            ..Self::default()
        }
    }

    /// Whether the request may pass.
    pub fn allowed(&self) -> bool {
        self.findings.iter().all(|f| f.severity != Severity::Deny)
    }

    /// The lines for `warnings`: escaped, sorted, at most [`MAX_LINES`].
    pub fn warnings(&self) -> Vec<String> {
        let warnings: Vec<&Finding> = self
            .findings
            .iter()
            .filter(|f| f.severity == Severity::Warn)
            .collect();
        let mut lines: Vec<String> = Vec::new();
        let mut total = 0;
        for (i, finding) in warnings.iter().enumerate() {
            let line = warning(finding);
            let length = line.chars().count();
            let last = i + 1 == warnings.len();
            // Unless this is the last line, the closing line must still fit.
            let lines_left = MAX_LINES - lines.len();
            if (!last && lines_left <= 1)
                || total + length + MAX_LINE > MAX_TOTAL + usize::from(last) * MAX_LINE
            {
                lines.push(closing(warnings.len() - i, finding));
                break;
            }
            // The API server drops duplicates.
            if !lines.contains(&line) {
                total += length;
                lines.push(line);
            }
        }
        lines
    }

    /// Findings that are allowed although their code refuses by default, or that could not be checked: the object,
    /// the code, and the line. Objects without a name yet are left out.
    pub fn downgraded(&self) -> impl Iterator<Item = (ObjectKey, &'static str, String)> {
        let is_one = |finding: &&Finding| {
            let refuses = finding.code.default_severity() == Severity::Deny;
            refuses || finding.code == Code::Unverified
        };
        let allowed = self.findings.iter().filter(|_| self.allowed());
        let named = allowed.filter(|finding| !finding.object.name.is_empty());
        named.filter(is_one).map(|finding| {
            let line = warning(finding);
            (finding.object.clone(), finding.code.as_str(), line)
        })
    }

    /// The first refusals.
    pub fn causes(&self) -> Vec<Cause> {
        let refusals = self.refusals().take(MAX_CAUSES);
        refusals
            .map(|finding| {
                let code = finding.code.as_str();
                // kubectl prints the field before the message, also an empty one.
                let field = finding.field.as_ref().map_or("spec", |field| &field.0);
                let message = short(&with_source(finding), MAX_REFUSAL)
                    .or_else(|| short(&finding.message, MAX_REFUSAL))
                    .unwrap_or(TOO_LONG.to_owned());
                Cause {
                    reason: code,
                    field: short(field, MAX_LINE).unwrap_or_default(),
                    message: format!("{code}: {message}"),
                }
            })
            .collect()
    }

    /// The text of `status.message` of a refusal: one line for each of the first refusals.
    pub fn message(&self) -> String {
        let refusals = self.refusals().take(MAX_CAUSES);
        let mut lines: Vec<String> = refusals.map(refusal).collect();
        let more = self.refusals().count() - lines.len();
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        lines.join("\n")
    }

    /// Objects whose absence, or lack of a section, a finding depends on, if only a cache was read; sorted.
    pub fn absences(&self) -> Vec<ObjectKey> {
        if self.confirmed {
            return Vec::new();
        }
        let mut objects: Vec<ObjectKey> = self
            .findings
            .iter()
            .filter_map(|f| f.depends_on_absence_of.clone())
            .collect();
        objects.sort();
        objects.dedup();
        objects
    }

    /// Objects without which a refusal would not hold, and which the cache may have although they are gone, if only a cache was
    /// read; sorted.
    pub fn refuting_absences(&self) -> BTreeSet<ObjectKey> {
        let refusals = self.refusals().filter(|_| !self.confirmed);
        refusals
            .flat_map(|finding| finding.refuted_by_absence_of.iter().cloned())
            .collect()
    }

    /// Kinds of which an object that the cache does not have could refute a refusal, if only a cache was read; sorted.
    pub fn refuting_kinds(&self) -> BTreeSet<GroupKind> {
        let refusals = self.refusals().filter(|_| !self.confirmed);
        refusals
            .flat_map(|finding| finding.refuted_by_kinds.iter().cloned())
            .collect()
    }

    fn refusals(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|f| f.severity == Severity::Deny)
    }
}

/// Turns a finding into a warning if a live read that it depends on failed.
fn confirm(finding: &mut Finding, evidence: &Evidence) {
    let Evidence::Live(readings) = evidence else {
        return;
    };
    let object = finding.depends_on_absence_of.as_ref();
    let refuses = finding.refuses();
    let kinds = finding.refuted_by_kinds.iter().filter(|_| refuses);
    let of_object = object.map(|object| readings.objects.get(object));
    let of_kinds = kinds.map(|kind| readings.kinds.get(kind));
    let outcomes = of_object.into_iter().chain(of_kinds);
    let failed = outcomes.filter_map(|outcome| match outcome {
        Some(Reading::Answered) => None,
        Some(Reading::Failed(why)) => Some(why.as_str()),
        None => Some("it was not read"),
    });
    if let Some(why) = failed.map(str::to_owned).next() {
        *finding = unverified(finding, &why);
    }
}

fn unverified(finding: &Finding, why: &str) -> Finding {
    let message = format!(
        "{} could not be confirmed ({why}): {}",
        finding.code.as_str(),
        finding.message
    );
    let mut finding = Finding {
        code: Code::Unverified,
        message,
        ..finding.clone()
    };
    finding.warn();
    finding
}

/// A substitute for a name of absurd length.
const TOO_LONG: &str = "a name too long to show";

/// One line within [`MAX_LINE`]. Settings are left out first, then the source, then everything but the pointer. A
/// name is never truncated.
fn warning(finding: &Finding) -> String {
    let alone = || {
        message_only(finding, MAX_LINE)
            .or_else(|| beginning(finding))
            .unwrap_or_else(|| too_long(finding, "too long for a warning: attache describe"))
    };
    let (settings, source) = (&finding.settings, &finding.source);
    if length(finding) > 4 * MAX_LINE || source.len() > 4 * MAX_LINE {
        return alone();
    }
    // Settings that cannot fit are not formatted.
    let mut room = MAX_LINE + 2;
    let has_room = |setting: &&String| {
        let length = setting.chars().take(MAX_LINE).count() + 2;
        let left = room.checked_sub(length);
        room = left.unwrap_or(0);
        left.is_some()
    };
    let limit = settings.iter().take_while(has_room).count();
    let mut fewer = (0..=limit).rev().map(|shown| {
        let (kept, left) = settings.split_at_checked(shown).unwrap_or_default();
        text(finding, kept, left.len(), source)
    });
    fewer
        .find(|line| is_within(line, MAX_LINE))
        .unwrap_or_else(alone)
}

/// A refusal in one line, with its source if that fits.
fn refusal(finding: &Finding) -> String {
    let is_short = finding.source.len() <= MAX_REFUSAL && length(finding) <= MAX_REFUSAL;
    let whole = is_short.then(|| text(finding, &[], 0, &finding.source));
    let whole = whole.filter(|line| is_within(line, MAX_REFUSAL));
    whole
        .or_else(|| message_only(finding, MAX_REFUSAL))
        .unwrap_or_else(|| too_long(finding, TOO_LONG))
}

/// The message of a finding, with its source.
fn with_source(finding: &Finding) -> String {
    match &*finding.source {
        "" => finding.message.clone(),
        source => format!("{} ({source})", finding.message),
    }
}

/// A finding without settings and source; `None` if it has more than `limit` characters, each of up to four bytes.
fn message_only(finding: &Finding, limit: usize) -> Option<String> {
    if length(finding) > 4 * limit {
        return None;
    }
    Some(text(finding, &[], 0, "")).filter(|line| is_within(line, limit))
}

/// The beginning of a message that is too long, up to the end of a part of the sentence, and the command that shows all of it. `None`
/// if no part fits.
fn beginning(finding: &Finding) -> Option<String> {
    let pointer = format!(" …: {}", describe_command(finding));
    let limit = MAX_LINE.checked_sub(pointer.chars().count())?;
    let message = finding
        .message
        .get(..4 * MAX_LINE)
        .unwrap_or(&finding.message);
    let separators = ["; ", ": ", " (", ", and "];
    let ends = separators
        .iter()
        .flat_map(|separator| message.match_indices(separator));
    let ends: BTreeSet<usize> = ends.map(|(end, _)| end).collect();
    let parts = ends.into_iter().rev();
    let parts = parts.filter_map(|end| finding.message.get(..end));
    // No bracket stays open.
    let is_whole = |part: &&str| part.matches('(').count() == part.matches(')').count();
    let parts = parts.filter(|part| is_within(part, limit)).filter(is_whole);
    let mut beginnings = parts
        .map(|part| with_message(finding, part))
        .filter(|line| is_within(line, limit));
    Some(beginnings.next()? + &pointer)
}

/// A lower bound of the length of a finding in bytes.
fn length(finding: &Finding) -> usize {
    let field = finding.field.as_ref().map_or(0, |field| field.0.len());
    finding.message.len() + field
}

/// The text for a finding whose message does not fit: its field, if that fits.
fn too_long(finding: &Finding, explanation: &str) -> String {
    let code = finding.code.as_str();
    let field = finding.field.as_ref().map_or("", |field| &field.0);
    match short(field, MAX_LINE / 2) {
        Some(field) if !field.is_empty() => format!("{code}: {field}: {explanation}"),
        _ => format!("{code}: {explanation}"),
    }
}

/// An escaped text; `None` if it has more than `limit` characters.
fn short(text: &str, limit: usize) -> Option<String> {
    let escaped = Some(text)
        .filter(|text| text.len() <= 4 * limit)
        .map(escape);
    escaped.filter(|text| is_within(text, limit))
}

/// Whether a text has at most `limit` characters.
fn is_within(text: &str, limit: usize) -> bool {
    text.len() <= limit || text.chars().nth(limit).is_none()
}

/// The text of a finding without its code and field; escaped, never truncated.
pub fn sentence(finding: &Finding) -> String {
    let mut line = escape(&finding.message);
    add_settings(&mut line, finding, &finding.settings, 0, &finding.source);
    line
}

/// A finding with these of its settings, and the number of further ones.
fn text(finding: &Finding, settings: &[String], more: usize, source: &str) -> String {
    let mut line = with_message(finding, &finding.message);
    add_settings(&mut line, finding, settings, more, source);
    line
}

/// The code and the field of a finding, and this message.
fn with_message(finding: &Finding, message: &str) -> String {
    let mut line = String::with_capacity(MAX_LINE);
    line.push_str(finding.code.as_str());
    let field = finding.field.as_ref().map(|field| &*field.0);
    for part in field.into_iter().chain([message]) {
        line.push_str(": ");
        push(&mut line, part);
    }
    line
}

fn add_settings(
    line: &mut String,
    finding: &Finding,
    settings: &[String],
    more: usize,
    source: &str,
) {
    let mut before = match finding.code {
        Code::EffectiveChange | Code::ProtectionLost => ": ",
        Code::Overridden | Code::PartlyOverridden => ", which sets ",
        _ => " sets ",
    };
    for setting in settings {
        line.push_str(before);
        push(line, setting);
        before = ", ";
    }
    if more > 0 && !settings.is_empty() {
        line.extend([before, &more.to_string(), " more"]);
    }
    if !source.is_empty() {
        line.push_str(" (");
        push(line, source);
        line.push(')');
    }
}

/// The command that shows everything about the object of a finding.
fn describe_command(finding: &Finding) -> String {
    let object = &finding.object;
    let mut name = format!("{}/{}", object.gk, object.name);
    if !object.namespace.is_empty() {
        name = format!("{name} -n {}", object.namespace);
    }
    format!("attache describe {}", escape(&name))
}

fn closing(left: usize, finding: &Finding) -> String {
    let line = format!("and {left} more: {}", describe_command(finding));
    if line.chars().count() <= MAX_LINE {
        line
    } else {
        format!("and {left} more: attache describe")
    }
}
