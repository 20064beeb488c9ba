//! The error for a check without any objects.

use std::collections::BTreeSet;
use std::path::Path;

use super::Args;
use super::input::{DASH, Input};
use crate::cli::Failure;
use crate::engine::admission::verdict::escape;

/// Checks that there was something to check, or that the user allows an empty check.
///
/// # Errors
/// If there was no object: a check of nothing must not pass.
pub(super) fn refuse(args: &Args, inputs: &[Input]) -> Result<(), Failure> {
    if args.allow_empty || inputs.iter().any(|input| !input.objects.is_empty()) {
        return Ok(());
    }
    let skipped = inputs.iter().flat_map(|input| &input.skipped);
    let skipped: BTreeSet<&str> = skipped.map(|skipped| &*skipped.file).collect();
    let skipped_words = match skipped.len() {
        0 => "none were found".to_owned(),
        1 => "the only one is not a manifest (--allow-empty --show-skipped shows why)".to_owned(),
        many => format!(
            "{many} were found that are not manifests (--allow-empty --show-skipped shows why)"
        ),
    };
    let mut problems = inputs.iter().flat_map(|input| &input.problems);
    let problem = problems.next().map(|problem| escape(&problem.to_string()));
    let places = args.places();
    let piped = places.iter().any(|path| path.as_os_str() == DASH);
    let message = if places.is_empty() {
        let where_ = match &args.scope.namespace {
            Some(namespace) => format!("namespace {namespace:?} of the cluster"),
            None => "the cluster".to_owned(),
        };
        format!("nothing was checked: there is no Gateway, route, Service or policy in {where_}")
    } else if piped && places.len() == 1 {
        "nothing was checked: there is no Kubernetes object on standard input; check whether the command before the pipe failed".to_owned()
    } else {
        let names = places.iter().map(|path| shown(path)).collect::<Vec<_>>();
        let names = names.join(", ");
        let why = match (problem, &args.scope.namespace) {
            (Some(problem), _) => problem,
            (None, Some(namespace)) => {
                format!("-n {namespace} leaves out the objects of other namespaces")
            }
            (None, None) => {
                format!("files that end in .yaml, .yml or .json are read, and {skipped_words}")
            }
        };
        format!("nothing was checked: there is no Kubernetes object to check in {names}: {why}")
    };
    Err(format!("{message}. To accept that, add --allow-empty").into())
}

fn shown(path: &Path) -> String {
    escape(&path.display().to_string())
}
