//! The numbers of targets that fulfil and that break each guardrail.

use std::collections::BTreeMap;

use attache_engine::effective::Resolver;
use attache_engine::model::ids::ObjectKey;
use attache_engine::state::snapshot::Snapshot;
use jiff::civil::Date;

use crate::exception::Exception;
use crate::fulfilment::{Fulfilment, targets, unknown_kind};
use crate::guardrail::Guardrail;
use crate::guardrails::Guardrails;
use crate::judge::Judge;

/// The numbers of targets that fulfil and that break a guardrail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Why nothing can be known of it.
    pub unusable: Option<String>,
    /// The number of targets that fulfil it.
    pub fulfilled: usize,
    /// The number of targets that break it.
    pub broken: usize,
    /// The number of targets for which a rule cannot be evaluated.
    pub errors: usize,
    /// The number of targets with an exception.
    pub excepted: usize,
    /// Exceptions that hold for long, that end soon, and that have ended.
    pub exceptions: [usize; 3],
}

// === impl Count ===

impl Count {
    /// Whether no target was judged, and none has an exception.
    pub(crate) fn is_empty(&self) -> bool {
        self.fulfilled + self.broken + self.errors + self.excepted == 0
    }

    fn new(snapshot: &Snapshot, guardrail: &Guardrail, today: Date) -> Self {
        let mut count = Self {
            unusable: unknown_kind(snapshot, guardrail),
            ..Self::default()
        };
        for exception in &guardrail.exceptions {
            count.except(exception, today);
        }
        count
    }

    fn except(&mut self, exception: &Exception, today: Date) {
        let [lasting, ending, ended] = &mut self.exceptions;
        let counted = if exception.is_over(today) {
            ended
        } else if exception.ends_soon(today) {
            ending
        } else {
            lasting
        };
        *counted += 1;
    }

    fn add(&mut self, fulfilment: &Fulfilment, today: Date) {
        match fulfilment {
            Fulfilment::Fulfilled => self.fulfilled += 1,
            Fulfilment::Excepted(exception) => {
                self.excepted += 1;
                // Those of the guardrail itself are counted already.
                if exception.is_annotated {
                    self.except(exception, today);
                }
            }
            Fulfilment::Broken(faults) if faults.iter().any(|fault| !fault.is_error) => {
                self.broken += 1;
            }
            Fulfilment::Broken(_) => self.errors += 1,
        }
    }
}

/// Judges all targets of all guardrails that `wanted` accepts, and passes each result on.
pub fn each_target<'g>(
    snapshot: &Snapshot,
    all: &'g Guardrails,
    today: Date,
    wanted: impl Fn(&ObjectKey) -> bool,
    mut add: impl FnMut(&'g Guardrail, &ObjectKey, Fulfilment),
) {
    let mut resolver = Resolver::new(snapshot);
    let mut judge = Judge::of_current_state(all.functions());
    let mut keys: Vec<ObjectKey> = all
        .iter()
        .flat_map(|guardrail| targets(snapshot, guardrail))
        .filter(|key| wanted(key))
        .collect();
    keys.sort();
    keys.dedup();
    for target in &keys {
        for (guardrail, fulfilment) in judge.of_target(&mut resolver, all, target, today) {
            add(guardrail, target, fulfilment);
        }
    }
}

/// Counts for all guardrails, by name.
pub fn count(snapshot: &Snapshot, all: &Guardrails, today: Date) -> BTreeMap<String, Count> {
    let name_and_count = |guardrail: &Guardrail| {
        let count = Count::new(snapshot, guardrail, today);
        (guardrail.name.clone(), count)
    };
    let mut counts: BTreeMap<String, Count> = all.iter().map(name_and_count).collect();
    each_target(
        snapshot,
        all,
        today,
        |_| true,
        |guardrail, target, fulfilment| {
            if let Some(count) = counts.get_mut(&guardrail.name) {
                count.add(&fulfilment, today);
                for ended in guardrail.ended(snapshot, target, today) {
                    count.except(&ended, today);
                }
            }
        },
    );
    counts
}
