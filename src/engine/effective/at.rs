//! What stands at one object, and who of them is rejected for another.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::stack::Here;
use crate::engine::attach::Stand;
use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::policy::Policy;
use crate::engine::profile::{Meets, Profile};
use crate::engine::rivals::{compared, rejected};
use crate::engine::work;

/// What stands at an object.
#[derive(Debug)]
pub(super) struct At {
    pub(super) stands: Rc<[Stand]>,
    /// The kinds of them, sorted.
    pub(super) kinds: Vec<GroupKind>,
    /// Whether some act on requests from their own namespace alone.
    pub(super) asks: bool,
    /// How much it is to tell all of this, in leaves.
    pub(super) work: usize,
    told: OnceCell<Told>,
}

/// What is found out when it is first asked for.
#[derive(Debug)]
struct Told {
    /// For each of the stands, the policy for which it is rejected, where that may stand on another section; empty
    /// where that may not be.
    rejected: Vec<Option<ObjectKey>>,
    places: Vec<Alike>,
}

/// What stands at one section of an object, or at the whole of it, of one kind.
#[derive(Debug)]
pub(super) struct Alike {
    pub(super) section: Option<Arc<str>>,
    wide: bool,
    pub(super) policies: Here,
}

// === impl At ===

impl At {
    pub(super) fn new(stands: Vec<Stand>) -> Self {
        let kinds = stands.chunk_by(|a, b| a.policy.key().gk == b.policy.key().gk);
        let meeting = kinds.clone().filter_map(Meeting::of);
        let work: usize = meeting.map(|meeting| meeting.work()).sum();
        let kinds = kinds.filter_map(|run| run.first());
        Self {
            kinds: kinds.map(|stand| stand.policy.key().gk.clone()).collect(),
            asks: stands.iter().any(|stand| stand.consumer),
            work: work + stands.len() / work::PASSED_OVER,
            stands: stands.into(),
            told: OnceCell::new(),
        }
    }

    /// The same without what is rejected, by section and kind; what stands at every Namespace before what stands
    /// at this one, which is more specific. In the order of the stands.
    pub(super) fn places(&self) -> &[Alike] {
        &self.told().places
    }

    /// Each with the policy for which it is rejected, where that may stand on another section.
    pub(super) fn each(&self) -> impl Iterator<Item = (&Stand, Option<&ObjectKey>)> {
        let rejected = &self.told().rejected;
        let stands = self.stands.iter().enumerate();
        stands.map(|(i, stand)| (stand, rejected.get(i).and_then(Option::as_ref)))
    }

    /// Whether something of a kind stands at a section.
    pub(super) fn tells_sections(&self, profile: &Profile) -> bool {
        let mut places = self.places().iter();
        places.any(|alike| alike.section.is_some() && alike.is_of(profile))
    }

    fn told(&self) -> &Told {
        self.told.get_or_init(|| {
            let rejected = self.rejected();
            let places = places(&self.stands, &rejected);
            Told { rejected, places }
        })
    }

    fn rejected(&self) -> Vec<Option<ObjectKey>> {
        let stands = &self.stands;
        let mut found = Vec::new();
        // They are sorted by kind.
        let kinds = stands.chunk_by(|a, b| a.policy.key().gk == b.policy.key().gk);
        let mut from = 0;
        for kind in kinds {
            if let Some(meeting) = Meeting::of(kind) {
                found.resize(stands.len(), None);
                let there = found.iter_mut().skip(from);
                there.zip(meeting.rejected()).for_each(|(to, by)| *to = by);
            }
            from += kind.len();
        }
        found
    }
}

/// What stands at each section, of each kind.
fn places(stands: &[Stand], rejected: &[Option<ObjectKey>]) -> Vec<Alike> {
    let is_rejected = |i: usize| rejected.get(i).is_some_and(Option::is_some);
    let mut places = Vec::new();
    let mut from = 0;
    // They are sorted so.
    let runs = stands.chunk_by(|a, b| a.wide == b.wide && a.policy.key().gk == b.policy.key().gk);
    for run in runs {
        let mut sections: BTreeMap<Option<&Arc<str>>, Vec<Arc<Policy>>> = BTreeMap::new();
        let accepted = run.iter().zip(from..).filter(|(_, i)| !is_rejected(*i));
        for (stand, _) in accepted {
            let here = sections.entry(stand.section.as_ref()).or_default();
            here.push(stand.policy.clone());
        }
        let wide = run.first().is_some_and(|stand| stand.wide);
        places.extend(sections.into_iter().map(|(section, policies)| Alike {
            section: section.cloned(),
            wide,
            policies: policies.into(),
        }));
        from += run.len();
    }
    places
}

// === impl Alike ===

impl Alike {
    pub(super) fn is_of(&self, profile: &Profile) -> bool {
        let first = self.policies.first();
        first.is_some_and(|policy| policy.key().gk == profile.gk)
    }

    /// Whether a stand of a kind that is not rejected is one of these.
    pub(super) fn has(&self, profile: &Profile, stand: &Stand) -> bool {
        stand.wide == self.wide
            && stand.section == self.section
            && stand.policy.key().gk == profile.gk
    }
}

/// The stands of one kind, whose policies meet on other sections too.
struct Meeting<'a> {
    stands: &'a [Stand],
    /// By the section on which they stand; as one where all meet.
    sections: BTreeMap<Option<&'a Arc<str>>, Vec<usize>>,
}

// === impl Meeting ===

impl<'a> Meeting<'a> {
    fn of(stands: &'a [Stand]) -> Option<Self> {
        let meets = *stands.first()?.policy.profile.meets;
        if stands.len() < 2 || meets == Meets::SameSection {
            return None;
        }
        let mut sections: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (i, stand) in stands.iter().enumerate() {
            let section = stand.section.as_ref().filter(|_| meets == Meets::WholeToo);
            sections.entry(section).or_default().push(i);
        }
        Some(Self { stands, sections })
    }

    fn policies(&self, at: &[usize]) -> impl Iterator<Item = &'a Arc<Policy>> {
        let stands = at.iter().filter_map(|i| self.stands.get(*i));
        stands.map(|stand| &stand.policy)
    }

    fn whole(&self) -> &[usize] {
        self.sections.get(&None).map_or(&[], Vec::as_slice)
    }

    /// Those on the whole meet all others, and all others meet them.
    fn work(&self) -> usize {
        let whole = compared(self.policies(self.whole()));
        let each = self.sections.iter().map(|(section, own)| match section {
            None => compared(self.stands.iter().map(|stand| &stand.policy)),
            Some(_) => whole + compared(self.policies(own)),
        });
        each.sum()
    }

    /// For each, the policy for which it is rejected.
    fn rejected(&self) -> Vec<Option<ObjectKey>> {
        let mut found = vec![None; self.stands.len()];
        for (section, own) in &self.sections {
            let mut met: Vec<usize> = match section {
                None => (0..self.stands.len()).collect(),
                Some(_) => self.whole().iter().chain(own).copied().collect(),
            };
            // The established first.
            met.sort_unstable();
            let here: Vec<Arc<Policy>> = self.policies(&met).cloned().collect();
            for (i, by) in met.into_iter().zip(rejected(&here)) {
                if own.binary_search(&i).is_ok()
                    && let Some(to) = found.get_mut(i)
                {
                    *to = by.map(|by| by.key().clone());
                }
            }
        }
        found
    }
}
