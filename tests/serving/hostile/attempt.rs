//! The table of attempts and their expected results.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::generate;

/// One attempt. In all texts, `{{word}}` is replaced by the values of `each`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attempt {
    /// Its name in the output of a failed test.
    pub(crate) name: String,
    /// The values of placeholders: a list, or the name of a list in `generate.rs`. Each combination is an attempt.
    #[serde(default)]
    pub(crate) each: BTreeMap<String, Values>,
    /// Files of the attempt's directory.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// Symbolic links in the directory and their targets.
    #[serde(default)]
    pub(crate) links: BTreeMap<String, String>,
    /// Pipes in the directory without a writer.
    #[serde(default)]
    pub(crate) pipes: Vec<String>,
    /// The arguments of `attache`, which runs in the directory.
    pub(crate) run: Option<Vec<String>>,
    /// Its standard input.
    #[serde(default)]
    pub(crate) stdin: String,
    /// A request to the webhook, whose state is the quickstart.
    pub(crate) review: Option<Review>,
    pub(crate) holds: Holds,
}

/// The values of a placeholder.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Values {
    Named(String),
    Listed(Vec<String>),
}

/// A request, with its objects as JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Review {
    pub(crate) object: String,
    /// The old object of an UPDATE.
    pub(crate) old: Option<String>,
    /// The path of the request; `/validate` by default.
    #[serde(default = "validate")]
    pub(crate) path: String,
}

/// The expected result.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Holds {
    /// The allowed exit codes of a command.
    pub(crate) exit: Vec<i32>,
    /// Whether a request is allowed.
    pub(crate) allowed: Option<bool>,
    /// Texts that the output contains, all of them.
    pub(crate) says: Vec<String>,
    /// Texts that the output does not contain.
    pub(crate) never: Vec<String>,
    /// The memory limit of a command in MiB.
    pub(crate) memory: Option<u64>,
    /// The time limit in seconds.
    pub(crate) seconds: Option<u64>,
}

fn validate() -> String {
    "/validate".to_owned()
}

/// All attempts.
pub(crate) fn attempts() -> Vec<Attempt> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/attempts");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let read: Vec<Attempt> = serde_saphyr::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for attempt in read {
            all.extend(attempt.each_of());
        }
    }
    all
}

// === impl Attempt ===

impl Attempt {
    /// One attempt for each combination of values.
    fn each_of(self) -> Vec<Self> {
        let mut all = vec![self.clone()];
        for (word, values) in &self.each {
            let values = match values {
                Values::Named(name) => {
                    generate::list(name).unwrap_or_else(|| panic!("no list {name}"))
                }
                Values::Listed(values) => values.clone(),
            };
            all = all
                .iter()
                .flat_map(|attempt| values.iter().map(|value| attempt.clone().with(word, value)))
                .collect();
        }
        all
    }

    fn with(mut self, word: &str, value: &str) -> Self {
        let marker = format!("{{{{{word}}}}}");
        let put = |text: &mut String| *text = text.replace(&marker, value);
        let short: String = value.chars().take(60).collect();
        self.name = format!("{} [{word} = {short}]", self.name);
        put(&mut self.stdin);
        let files = std::mem::take(&mut self.files).into_iter();
        self.files = files
            .map(|(mut name, mut text)| {
                put(&mut name);
                put(&mut text);
                (name, text)
            })
            .collect();
        self.links.values_mut().for_each(put);
        if let Some(run) = &mut self.run {
            // A command is several arguments.
            let words = |argument: &String| {
                if argument == "{{command}}" && word == "command" {
                    value.split(' ').map(str::to_owned).collect()
                } else {
                    vec![argument.replace(&marker, value)]
                }
            };
            *run = run.iter().flat_map(words).collect();
        }
        if let Some(review) = &mut self.review {
            put(&mut review.object);
            review.old.iter_mut().for_each(put);
        }
        let holds = &mut self.holds;
        holds.says.iter_mut().chain(&mut holds.never).for_each(put);
        self
    }
}
