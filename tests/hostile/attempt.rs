//! The table: what is tried, and what must hold.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::generate;

/// One thing that is tried. In all texts `{{word}}` stands for the values of `each`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attempt {
    /// What it is, as a reader of a failure wants to know it.
    pub(crate) name: String,
    /// Values that it is multiplied with: a list, or the name of one in `generate.rs`.
    #[serde(default)]
    pub(crate) each: BTreeMap<String, Values>,
    /// Files of a directory of its own.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// Links in it, and where they lead.
    #[serde(default)]
    pub(crate) links: BTreeMap<String, String>,
    /// Pipes in it, at which nobody writes.
    #[serde(default)]
    pub(crate) pipes: Vec<String>,
    /// The arguments of `attache`, in that directory.
    pub(crate) run: Option<Vec<String>>,
    /// What it reads on its standard input.
    #[serde(default)]
    pub(crate) stdin: String,
    /// A request to the webhook, whose state is the quickstart.
    pub(crate) review: Option<Review>,
    pub(crate) holds: Holds,
}

/// Values of a word.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Values {
    Named(String),
    Listed(Vec<String>),
}

/// A request, its objects as JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Review {
    pub(crate) object: String,
    /// Then it is an UPDATE.
    pub(crate) old: Option<String>,
    /// Where it is posted; `/validate`.
    #[serde(default = "validate")]
    pub(crate) path: String,
}

/// What must hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Holds {
    /// Exit codes of a command, any of which is right.
    pub(crate) exit: Vec<i32>,
    /// Whether a request passes.
    pub(crate) allowed: Option<bool>,
    /// What is said, all of it.
    pub(crate) says: Vec<String>,
    /// What is not.
    pub(crate) never: Vec<String>,
    /// MiB that a command takes at most.
    pub(crate) memory: Option<u64>,
    /// Seconds that it takes at most.
    pub(crate) seconds: Option<u64>,
}

fn validate() -> String {
    "/validate".to_owned()
}

/// All of them.
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
    /// One for each combination of values.
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
