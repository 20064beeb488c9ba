//! Shell completion of kinds, object names and namespaces, from the state that the command line selects.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::time::Duration;

use clap::{Arg, ArgMatches, FromArgMatches as _};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete};

use super::state::{Opened, Scope, State};
use super::{Failure, command};
use crate::cache::lists::ReadScope;
use crate::engine::model::ids::GroupKind;

/// The program that kubectl runs to complete `kubectl attache`.
pub(super) const PLUGIN: &str = "kubectl_complete-attache";
/// The hidden command that a shell script of that name calls.
pub(super) const COMMAND: &str = "__complete";
/// Cobra's directive for kubectl: do not complete file names.
const NO_FILES: &str = ":4";
/// The argument of commands that read a state.
const NAMESPACE: &str = "namespace";
/// A user at the prompt waits no longer than this.
const PATIENCE: Duration = Duration::from_secs(3);

/// Arguments of `attache __complete`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The words after `kubectl attache`; the last one is completed.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Prints completions for kubectl.
///
/// # Errors
/// If the output cannot be written.
pub fn run(args: &Args) -> Result<(), Failure> {
    for_kubectl(&args.words)
}

/// Prints the words that can follow, one per line, then the directive for kubectl.
pub(super) fn for_kubectl(words: &[OsString]) -> Result<(), Failure> {
    let mut all = vec![OsString::from("attache")];
    all.extend(words.iter().cloned());
    if words.is_empty() {
        all.push(OsString::new());
    }
    let last = all.len() - 1;
    let mut text = String::new();
    for candidate in complete(&mut command(None), all, last, None)? {
        text.push_str(&candidate.get_value().to_string_lossy());
        text.push('\n');
    }
    super::print(&(text + NO_FILES + "\n"))
}

/// The command line before the current word.
struct Line {
    /// The name of the command.
    command: String,
    matches: ArgMatches,
}

// === impl Line ===

impl Line {
    /// The line as the shell passes it: after `--`, or after the name of the program. Parse errors are ignored.
    fn typed() -> Option<Self> {
        let words: Vec<OsString> = std::env::args_os().collect();
        let is = |at: usize, word: &str| words.get(at).is_some_and(|known| known == word);
        let start = match (is(1, COMMAND), is(1, "--"), is(2, "--")) {
            (true, _, true) | (false, true, _) => 3,
            (true, _, false) => 2,
            (false, false, _) => 1,
        };
        let typed = words.get(start..words.len() - 1)?.iter().cloned();
        let all = std::iter::once(OsString::from("attache")).chain(typed);
        let matches = command(None).ignore_errors(true).try_get_matches_from(all);
        let (command, matches) = matches.ok()?.remove_subcommand()?;
        Some(Self { command, matches })
    }

    /// The kind in a word before the current one: `describe httproute c`.
    fn kind(&self) -> Option<String> {
        let command = command(None);
        let words = command
            .find_subcommand(&self.command)?
            .get_positionals()
            .next()?;
        let mut values = self.matches.try_get_raw(words.get_id().as_str()).ok()??;
        let kind = values.next()?.to_string_lossy().into_owned();
        (!kind.contains('/')).then_some(kind)
    }

    /// The state that the command would read. Kustomizations are not built: a user at the prompt does not wait for that.
    fn opened(&self) -> Option<Opened> {
        let mut state = State {
            config: None,
            as_written: true,
            ..State::from_arg_matches(&self.matches).ok()?
        };
        state.access.request_timeout = Some(PATIENCE);
        // Piped input is not there yet.
        if state.from.as_deref().is_some_and(|from| !from.exists()) {
            return None;
        }
        let namespace = self.matches.try_get_one::<String>(NAMESPACE);
        let scope = Scope {
            namespace: namespace.ok().flatten().cloned(),
            all_namespaces: false,
        };
        state.open(&scope).ok()
    }
}

/// Completes the namespaces of all commands that read a state.
pub(super) fn with_namespaces(command: clap::Command) -> clap::Command {
    let has_namespace = |command: &clap::Command| {
        let mut arguments = command.get_arguments();
        arguments.any(|argument| argument.get_id() == NAMESPACE)
    };
    command.mut_subcommands(|command| {
        if has_namespace(&command) {
            let completed = |argument: Arg| argument.add(ArgValueCompleter::new(namespaces));
            command.mut_arg(NAMESPACE, completed)
        } else {
            command
        }
    })
}

/// The namespaces of the state.
fn namespaces(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(opened) = Line::typed().and_then(|line| line.opened()) else {
        return Vec::new();
    };
    let view = opened.view(&ReadScope::Everything);
    let kind = GroupKind::core("Namespace");
    let spaces = view.snapshot.objects(&kind);
    let mut names: BTreeSet<String> = spaces.map(|object| object.key.name.to_string()).collect();
    let used = view
        .snapshot
        .all()
        .map(|object| object.key.namespace.to_string());
    names.extend(used.filter(|name| !name.is_empty()));
    candidates(names, current)
}

/// Kinds, and the names of a kind's objects: `httproute/ca`, `httproute ca`.
pub(super) fn objects(current: &OsStr) -> Vec<CompletionCandidate> {
    let line = Line::typed();
    let kind = line.as_ref().and_then(Line::kind);
    of_kind(line.as_ref(), kind, current)
}

/// Completes `KIND/NAME` in one word: `httproute/ca`.
pub(super) fn one_object(current: &OsStr) -> Vec<CompletionCandidate> {
    of_kind(Line::typed().as_ref(), None, current)
}

fn of_kind(
    line: Option<&Line>,
    kind_word: Option<String>,
    current: &OsStr,
) -> Vec<CompletionCandidate> {
    let Some(opened) = line.and_then(Line::opened) else {
        return Vec::new();
    };
    let text = current.to_string_lossy().into_owned();
    let (kind, before) = match (text.split_once('/'), kind_word) {
        (Some((kind, _)), _) => (kind.to_owned(), format!("{kind}/")),
        (None, Some(kind)) => (kind, String::new()),
        (None, None) => {
            return candidates(opened.names.offered().map(str::to_owned).collect(), current);
        }
    };
    let Ok(gk) = opened.names.kind(&kind) else {
        return Vec::new();
    };
    let within = opened.within();
    let view = opened.view(&ReadScope::Everything);
    let all = view
        .objects
        .iter()
        .map(|object| &object.key)
        .chain(view.snapshot.objects(&gk).map(|object| &object.key));
    let in_namespace = all.filter(|key| {
        let is_in = |namespace: &String| key.namespace.is_empty() || *key.namespace == **namespace;
        key.gk == gk && within.as_ref().is_none_or(is_in)
    });
    candidates(
        in_namespace
            .map(|key| format!("{before}{}", key.name))
            .collect(),
        current,
    )
}

/// Kinds only.
pub(super) fn kinds(current: &OsStr) -> Vec<CompletionCandidate> {
    let opened = Line::typed().and_then(|line| line.opened());
    let names = opened.iter().flat_map(|opened| opened.names.offered());
    candidates(names.map(str::to_owned).collect(), current)
}

fn candidates(names: BTreeSet<String>, current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    let fitting = names.into_iter().filter(|name| name.starts_with(&*typed));
    fitting.map(CompletionCandidate::new).collect()
}
