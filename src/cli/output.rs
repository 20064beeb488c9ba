//! The output formats of commands, for people and for programs.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::Failure;
use super::jsonpath::Template;
use super::render::style::Style;
use crate::engine::model::printable::{self, has_hidden};

/// The prefix of a template, as in kubectl.
const JSONPATH: &str = "jsonpath=";

/// An output format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Lines for people, as wide as the terminal.
    Text,
    /// All columns, in lines of any length.
    Wide,
    /// The names of objects only.
    Name,
    /// A comment on a pull request.
    Markdown,
    Json,
    Yaml,
    /// Parts of the answer.
    JsonPath(Template),
}

/// The names of the formats that a command supports.
#[derive(Clone, Debug)]
pub(super) struct Formats(&'static [&'static str]);

/// For answers with tables of objects.
pub(super) const ALL: Formats = Formats(&["text", "wide", "name", "json", "yaml", JSONPATH]);
/// For impact: also as a comment on a pull request.
pub(super) const OF_CHANGES: Formats =
    Formats(&["text", "wide", "name", "json", "yaml", "markdown", JSONPATH]);
/// For answers that are not lists of objects.
pub(super) const NO_NAMES: Formats = Formats(&["text", "wide", "json", "yaml", JSONPATH]);
/// For answers of one line.
pub(super) const PLAIN: Formats = Formats(&["text", "json", "yaml", JSONPATH]);

// === impl Output ===

impl Output {
    /// The style of the standard output for this format.
    pub(super) fn style(&self) -> Style {
        let style = Style::of_stdout();
        if *self == Self::Wide {
            style.wide()
        } else {
            style
        }
    }

    /// The text of a format for programs. `None` for formats for people.
    pub(super) fn program(&self, document: &impl Serialize) -> Result<Option<String>, Failure> {
        Ok(match self {
            Self::Text | Self::Wide | Self::Name | Self::Markdown => None,
            Self::Json => Some(json(document)?),
            Self::Yaml => {
                let text = serde_saphyr::to_string(document)?;
                // JSON is YAML too, and can escape everything.
                Some(if has_hidden(&text) {
                    json(document)?
                } else {
                    text
                })
            }
            Self::JsonPath(template) => {
                let text = template.fill(&serde_json::to_value(document)?);
                let end = if text.ends_with('\n') { "" } else { "\n" };
                Some(text + end)
            }
        })
    }
}

fn json(document: &impl Serialize) -> Result<String, Failure> {
    Ok(printable::json(
        serde_json::to_string_pretty(document)? + "\n",
    ))
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
