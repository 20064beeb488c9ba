//! Wires the server together: the order of start and shutdown.
//!
//! First it binds and validates, then it starts tasks. If a task stops unexpectedly, the process exits.

mod args;
mod follow;
mod page;
mod state;

pub use args::Args;
pub use page::{Page, ReadText, Readable, StartSession};

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use jiff::Zoned;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::background::BackgroundJudge;
use crate::cache::directory::Links;
use crate::config::{Configuration, Text};
use crate::engine::admission::settings::ReviewSettings;
use crate::http::admin::{self, Check, Checks};
use crate::http::admission::App;
use crate::http::drain::{self, Phase};
use crate::http::limits::Limits;
use crate::http::router;
use crate::http::server::{BoundListener, Options, Server};
use crate::http::tls::{Callers, Certificates, Files, Reload, server_config, server_config_for};
use crate::metrics::Metrics;
use crate::telemetry::panics::message;
use crate::telemetry::traces::{Settings as TraceSettings, Traces};

use self::follow::{FollowedConfiguration, Health, rules, settings};
use self::state::{State, TaskStates, from_cluster, from_directory};

/// Why the server stopped, for the person at the terminal.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The interval between two reads of mounted certificates; a new pair is in use within seconds.
const CERTIFICATE_POLL: Duration = Duration::from_secs(2);
/// The most connections on the admin port: kubelet and a few scrapers.
const ADMIN_CONNECTIONS: usize = 64;
/// The number of further connections with the page: each open page listens on one.
const PAGE_CONNECTIONS: usize = 256;
/// The time for which a new connection there is protected from eviction: there is no handshake, and a probe waits one second.
const TIME_OF_A_PROBE: Duration = Duration::from_millis(10);
/// The interval between two checks of the configuration file.
const CONFIG_POLL: Duration = Duration::from_secs(2);
/// The interval between two judgements of the current state, if something has changed.
const JUDGE_INTERVAL: Duration = Duration::from_secs(10);

/// Serves until a signal arrives. `begin` makes the live page of readers, if there is one.
///
/// # Errors
/// Fails if an address is in use, the configuration is invalid, or a task stops unexpectedly.
pub async fn serve(args: Args, begin: StartSession) -> Result<(), Failure> {
    let (phase, phases) = watch::channel(Phase::Running);
    let signals = drain::on_signals(phase)?;
    let text = Text::find(args.config.as_deref(), args.from.as_deref())?;
    let config = Configuration::from_text(text.as_ref())?;
    let (sender, known) = watch::channel(rules(&config, args.ui)?);
    let metrics = Arc::new(Metrics::new()?);
    let listen = bind("--listen", args.listen).await?;
    let admin_port = bind("--admin", args.admin).await?;

    let mut background = JoinSet::new();
    let certificates = certificates(&args, &metrics, &mut background)?;
    let callers = callers(&args, &metrics, &mut background);
    let traces = traces(&metrics)?;
    let (rules_in_use, ends) = (known.clone(), phases.clone());
    let mut state = match &args.from {
        Some(directory) => from_directory(directory, links(&args), known, &metrics).await?,
        None => from_cluster(&args, known, &config, &certificates, ends, &metrics).await?,
    };
    state.dependencies.traces = traces.clone();
    let review_settings = Arc::new(ArcSwap::from_pointee(settings(&config, &state.guardrails)));
    let health = Health::default();
    background.spawn(background_judge(&mut state, &review_settings, &metrics).run());
    let follow = FollowedConfiguration {
        file: args.config.clone(),
        directory: args.from.clone(),
        seen: text,
        settings: review_settings.clone(),
        guardrails: state.guardrails.clone(),
        retains_specs: args.ui,
        rules: sender,
        health: health.clone(),
        metrics: metrics.clone(),
    };
    background.spawn(follow.run(CONFIG_POLL));
    let page = args.ui.then(|| {
        page::router(
            &state,
            &review_settings,
            rules_in_use,
            begin,
            &mut background,
        )
    });
    announce(&args, &listen, &admin_port);

    let options = options(&args);
    let app = App::new(
        state.snapshot,
        review_settings,
        state.dependencies,
        metrics.clone(),
        limits(&config),
    );
    let webhook = webhook(
        app,
        &certificates,
        callers.as_ref(),
        &phases,
        options,
        &metrics,
    )?;
    let checks = checks(certificates, callers, health, &state.sources);
    let probes = admin::router(checks, metrics.clone(), phases.clone());
    let admin = admin_server(probes, page.flatten(), options, metrics, phases);
    let mut tasks = state.tasks;
    background.spawn(async {
        signals.await;
        std::future::pending().await
    });
    // The admin port answers as long as the webhook does, so that probes see it become unready.
    background.spawn(async {
        admin.serve(admin_port).await;
        std::future::pending().await
    });
    let serving = async {
        webhook.serve(listen).await;
        traces.end().await;
    };
    until_ended(serving, [&mut tasks, &mut background]).await
}

/// Judges the state with the settings of reviews.
fn background_judge(
    state: &mut State,
    settings: &Arc<ArcSwap<ReviewSettings>>,
    metrics: &Arc<Metrics>,
) -> BackgroundJudge {
    BackgroundJudge {
        snapshot: state.snapshot.clone(),
        settings: settings.clone(),
        guardrails: state.guardrails.clone(),
        sync: state.sources.sync.clone(),
        metrics: metrics.clone(),
        every: JUDGE_INTERVAL,
        reports: state.reports.take(),
    }
}

fn options(args: &Args) -> Options {
    Options {
        drain_delay: args.drain_delay,
        drain_timeout: args.drain_timeout,
        ..Options::default()
    }
}

fn links(args: &Args) -> Links {
    if args.follow_links {
        Links::All
    } else {
        Links::Within
    }
}

/// The server of the webhook, which asks callers for certificates if a CA for them is configured.
fn webhook(
    app: Arc<App>,
    certificates: &Arc<Certificates>,
    callers: Option<&Arc<Callers>>,
    phases: &watch::Receiver<Phase>,
    options: Options,
    metrics: &Arc<Metrics>,
) -> Result<Server, Failure> {
    let (router, tls) = match callers {
        Some(callers) => (
            router::guarded_by(callers.clone(), router::router(app)),
            server_config_for(certificates.clone(), callers.clone())?,
        ),
        None => (router::router(app), server_config(certificates.clone())?),
    };
    Ok(Server {
        router,
        tls: Some(tls),
        options,
        metrics: metrics.clone(),
        phase: phases.clone(),
    })
}

/// The server of the admin port: probes, metrics, and the page, if there is one.
fn admin_server(
    probes: axum::Router,
    page: Option<axum::Router>,
    options: Options,
    metrics: Arc<Metrics>,
    phase: watch::Receiver<Phase>,
) -> Server {
    let pages = if page.is_some() { PAGE_CONNECTIONS } else { 0 };
    Server {
        router: match page {
            Some(page) => probes.merge(page),
            None => probes,
        },
        tls: None,
        options: Options {
            max_connections: ADMIN_CONNECTIONS + pages,
            time_to_ask: TIME_OF_A_PROBE,
            ..options
        },
        metrics,
        phase,
    }
}

/// Runs until serving ends, after a signal, or a task stops.
async fn until_ended(
    serving: impl Future<Output = ()>,
    [of_state, own]: [&mut JoinSet<String>; 2],
) -> Result<(), Failure> {
    tokio::select! {
        () = serving => Ok(()),
        why = broken(of_state) => Err(why),
        why = broken(own) => Err(why),
    }
}

/// Waits for a task to stop, which none should. Its work would no longer be done, so the process exits and is
/// restarted.
async fn broken(tasks: &mut JoinSet<String>) -> Failure {
    match tasks.join_next().await {
        Some(Ok(why)) => why.into(),
        // The location of the panic is in the log.
        Some(Err(ended)) => match ended.try_into_panic() {
            Ok(payload) => format!("a task panicked: {}", message(&*payload)).into(),
            Err(ended) => ended.into(),
        },
        None => std::future::pending().await,
    }
}

fn limits(config: &Configuration) -> Limits {
    let default = Limits::default();
    Limits {
        max_in_flight: config.limits.reviews.unwrap_or(default.max_in_flight),
        ..default
    }
}

/// Exports traces to the collector that the environment names, if any.
fn traces(metrics: &Arc<Metrics>) -> Result<Traces, Failure> {
    let Some(settings) = TraceSettings::from_environment()? else {
        return Ok(Traces::default());
    };
    tracing::info!(endpoint = %settings.endpoint, "reviews are traced");
    Ok(Traces::to(settings, metrics.clone())?)
}

async fn bind(flag: &str, addr: std::net::SocketAddr) -> Result<BoundListener, Failure> {
    let bound = BoundListener::bind(addr).await;
    bound.map_err(|e| format!("failed to listen on {addr}: {e}; choose another with {flag}").into())
}

/// Certificates from files, which are reloaded; with `--from`, a self-signed one by default. With `--manage-certs` they
/// are empty until attache has made or read its own.
fn certificates(
    args: &Args,
    metrics: &Arc<Metrics>,
    background: &mut JoinSet<String>,
) -> Result<Arc<Certificates>, Failure> {
    if args.manage_certs {
        return Ok(Certificates::new());
    }
    let (Some(cert), Some(key)) = (&args.tls_cert, &args.tls_key) else {
        if args.from.is_some() {
            let certificates = Certificates::self_signed(Zoned::now().date())?;
            certificates.tell_end(metrics);
            return Ok(certificates);
        }
        let remedy = "the API server must be able to trust the webhook: give --manage-certs, or --tls-cert \
                      and --tls-key (attache certs makes a pair for a try-out)";
        return Err(remedy.into());
    };
    let certificates = Certificates::new();
    let files = Files {
        cert: cert.clone(),
        key: key.clone(),
    };
    let reload = Reload::new(files, certificates.clone(), metrics.clone());
    background.spawn(async move {
        reload.run(CERTIFICATE_POLL).await;
        "the certificate reload ended".to_owned()
    });
    Ok(certificates)
}

/// Client authentication, if configured. The file of the CA is reloaded.
fn callers(
    args: &Args,
    metrics: &Arc<Metrics>,
    background: &mut JoinSet<String>,
) -> Option<Arc<Callers>> {
    let file = args.client_ca.clone()?;
    let callers = Callers::new(args.client_subjects.clone(), metrics.clone());
    let reload = Reload::client_ca(file, callers.clone(), metrics.clone());
    background.spawn(async move {
        reload.run(CERTIFICATE_POLL).await;
        "the client CA reload ended".to_owned()
    });
    Some(callers)
}

fn checks(
    certificates: Arc<Certificates>,
    callers: Option<Arc<Callers>>,
    configuration: Health,
    sources: &TaskStates,
) -> Checks {
    let TaskStates {
        sync,
        webhooks,
        own_certificates,
    } = sources.clone();
    Arc::new(move || {
        let problem = certificates.problem(jiff::Timestamp::now());
        let mut checks = vec![files("certificate", certificates.loaded(), problem)];
        if let Some(callers) = &callers {
            checks.push(files("client-ca", callers.loaded(), callers.problem()));
        }
        checks.push(configuration.check());
        if let Some(own) = &own_certificates {
            let check = own.check();
            checks.push(Check {
                name: check.name,
                ok: check.ok,
                required: check.required,
                detail: check.detail,
            });
        }
        let Some(sync) = &sync else {
            return checks;
        };
        checks.push(Check {
            name: "cache".to_owned(),
            ok: sync.ready(),
            required: true,
            detail: if sync.ready() {
                String::new()
            } else {
                "not filled yet".to_owned()
            },
        });
        let more = webhooks.iter().flat_map(|state| state.checks());
        checks.extend(sync.checks().into_iter().chain(more).map(|check| Check {
            name: check.name,
            ok: check.ok,
            // The check `cache` summarizes these, and stays passed. Webhook configurations do not decide whether
            // attache can serve.
            required: false,
            detail: check.detail,
        }));
        checks
    })
}

/// A check for reloaded files: required until they have been read once; afterwards the previous contents stay in use.
fn files(name: &str, is_loaded: bool, problem: Option<String>) -> Check {
    Check {
        name: name.to_owned(),
        ok: is_loaded && problem.is_none(),
        required: !is_loaded,
        detail: problem.unwrap_or_else(|| "not read yet".to_owned()),
    }
}

fn announce(args: &Args, listen: &BoundListener, admin: &BoundListener) {
    let note = if args.from.is_some() && args.tls_cert.is_none() {
        "  (self-signed for this run)"
    } else {
        ""
    };
    let url = format!("https://{}/validate", listen.addr);
    say(&format!("{url}{note}"));
    say(&format!("admin http://{}", admin.addr));
    let review = args
        .from
        .as_ref()
        .map(|directory| directory.join("review.json"));
    if let Some(review) = review.filter(|file| file.is_file()) {
        let (header, file) = ("content-type: application/json", review.display());
        say(&format!("try  curl -sk {url} -H '{header}' -d @{file}"));
    }
}

/// Prints a line for the person at the terminal. A closed standard output is not an error.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "attache: {line}");
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::time::Duration;

    use tokio::task::JoinSet;
    use tokio::time::timeout;

    use super::until_ended;

    fn tasks() -> [JoinSet<String>; 2] {
        let mut tasks = [JoinSet::new(), JoinSet::new()];
        for set in &mut tasks {
            set.spawn(pending());
        }
        tasks
    }

    /// Returns why it stopped.
    async fn failed(mut tasks: [JoinSet<String>; 2]) -> String {
        let ended = timeout(
            Duration::from_mins(1),
            until_ended(pending(), tasks.each_mut()),
        );
        let ended = ended.await.expect("it goes on without the task");
        ended.unwrap_err().to_string()
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ends_or_panics_ends_the_process() {
        for which in [0, 1] {
            let mut ends = tasks();
            ends[which].spawn(async { "the watch ended".to_owned() });
            assert_eq!(failed(ends).await, "the watch ended");

            let mut panics = tasks();
            panics[which].spawn(async { panic!("on purpose") });
            let why = failed(panics).await;
            assert!(why.contains("panicked"), "{why}");
        }
    }

    #[tokio::test]
    async fn the_end_of_serving_is_no_failure_and_where_there_is_no_task_none_has_ended() {
        assert!(until_ended(ready(()), tasks().each_mut()).await.is_ok());
        let mut none = [JoinSet::new(), JoinSet::new()];
        let serving = tokio::task::yield_now();
        assert!(until_ended(serving, none.each_mut()).await.is_ok());
    }
}
