//! Shell completion of kinds, object names and namespaces, from the state that the command line selects.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::time::Duration;

use clap_complete::engine::{CompletionCandidate, complete};

use super::state::{Opened, Scope, State};
use super::{Failure, command};
use crate::cache::lists::Wants;
use crate::engine::ids::GroupKind;

/// The program that kubectl runs to complete `kubectl attache`.
pub(super) const PLUGIN: &str = "kubectl_complete-attache";
/// The hidden command that a shell script of that name calls.
pub(super) const COMMAND: &str = "__complete";
/// Cobra's directive for kubectl: do not complete file names.
const NO_FILES: &str = ":4";
/// Options that take a value as the next word.
const VALUED: [&str; 12] = [
    "--from",
    "--kubeconfig",
    "--context",
    "--config",
    "--as",
    "--as-group",
    "--request-timeout",
    "-n",
    "--namespace",
    "-o",
    "--output",
    "-l",
];
/// A user at the prompt waits no longer than this.
const PATIENCE: Duration = Duration::from_secs(3);

/// Arguments of `attache __complete`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The words behind `kubectl attache`; the last is the one that is typed.
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

/// The command line typed so far.
struct Line(Vec<String>);

// === impl Line ===

impl Line {
    /// The line as the shell passes it: after `--`, or after the name of the program.
    fn typed() -> Self {
        let words: Vec<String> = std::env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let is = |at: usize, word: &str| words.get(at).is_some_and(|known| known == word);
        let start = match (is(1, COMMAND), is(1, "--"), is(2, "--")) {
            (true, _, true) | (false, true, _) => 3,
            (true, _, false) => 2,
            (false, false, _) => 1,
        };
        Self(words.get(start..).unwrap_or_default().to_vec())
    }

    /// The value of an option.
    fn option(&self, names: &[&str]) -> Option<String> {
        let mut words = self.0.iter();
        while let Some(word) = words.next() {
            if names.contains(&word.as_str()) {
                return words.next().cloned();
            }
            let said = names
                .iter()
                .find_map(|name| word.strip_prefix(&format!("{name}=")));
            if let Some(said) = said {
                return Some(said.to_owned());
            }
        }
        None
    }

    /// The kind in a word before the current one: `describe httproute c`.
    fn kind(&self) -> Option<&str> {
        let mut words = self.0.get(1..self.0.len().saturating_sub(1))?.iter();
        while let Some(word) = words.next() {
            if VALUED.contains(&word.as_str()) {
                words.next();
            } else if !word.starts_with('-') {
                return (!word.contains('/')).then_some(word);
            }
        }
        None
    }

    /// The state that the command would read.
    fn opened(&self) -> Option<Opened> {
        let state = State {
            follow_links: false,
            from: self.option(&["--from"]).map(Into::into),
            kubeconfig: self.option(&["--kubeconfig"]).map(Into::into),
            context: self.option(&["--context"]),
            user: self.option(&["--as"]),
            groups: Vec::new(),
            request_timeout: Some(PATIENCE),
            config: None,
        };
        // Piped input is not there yet.
        if state.from.as_deref().is_some_and(|from| !from.exists()) {
            return None;
        }
        let namespace = self.option(&["-n", "--namespace"]);
        let scope = Scope {
            namespace,
            all_namespaces: false,
        };
        state.open(&scope).ok()
    }
}

/// The namespaces of the state.
pub(super) fn namespaces(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(opened) = Line::typed().opened() else {
        return Vec::new();
    };
    let view = opened.view(&Wants::Everything);
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
    let Some(opened) = line.opened() else {
        return Vec::new();
    };
    let text = current.to_string_lossy().into_owned();
    let (kind, before) = match (text.split_once('/'), line.kind()) {
        (Some((kind, _)), _) => (kind.to_owned(), format!("{kind}/")),
        (None, Some(kind)) => (kind.to_owned(), String::new()),
        (None, None) => {
            return candidates(opened.names.offered().map(str::to_owned).collect(), current);
        }
    };
    let Ok(gk) = opened.names.kind(&kind) else {
        return Vec::new();
    };
    let within = opened.within();
    let view = opened.view(&Wants::Everything);
    let all = view
        .objects
        .iter()
        .map(|object| &object.key)
        .chain(view.snapshot.objects(&gk).map(|object| &object.key));
    let here = all.filter(|key| {
        let is_in = |namespace: &String| key.namespace.is_empty() || *key.namespace == **namespace;
        key.gk == gk && within.as_ref().is_none_or(is_in)
    });
    candidates(
        here.map(|key| format!("{before}{}", key.name)).collect(),
        current,
    )
}

/// Kinds only.
pub(super) fn kinds(current: &OsStr) -> Vec<CompletionCandidate> {
    let opened = Line::typed().opened();
    let names = opened.iter().flat_map(|opened| opened.names.offered());
    candidates(names.map(str::to_owned).collect(), current)
}

fn candidates(names: BTreeSet<String>, current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    let fitting = names.into_iter().filter(|name| name.starts_with(&*typed));
    fitting.map(CompletionCandidate::new).collect()
}
