//! `attache explain`: which Gateway, listener, route, rule and backend a request takes, and every setting in force on
//! that path with its policy.

use super::output::{self, Output};
use super::render::explain as render;
use super::state::{Scope, State};
use super::{CommandResult, Failure, print};
use crate::answer;
use crate::answer::explanation::{Explanation, at_gateways, at_service};
use crate::cache::lists::ReadScope;
use crate::engine::admission::verdict::escape;
use crate::engine::model::hint::{nearest, quoted};
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::routing::{Matching, Request, Url, of_path, read_method, same_header};
use crate::engine::state::snapshot::Snapshot;

/// The help of -n.
const NAMESPACE: &str = "Use only Gateways in this namespace, by default those of all namespaces. Also \
    the namespace of the Service in --service, and of manifests that do not set one: by default \
    that of the context; for files, `default`";

/// Arguments of `attache explain`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("namespace", |argument| argument.help(NAMESPACE)))]
pub struct Args {
    #[command(flatten)]
    request: Described,
    #[command(flatten)]
    scope: Scope,
    #[command(flatten)]
    state: State,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = output::NO_NAMES)]
    output: Output,
    /// Show long values in full.
    #[arg(long)]
    full: bool,
}

/// A request as arguments describe it.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Described {
    /// The URL of the request (http, https, tls, tcp or udp), or HOST/PATH. The scheme sets the protocol and, if the
    /// URL has none, the port.
    #[arg(value_name = "URL")]
    url: Option<String>,
    /// The host. A port in it is ignored, as Gateways do; use --port.
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// The TLS server name, if it differs from the host.
    #[arg(long, value_name = "NAME")]
    sni: Option<String>,
    /// The path; may include query parameters.
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// The method; GET by default.
    #[arg(short = 'X', long, value_name = "METHOD")]
    method: Option<String>,
    /// A header of the request; can be repeated.
    #[arg(short = 'H', long = "header", value_name = "NAME:VALUE")]
    headers: Vec<String>,
    /// A query parameter, not encoded; can be repeated.
    #[arg(long = "query", value_name = "NAME=VALUE")]
    query: Vec<String>,
    /// The port of the listener; with --service, the port of the Service.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Use only this Gateway.
    #[arg(long, value_name = "[NAMESPACE/]NAME", conflicts_with = "service")]
    gateway: Option<String>,
    /// Send the request to this Service in a mesh instead of a Gateway.
    #[arg(long, value_name = "[NAMESPACE/]NAME")]
    service: Option<String>,
    /// The namespace of the clients that call the Service.
    #[arg(long, value_name = "NAMESPACE", requires = "service")]
    from_namespace: Option<String>,
}

/// Runs the command. A request that nothing serves counts as a finding.
///
/// # Errors
/// If the directory, cluster or Gateway does not exist, the configuration is wrong, or the arguments do not describe a
/// request.
pub fn run(args: &Args) -> Result<CommandResult, Failure> {
    let request = args.request.read()?;
    let opened = args.state.open(&args.scope)?;
    let namespace = opened.namespace.clone();
    let view = opened.view(&ReadScope::Everything);
    view.say_what_is_missing();
    view.say_what_is_undefined();
    let matching = Matching::new(&view.snapshot, &view.objects);
    let within = args.scope.namespace.as_deref();
    let explanation = args
        .request
        .explain(&matching, &request, &namespace, within)?;
    let style = args.output.style().full(args.full);
    let text = match args.output.program(&answer::document(&explanation))? {
        Some(text) => text,
        None => render::text(&explanation, style),
    };
    print(&text)?;
    if let Some(namespace) = within.filter(|_| !explanation.served) {
        let namespace = escape(namespace);
        eprintln!("attache: -n {namespace} leaves out the Gateways of other namespaces");
    }
    Ok(if explanation.served {
        CommandResult::Clean
    } else {
        CommandResult::Findings
    })
}

// === impl Described ===

impl Described {
    /// A request with a URL.
    pub(super) fn of_url(url: String, method: Option<String>, headers: Vec<String>) -> Self {
        Self {
            url: Some(url),
            method,
            headers,
            ..Self::default()
        }
    }

    /// Follows the request. `within` is the only namespace whose Gateways it may arrive at.
    ///
    /// # Errors
    /// If the Gateway does not exist.
    pub(super) fn explain(
        &self,
        matching: &Matching<'_>,
        request: &Request,
        namespace: &str,
        within: Option<&str>,
    ) -> Result<Explanation, Failure> {
        if let Some(service) = &self.service {
            let (given_namespace, name) = split(service);
            let key = ObjectKey::new(
                GroupKind::core("Service"),
                given_namespace.unwrap_or(namespace),
                name,
            );
            let from = self.from_namespace.as_deref();
            return Ok(at_service(matching, request, &key, from));
        }
        let Some(gateway) = &self.gateway else {
            let asked =
                |key: &ObjectKey| within.is_none_or(|namespace| *key.namespace == *namespace);
            return Ok(at_gateways(matching, request, asked));
        };
        let (given_namespace, name) = split(gateway);
        let namespace = given_namespace.or(within);
        let asked = |key: &ObjectKey| {
            *key.name == *name && namespace.is_none_or(|namespace| *key.namespace == *namespace)
        };
        let kind = GroupKind::gateway_api("Gateway");
        let mut all = matching.snapshot().objects(&kind);
        if !all.any(|object| asked(&object.key)) {
            return Err(no_gateway(matching.snapshot(), &kind, gateway).into());
        }
        Ok(at_gateways(matching, request, asked))
    }

    /// The request that the arguments describe.
    ///
    /// # Errors
    /// If they contradict each other, or say too little.
    pub(super) fn read(&self) -> Result<Request, Failure> {
        let url = self.url.as_deref().map_or(Ok(Url::default()), Url::read)?;
        let path = self.path.as_deref().map(of_path);
        let (path, query) = path.map_or((None, Vec::new()), |(path, query)| (Some(path), query));
        let headers = self.headers.iter().map(|text| header(text));
        let headers: Vec<(String, String)> = headers.collect::<Result<_, _>>()?;
        let of_header = headers.iter().find(|(name, _)| same_header(name, "Host"));
        let host = one("host", ("the URL", url.host), ("--host", self.host.clone()))?;
        let of_header = of_header.map(|(_, host)| host.clone());
        let host = one(
            "host",
            ("the URL or --host", host),
            ("the header Host", of_header),
        )?;
        let port = self.port.or(url.port);
        if host.is_none() && port.is_none() && self.service.is_none() {
            return Err("specify a URL, or --host, --port or --service".into());
        }
        let pairs = self.query.iter().map(|text| pair(text));
        let pairs: Vec<(String, String)> = pairs.collect::<Result<_, _>>()?;
        let path = one("path", ("the URL", url.path), ("--path", path))?.unwrap_or_default();
        Ok(Request {
            scheme: url.scheme,
            host,
            sni: self.sni.clone(),
            port,
            method: self.method.as_deref().map(read_method).transpose()?,
            path: if path.starts_with('/') {
                path
            } else {
                format!("/{path}")
            },
            query: url.query.into_iter().chain(query).chain(pairs).collect(),
            headers,
        })
    }
}

/// The value of `what`, if both sources agree or only one has it. Each source has a name.
fn one(
    what: &str,
    (of_a, a): (&str, Option<String>),
    (of_b, b): (&str, Option<String>),
) -> Result<Option<String>, String> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Err(format!(
            "{of_a} has the {what} {a:?} and {of_b} has {b:?}; give only one of them"
        )),
        (a, b) => Ok(a.or(b)),
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(format!("--header {text:?}: write NAME:VALUE")),
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("--query {text:?}: write NAME=VALUE")),
    }
}

/// `NAMESPACE/NAME` or `NAME`.
fn split(text: &str) -> (Option<&str>, &str) {
    match text.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, text),
    }
}

fn no_gateway(snapshot: &Snapshot, kind: &GroupKind, wanted: &str) -> String {
    let keys = snapshot.objects(kind).map(|object| object.key.path());
    let mut paths: Vec<String> = keys.collect();
    paths.sort();
    let names: Vec<&str> = paths.iter().map(String::as_str).collect();
    let (namespace, name) = split(wanted);
    let short: Vec<&str> = names.iter().map(|path| split(path).1).collect();
    let near = match namespace {
        Some(_) => nearest(wanted, &names),
        None => nearest(name, &short),
    };
    match near {
        Some(near) => format!("there is no Gateway {wanted:?}; did you mean {near:?}?"),
        None if names.is_empty() => format!("there is no Gateway {wanted:?}, and no other"),
        None => format!(
            "there is no Gateway {wanted:?}; there {} {}",
            if names.len() == 1 { "is" } else { "are" },
            quoted(&names)
        ),
    }
}
