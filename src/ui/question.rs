//! Questions of the page, read from requests.

use super::refusal::Refusal;

/// A question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// The state that is shown, and the parts of it that could not be read.
    State {
        /// The user, if a token identifies one.
        user: Option<String>,
    },
    /// The topology with the policies.
    Graph,
    /// The details of one node of the graph, by its id.
    Details(String),
    /// All policies.
    Policies,
    /// One object or section: `KIND[.group]/[NAMESPACE/]NAME[#SECTION]`.
    Object(String),
    /// The rule, the backends and the policies that a request gets.
    Explain(ExplainQuery),
    /// The effect that a change would have.
    Change {
        /// The objects, as YAML or JSON.
        text: String,
        /// Whether they are deleted instead of applied.
        delete: bool,
    },
    /// The targets that fulfil the guardrails.
    Guardrails,
    /// The changes of the policies in force since the page is served.
    History,
    /// The policy kinds.
    Kinds,
}

/// A request to a Gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExplainQuery {
    /// The URL, as `attache explain` takes it.
    pub url: String,
    /// The method.
    pub method: Option<String>,
    /// Headers, `NAME:VALUE`.
    pub headers: Vec<String>,
}

/// The parameters of a URL. One that is unknown is refused: a misspelled one would change the answer unnoticed.
pub(super) struct Parameters(Vec<(String, String)>);

// === impl Question ===

impl Question {
    /// Whether its answer is kept until the state changes.
    pub fn is_kept(&self) -> bool {
        !matches!(self, Self::Change { .. } | Self::History)
    }
}

// === impl Parameters ===

impl Parameters {
    pub(super) fn read(query: Option<&str>) -> Result<Self, Refusal> {
        let each = query.unwrap_or_default().split('&');
        let each = each.filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(name)?, decoded(value)?))
        });
        each.collect::<Result<_, Refusal>>().map(Self)
    }

    /// All values of a parameter.
    pub(super) fn all(&mut self, name: &str) -> Vec<String> {
        let (these, others) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|(other, _)| other == name);
        self.0 = others;
        let these: Vec<(String, String)> = these;
        these.into_iter().map(|(_, value)| value).collect()
    }

    /// The value of a parameter that may be given once.
    pub(super) fn one(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        let mut all = self.all(name);
        match all.len() {
            0 | 1 => Ok(all.pop()),
            _ => Err(Refusal::wrong(format!(
                "the parameter {name} is given more than once"
            ))),
        }
    }

    /// The value of a parameter that must be given.
    pub(super) fn needed(&mut self, name: &str, example: &str) -> Result<String, Refusal> {
        let value = self.one(name)?.filter(|value| !value.is_empty());
        value.ok_or_else(|| {
            Refusal::wrong(format!(
                "the parameter {name} is missing: write ?{name}={example}"
            ))
        })
    }

    /// Checks that no parameter is left.
    pub(super) fn end(self) -> Result<(), Refusal> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(Refusal::wrong(format!("there is no parameter {name:?}"))),
        }
    }
}

fn decoded(text: &str) -> Result<String, Refusal> {
    let text = text.replace('+', " ");
    let text = percent_encoding::percent_decode_str(&text).decode_utf8();
    let text = text.map_err(|_| Refusal::wrong("a parameter of the URL is not UTF-8"))?;
    Ok(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::Parameters;

    #[test]
    fn parameters_are_decoded_and_none_is_left_over() {
        let mut read = Parameters::read(Some("header=a%3A+b&url=x%2Fy&header=c:d")).unwrap();
        assert_eq!(read.all("header"), ["a: b", "c:d"]);
        assert_eq!(read.needed("url", "x").unwrap(), "x/y");
        assert!(read.end().is_ok());
        let mut read = Parameters::read(Some("url=a&url=b")).unwrap();
        assert!(read.one("url").is_err());
        assert!(Parameters::read(Some("a=%ff")).is_err());
        let read = Parameters::read(Some("deleet=true")).unwrap();
        assert!(read.end().is_err());
    }
}
