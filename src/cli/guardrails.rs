//! `attache guardrails`: which targets fulfil the guardrails of a configuration, of files, or both.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache_guardrails::{Guardrail, Guardrails, is_guardrail};

use super::output::{self, Output};
use super::render::guardrails::table;
use super::state::{Scope, State};
use super::written_guardrails::{FromManifests, compiled, usable};
use super::{CommandResult, Failure, print};
use crate::answer;
use crate::answer::guardrails::guardrails;
use crate::cache::files;
use crate::cache::lists::ReadScope;
use crate::cache::manifest::Manifests;
use crate::cache::repository::unbuilt;
use crate::engine::admission::verdict::escape;
use crate::reading::{self, Pipes};
use crate::today::today;

/// The help of -n.
const NAMESPACE: &str = "Show only targets in this namespace; also the namespace of manifests that do not set \
    one. Defaults to the namespace of the context; for files, to all namespaces, and \
    `default` for manifests that do not set one";

/// Arguments of `attache guardrails`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("namespace", |argument| argument.help(NAMESPACE)))]
pub struct Args {
    /// Judge only the guardrails in these files or directories, or - for standard input.
    #[arg(short = 'f', long = "filename", value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    scope: Scope,
    /// Exit with code 1 if a guardrail with this action, or a stricter one, is broken, cannot be judged, or judges nothing
    /// because a name in it is misspelt.
    #[arg(long, value_name = "ACTION", default_value = "never")]
    fail_on: FailOn,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = output::NO_NAMES)]
    output: Output,
    #[command(flatten)]
    at: State,
}

/// The least strict action of broken guardrails that causes exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// Only `deny`.
    Deny,
    /// `warn` and `deny`.
    Warn,
    /// Any.
    Audit,
    /// Nothing.
    Never,
}

/// Runs the command.
///
/// # Errors
/// If the directory or cluster does not exist, the configuration is wrong, or a guardrail cannot be used.
pub fn run(args: &Args) -> Result<CommandResult, Failure> {
    let config = args.at.configuration()?;
    let opened = args.at.open_as(&config, &args.scope)?;
    let written = if args.files.is_empty() {
        usable(
            &config.guardrails,
            opened.guardrails().iter().map(AsRef::as_ref),
        )
    } else {
        let mut all = Manifests::default();
        for path in &args.files {
            all.append(read(path, args)?);
        }
        let written = all_usable(&all)?;
        if written.is_empty() {
            return Err(no_guardrail(&args.files).into());
        }
        FromManifests {
            usable: Guardrails::default().with(written.into_iter().map(Arc::new)),
            wrong: Vec::new(),
            replacing: Vec::new(),
            names: BTreeSet::new(),
        }
    };
    if let Some(wrong) = written.wrong.first() {
        return Err(wrong.message.clone().into());
    }
    if written.usable.is_empty() {
        return Err(
            "there are no guardrails: write them under guardrails: in the configuration, apply Guardrail objects, or name files with -f".into(),
        );
    }
    let within = opened.within();
    let view = opened.view(&ReadScope::Everything);
    view.say_what_is_missing();
    // A misspelt field counts as a setting, which may fulfil a guardrail.
    view.say_what_is_undefined();
    let report = guardrails(&view.snapshot, &written.usable, within.as_deref(), today());
    let text = match args.output.program(&answer::document(&report))? {
        Some(text) => text,
        None => table(&report, args.output.style()),
    };
    print(&text)?;
    let fails = report.guardrails.iter().any(|guarded| {
        let faulty =
            guarded.broken + guarded.errors > 0 || guarded.error.is_some() || guarded.is_misspelt;
        faulty
            && match args.fail_on {
                FailOn::Never => false,
                FailOn::Audit => true,
                FailOn::Warn => guarded.action != "audit",
                FailOn::Deny => guarded.action == "deny",
            }
    });
    Ok(if fails {
        CommandResult::Findings
    } else {
        CommandResult::Clean
    })
}

/// The message that files have no guardrail; a configuration is named with its option.
fn no_guardrail(files: &[PathBuf]) -> String {
    let is_configuration = |file: &&PathBuf| {
        let text = reading::text(file, reading::SMALL, Pipes::Refused).unwrap_or_default();
        text.lines()
            .any(|line| line.trim_end() == "kind: Configuration")
    };
    match files.iter().find(is_configuration) {
        Some(file) => {
            let file = escape(&file.display().to_string());
            format!("{file} is a Configuration: use --config {file}")
        }
        None => "the files have no Guardrail of attache.dev/v1alpha1".to_owned(),
    }
}

fn read(path: &Path, args: &Args) -> Result<Manifests, Failure> {
    if path.as_os_str() == "-" {
        let (read, _) = files::stdin_manifests()?;
        return Ok(read);
    }
    if !path.exists() {
        return Err(format!("{} does not exist", path.display()).into());
    }
    let read = unbuilt(std::slice::from_ref(&path.to_owned()), args.at.links());
    for problem in &read.problems {
        eprintln!("attache: {}", escape(&problem.to_string()));
    }
    Ok(read)
}

/// The guardrails among manifests.
///
/// # Errors
/// Names each one that cannot be used, and each name that two of them have, with file and line.
fn all_usable(manifests: &Manifests) -> Result<Vec<Guardrail>, Failure> {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let (mut usable, mut wrong) = (Vec::new(), Vec::new());
    let written = manifests.objects.iter().filter(|one| is_guardrail(&one.gk));
    for one in written {
        let place = format!("{}:{}", one.origin.file, one.origin.line);
        match compiled(one.json.get()) {
            Ok(guardrail) => {
                let name = &guardrail.name;
                if let Some(first) = known.get(name) {
                    let why = format!("guardrail {name:?} is in {first} too; rename one of them");
                    wrong.push(escape(&format!("{place}: {why}")));
                } else {
                    known.insert(name.clone(), place);
                    usable.push(guardrail);
                }
            }
            Err((_, why)) => wrong.push(escape(&format!("{place}: {why}"))),
        }
    }
    if wrong.is_empty() {
        Ok(usable)
    } else {
        Err(wrong.join("\n").into())
    }
}

#[cfg(test)]
mod tests {
    use super::no_guardrail;

    #[test]
    fn a_configuration_is_named_with_its_option() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("new.yaml");
        std::fs::write(&file, "apiVersion: attache.dev/v1\nkind: Configuration\n").unwrap();
        let why = no_guardrail(std::slice::from_ref(&file));
        assert!(why.contains("is a Configuration: use --config"), "{why}");
        std::fs::write(&file, "apiVersion: v1\nkind: ConfigMap\n").unwrap();
        let why = no_guardrail(&[file]);
        assert!(why.contains("have no Guardrail"), "{why}");
    }
}
