//! The summary line of an object, and the list of its problems.

use std::collections::BTreeMap;

use crate::answer::description::{Overview, PolicyOnObject, TargetDescription};
use crate::answer::problems::{Problem, ProblemSubject};
use crate::answer::state::PolicyState;
use crate::cli::render::phrases::{self, count};
use crate::cli::render::style::{Style, Tone};
use crate::cli::render::table::Table;
use crate::cli::render::text::paragraph;

/// The limit of broken routes shown; the others are counted.
const MAX_BROKEN_ROUTES: usize = 10;

/// Whether a policy has a problem: it is in force nowhere and no other overrides it, or its controllers disagree.
pub(super) fn is_wrong(policy_state: &PolicyOnObject) -> bool {
    policy_state.state.is_broken() || policy_state.status.disagreement.is_some()
}

/// Whether the object has any problem.
pub(super) fn has_problems(about: &TargetDescription) -> bool {
    let broken = about.overview.as_ref().is_some_and(|overview| {
        !overview.broken_routes.is_empty() || has_broken_policies(overview)
    });
    broken || !about.problems.is_empty() || about.policies.iter().any(is_wrong)
}

fn has_broken_policies(overview: &Overview) -> bool {
    !overview.policies_below.broken.is_empty()
}

/// The summary line. The policies are those that apply to the object, and those in it or below it.
pub(super) fn line(
    about: &TargetDescription,
    overview: &Overview,
    only: bool,
    style: Style,
) -> String {
    let all = about.policies.len() + overview.policies_below.count;
    let policies = count(all, "policy", "policies");
    if !has_problems(about) {
        let routes = count(overview.routes.len(), "route", "routes");
        return paragraph(
            style,
            Tone::Good,
            "",
            &format!("No problems: {policies}, {routes}"),
            "  ",
        );
    }
    let mut states: BTreeMap<PolicyState, usize> = BTreeMap::new();
    for policy_state in about
        .policies
        .iter()
        .filter(|policy_state| is_wrong(policy_state))
    {
        *states.entry(policy_state.state).or_default() += 1;
    }
    for broken in &overview.policies_below.broken {
        *states.entry(broken.state).or_default() += 1;
    }
    let mut parts: Vec<String> = states
        .iter()
        .map(|(state, n)| format!("{} {}", count(*n, "policy", "policies"), state.as_str()))
        .collect();
    let broken = overview.broken_routes.len();
    if broken > 0 {
        parts.push(format!("{} broken", count(broken, "route", "routes")));
    }
    let (classes, of_listeners): (Vec<_>, Vec<_>) = about
        .problems
        .iter()
        .partition(|problem| problem.what == ProblemSubject::Class);
    let is_whole = of_listeners
        .iter()
        .any(|problem| problem.object.0.section.is_none());
    // A problem with the object as a whole is one with each of its listeners.
    let listeners = if is_whole {
        overview.listeners.len().max(1)
    } else {
        of_listeners.len()
    };
    if !classes.is_empty() {
        parts.push(format!(
            "{} not accepted",
            count(classes.len(), "GatewayClass", "GatewayClasses")
        ));
    }
    if listeners > 0 {
        parts.push(format!(
            "{} not accepted",
            count(listeners, "listener", "listeners")
        ));
    }
    let all = states.values().sum::<usize>() + broken + classes.len() + listeners;
    let hint = if only {
        ""
    } else {
        " (--problems shows only these)"
    };
    let text = format!(
        "{}: {}{hint}",
        count(all, "problem", "problems"),
        parts.join(", ")
    );
    paragraph(style, Tone::Bad, "", &text, "  ")
}

/// The listeners with their ports and hostnames.
pub(super) fn listeners(overview: &Overview, style: Style) -> String {
    let mut listeners = overview.listeners.iter();
    let with_certificates = listeners.any(|listener| listener.client_certificates.is_some());
    let mut columns = vec!["LISTENER", "PROTOCOL", "PORT", "HOSTNAME", "ROUTES"];
    columns.extend(with_certificates.then_some("CLIENT CERTIFICATES"));
    let mut table = Table::new(&columns);
    for listener in &overview.listeners {
        let mut row = vec![
            (&listener.name).into(),
            (&listener.protocol).into(),
            listener.port.to_string().into(),
            listener.hostname.as_deref().unwrap_or("any").into(),
            listener.routes.to_string().into(),
        ];
        row.extend(with_certificates.then(|| listener.client_certificates.unwrap_or("-").into()));
        table.cells(row);
    }
    if table.is_empty() {
        return String::new();
    }
    format!("\n{}", table.show(style, ""))
}

/// The problems of the routes below.
pub(super) fn broken_routes(overview: &Overview, only: bool, style: Style) -> String {
    let most = if only { usize::MAX } else { MAX_BROKEN_ROUTES };
    let mut text = String::new();
    for broken in overview.broken_routes.iter().take(most) {
        for problem in &broken.problems {
            let line = format!("{}: {}", broken.route.0, problem_text(problem));
            text.push_str(&paragraph(style, Tone::Warning, "  ", &line, "    "));
        }
    }
    if let Some(more @ 1..) = overview.broken_routes.len().checked_sub(most) {
        let line = format!("and {more} more broken routes: --problems");
        text.push_str(&paragraph(style, Tone::Warning, "  ", &line, "    "));
    }
    text
}

/// The policies in the object or below it that are in force nowhere.
pub(super) fn broken_policies(overview: &Overview, only: bool, style: Style) -> String {
    let most = if only { usize::MAX } else { MAX_BROKEN_ROUTES };
    let all = &overview.policies_below.broken;
    let mut text = String::new();
    for broken in all.iter().take(most) {
        let reason = broken.reason.as_deref();
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        let policy = &broken.policy.0.object;
        let (kind, path, state) = (&policy.gk.kind, policy.path(), broken.state.as_str());
        let line = format!("{kind} {path}: {state}{reason}");
        text.push_str(&paragraph(style, Tone::Warning, "  ", &line, "    "));
    }
    if let Some(more @ 1..) = all.len().checked_sub(most) {
        let line = format!("and {more} more broken policies: --problems");
        text.push_str(&paragraph(style, Tone::Warning, "  ", &line, "    "));
    }
    text
}

/// A problem in words.
pub(super) fn problem_text(problem: &Problem) -> String {
    let reason = &problem.reason;
    match problem.what {
        ProblemSubject::Parent => format!(
            "not attached to {}: {reason}",
            phrases::path(&problem.object)
        ),
        ProblemSubject::Backend => format!("no requests to {}: {reason}", problem.object.0),
        ProblemSubject::Listener | ProblemSubject::Reference => reason.clone(),
        ProblemSubject::Class => format!("not accepted: {reason}"),
        ProblemSubject::Route => format!("no request reaches it: {reason}"),
        ProblemSubject::Rule => format!("no request reaches {}: {reason}", problem.object.0),
    }
}
