//! How a command prints: for people, or for programs.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::Failure;
use super::jsonpath::Template;

/// What kubectl writes before a template.
const JSONPATH: &str = "jsonpath=";

/// A way to print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Lines for people, within the width of the terminal.
    Text,
    /// The same with all columns, in lines as long as they are.
    Wide,
    /// The names of objects alone.
    Name,
    /// A comment on a pull request.
    Markdown,
    /// The answer as JSON.
    Json,
    /// The answer as YAML.
    Yaml,
    /// Parts of the answer.
    JsonPath(Template),
}

/// The ways that a command takes, as they are called.
#[derive(Clone, Debug)]
pub(super) struct Formats(&'static [&'static str]);

/// For answers with tables of objects.
pub(super) const ALL: Formats = Formats(&["text", "wide", "name", "json", "yaml", JSONPATH]);
/// For what a change does: a comment on a pull request too.
pub(super) const OF_CHANGES: Formats =
    Formats(&["text", "wide", "name", "json", "yaml", "markdown", JSONPATH]);
/// For answers that are no lists of objects.
pub(super) const NO_NAMES: Formats = Formats(&["text", "wide", "json", "yaml", JSONPATH]);
/// For answers in a line.
pub(super) const PLAIN: Formats = Formats(&["text", "json", "yaml", JSONPATH]);

// === impl Output ===

impl Output {
    /// The text for programs; none where people read it.
    pub(super) fn program(&self, document: &impl Serialize) -> Result<Option<String>, Failure> {
        Ok(match self {
            Self::Text | Self::Wide | Self::Name | Self::Markdown => None,
            Self::Json => Some(serde_json::to_string_pretty(document)? + "\n"),
            Self::Yaml => Some(serde_saphyr::to_string(document)?),
            Self::JsonPath(template) => {
                let text = template.fill(&serde_json::to_value(document)?);
                let end = if text.ends_with('\n') { "" } else { "\n" };
                Some(text + end)
            }
        })
    }
}

// === impl Formats ===

impl TypedValueParser for Formats {
    type Value = Output;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Output, clap::Error> {
        let text = value.to_string_lossy();
        if let Some(template) = text
            .strip_prefix(JSONPATH)
            .filter(|_| self.0.contains(&JSONPATH))
        {
            let read = Template::read(template);
            return read.map(Output::JsonPath).map_err(|why| {
                clap::Error::raw(clap::error::ErrorKind::ValueValidation, format!("{why}\n"))
                    .with_cmd(command)
            });
        }
        let word = PossibleValuesParser::new(self.0).parse_ref(command, argument, value)?;
        Ok(match word.as_str() {
            "wide" => Output::Wide,
            "name" => Output::Name,
            "markdown" => Output::Markdown,
            "json" => Output::Json,
            "yaml" => Output::Yaml,
            _ => Output::Text,
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            self.0.iter().map(|word| PossibleValue::new(*word)),
        ))
    }
}
