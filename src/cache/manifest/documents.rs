//! Splits a text into documents as kubectl does: by its contents, whatever the name of the file.

use serde_json::value::RawValue;

use super::read_budget::{LEAST, SMALL};

/// A document in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Document<'a> {
    /// The line where it begins, from 1.
    pub(crate) line: u64,
    /// Its text.
    pub(crate) text: &'a str,
    /// Its format.
    pub(super) form: Form,
}

/// The format of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON.
    Json,
    /// YAML. If it begins like JSON but is not valid JSON, the error as JSON.
    Yaml(Option<Fault>),
    /// Neither; the error.
    Neither(Fault),
}

/// Line and column in the file, and the error.
pub(super) type Fault = ((u64, u64), String);

/// Splits a text into documents. JSON values follow one another. In YAML a line that begins with `---` ends a document
/// anywhere, even in the middle of a scalar, so no parser is needed.
pub(crate) fn documents(text: &str) -> Vec<Document<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut documents = Vec::new();
    let (mut remaining, mut line, mut fault) = (text, 1, None);
    if text.trim_start().starts_with('{') {
        let json = json(text);
        line = json.line;
        remaining = text.get(json.end..).unwrap_or_default();
        fault = json.fault;
        documents = json.documents;
        // A single value may be a YAML document; several are a stream of JSON.
        if let Some(fault) = fault.take_if(|_| documents.len() > 1) {
            documents.push(Document {
                line: fault.0.0,
                text: "",
                form: Form::Neither(fault),
            });
            return documents;
        }
        if fault.is_none() {
            return documents;
        }
        let space = remaining.len() - remaining.trim_start().len();
        let after = remaining.get(..space).and_then(|space| space.find('\n'));
        if let Some(after) = after.filter(|_| !documents.is_empty()) {
            remaining = remaining.get(after + 1..).unwrap_or_default();
            line += 1;
        }
    }
    yaml(remaining, line, fault, &mut documents);
    documents
}

struct Json<'a> {
    documents: Vec<Document<'a>>,
    /// The offset where the last one ends.
    end: usize,
    line: u64,
    /// The error in the text that follows.
    fault: Option<Fault>,
}

fn json(text: &str) -> Json<'_> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let mut json = Json {
        documents: Vec::new(),
        end: 0,
        line: 1,
        fault: None,
    };
    while let Some(value) = values.next()
        && !is_crowd(json.documents.len(), text.len())
    {
        match value {
            Ok(value) => {
                let end = values.byte_offset();
                let start = end - value.get().len();
                json.line += lines_in(text.get(json.end..start).unwrap_or_default());
                json.documents.push(Document {
                    line: json.line,
                    text: value.get(),
                    form: Form::Json,
                });
                json.line += lines_in(value.get());
                json.end = end;
            }
            Err(error) => {
                let place = (error.line() as u64, error.column() as u64);
                json.fault = Some((place, error.to_string()));
                break;
            }
        }
    }
    json
}

fn yaml<'a>(
    text: &'a str,
    first: u64,
    mut fault: Option<Fault>,
    documents: &mut Vec<Document<'a>>,
) {
    let mut put = |line, text: &'a str, form: Option<Form>| {
        if !is_empty(text) {
            let form = form.unwrap_or_else(|| Form::Yaml(fault.take()));
            documents.push(Document { line, text, form });
        }
    };
    let (mut start, mut start_line, mut at) = (0, first, 0);
    let mut refused = None;
    let mut parts = 0;
    for (line, content) in (first..).zip(text.split_inclusive('\n')) {
        if is_crowd(parts, text.len()) {
            return;
        }
        if let Some(after) = content.strip_prefix("---") {
            let before = text.get(start..at).unwrap_or_default();
            let directives = refused
                .take()
                .or_else(|| only_directives(before, start_line));
            put(start_line, before, directives);
            // The rest of the line is a comment, and some parsers require a space before it.
            (start, start_line) = (at + "---".len(), line);
            parts += 1;
            let after = after.trim();
            if !after.is_empty() && !after.starts_with('#') {
                let why = "something follows --- on its line, which kubectl refuses: \
                           begin it on the next line";
                refused = Some(Form::Neither(((line, 1), why.to_owned())));
            }
        }
        at += content.len();
    }
    put(
        start_line,
        text.get(start..).unwrap_or_default(),
        refused.take(),
    );
}

/// kubectl takes directives as a document of their own, and refuses it.
fn only_directives(document: &str, line: u64) -> Option<Form> {
    let mut lines = document
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let why = "a directive (%) before ---, which kubectl refuses: remove it";
    let all = lines.all(|line| line.starts_with(['%', '#'])) && document.contains('%');
    let is_one = all && !is_empty(document);
    is_one.then(|| Form::Neither(((line, 1), why.to_owned())))
}

/// Whether a document has only comments and markers.
fn is_empty(document: &str) -> bool {
    let mut lines = document.split(['\n', '\r']);
    lines.all(|line| {
        let line = line.trim();
        let line = line.strip_prefix("---").unwrap_or(line).trim_start();
        line.is_empty() || line.starts_with('#') || line == "..."
    })
}

/// Whether there are too many documents for so few bytes to be written by a person.
pub(super) fn is_crowd(documents: usize, bytes: usize) -> bool {
    documents > SMALL && bytes / LEAST < documents
}

/// The number of lines before the first line of the object itself.
pub(super) fn blank_lines(document: &str) -> u64 {
    let blank = document.lines().take_while(|line| is_empty(line)).count();
    blank as u64
}

pub(crate) fn lines_in(text: &str) -> u64 {
    text.matches('\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::{Form, documents};

    /// Line, format and first letters of each.
    fn documents_in(text: &str) -> Vec<(u64, &'static str, String)> {
        let form = |form: &Form| match form {
            Form::Json => "json",
            Form::Yaml(_) => "yaml",
            Form::Neither(_) => "neither",
        };
        let all = documents(text).into_iter();
        all.map(|d| (d.line, form(&d.form), d.text.trim().to_owned()))
            .collect()
    }

    fn expected(all: &[(u64, &'static str, &str)]) -> Vec<(u64, &'static str, String)> {
        all.iter()
            .map(|(l, f, t)| (*l, *f, (*t).to_owned()))
            .collect()
    }

    #[test]
    fn a_stream_is_json_as_long_as_it_is() {
        assert_eq!(
            documents_in("\n{\"a\":\n1}{\"b\":2}\n {\"c\":3}"),
            expected(&[
                (2, "json", "{\"a\":\n1}"),
                (3, "json", "{\"b\":2}"),
                (4, "json", "{\"c\":3}")
            ])
        );
        assert_eq!(documents_in("{a: b}"), expected(&[(1, "yaml", "{a: b}")]));
        assert_eq!(
            documents_in("{\"a\":1}\n---\nb: 2\n"),
            expected(&[(1, "json", "{\"a\":1}"), (2, "yaml", "b: 2")])
        );
        assert_eq!(
            documents_in("{\"a\":1}\n{\"b\":2}\n---\nc: 3\n"),
            expected(&[
                (1, "json", "{\"a\":1}"),
                (2, "json", "{\"b\":2}"),
                (3, "neither", "")
            ])
        );
    }

    #[test]
    fn a_line_that_begins_with_three_dashes_ends_a_document() {
        assert_eq!(
            documents_in("a: 1\n---# c\nb: 2\n--- # d\n\n---\n# e\n---\nc: 3\n...\n"),
            expected(&[
                (1, "yaml", "a: 1"),
                (2, "yaml", "# c\nb: 2"),
                (8, "yaml", "c: 3\n...")
            ])
        );
        assert_eq!(
            documents_in("--- {a: 1}\n---\nb: 2\n"),
            expected(&[(1, "neither", "{a: 1}"), (2, "yaml", "b: 2")])
        );
    }
}
