//! Recognizes files that are not manifests, by name and contents.

use std::fmt;
use std::path::{Component, Path};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// A file, or a document in it, that is not a manifest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// The file.
    pub file: String,
    /// The line on which the document begins, from 1; 0 for the file as a whole.
    pub line: u64,
    /// The kind of file that it is instead.
    pub what: SkippedFileType,
}

/// Kinds of files that are not manifests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkippedFileType {
    /// A template for Helm or another program.
    Template,
    /// `Chart.yaml` or a similar file.
    Chart,
    /// The values of a Helm chart.
    Values,
    /// Input of kustomize.
    Kustomization,
    /// A patch of this kustomization, or another file that it reads.
    Patch(String),
    /// A Docker Compose file.
    Compose,
    /// A file of this tool.
    Tool(&'static str),
    /// It has no apiVersion and no kind, or is not YAML.
    Other,
}

impl fmt::Display for SkippedFileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Template => f.write_str("a template; --helm DIR renders a Helm chart"),
            Self::Chart => f.write_str("describes a Helm chart"),
            Self::Values => f.write_str("values of a Helm chart"),
            Self::Kustomization => f.write_str("a kustomization"),
            Self::Patch(of) => write!(f, "read by the kustomization {of}"),
            Self::Compose => f.write_str("a Compose file"),
            Self::Tool(name) => write!(f, "a file of {name}"),
            Self::Other => f.write_str("has no apiVersion and no kind"),
        }
    }
}

// === impl SkippedFileType ===

impl SkippedFileType {
    /// Recognizes a file without apiVersion and kind by its name.
    pub(super) fn of_name(file: &str) -> Option<Self> {
        let name = Path::new(file).file_name()?.to_str()?.to_lowercase();
        let (stem, _) = name.rsplit_once('.')?;
        let is_one = |prefix: &str| {
            stem == prefix
                || stem
                    .strip_prefix(prefix)
                    .is_some_and(|suffix| suffix.starts_with(['.', '-', '_']))
        };
        if stem == "kustomization" {
            return Some(Self::Kustomization);
        }
        if stem == "chart" || name == "requirements.yaml" {
            return Some(Self::Chart);
        }
        if is_one("values") || stem.ends_with("values") {
            return Some(Self::Values);
        }
        if is_one("docker-compose") || is_one("compose") {
            return Some(Self::Compose);
        }
        let tools = [
            ("mkdocs", "MkDocs"),
            ("renovate", "Renovate"),
            ("azure-pipelines", "Azure Pipelines"),
            ("bitbucket-pipelines", "Bitbucket Pipelines"),
            ("cloudbuild", "Cloud Build"),
            ("appveyor", "AppVeyor"),
            ("codecov", "Codecov"),
            ("galaxy", "Ansible Galaxy"),
            ("package", "npm"),
            ("package-lock", "npm"),
            ("tsconfig", "TypeScript"),
            ("pubspec", "Dart"),
            ("action", "GitHub Actions"),
        ];
        let tool = tools.iter().find(|(stem, _)| is_one(stem));
        tool.map(|(_, name)| Self::Tool(name))
    }

    /// Recognizes a chart template by its location and text, before parsing.
    pub(super) fn of_place(path: &Path, text: &str) -> Option<Self> {
        let in_chart = || {
            let templates = path.ancestors().skip(1).filter(|dir| {
                dir.components().next_back() == Some(Component::Normal("templates".as_ref()))
            });
            templates
                .filter_map(Path::parent)
                .any(|chart| chart.join("Chart.yaml").is_file())
        };
        (text.contains("{{") && in_chart()).then_some(Self::Template)
    }

    /// Recognizes a document that cannot be parsed: a template, or a file of another tool.
    pub(super) fn of_broken(file: &str, text: &str) -> Option<Self> {
        if is_template(text) {
            return Some(Self::Template);
        }
        Self::of_name(file).filter(|_| !looks_like_manifest(text))
    }

    /// Recognizes a document without apiVersion or kind; `None` if it looks like a manifest that lacks one of them.
    pub(super) fn of_value(file: &str, value: &Value) -> Option<Self> {
        let by_name = Self::of_name(file);
        let has = |field: &str| value.get(field).is_some();
        let looks_like_one = has("apiVersion") || has("kind") || (has("metadata") && has("spec"));
        if by_name.is_none() && looks_like_one {
            return None;
        }
        Some(by_name.unwrap_or(Self::Other))
    }
}

/// Whether any line begins like one of a manifest.
pub(super) fn looks_like_manifest(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start().trim_start_matches(['"', '\'', '{', ' ']);
        line.starts_with("apiVersion") || line.starts_with("kind")
    })
}

/// Whether a text has markup of Helm, Jinja or a similar language.
pub(super) fn is_template(text: &str) -> bool {
    static MARK: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\{\{-?\s*[.$A-Za-z/]|\{%").ok());
    MARK.as_ref().is_some_and(|mark| mark.is_match(text))
}

/// Whether the name, namespace or kind of a valid object is a template expression.
pub(super) fn is_templated(value: &Value) -> bool {
    let metadata = value.get("metadata");
    let texts = [
        value.get("kind"),
        metadata.and_then(|m| m.get("name")),
        metadata.and_then(|m| m.get("namespace")),
    ];
    let mut texts = texts.into_iter().flatten().filter_map(Value::as_str);
    texts.any(|text| text.contains("{{"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{SkippedFileType, is_template};

    #[test]
    fn files_are_known_by_their_names() {
        for (file, what) in [
            ("apps/shop/values.yaml", SkippedFileType::Values),
            ("apps/shop/values-prod.yaml", SkippedFileType::Values),
            ("apps/shop/prod.values.yml", SkippedFileType::Values),
            ("Chart.yaml", SkippedFileType::Chart),
            (
                "overlays/prod/kustomization.yml",
                SkippedFileType::Kustomization,
            ),
            ("docker-compose.override.yaml", SkippedFileType::Compose),
            ("compose.yaml", SkippedFileType::Compose),
            ("mkdocs.yml", SkippedFileType::Tool("MkDocs")),
            ("renovate.json", SkippedFileType::Tool("Renovate")),
        ] {
            assert_eq!(SkippedFileType::of_name(file), Some(what), "{file}");
        }
        assert_eq!(SkippedFileType::of_name("compositions.yaml"), None);
        assert_eq!(SkippedFileType::of_name("routes.yaml"), None);
    }

    #[test]
    fn a_manifest_that_lacks_something_is_no_other_file() {
        let half = json!({"kind": "HTTPRoute", "metadata": {"name": "a"}});
        assert_eq!(SkippedFileType::of_value("a.yaml", &half), None);
        assert_eq!(
            SkippedFileType::of_value("a.yaml", &json!({"a": 1})),
            Some(SkippedFileType::Other)
        );
        assert_eq!(
            SkippedFileType::of_value("a.yaml", &json!("hello")),
            Some(SkippedFileType::Other)
        );
        let broken = "apiVersion: v1\nkind: [";
        assert_eq!(SkippedFileType::of_broken("a.yaml", broken), None);
        assert_eq!(
            SkippedFileType::of_broken("mkdocs.yml", "a: [b"),
            Some(SkippedFileType::Tool("MkDocs"))
        );
        assert_eq!(SkippedFileType::of_broken("mkdocs.yml", broken), None);
        assert!(is_template("name: {{ .Release.Name }}"));
        assert!(is_template("{% if a %}"));
        assert!(!is_template("a: {b: {c: d}}"));
    }
}
