//! `attache guardrails`: which targets fulfil the guardrails of a configuration, of files, or both.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache_guardrails::{Guardrail, GuardrailFile, Guardrails, guardrail_kind, is_guardrail};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::output::{self, Output};
use super::render::guardrails::table;
use super::state::{Scope, State};
use super::{Failure, Outcome, print};
use crate::answer;
use crate::answer::guardrails::guardrails;
use crate::cache::files;
use crate::cache::lists::Wants;
use crate::cache::manifest::Manifests;
use crate::cache::raw::RawObject;
use crate::engine::admission::finding::{Code, Finding, Severity};
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::object::plain;
use crate::today::today;

/// Arguments of `attache guardrails`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Judge only the guardrails in these files or directories, or - for standard input.
    #[arg(short = 'f', long = "filename", value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    scope: Scope,
    /// Exit with code 1 if a guardrail with this action, or a stricter one, is broken.
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

/// The guardrails among manifests.
pub(super) struct FromManifests {
    /// All that can be used, with those that were known before.
    pub(super) usable: Guardrails,
    /// Findings on those that cannot be used.
    pub(super) wrong: Vec<Finding>,
}

/// Runs the command.
///
/// # Errors
/// If the directory or cluster does not exist, the configuration is wrong, or a guardrail cannot be used.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
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
            return Err("the files have no Guardrail of attache.dev/v1alpha1".into());
        }
        FromManifests {
            usable: Guardrails::default().with(written.into_iter().map(Arc::new)),
            wrong: Vec::new(),
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
    let view = opened.view(&Wants::Everything);
    view.say_what_is_missing();
    let report = guardrails(&view.snapshot, &written.usable, within.as_deref(), today());
    let text = match args.output.program(&answer::document(&report))? {
        Some(text) => text,
        None => table(&report, args.output.style()),
    };
    print(&text)?;
    let fails = report.guardrails.iter().any(|guarded| {
        let broken = guarded.broken + guarded.errors > 0 || guarded.error.is_some();
        broken
            && match args.fail_on {
                FailOn::Never => false,
                FailOn::Audit => true,
                FailOn::Warn => guarded.action != "audit",
                FailOn::Deny => guarded.action == "deny",
            }
    });
    Ok(if fails {
        Outcome::Findings
    } else {
        Outcome::Clean
    })
}

fn read(path: &Path, args: &Args) -> Result<Manifests, Failure> {
    if path.as_os_str() == "-" {
        let (read, _) = files::stdin_manifests()?;
        return Ok(read);
    }
    if !path.exists() {
        return Err(format!("there is no {}", path.display()).into());
    }
    let read = files::read_as(std::slice::from_ref(&path.to_owned()), args.at.links());
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

/// The guardrails among manifests, as they are written.
pub(super) fn among(manifests: &Manifests) -> impl Iterator<Item = &RawValue> {
    let objects = manifests.objects.iter();
    let guardrails = objects.filter(|one| is_guardrail(&one.gk));
    guardrails.map(|one| &*one.json)
}

/// A guardrail of a cluster as if it were written in a file.
pub(super) fn stored(object: &RawObject) -> Option<Box<RawValue>> {
    let name = &object.header().name;
    let file = json!({
        "metadata": {"name": name},
        "spec": object.spec.as_deref(),
    });
    to_raw_value(&file).ok()
}

/// Written guardrails, and those that are known before. One that is written replaces one of the same name.
pub(super) fn usable<'a>(
    known: &Guardrails,
    written: impl IntoIterator<Item = &'a RawValue>,
) -> FromManifests {
    let kind = guardrail_kind();
    let mut usable = Vec::new();
    let mut wrong = Vec::new();
    for text in written {
        match compiled(text.get()) {
            Ok(guardrail) => usable.push(guardrail),
            Err((name, why)) => {
                let key = ObjectKey::new(kind.clone(), "", name);
                let mut finding = Finding::new(Code::Guardrail, &key, why);
                finding.severity = Severity::Deny;
                wrong.push(finding);
            }
        }
    }
    FromManifests {
        usable: known.with(usable.into_iter().map(Arc::new)),
        wrong,
    }
}

/// A guardrail, or its name and why it cannot be used.
fn compiled(text: &str) -> Result<Guardrail, (String, String)> {
    let file: GuardrailFile = serde_json::from_str(text).map_err(|error| {
        let name = RawObject::read(text).header().name.to_string();
        let why = format!("guardrail {name:?} cannot be read: {}", plain(&error));
        (name, why)
    })?;
    Guardrail::compile(&file).map_err(|error| (error.name.clone(), error.to_string()))
}
