//! Judges the current state in the background: the findings of `attache check --cluster`, and the
//! states of all policies. Reviews do not wait for it.

mod counts;
mod gauges;
mod pace;
pub mod reports;

use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use attache_guardrails::Guardrails;
use jiff::civil::Date;
use tokio::time::sleep;

use crate::answer::openreports::{PolicyNames, Reports};
use crate::cache::Published;
use crate::cache::guardrails::GuardrailsInUse;
use crate::cache::sync::SyncState;
use crate::engine::admission::settings::ReviewSettings;
use crate::engine::state::snapshot::Snapshot;
use crate::metrics::Metrics;
use crate::today::today;

use self::counts::Counts;
use self::gauges::Gauges;
use self::pace::Pace;
use self::reports::ReportSender;

/// The interval between two checks until there are policies.
const UNTIL_THERE_ARE_POLICIES: Duration = Duration::from_secs(1);
/// Judging takes at most one part in this many of a core.
const SHARE: u32 = 20;

/// The inputs of the background judgement, and the receivers of its results.
#[derive(Debug)]
pub struct BackgroundJudge {
    /// The state.
    pub snapshot: Published,
    /// The settings of reviews.
    pub settings: Arc<ArcSwap<ReviewSettings>>,
    /// The guardrails.
    pub guardrails: Arc<GuardrailsInUse>,
    /// Whether the state is complete; `None` if it always is.
    pub sync: Option<Arc<SyncState>>,
    /// Gets the numbers.
    pub metrics: Arc<Metrics>,
    /// The least time between two passes.
    pub every: Duration,
    /// The recipient of the findings for reports, if they are written.
    pub reports: Option<ReportSender>,
}

/// A state and its settings at one moment.
#[derive(Debug)]
struct Moment {
    snapshot: Arc<Snapshot>,
    settings: Arc<ReviewSettings>,
    guardrails: Arc<Guardrails>,
    today: Date,
}

/// The moment that was judged last. Weak, so as not to keep it in memory.
#[derive(Default)]
struct Last {
    snapshot: Weak<Snapshot>,
    settings: Weak<ReviewSettings>,
    guardrails: Weak<Guardrails>,
    day: Option<Date>,
}

// === impl BackgroundJudge ===

impl BackgroundJudge {
    /// Judges again whenever something has changed. Does not return unless judging panics.
    pub async fn run(self) -> String {
        let mut last = Last::default();
        let mut gauges = Gauges::default();
        let mut pause = UNTIL_THERE_ARE_POLICIES.min(self.every);
        loop {
            sleep(pause).await;
            if self.sync.as_ref().is_some_and(|sync| !sync.ready()) {
                continue;
            }
            let moment = self.now();
            if last.is(&moment) {
                continue;
            }
            last = Last::from_moment(&moment);
            let policy_names = self
                .reports
                .as_ref()
                .map(|report_sender| report_sender.policy_names);
            let judged = pace::on_own_thread(move |pace| judge(&moment, policy_names, pace));
            let counts = match judged.await {
                Ok(Some((counts, reports))) => {
                    if let (Some(report_sender), Some(reports)) = (&self.reports, reports) {
                        report_sender.newest.send_replace(Some(Arc::new(reports)));
                    }
                    counts
                }
                Ok(None) => return "judging the current state panicked".to_owned(),
                Err(error) => {
                    tracing::warn!(%error, "the current state is not judged: there is no thread for it");
                    last = Last::default();
                    pause = self.every;
                    continue;
                }
            };
            gauges.show(&self.metrics, &counts);
            pause = if counts.policies.is_empty() {
                UNTIL_THERE_ARE_POLICIES.min(self.every)
            } else {
                self.every.max(counts.worked * SHARE)
            };
        }
    }

    fn now(&self) -> Moment {
        Moment {
            snapshot: self.snapshot.load_full(),
            settings: self.settings.load_full(),
            guardrails: self.guardrails.all(),
            today: today(),
        }
    }
}

/// The numbers of a state, and its reports if they are wanted.
fn judge(
    moment: &Moment,
    policy_names: Option<PolicyNames>,
    pace: &mut Pace,
) -> (Counts, Option<Reports>) {
    let (snapshot, levels) = (&moment.snapshot, &moment.settings.levels);
    let mut reports =
        policy_names.map(|policy_names| Reports::new(snapshot, policy_names, levels.clone()));
    let counts = Counts::judge(moment, pace, |finding| {
        if let Some(reports) = &mut reports {
            reports.add(snapshot, finding);
        }
    });
    (counts, reports)
}

// === impl Last ===

impl Last {
    fn from_moment(moment: &Moment) -> Self {
        Self {
            snapshot: Arc::downgrade(&moment.snapshot),
            settings: Arc::downgrade(&moment.settings),
            guardrails: Arc::downgrade(&moment.guardrails),
            day: Some(moment.today),
        }
    }

    fn is(&self, moment: &Moment) -> bool {
        self.snapshot.as_ptr() == Arc::as_ptr(&moment.snapshot)
            && self.settings.as_ptr() == Arc::as_ptr(&moment.settings)
            && self.guardrails.as_ptr() == Arc::as_ptr(&moment.guardrails)
            && self.day == Some(moment.today)
    }
}
