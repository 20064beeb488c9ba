//! Reads files of tests. Every error names the file, the line, the test, the field, and the nearest right one.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_saphyr::Spanned;

use super::file::{
    ChangeTest, EffectiveTest, GuardrailTest, RequestTest, Takes, TestCase, TestFile,
};
use crate::answer::API_VERSION;
use crate::cli::Failure;
use crate::config::{offered, plain};
use crate::engine::admission::verdict::escape;
use crate::engine::model::hint::nearest;
use crate::engine::model::literal::Literal;
use crate::reading::{self, Pipes};

/// The end of the names of files with tests.
const SUFFIX: &str = ".attache.yaml";
/// The kind of files of tests.
const KIND: &str = "Test";
/// The fields of a test that say what it is about.
const SUBJECTS: [&str; 5] = ["effective", "request", "apply", "delete", "guardrail"];
/// All other fields of tests.
const OTHERS: [&str; 10] = [
    "name",
    "target",
    "via",
    "takes",
    "as",
    "refused",
    "warned",
    "allowed",
    "fulfilled",
    "broken",
];

/// Tests that are read from a document.
pub(super) struct Read {
    /// The paths with the manifests, as the document has them.
    pub(super) from: Vec<PathBuf>,
    /// The tests, each with its line.
    pub(super) tests: Vec<(u64, TestCase)>,
}

/// The head of any document.
#[derive(Default, Deserialize)]
struct Head {
    kind: Option<Literal>,
}

/// Whether the name of a file is one of a file of tests.
pub(super) fn is_named(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.ends_with(SUFFIX))
}

/// The documents of a file of tests. `None` if no document in it has tests.
///
/// # Errors
/// If the file cannot be read, or a test in it is not one.
pub(super) fn read(path: &Path) -> Result<Option<Vec<Read>>, Failure> {
    let file = escape(&path.display().to_string());
    let text = reading::text(path, reading::SMALL, Pipes::Read)
        .map_err(|why| format!("{file}: it cannot be read: {why}"))?;
    parse(&file, &text).map_err(|why| {
        if reading::leads_out(path) {
            let withheld = "a link leads to it from elsewhere, so the reason is withheld";
            return format!("{file}: these are not tests; {withheld}").into();
        }
        why.into()
    })
}

fn parse(file: &str, text: &str) -> Result<Option<Vec<Read>>, String> {
    let wrong = |error: &serde_saphyr::Error| plain(&hinted(&error.to_string()), file);
    let heads: Vec<Option<Head>> =
        serde_saphyr::from_multiple(text).map_err(|error| format!("{file}: {}", wrong(&error)))?;
    let is_test = |head: &Head| head.kind.as_ref().is_some_and(|Literal(kind)| kind == KIND);
    let heads: Vec<Head> = heads.into_iter().flatten().collect();
    match heads.iter().filter(|head| is_test(head)).count() {
        0 => return Ok(None),
        tests if tests < heads.len() => {
            return Err(format!(
                "{file}: it also has documents of other kinds: a file of tests has only documents with kind: {KIND}"
            ));
        }
        _ => {}
    }
    let files: Vec<TestFile<Spanned<Literal>>> =
        serde_saphyr::from_multiple(text).map_err(|error| format!("{file}: {}", wrong(&error)))?;
    let mut all_tests = Vec::new();
    for document in files {
        if document.api_version != API_VERSION {
            return Err(format!(
                "{file}: there is no kind {} of apiVersion {:?}: write {API_VERSION}",
                document.kind, document.api_version
            ));
        }
        let tests = document.tests.into_iter().map(|test| {
            let line = test.referenced.line();
            let Literal(value) = test.value;
            let read = case(&value).map_err(|why| {
                let name = value
                    .get("name")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                format!("{file}:{line}: test {name:?}: {why}")
            });
            Ok((line, read?))
        });
        let tests: Vec<(u64, TestCase)> = tests.collect::<Result<_, String>>()?;
        if tests.is_empty() {
            return Err(format!("{file}: tests: there are none"));
        }
        let from = document.from;
        all_tests.push(Read { from, tests });
    }
    Ok(Some(all_tests))
}

/// Reads one test.
fn case(value: &Value) -> Result<TestCase, String> {
    let Some(fields) = value.as_object() else {
        return Err("a test is an object with a name".to_owned());
    };
    let about: Vec<&str> = SUBJECTS
        .into_iter()
        .filter(|subject| fields.contains_key(*subject))
        .collect();
    let test = match about.as_slice() {
        ["effective"] => TestCase::Effective(part::<EffectiveTest>(value)?),
        ["request"] => TestCase::Request(part::<RequestTest>(value)?),
        ["guardrail"] => TestCase::Guardrail(part::<GuardrailTest>(value)?),
        ["apply" | "delete"] | ["apply", "delete"] => TestCase::Change(part::<ChangeTest>(value)?),
        [] => return Err(about_nothing(fields.keys().map(String::as_str))),
        several => {
            return Err(format!(
                "it is about {} at once: write a test for each",
                several.join(" and ")
            ));
        }
    };
    complete(&test).map(|()| test)
}

fn about_nothing<'a>(mut fields: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = SUBJECTS.into_iter().chain(OTHERS).collect();
    match fields.find(|field| !all.contains(field)) {
        Some(wrong) => match nearest(wrong, &all) {
            Some(near) => format!("unknown field {wrong:?}; did you mean {near:?}?"),
            None => format!("unknown field {wrong:?}"),
        },
        None => format!("it tests nothing: write one of {}", SUBJECTS.join(", ")),
    }
}

/// Checks that a test expects something, and nothing that contradicts itself.
fn complete(test: &TestCase) -> Result<(), String> {
    let wrong = match test {
        TestCase::Effective(test)
            if test.effective.spec.is_none() && test.effective.from.is_empty() =>
        {
            "effective: it expects nothing: write spec, from or both"
        }
        TestCase::Effective(test) if is_scalar(test.effective.spec.as_ref()) => {
            "effective.spec: write the settings that must be in force, or null if no policy must be"
        }
        TestCase::Request(test) => return complete_request(test),
        TestCase::Change(test) => {
            let forms = [
                test.refused.is_some(),
                test.warned.is_some() || test.allowed.is_some(),
            ];
            match (forms, test.allowed) {
                (_, Some(false)) => {
                    "allowed: write refused, with the code, in place of allowed: false"
                }
                ([true, true], _) => "refused: a change is either refused or allowed",
                ([false, false], _) => "it expects nothing: write refused, warned or allowed",
                _ => return Ok(()),
            }
        }
        TestCase::Guardrail(test) => match (test.fulfilled, &test.broken) {
            (None, Some(broken)) if broken.is_empty() => {
                "broken: write fulfilled: true if nothing breaks it"
            }
            (Some(true), None) | (None, Some(_)) => return Ok(()),
            (Some(false), None) => {
                "fulfilled: write broken, with the targets, in place of fulfilled: false"
            }
            (None, None) => "it expects nothing: write fulfilled: true, or broken with the targets",
            (Some(_), Some(_)) => "fulfilled: a guardrail is either fulfilled or broken",
        },
        TestCase::Effective(_) => return Ok(()),
    };
    Err(wrong.to_owned())
}

fn is_scalar(spec: Option<&Literal>) -> bool {
    spec.is_some_and(|Literal(spec)| !(spec.is_object() || spec.is_null()))
}

fn complete_request(test: &RequestTest) -> Result<(), String> {
    let request = &test.request;
    if request.host.is_none() && request.port.is_none() && request.service.is_none() {
        return Err("request: write host, port or service".to_owned());
    }
    if request.gateway.is_some() && request.service.is_some() {
        return Err("request: it is sent to a gateway or to a service, not to both".to_owned());
    }
    if request.from_namespace.is_some() && request.service.is_none() {
        return Err("request.fromNamespace: it is for requests to a service".to_owned());
    }
    match &test.takes {
        Takes::Something(taken)
            if taken.route.is_none() && taken.backend.is_none() && taken.status.is_none() =>
        {
            Err("takes: write route, backend or status, or none".to_owned())
        }
        _ => Ok(()),
    }
}

/// Reads a part of a test; the error begins with the field.
fn part<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let field = error.path().to_string();
        let why = plain(&hinted(&error.inner().to_string()), "");
        // An unknown field is named by the message itself.
        let parent = match (why.starts_with("unknown field"), field.rsplit_once('.')) {
            (true, Some((parent, _))) => parent.to_owned(),
            (true, None) => String::new(),
            (false, _) => field,
        };
        match parent.as_str() {
            "" | "." => why,
            parent => format!("{parent}: {why}"),
        }
    })
}

/// An error of serde, with the name that was most likely meant in place of the list of all names.
fn hinted(why: &str) -> String {
    let first = why.lines().next().unwrap_or_default();
    let Some((wrong, known)) = offered(first) else {
        return why.to_owned();
    };
    let hint = match nearest(wrong, &known) {
        Some(near) => format!("; did you mean {near:?}?"),
        None => format!("; write one of {}", known.join(", ")),
    };
    let what = first.split(" `").next().unwrap_or_default();
    why.replacen(first, &format!("{what} {wrong:?}{hint}"), 1)
}
