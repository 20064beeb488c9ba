//! The settings of traces: the environment variables that OpenTelemetry defines.
//!
//! The SDK ignores an invalid variable. Here each one is checked first, so that a mistake fails the start.

use std::time::Duration;

use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};
use opentelemetry::KeyValue;
use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::Resource;
use percent_encoding::percent_decode_str;

/// The values of `OTEL_TRACES_SAMPLER`.
const SAMPLERS: [&str; 6] = [
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
];

/// Returns the value of a variable.
type Get<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A variable with its value.
type Variable = Option<(String, String)>;

/// The settings for the export of traces. The exporter itself reads the headers, and the SDK the sampler.
#[derive(Debug)]
pub struct Settings {
    /// The URL of the collector; for HTTP with the path.
    pub endpoint: Uri,
    /// Whether to export by gRPC instead of HTTP.
    pub(super) is_grpc: bool,
    /// The file of the CAs to trust, in PEM. Without it, the CAs of the system.
    pub(super) certificate: Variable,
    /// The timeout of an export.
    pub(super) timeout: Duration,
    /// The delay between two exports.
    pub(super) delay: Duration,
    /// The most spans that wait to be exported.
    pub(super) queue: usize,
    /// The attributes of this process.
    pub(super) resource: Resource,
}

/// Why traces cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// A variable cannot be used.
    #[error("{variable}: {why}")]
    Setting {
        /// The variable.
        variable: String,
        /// The mistake, without the value: it may hold credentials.
        why: String,
    },
    /// TLS cannot be set up.
    #[error("failed to set up TLS to the trace collector: {0}")]
    Tls(#[from] rustls::Error),
    /// The exporter refuses the settings.
    #[error("failed to set up the export of traces: {0}")]
    Exporter(#[from] ExporterBuildError),
}

// === impl Settings ===

impl Settings {
    /// Reads the environment. None if it names no collector.
    ///
    /// # Errors
    /// Fails if a variable is invalid.
    pub fn from_environment() -> Result<Option<Self>, TracesError> {
        Self::from_variables(&|name| std::env::var(name).ok())
    }

    /// Reads the given variables. None if they name no collector.
    ///
    /// # Errors
    /// Fails if a variable is invalid.
    pub fn from_variables(variable: Get<'_>) -> Result<Option<Self>, TracesError> {
        let get = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let is = |name, value| get(name).is_some_and(|v| v.eq_ignore_ascii_case(value));
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return Ok(None);
        }
        let Some((variable, endpoint)) = of_traces(&get, "ENDPOINT") else {
            return Ok(None);
        };
        check(&get)?;
        let is_grpc = of_traces(&get, "PROTOCOL").is_some_and(|(_, name)| name == "grpc");
        let milliseconds = |stated, default| {
            let read = number(stated, default, u64::from(u32::MAX));
            read.map(Duration::from_millis)
        };
        let queue = number(named(&get, "OTEL_BSP_MAX_QUEUE_SIZE"), 2_048, 65_536)?;
        Ok(Some(Self {
            endpoint: uri(&variable, endpoint, is_grpc)?,
            is_grpc,
            certificate: of_traces(&get, "CERTIFICATE"),
            timeout: milliseconds(of_traces(&get, "TIMEOUT"), 10_000)?,
            delay: milliseconds(named(&get, "OTEL_BSP_SCHEDULE_DELAY"), 5_000)?,
            queue: usize::try_from(queue).unwrap_or(usize::MAX),
            resource: resource(&get),
        }))
    }
}

// === impl TracesError ===

impl TracesError {
    pub(super) fn setting(variable: &str, why: impl Into<String>) -> Self {
        Self::Setting {
            variable: variable.to_owned(),
            why: why.into(),
        }
    }
}

fn named(get: Get<'_>, name: &str) -> Variable {
    get(name).map(|value| (name.to_owned(), value))
}

/// The variable for traces alone, else the one for all signals.
fn of_traces(get: Get<'_>, name: &str) -> Variable {
    let own = named(get, &format!("OTEL_EXPORTER_OTLP_TRACES_{name}"));
    own.or_else(|| named(get, &format!("OTEL_EXPORTER_OTLP_{name}")))
}

/// Checks the variables that the exporter and the SDK read themselves.
fn check(get: Get<'_>) -> Result<(), TracesError> {
    let is_protocol = |text: &str| matches!(text, "grpc" | "http/protobuf");
    let is_headers = |text: &str| pairs(text).is_some_and(|pairs| pairs.iter().all(is_header));
    let is_sampler = |text: &str| SAMPLERS.contains(&text);
    let is_share = |text: &str| text.parse().is_ok_and(|n: f64| (0.0..=1.0).contains(&n));
    let is_pairs = |text: &str| pairs(text).is_some();
    let samplers = format!("one of {}", SAMPLERS.join(", "));
    let protocols = "grpc or http/protobuf";
    let share = "a number from 0 to 1";
    let list = "like name=value,name=value";
    require(of_traces(get, "PROTOCOL"), is_protocol, protocols)?;
    require(of_traces(get, "HEADERS"), is_headers, list)?;
    require(named(get, "OTEL_TRACES_SAMPLER"), is_sampler, &samplers)?;
    require(named(get, "OTEL_TRACES_SAMPLER_ARG"), is_share, share)?;
    require(named(get, "OTEL_RESOURCE_ATTRIBUTES"), is_pairs, list)
}

fn require(
    stated: Variable,
    is_good: impl Fn(&str) -> bool,
    wanted: &str,
) -> Result<(), TracesError> {
    match stated {
        Some((variable, text)) if !is_good(&text) => Err(TracesError::setting(
            &variable,
            format!("it must be {wanted}"),
        )),
        _ => Ok(()),
    }
}

/// Uses the endpoint of traces as it is; for HTTP, adds the path of traces to the endpoint of all signals.
fn uri(variable: &str, mut text: String, is_grpc: bool) -> Result<Uri, TracesError> {
    if !is_grpc && !variable.contains("TRACES") {
        text = format!("{}/v1/traces", text.trim_end_matches('/'));
    }
    let uri: Option<Uri> = text.parse().ok();
    let uri = uri.filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    let why = match uri.filter(|uri| uri.host().is_some_and(|host| !host.is_empty())) {
        Some(uri) if uri.authority().is_some_and(|to| to.as_str().contains('@')) => {
            "it must not name a user: OTEL_EXPORTER_OTLP_HEADERS is the place for credentials"
        }
        Some(uri) => return Ok(uri),
        None => "it must be like http://collector:4318, or http://collector:4317 for gRPC",
    };
    Err(TracesError::setting(variable, why))
}

fn number(stated: Variable, default: u64, limit: u64) -> Result<u64, TracesError> {
    let Some((variable, text)) = stated else {
        return Ok(default);
    };
    let read = text
        .parse()
        .ok()
        .filter(|number| (1..=limit).contains(number));
    read.ok_or_else(|| {
        TracesError::setting(&variable, format!("it must be a number from 1 to {limit}"))
    })
}

fn is_header((name, value): &(String, String)) -> bool {
    HeaderName::from_bytes(name.as_bytes()).is_ok() && HeaderValue::from_str(value).is_ok()
}

/// The resource that traces come from. If two attributes have one name, the later one counts.
fn resource(get: Get<'_>) -> Resource {
    let own = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let ours = [
        own("service.name", env!("CARGO_PKG_NAME")),
        own("service.version", env!("CARGO_PKG_VERSION")),
    ];
    // The name of the pod.
    let pod = get("HOSTNAME").map(|name| own("service.instance.id", &name));
    let stated = get("OTEL_RESOURCE_ATTRIBUTES").and_then(|text| pairs(&text));
    let name = get("OTEL_SERVICE_NAME").map(|name| own("service.name", &name));
    let all = ours
        .into_iter()
        .chain(pod)
        .chain(stated.into_iter().flatten())
        .chain(name);
    let all = all.map(|(key, value)| KeyValue::new(key, value));
    Resource::builder().with_attributes(all).build()
}

/// Parses `key=value,key=value` with percent-encoded values.
fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let pairs = parts.map(|part| {
        let (key, value) = part.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        let key = key.trim();
        (!key.is_empty()).then(|| (key.to_owned(), value.into_owned()))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::{SAMPLERS, Settings};

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");

    fn settings(variables: &[(&str, &str)]) -> Result<Option<Settings>, String> {
        let get = |name: &str| {
            let set = variables.iter().find(|(variable, _)| *variable == name);
            set.map(|(_, value)| (*value).to_owned())
        };
        Settings::from_variables(&get).map_err(|error| error.to_string())
    }

    fn with(variables: &[(&str, &str)]) -> Settings {
        settings(&[variables, &[ENDPOINT]].concat())
            .unwrap()
            .unwrap()
    }

    #[test]
    fn without_a_collector_there_are_no_traces() {
        for variables in [
            &[][..],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")],
            &[ENDPOINT, ("OTEL_SDK_DISABLED", "true")],
            &[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")],
        ] {
            assert!(settings(variables).unwrap().is_none(), "{variables:?}");
        }
    }

    #[test]
    fn the_path_of_traces_is_added_for_http_where_the_endpoint_is_of_all_signals() {
        assert_eq!(with(&[]).endpoint, "http://collector:4318/v1/traces");
        let own = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://other/in")];
        assert_eq!(with(&own).endpoint, "https://other/in");
        let grpc = [("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
        assert_eq!(with(&grpc).endpoint, "http://collector:4318/");
    }

    #[test]
    fn the_process_has_a_name() {
        let attributes = (
            "OTEL_RESOURCE_ATTRIBUTES",
            "service.name=a,k8s.cluster.name=b%2Cc",
        );
        let value = |settings: &Settings, key: &'static str| {
            settings.resource.get(&key.into()).unwrap().to_string()
        };
        let settings = with(&[attributes]);
        assert_eq!(value(&settings, "service.name"), "a");
        assert_eq!(value(&settings, "k8s.cluster.name"), "b,c");
        assert_eq!(
            value(&settings, "service.version"),
            env!("CARGO_PKG_VERSION")
        );
        let named = with(&[attributes, ("OTEL_SERVICE_NAME", "webhook")]);
        assert_eq!(value(&named, "service.name"), "webhook");
        assert_eq!(value(&with(&[]), "service.name"), "attache");
    }

    #[test]
    fn samplers_have_the_names_of_the_standard() {
        for name in SAMPLERS {
            with(&[
                ("OTEL_TRACES_SAMPLER", name),
                ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
            ]);
        }
    }

    #[test]
    fn an_error_names_the_variable_and_not_its_value() {
        for (variable, value) in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "s3cret"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://s3cret:4317"),
            (
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
                "http://me:s3cret@collector",
            ),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/s3cret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "s3cret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a b=s3cret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=s3cret%0A"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "s3cret"),
            ("OTEL_BSP_SCHEDULE_DELAY", "0"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "1000000000000"),
            ("OTEL_TRACES_SAMPLER", "s3cret"),
            ("OTEL_TRACES_SAMPLER_ARG", "1.5"),
            ("OTEL_RESOURCE_ATTRIBUTES", "s3cret"),
        ] {
            let error = settings(&[(variable, value), ENDPOINT]).unwrap_err();
            assert!(error.starts_with(variable), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
