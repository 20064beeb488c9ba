//! Turns the input into a report: checks the objects on all cores and finds the position of each finding.

use std::collections::BTreeSet;

use super::super::missing_parts;
use super::super::progress::Progress;
use super::input::Input;
use super::places::{Places, PositionQuery, shown, spot};
use crate::answer::named::KindName;
use crate::answer::report::{
    Case, Report, ReportedFinding, Spot, Suppressing, annotation_faults, of_file,
};
use crate::cache::lists::MissingPart;
use crate::cache::manifest::Problem;
use crate::cache::parallel::parallel_map;
use crate::engine::admission::finding::{Code, Finding, Severity};
use crate::engine::admission::validate::is_target_kind;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::today::today;

/// The number of objects that a thread takes at a time.
const RUN: usize = 64;

/// A report, and the objects that were checked.
pub(super) struct Checked {
    pub(super) report: Report,
    /// Every object, with its position if it comes from a file.
    pub(super) objects: Vec<(ObjectKey, Option<Spot>)>,
    /// The objects that are policies.
    pub(super) policies: BTreeSet<ObjectKey>,
}

/// A finding with its position, and the reason if it is suppressed.
struct LocatedFinding {
    finding: Finding,
    spot: Option<Spot>,
    suppressed: Option<String>,
}

/// Checks all objects.
pub(super) fn judge(input: &Input, progress: &Progress) -> Checked {
    progress.say(format!("checking {} objects", input.objects.len()));
    let today = today();
    let case = Case {
        before: input.before.as_ref(),
        after: &input.after,
        objects: &input.objects,
        route_versions: &input.route_versions,
        undated: &input.undated,
        unvalidated: !input.origins.is_empty(),
        severities: &input.severities,
        guardrails: &input.guardrails,
        today,
    };
    let keys: Vec<&ObjectKey> = input.objects.iter().collect();
    let runs: Vec<&[&ObjectKey]> = keys.chunks(RUN).collect();
    let judged = parallel_map(
        &runs,
        || case.judge(),
        |judge, run| {
            let findings = run.iter().flat_map(|key| judge.object(key));
            findings.collect::<Vec<Finding>>()
        },
    );
    let together = case.together();
    let mut judged: Vec<Finding> = judged.into_iter().flatten().chain(together).collect();
    judged.extend(unknown_yet(&judged, &input.rerouted, &case));
    let known: Vec<Finding> = judged.iter().chain(&input.on_guardrails).cloned().collect();
    judged.extend(unknown_yet(&known, &input.on_applied_guardrails, &case));
    let departures = input.departures.iter();
    let departures = departures.chain(&input.on_guardrails);
    let departures = departures.filter_map(|finding| case.weighed(finding.clone()));
    let mut findings_with_place: Vec<LocatedFinding> = Vec::new();
    let mut suppressing = Suppressing::new(&input.after, today, input.refusals);
    for mut finding in judged.into_iter().chain(departures) {
        let suppressed = suppressing.judge(&mut finding);
        let raised = finding.may_refuse && input.of_closed_set.contains(&finding.code);
        if suppressed.is_none() && raised {
            finding.severity = Severity::Deny;
        }
        findings_with_place.push(LocatedFinding {
            finding,
            spot: None,
            suppressed,
        });
    }
    findings_with_place.extend(annotations(input, &case));
    findings_with_place.extend(files(input, &case));
    progress.say("looking up lines");
    place(&mut findings_with_place, input);
    let reported = findings_with_place.into_iter().map(|judged_finding| {
        ReportedFinding::new(
            &judged_finding.finding,
            judged_finding.spot,
            judged_finding.suppressed,
        )
    });
    let policies = keys.iter().filter(|key| input.after.policy(key).is_some());
    let policies: BTreeSet<ObjectKey> = policies.map(|key| (*key).clone()).collect();
    let is_written = |key: &ObjectKey| !input.generated.contains(key);
    let written = keys.iter().filter(|key| is_written(key)).count();
    let written_policies = policies.iter().filter(|key| is_written(key)).count();
    let report = Report {
        undefined: undefined(input),
        ..Report::new(reported.collect(), written, written_policies)
    };
    let objects = keys.iter().map(|key| {
        let origin = input.origins.get(*key);
        ((*key).clone(), origin.map(spot))
    });
    Checked {
        report,
        objects: objects.collect(),
        policies,
    }
}

/// Findings on the change, without those that are known of an object already.
fn unknown_yet(judged: &[Finding], new: &[Finding], case: &Case<'_>) -> Vec<Finding> {
    let is_known = |new: &&Finding| {
        let mut known = judged.iter();
        known.any(|known| {
            (known.code, &known.object, &known.subject) == (new.code, &new.object, &new.subject)
        })
    };
    let new = new.iter().filter(|new| !is_known(new));
    new.filter_map(|finding| case.weighed(finding.clone()))
        .collect()
}

/// Policy kinds without a CRD. Empty if CRDs could not be read.
fn undefined(input: &Input) -> Vec<KindName> {
    let mut missing = input.missing.iter();
    if missing.any(|missing| matches!(missing.what, MissingPart::Definitions(_))) {
        return Vec::new();
    }
    input.after.undefined_kinds().map(KindName::from).collect()
}

/// Findings on the annotations that suppress findings.
fn annotations(input: &Input, case: &Case<'_>) -> Vec<LocatedFinding> {
    let objects = input.objects.iter();
    let faults = objects.flat_map(|key| annotation_faults(&input.after, key));
    let weighed = faults.filter_map(|finding| case.weighed(finding));
    weighed.map(LocatedFinding::from).collect()
}

/// Findings on files, and on parts of a cluster that could not be read.
fn files(input: &Input, case: &Case<'_>) -> Vec<LocatedFinding> {
    let problems = input.problems.iter().map(|problem| {
        let spot = Spot {
            file: shown(&problem.file),
            line: problem.line,
            column: problem.column,
        };
        (unreadable(problem, input), Some(spot))
    });
    let duplicates = input.duplicates.iter().map(|double| {
        let spot = spot(&double.first);
        let message = format!(
            "also defined at {}:{}; attache uses the definition here",
            spot.file, spot.line
        );
        (
            Finding::new(Code::ObjectDuplicate, &double.key, message),
            None,
        )
    });
    let known = input
        .after
        .policy_kinds()
        .filter(|gk| input.after.knows(gk));
    let known: Vec<GroupKind> = known.cloned().collect();
    let lines = missing_parts::lines(&input.missing, &known);
    let missing = lines.into_iter().map(|line| {
        let finding = of_file(Code::Unverified, line.clone()).about(line);
        (finding, None)
    });
    let findings = problems.chain(duplicates).chain(missing);
    let weighed = findings.filter_map(|(finding, spot)| Some((case.weighed(finding)?, spot)));
    let judged = weighed.map(|(finding, spot)| LocatedFinding {
        finding,
        spot,
        suppressed: None,
    });
    judged.collect()
}

/// The finding for an unreadable document. It refuses only if the kind concerns attache and the file is meant for
/// Kubernetes.
fn unreadable(problem: &Problem, input: &Input) -> Finding {
    let finding = match &problem.object {
        Some(key) => {
            let ours = input.after.profile(&key.gk).is_some()
                || is_target_kind(&key.gk)
                || key.gk == crate::engine::model::ids::GroupKind::CRD;
            // An object that is too large for attache may be fine for the API server; what is known about it counts.
            let known = input
                .after
                .get(key)
                .and_then(|object| object.unread.as_ref());
            let is_much = known.is_some_and(|why| why.is_much());
            let finding = Finding::new(Code::Unreadable, key, problem.message.clone());
            finding.only_if(ours && !is_much)
        }
        None => of_file(Code::Unreadable, problem.message.clone()),
    };
    finding
        .about(problem.message.clone())
        .only_if(!problem.foreign)
}

/// Finds the line of each finding on an object.
fn place(judged: &mut [LocatedFinding], input: &Input) {
    let mut places = Places::new(input.stdin.as_deref());
    let open = judged.iter().enumerate().filter(|(_, f)| f.spot.is_none());
    for (i, LocatedFinding { finding, .. }) in open {
        if let Some(origin) = input.origins.get(&finding.object) {
            places.ask(PositionQuery {
                index: i,
                origin,
                field: finding.field.as_ref().map(|field| &*field.0),
            });
        }
    }
    for (i, spot) in places.answers() {
        if let Some(judged_finding) = judged.get_mut(i) {
            judged_finding.spot = Some(spot);
        }
    }
}

impl From<Finding> for LocatedFinding {
    fn from(finding: Finding) -> Self {
        Self {
            finding,
            spot: None,
            suppressed: None,
        }
    }
}
