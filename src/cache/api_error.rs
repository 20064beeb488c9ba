//! Why a request to the API server failed, in words for the user.

use std::error::Error as _;
use std::fmt;
use std::io;

use kube::client::AuthError;

use super::watch::short;

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApiError {
    /// The user may not read it; the API server's message.
    Forbidden(String),
    /// The API server does not recognize the user.
    Unknown(String),
    /// The API server does not serve the kind.
    NotServed,
    /// The API server answered with an error or an unexpected response.
    Failed(String),
    /// The API server does not answer.
    Away(String),
}

// === impl ApiError ===

impl ApiError {
    /// Classifies a failed request.
    pub fn classify(error: &kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => {
                let text = if status.message.is_empty() {
                    format!("the API server answered {}", status.code)
                } else {
                    first_line(&status.message)
                };
                match status.code {
                    401 => Self::Unknown(text),
                    403 => Self::Forbidden(text),
                    404 => Self::NotServed,
                    _ => Self::Failed(text),
                }
            }
            kube::Error::Auth(auth) => Self::Unknown(of_command(auth)),
            kube::Error::SerdeError(_) => Self::Failed(short(error)),
            kube::Error::FromUtf8(_) => {
                Self::Failed(format!("its answer cannot be read: {}", short(error)))
            }
            _ => match credentials(error) {
                Some(why) => Self::Unknown(why),
                None => Self::Away(cause(error)),
            },
        }
    }

    /// Classifies a failed connection attempt.
    pub fn unconnected(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::TimedOut {
            return Self::Away("timed out".to_owned());
        }
        Self::Away(without_number(&error.to_string()))
    }

    /// Whether the user may not impersonate another. The API server then refuses every request.
    pub fn is_of_impersonation(&self) -> bool {
        matches!(self, Self::Forbidden(said) if said.contains(" cannot impersonate "))
    }

    /// The name of the refused user, from the API server's message.
    pub fn user(&self) -> Option<&str> {
        let Self::Forbidden(text) = self else {
            return None;
        };
        let (_, after_user) = text.split_once("User \"")?;
        after_user.split_once('"').map(|(user, _)| user)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.user()) {
            (_, Some(user)) => write!(f, "user {user:?} may not"),
            (Self::NotServed, _) => f.write_str("the API server does not serve it"),
            (
                Self::Forbidden(text) | Self::Unknown(text) | Self::Failed(text) | Self::Away(text),
                _,
            ) => f.write_str(text),
        }
    }
}

/// Why there are no credentials: the kubeconfig's exec command for them failed.
fn credentials(error: &kube::Error) -> Option<String> {
    let mut auth = causes(error).filter_map(|cause| cause.downcast_ref::<AuthError>());
    auth.next().map(of_command)
}

fn of_command(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecRun { cmd, out, .. } => {
            let output = String::from_utf8_lossy(&out.stderr);
            let last = output.lines().map(str::trim).rfind(|line| !line.is_empty());
            let last = last.map_or_else(String::new, |line| format!(": {line}"));
            format!("the command {cmd:?} of the kubeconfig failed{last}")
        }
        _ => first_line(&error.to_string()),
    }
}

/// The innermost cause, which the user can act on, without the errno.
fn cause(error: &kube::Error) -> String {
    let timed_out = causes(error).any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|io| io.kind() == io::ErrorKind::TimedOut)
    });
    if timed_out {
        return "timed out".to_owned();
    }
    without_number(&short(error))
}

/// Rewords `Connection refused (os error 111)` as part of a sentence.
fn without_number(text: &str) -> String {
    let text = first_line(text);
    let text = match text.split_once(" (os error") {
        Some((text, _)) => text.to_owned(),
        None => text,
    };
    let mut letters = text.chars();
    match (letters.next(), letters.as_str()) {
        (Some(first), rest) if rest.starts_with(|c: char| c.is_lowercase()) => {
            first.to_lowercase().chain(rest.chars()).collect()
        }
        _ => text,
    }
}

fn causes(error: &kube::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    let mut next = error.source();
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::ApiError;

    fn api_error(code: u16, message: &str) -> ApiError {
        let status = Status {
            code,
            message: message.to_owned(),
            ..Status::default()
        };
        ApiError::classify(&kube::Error::Api(Box::new(status)))
    }

    #[test]
    fn the_refused_identity_is_named() {
        let message = "httproutes.gateway.networking.k8s.io is forbidden: User \"alice\" cannot list resource \
                    \"httproutes\" in API group \"gateway.networking.k8s.io\" at the cluster scope";
        let trouble = api_error(403, message);
        assert_eq!(trouble.user(), Some("alice"));
        assert_eq!(trouble.to_string(), "user \"alice\" may not");
    }

    #[test]
    fn impersonation_errors_differ_from_read_errors() {
        let message = "users \"sven\" is forbidden: User \"alice\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope";
        assert!(api_error(403, message).is_of_impersonation());
        assert!(
            !api_error(403, "User \"alice\" cannot list resource \"users\"").is_of_impersonation()
        );
    }

    #[test]
    fn one_line_of_what_the_server_says() {
        assert_eq!(
            api_error(500, "a webhook failed\nstack").to_string(),
            "a webhook failed"
        );
        assert_eq!(
            api_error(503, "").to_string(),
            "the API server answered 503"
        );
        assert_eq!(api_error(404, "not found"), ApiError::NotServed);
    }
}
