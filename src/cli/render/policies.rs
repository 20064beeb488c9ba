//! Policies as a table, and their totals.

use jiff::Timestamp;

use super::age::age;
use super::kind_names::Kinds;
use super::phrases;
use super::style::{Style, Tone};
use super::table::{Cell, Table};
use super::text::paragraph;
use crate::answer::named::Named;
use crate::answer::policies::{Count, Listed, Policies};
use crate::answer::state::{AttachmentState, PolicyState};
use crate::engine::kinds::profile::Class;
use crate::engine::model::ids::Place;

/// The columns that are dropped on a narrow terminal, in this order.
const DROPPED: [&str; 4] = ["AGE", "STRATEGY", "OBJECTS", "TARGETS"];

/// The most policies whose reasons are listed below the table.
const MAX_REASONS: usize = 10;

/// The form in which policies are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// The terminal.
    pub(crate) style: Style,
    /// Whether the namespaces are shown.
    pub(crate) namespaces: bool,
    /// Whether all columns are shown.
    pub(crate) wide: bool,
    /// Whether headings and totals are shown.
    pub(crate) headings: bool,
}

/// One row per policy, then the totals.
pub(crate) fn lines(policies: &Policies, form: &Form, now: Timestamp) -> String {
    let kinds = kinds(policies);
    let mut headings = vec![
        "NAMESPACE",
        "KIND",
        "NAME",
        "TARGETS",
        "STRATEGY",
        "STATE",
        "OBJECTS",
        "AGE",
    ];
    if form.wide {
        headings.extend(["CLASS", "REASON"]);
    }
    let shown = |column: usize| form.namespaces || column > 0;
    let mut table = form.table(&headings).dropping(&DROPPED);
    for listed in &policies.policies {
        let row = row(listed, &kinds, form, now);
        let cells = row.into_iter().enumerate().filter(|(i, _)| shown(*i));
        table.cells(cells.map(|(_, cell)| cell).collect());
    }
    let style = form.lines();
    let mut text = table.show(style, "");
    if form.headings {
        text.push('\n');
        text.push_str(&paragraph(
            style,
            Tone::Plain,
            "",
            &in_all(&policies.summary.count),
            "  ",
        ));
        if !form.wide {
            text.push_str(&reasons(policies, &kinds, style));
        }
        let dropped = table.dropped(style, "");
        if !dropped.is_empty() {
            let line = format!("-o wide shows {} too", dropped.join(", "));
            text.push_str(&paragraph(style, Tone::Faint, "", &line, "  "));
        }
    }
    text
}

/// Why policies are not in force: the first ones, where no column says it.
fn reasons(policies: &Policies, kinds: &Kinds, style: Style) -> String {
    let is_without = |listed: &&Listed| {
        !matches!(
            listed.state,
            PolicyState::Enforced | PolicyState::PartiallyEnforced | PolicyState::Overridden
        )
    };
    let lines = policies.policies.iter().filter(is_without);
    let lines = lines.filter_map(|listed| {
        let (policy, state) = (kinds.place(&listed.policy.0), listed.state.as_str());
        let reason = reason(listed);
        (!reason.is_empty()).then(|| format!("{policy}: {state}: {reason}"))
    });
    let mut lines = lines.collect::<Vec<String>>().into_iter();
    let mut text = String::new();
    for line in lines.by_ref().take(MAX_REASONS) {
        text.push_str(&paragraph(style, Tone::Plain, "", &line, "  "));
    }
    if lines.len() > 0 {
        let line = format!("and {} more; -o wide shows every reason", lines.len());
        text.push_str(&paragraph(style, Tone::Faint, "", &line, "  "));
    }
    text
}

fn reason(listed: &Listed) -> String {
    phrases::reason(
        &listed.policy,
        listed.state,
        &listed.by,
        listed.reason.as_deref(),
    )
}

/// The totals by namespace and kind.
pub(crate) fn totals(policies: &Policies, form: &Form) -> String {
    let kinds = kinds(policies);
    let mut table = if form.headings {
        Table::new(&["NAMESPACE", "KIND", "TOTAL", "STATES"])
    } else {
        Table::default()
    };
    for total in &policies.summary.by_namespace {
        let namespace = match total.namespace.as_str() {
            "" => "-",
            namespace => namespace,
        };
        table.row([
            namespace.into(),
            kinds.name(&total.policy_kind.0).into(),
            total.count.total.to_string().into(),
            states(&total.count).into(),
        ]);
    }
    let mut text = table.show(form.style, "");
    if form.headings {
        text.push('\n');
        text.push_str(&paragraph(
            form.style,
            Tone::Plain,
            "",
            &in_all(&policies.summary.count),
            "  ",
        ));
    }
    text
}

// === impl Form ===

impl Form {
    /// A table with these headings, if headings are shown. The first heading is that of namespaces.
    fn table(&self, headings: &[&str]) -> Table {
        if !self.headings {
            return Table::default();
        }
        let skipped = usize::from(!self.namespaces);
        Table::new(headings.get(skipped..).unwrap_or_default())
    }

    /// The style of lines: unlimited width for the wide form.
    fn lines(&self) -> Style {
        if self.wide {
            self.style.wide()
        } else {
            self.style
        }
    }
}

/// All columns, the namespace first.
fn row(listed: &Listed, kinds: &Kinds, form: &Form, now: Timestamp) -> Vec<Cell> {
    let key = &listed.policy.0.object;
    let created = listed.created.as_ref().and_then(|text| text.parse().ok());
    let mut row: Vec<Cell> = vec![
        if key.namespace.is_empty() {
            "-"
        } else {
            &*key.namespace
        }
        .into(),
        kinds.name(&key.gk).into(),
        key.name.to_string().into(),
        targets(listed, kinds).into(),
        listed.written_strategy.as_deref().unwrap_or("-").into(),
        Cell::toned(state(listed), phrases::tone(listed.state)),
        listed.acts_on.to_string().into(),
        created
            .map_or_else(|| "-".to_owned(), |created| age(created, now))
            .into(),
    ];
    if form.wide {
        let class = match listed.class {
            Class::Direct => "direct",
            Class::Inherited => "inherited",
        };
        row.push(class.into());
        let reason = reason(listed);
        row.push(if reason.is_empty() { "-" } else { &*reason }.into());
    }
    row
}

/// `Enforced`; `PartiallyEnforced (1 of 2 targets)` if the policy is not attached to all its targets.
fn state(listed: &Listed) -> String {
    let state = listed.state.as_str();
    let all = listed.targets.len();
    if listed.state != PolicyState::PartiallyEnforced {
        return state.to_owned();
    }
    let targets = listed.targets.iter();
    let attached = targets.filter(|target| target.accepted == AttachmentState::Accepted);
    match attached.count() {
        0 => state.to_owned(),
        attached if attached == all => state.to_owned(),
        attached => format!("{state} ({attached} of {all} targets)"),
    }
}

/// The first target, and the number of the others.
fn targets(listed: &Listed, kinds: &Kinds) -> String {
    let own = &listed.policy.0.object.namespace;
    let mut targets = listed.targets.iter();
    let Some(first) = targets.next() else {
        return "-".to_owned();
    };
    let Named(Place { object, section }) = &first.target;
    let mut text = kinds.name(&object.gk);
    if !object.namespace.is_empty() && object.namespace != *own {
        text = format!("{text}/{}", object.namespace);
    }
    text = format!("{text}/{}", object.name);
    if let Some(section) = section {
        text = format!("{text}#{section}");
    }
    match targets.count() {
        0 => text,
        more => format!("{text} +{more} more"),
    }
}

/// `12 policies: 9 Enforced, 2 Overridden, 1 NoEffect`.
fn in_all(count: &Count) -> String {
    let noun = if count.total == 1 {
        "policy"
    } else {
        "policies"
    };
    format!("{} {noun}: {}", count.total, states(count))
}

/// `9 Enforced, 2 Overridden`.
fn states(count: &Count) -> String {
    let states = PolicyState::ALL.into_iter();
    let counts = states.map(|state| (count.count_of(state), state.as_str()));
    let counts = counts.filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(n, word)| format!("{n} {word}")).collect();
    counts.join(", ")
}

fn kinds(policies: &Policies) -> Kinds {
    let own = policies.policies.iter().map(|listed| &listed.policy);
    let targets = policies.policies.iter().flat_map(|listed| &listed.targets);
    let all = own.chain(targets.map(|target| &target.target));
    Kinds::among(all.map(|named| &named.0.object.gk))
}
