//! Whether and where traces go: the environment variables that OpenTelemetry defines.

use std::path::PathBuf;
use std::time::Duration;

use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};

use super::context::{Ids, Parent, TraceId};

/// The batch is sent after so long, or when it is full.
const DELAY: Duration = Duration::from_secs(5);
/// How long the collector may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where traces go, and which.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The collector; the path is that of traces.
    pub endpoint: Uri,
    /// What it wants to see, credentials among them.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// CAs to trust, in PEM; without it those of the system.
    pub certificate: Option<PathBuf>,
    /// How long the collector may take.
    pub patience: Duration,
    /// How long spans wait for others.
    pub delay: Duration,
    /// Which requests are traced.
    pub(super) sampler: Sampler,
    /// What is known of this process.
    pub resource: Vec<(String, String)>,
}

/// Which requests are traced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sampler {
    /// Whether the caller decides where there is one.
    pub(super) follows_caller: bool,
    /// The share of the others, from 0 to 1.
    pub(super) share: f64,
}

/// A variable that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {why}")]
pub struct SettingError {
    /// The variable.
    pub variable: String,
    /// What is wrong with it. Never its value: some hold credentials.
    pub why: String,
}

/// Gives the value of a variable.
type Get<'a> = &'a dyn Fn(&str) -> Option<String>;

// === impl Settings ===

impl Settings {
    /// As the environment says; none where it names no collector.
    ///
    /// # Errors
    /// When a variable cannot be used.
    pub fn from_environment() -> Result<Option<Self>, SettingError> {
        Self::of(&|name| std::env::var(name).ok())
    }

    /// As the variables say; none where they name no collector.
    ///
    /// # Errors
    /// When a variable cannot be used.
    pub fn of(variable: Get<'_>) -> Result<Option<Self>, SettingError> {
        let get = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let is = |name: &str, value: &str| {
            get(name).is_some_and(|v| v.trim().eq_ignore_ascii_case(value))
        };
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return Ok(None);
        }
        let Some(endpoint) = endpoint(&get)? else {
            return Ok(None);
        };
        if let Some((variable, protocol)) = of_traces(&get, "PROTOCOL")
            && protocol.trim() != "http/protobuf"
        {
            return wrong(
                &variable,
                "only http/protobuf is spoken; collectors take it at port 4318",
            );
        }
        let headers = match of_traces(&get, "HEADERS") {
            Some((variable, text)) => headers(&variable, &text)?,
            None => Vec::new(),
        };
        let patience = match of_traces(&get, "TIMEOUT") {
            Some((variable, text)) => millis(&variable, &text)?,
            None => PATIENCE,
        };
        let delay = match get("OTEL_BSP_SCHEDULE_DELAY") {
            Some(text) => millis("OTEL_BSP_SCHEDULE_DELAY", &text)?,
            None => DELAY,
        };
        Ok(Some(Self {
            endpoint,
            headers,
            certificate: of_traces(&get, "CERTIFICATE").map(|(_, path)| path.into()),
            patience,
            delay,
            sampler: sampler(&get)?,
            resource: resource(&get)?,
        }))
    }
}

// === impl Sampler ===

impl Sampler {
    /// Whether a request is traced.
    pub(super) fn wants(&self, parent: Option<&Parent>, trace: TraceId) -> bool {
        match parent {
            Some(parent) if self.follows_caller => parent.sampled,
            _ if self.share >= 1.0 => true,
            _ => Ids::share(trace) < self.share,
        }
    }
}

/// The variable for traces alone, else the one for all signals, with its value.
fn of_traces(get: Get<'_>, name: &str) -> Option<(String, String)> {
    let names = ["OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"];
    let mut names = names.into_iter().map(|prefix| format!("{prefix}{name}"));
    names.find_map(|name| get(&name).map(|value| (name, value)))
}

/// That of traces is taken as it is, the other gets their path.
fn endpoint(get: Get<'_>) -> Result<Option<Uri>, SettingError> {
    let Some((variable, text)) = of_traces(get, "ENDPOINT") else {
        return Ok(None);
    };
    let mut text = text.trim().to_owned();
    if !variable.contains("TRACES") {
        text = format!("{}/v1/traces", text.trim_end_matches('/'));
    }
    let uri: Option<Uri> = text.parse().ok();
    let uri = uri.filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    match uri.filter(|uri| uri.host().is_some_and(|host| !host.is_empty())) {
        Some(uri) if uri.authority().is_some_and(|to| to.as_str().contains('@')) => wrong(
            &variable,
            "a user does not belong into it: OTEL_EXPORTER_OTLP_HEADERS is the place for credentials",
        ),
        Some(uri) => Ok(Some(uri)),
        None => wrong(&variable, "it must be like http://collector:4318"),
    }
}

fn headers(variable: &str, text: &str) -> Result<Vec<(HeaderName, HeaderValue)>, SettingError> {
    let read = |(name, value): (String, String)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let mut value = HeaderValue::from_str(&value).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    };
    let read = pairs(text).and_then(|pairs| pairs.into_iter().map(read).collect());
    match read {
        Some(headers) => Ok(headers),
        None => wrong(variable, "it must be like name=value,name=value"),
    }
}

fn resource(get: Get<'_>) -> Result<Vec<(String, String)>, SettingError> {
    let variable = "OTEL_RESOURCE_ATTRIBUTES";
    let said = get(variable).unwrap_or_default();
    let Some(mut all) = pairs(&said) else {
        return wrong(variable, "it must be like key=value,key=value");
    };
    if let Some(name) = get("OTEL_SERVICE_NAME") {
        all.retain(|(key, _)| key != "service.name");
        all.push(("service.name".to_owned(), name));
    }
    let ours = [
        ("service.name", Some(env!("CARGO_PKG_NAME").to_owned())),
        (
            "service.version",
            Some(env!("CARGO_PKG_VERSION").to_owned()),
        ),
        // The name of the pod.
        ("service.instance.id", get("HOSTNAME")),
    ];
    for (key, value) in ours {
        if let Some(value) = value.filter(|_| all.iter().all(|(known, _)| known != key)) {
            all.push((key.to_owned(), value));
        }
    }
    Ok(all)
}

fn sampler(get: Get<'_>) -> Result<Sampler, SettingError> {
    let variable = "OTEL_TRACES_SAMPLER";
    let name = get(variable).unwrap_or_else(|| "parentbased_always_on".to_owned());
    let name = name.trim();
    let (follows_caller, of_others) = match name.strip_prefix("parentbased_") {
        Some(rest) => (true, rest),
        None => (false, name),
    };
    let share = match of_others {
        "always_on" => 1.0,
        "always_off" => 0.0,
        "traceidratio" => {
            let variable = "OTEL_TRACES_SAMPLER_ARG";
            let text = get(variable).unwrap_or_else(|| "1".to_owned());
            match text.trim().parse() {
                Ok(share) if (0.0..=1.0).contains(&share) => share,
                _ => return wrong(variable, "it must be a number from 0 to 1"),
            }
        }
        _ => {
            return wrong(
                variable,
                "it must be always_on, always_off or traceidratio, each also with parentbased_ before it",
            );
        }
    };
    Ok(Sampler {
        follows_caller,
        share,
    })
}

fn millis(variable: &str, text: &str) -> Result<Duration, SettingError> {
    match text.trim().parse() {
        Ok(millis) if millis > 0 => Ok(Duration::from_millis(millis)),
        _ => wrong(variable, "it must be a number of milliseconds"),
    }
}

/// `key=value,key=value`, the values percent-encoded; none where it is something else.
fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let pairs = parts.map(|part| {
        let (key, value) = part.split_once('=')?;
        let key = key.trim();
        (!key.is_empty()).then_some(())?;
        Some((key.to_owned(), decoded(value.trim())?))
    });
    pairs.collect()
}

/// `%2C` is a comma.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

fn wrong<T>(variable: &str, why: &str) -> Result<T, SettingError> {
    Err(SettingError {
        variable: variable.to_owned(),
        why: why.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Sampler, Settings};

    fn settings(variables: &[(&str, &str)]) -> Result<Option<Settings>, String> {
        let get = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Settings::of(&get).map_err(|error| error.to_string())
    }

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");

    fn with(variable: &str, value: &str) -> Settings {
        settings(&[ENDPOINT, (variable, value)]).unwrap().unwrap()
    }

    #[test]
    fn without_a_collector_there_are_no_traces() {
        assert!(settings(&[]).unwrap().is_none());
        assert!(
            settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")])
                .unwrap()
                .is_none()
        );
        assert!(
            settings(&[ENDPOINT, ("OTEL_SDK_DISABLED", "true")])
                .unwrap()
                .is_none()
        );
        assert!(
            settings(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")])
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn the_endpoint_of_traces_is_taken_as_it_is() {
        let both = settings(&[ENDPOINT]).unwrap().unwrap();
        assert_eq!(both.endpoint, "http://collector:4318/v1/traces");
        let own = with("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://other/in");
        assert_eq!(own.endpoint, "https://other/in");
        assert_eq!(
            (both.delay, both.patience),
            (Duration::from_secs(5), Duration::from_secs(10))
        );
    }

    #[test]
    fn headers_are_decoded_and_not_shown() {
        let settings = with(
            "OTEL_EXPORTER_OTLP_HEADERS",
            "authorization=Basic%20c2Vj, x-a = b",
        );
        let (name, value) = &settings.headers[0];
        assert_eq!(
            (name.as_str(), value.to_str().unwrap()),
            ("authorization", "Basic c2Vj")
        );
        assert_eq!(settings.headers.len(), 2);
        assert!(!format!("{settings:?}").contains("c2Vj"));
    }

    #[test]
    fn the_process_has_a_name() {
        let settings = with(
            "OTEL_RESOURCE_ATTRIBUTES",
            "service.name=a,k8s.cluster.name=b",
        );
        let value = |key: &str| {
            settings
                .resource
                .iter()
                .find(|(k, _)| k == key)
                .unwrap()
                .1
                .clone()
        };
        assert_eq!(
            (&*value("service.name"), &*value("k8s.cluster.name")),
            ("a", "b")
        );
        assert_eq!(value("service.version"), env!("CARGO_PKG_VERSION"));
        let named = with("OTEL_SERVICE_NAME", "webhook").resource;
        assert!(named.contains(&("service.name".to_owned(), "webhook".to_owned())));
    }

    #[test]
    fn samplers_have_the_names_of_the_standard() {
        let of = |name: &str| with("OTEL_TRACES_SAMPLER", name).sampler;
        let sampler = |follows_caller, share| Sampler {
            follows_caller,
            share,
        };
        assert_eq!(with("A", "").sampler, sampler(true, 1.0));
        assert_eq!(of("always_off"), sampler(false, 0.0));
        assert_eq!(of("parentbased_always_off"), sampler(true, 0.0));
        let arg = ("OTEL_TRACES_SAMPLER_ARG", "0.25");
        let some = settings(&[ENDPOINT, ("OTEL_TRACES_SAMPLER", "traceidratio"), arg]);
        assert_eq!(some.unwrap().unwrap().sampler, sampler(false, 0.25));
    }

    #[test]
    fn what_is_wrong_is_said_without_the_value() {
        for (variable, value) in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "s3cret"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://s3cret:4317"),
            (
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
                "http://me:s3cret@collector",
            ),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "s3cret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=%s3cret"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "s3cret"),
            ("OTEL_BSP_SCHEDULE_DELAY", "0"),
            ("OTEL_TRACES_SAMPLER", "s3cret"),
            ("OTEL_RESOURCE_ATTRIBUTES", "s3cret"),
        ] {
            let mut variables = vec![(variable, value)];
            variables.extend([ENDPOINT].into_iter().filter(|(name, _)| *name != variable));
            let error = settings(&variables).unwrap_err();
            assert!(error.starts_with(variable), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
