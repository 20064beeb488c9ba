//! `attache impact`: what a change does, before it is made.

use std::collections::BTreeSet;
use std::path::PathBuf;

use attache_guardrails::is_guardrail;
use clap::ValueEnum;
use clap_complete::engine::ArgValueCompleter;

use super::names::each;
use super::output::{self, Output};
use super::render::impact::{markdown, text};
use super::render::phrases::names_of;
use super::rendered::{HELM_TO_APPLY, KUSTOMIZE_TO_APPLY};
use super::state::{FROM_BELOW, Opened, Scope, State, View, read_repository};
use super::written_guardrails::{Applied, among, names, not_deleted, usable as usable_guardrails};
use super::{CommandResult, Failure, complete, find, missing_parts, print};
use crate::answer;
use crate::answer::impact::{ChangedObjects, Impact, broken, impact_on_requests};
use crate::answer::named::Named;
use crate::answer::report::{ReportedFinding, Spot};
use crate::cache::directory;
use crate::cache::lists::ReadScope;
use crate::cache::manifest::Manifests;
use crate::engine::admission::validate;
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::ObjectKey;
use crate::engine::routing::{Matching, RouteVersions};
use crate::engine::state::deleted_with::{deleted_with, without};
use crate::engine::state::snapshot::Snapshot;
use crate::today::today;

/// The path of standard input.
const STDIN: &str = "-";
/// The impact of half a change would be wrong.
const UNREAD: &str = "the effect of a change cannot be computed unless all of it can be read";

/// The most problems that one error lists.
const MOST_PROBLEMS: usize = 10;

/// The help of -n.
const NAMESPACE: &str = "The namespace of the objects in --delete, and of manifests that do not set one; the \
    effect on other namespaces is shown, too. Defaults to the namespace of the context; \
    for files, to all namespaces, and `default` for manifests that do not set one";

/// Arguments of `attache impact`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("namespace", |argument| argument.help(NAMESPACE)),
    mut_arg("from", |argument| argument.help(FROM_BELOW)),
    mut_arg("kustomize", |argument| argument.help(KUSTOMIZE_TO_APPLY)),
    mut_arg("helm", |argument| argument.help(HELM_TO_APPLY))
)]
pub struct Args {
    /// Manifests to apply: files, directories, or - for standard input. All are one change. Objects of the state that
    /// are not among them stay; attache diff shows deletions.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Same as PATH, for kubectl users.
    #[arg(short = 'f', long = "filename", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Objects to delete; without a value, the objects in the manifests.
    #[arg(long, value_name = "KIND/NAME", num_args = 0.., default_missing_value = "", add = ArgValueCompleter::new(complete::one_object))]
    delete: Vec<String>,
    #[command(flatten)]
    scope: Scope,
    /// Exit with code 1 if the change has this effect, or objects of unknown policy kinds.
    #[arg(long, value_name = "EFFECT")]
    fail_on: Option<FailOn>,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = output::OF_CHANGES)]
    output: Output,
    /// Show long values in full.
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    at: State,
}

/// Effects that cause exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Requests, protections or settings change, or a policy loses its only target.
    Change,
}

/// Runs the command.
///
/// # Errors
/// If the directory or cluster does not exist, the configuration is wrong, a manifest cannot be read, or an object to
/// delete does not exist.
pub fn run(args: &Args) -> Result<CommandResult, Failure> {
    let manifests = args.manifests()?;
    let below = args.at.below();
    let config = below.configuration()?;
    let opened = below.open_as(&config, &args.scope)?;
    let applied = Applied::from_manifests(&config.guardrails, &manifests);
    let stored = opened.guardrails();
    let in_use = usable_guardrails(&config.guardrails, stored.iter().map(AsRef::as_ref));
    let namespace = opened.namespace.clone();
    let gone = args.named(&opened)?;
    // Those that are there after the change judge it.
    let deleted_guardrails = args.deleted_guardrails(&gone, &manifests);
    let left = not_deleted(&stored, &deleted_guardrails);
    let left = usable_guardrails(&config.guardrails, left);
    let written = among(&manifests).filter(|_| !args.deletes_files());
    let after_change = usable_guardrails(&left.usable, written);
    let view = opened.view(&ReadScope::Everything);
    view.say_what_is_missing();
    for key in &gone {
        find::there(&view.snapshot, key)?;
    }
    for wrong in in_use.wrong.iter().chain(&after_change.wrong) {
        eprintln!("attache: {}", escape(&wrong.message));
    }
    let loaded = view.with(manifests, &namespace);
    if let Some(line) = directory::written_twice(&loaded.duplicates) {
        eprintln!("attache: the change: {line}");
    }
    view.say_what_is_undefined_with(&loaded);
    let (answer, after) = if args.deletes_files() {
        deleted(&view, &loaded, gone)?
    } else {
        let on_guardrails = applied.findings(&stored, &loaded.snapshot);
        let (changed, after) = changed(&view, &loaded, gone)?;
        (changed.with_guardrails(&on_guardrails), after)
    };
    let states = [&view.snapshot, &after];
    let versions = RouteVersions::of_change(&view.objects, &loaded.objects);
    let broken = broken(&after_change.usable, states, &answer, &versions, today());
    let answer = answer.with_guardrails(&broken);
    let style = args.output.style().full(args.full);
    let shown = match args.output.program(&answer::document(&answer))? {
        Some(text) => text,
        None => match args.output {
            Output::Name => {
                let objects = answer.changes.iter().map(|change| &change.object.0.object);
                let objects: BTreeSet<Named> = objects.map(Named::from).collect();
                names_of(&objects)
            }
            Output::Markdown => markdown(&answer),
            _ => text(&answer, &args.of_check(), style),
        },
    };
    print(&shown)?;
    Ok(match args.fail_on {
        Some(FailOn::Change) if !answer.is_without_effect() || has_unknown_kinds(&loaded) => {
            CommandResult::Findings
        }
        _ => CommandResult::Clean,
    })
}

/// Whether the change has objects of kinds that look like policy kinds and are not known: nobody knows their effect.
fn has_unknown_kinds(change: &directory::Loaded) -> bool {
    !missing_parts::unknown(&change.snapshot, change.origins.keys()).is_empty()
}

/// The impact of applying manifests and deleting objects, as one change, and the state after it.
pub(super) fn changed(
    view: &View,
    loaded: &directory::Loaded,
    deleted: BTreeSet<ObjectKey>,
) -> Result<(Impact, Snapshot), Failure> {
    usable(loaded, UNREAD)?;
    let findings = reported_problems(loaded);
    let before = &view.snapshot;
    let with_them = deleted_with(before, &deleted);
    let changed = ChangedObjects {
        applied: loaded.origins.keys().cloned().collect(),
        deleted,
        with_them,
    };
    if let Some(both) = changed.applied.intersection(&changed.deleted).next() {
        let both = escape(&both.to_string());
        return Err(format!("{both} cannot be applied and deleted in one change").into());
    }
    let after = without(
        loaded.snapshot.clone(),
        changed.deleted.iter().chain(&changed.with_them),
    );
    let stays = view.objects.iter();
    let stays = stays.filter(|object| !changed.applied.contains(&object.key));
    let matching_before = Matching::new(before, &view.objects);
    let matching_after = Matching::new(&after, stays.chain(&loaded.objects));
    let impact = Impact {
        findings,
        ..impact_on_requests([&matching_before, &matching_after], &changed)
    };
    Ok((impact, after))
}

/// Findings for everything that the API server would refuse or drop in the applied objects.
fn reported_problems(loaded: &directory::Loaded) -> Vec<ReportedFinding> {
    let mut findings: Vec<ReportedFinding> = Vec::new();
    for (key, origin) in &loaded.origins {
        let policy = loaded.snapshot.policy(key);
        let of_policy = policy.map(|policy| validate::of_policy(policy));
        let of_others = loaded.departures.get(key).into_iter().flatten().cloned();
        for finding in of_policy.into_iter().flatten().chain(of_others) {
            let spot = Spot {
                file: origin.file.clone(),
                line: origin.line,
                column: 0,
            };
            findings.push(ReportedFinding::new(&finding, Some(spot), None));
        }
    }
    findings
}

/// The impact of deleting the objects in manifests, and others with them, and the state after it.
pub(super) fn deleted(
    view: &View,
    loaded: &directory::Loaded,
    mut named: BTreeSet<ObjectKey>,
) -> Result<(Impact, Snapshot), Failure> {
    let before = &view.snapshot;
    usable(loaded, UNREAD)?;
    for key in loaded.origins.keys() {
        // Kinds that policies have nothing to do with are skipped.
        if before.knows(&key.gk) {
            find::there(before, key)?;
            named.insert(key.clone());
        }
    }
    let changed = ChangedObjects {
        applied: BTreeSet::new(),
        with_them: deleted_with(before, &named),
        deleted: named,
    };
    let gone = changed.deleted.iter().chain(&changed.with_them);
    let after = without(before.clone(), gone);
    let matching_before = Matching::new(before, &view.objects);
    let matching_after = Matching::new(&after, &view.objects);
    let impact = impact_on_requests([&matching_before, &matching_after], &changed);
    Ok((impact, after))
}

/// Checks that all manifests could be read. The error names the problem and the given consequence.
pub(super) fn usable(loaded: &directory::Loaded, consequence: &str) -> Result<(), Failure> {
    let problems = loaded.problems.iter();
    let problems: Vec<String> = problems
        .map(|problem| escape(&problem.to_string()))
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    let more = problems.len().saturating_sub(MOST_PROBLEMS);
    let mut lines: Vec<String> = problems.into_iter().take(MOST_PROBLEMS).collect();
    if more > 0 {
        lines.push(format!("and {more} more files or documents"));
    }
    lines.push(consequence.to_owned());
    Err(lines.join("\nattache: ").into())
}

// === impl Args ===

impl Args {
    /// Whether the files of -f are to be deleted: --delete without a name.
    fn deletes_files(&self) -> bool {
        self.delete.iter().any(String::is_empty)
    }

    /// The names of the guardrails to delete.
    fn deleted_guardrails(
        &self,
        gone: &BTreeSet<ObjectKey>,
        manifests: &Manifests,
    ) -> BTreeSet<String> {
        let named = gone.iter().filter(|key| is_guardrail(&key.gk));
        let named = named.map(|key| key.name.to_string());
        let of_files = names(manifests).filter(|_| self.deletes_files());
        named.chain(of_files).collect()
    }

    /// The manifests from paths and -f.
    fn manifests(&self) -> Result<Manifests, Failure> {
        let mut all = Manifests::default();
        let rendered = &self.at.rendered;
        let is_none = self.files().next().is_none() && rendered.is_empty();
        if self.delete.is_empty() && is_none {
            return Err(
                "say what changes: manifests that would be applied (PATH, -f PATH, -k DIR, --helm DIR, or - for the standard input), \
                 or --delete KIND/NAME"
                    .into(),
            );
        }
        let (piped, named): (Vec<&PathBuf>, Vec<&PathBuf>) =
            self.files().partition(|file| file.as_os_str() == STDIN);
        if !piped.is_empty()
            && self
                .at
                .from
                .as_ref()
                .is_some_and(|from| from.as_os_str() == STDIN)
        {
            return Err("the manifests and --from cannot both read standard input".into());
        }
        for file in named {
            if !file.exists() {
                return Err(format!("{} does not exist", file.display()).into());
            }
        }
        for file in self.files() {
            let read = if file.as_os_str() == STDIN {
                directory::read_stdin()
            } else {
                read_repository(std::slice::from_ref(file), self.at.links())
            };
            if read.objects.is_empty() && read.problems.is_empty() {
                let name = if file.as_os_str() == STDIN {
                    "the standard input".to_owned()
                } else {
                    file.display().to_string()
                };
                return Err(format!("there are no objects in {name}").into());
            }
            all.objects.extend(read.objects);
            all.problems.extend(read.problems);
        }
        let built = rendered.read(self.scope.of_files())?;
        all.objects.extend(built.objects);
        all.problems.extend(built.problems);
        if self.deletes_files() && is_none {
            return Err("--delete: specify KIND/NAME or manifests".into());
        }
        Ok(all)
    }

    /// The objects that --delete names.
    fn named(&self, opened: &Opened) -> Result<BTreeSet<ObjectKey>, Failure> {
        let mut named = BTreeSet::new();
        let words = self.delete.iter().filter(|word| !word.is_empty());
        let words: Vec<String> = words.cloned().collect();
        for (kind, name) in each(&words)? {
            let name = name.ok_or_else(|| format!("--delete {kind:?}: write KIND/NAME"))?;
            if self.scope.all_namespaces {
                return Err("-A cannot be used with a name; use -n NAMESPACE".into());
            }
            let place = opened.place(kind, name)?;
            if place.section.is_some() {
                let place = escape(&place.to_string());
                return Err(format!(
                    "{place}: a section is not deleted by itself; apply the object without it"
                )
                .into());
            }
            named.insert(place.object);
        }
        Ok(named)
    }

    /// All paths to manifests, with and without -f.
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().chain(&self.files)
    }

    /// The arguments with which `attache check` judges the same change.
    fn of_check(&self) -> Vec<String> {
        let files = self.files().map(|file| file.display().to_string());
        let mut arguments: Vec<String> = files.chain(self.at.again()).collect();
        if self.at.from.is_none() {
            arguments.push("--cluster".to_owned());
        }
        if let Some(namespace) = &self.scope.namespace {
            arguments.extend(["-n".to_owned(), namespace.clone()]);
        }
        arguments
    }
}
