//! Parts of a profile: what is known of target fields, allowed targets, strategies and merging.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{DictatedBy, Direction, EmptySpec, Fact, Only, Op, Strategy, With};
use crate::engine::ids::GroupKind;
use crate::engine::level::Level;
use crate::engine::policy::guessed_group;

/// `GatewayClass`es, by their controller or by their own name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Names of controllers.
    pub controllers: Vec<Arc<str>>,
    /// Names of classes.
    pub names: Vec<Arc<str>>,
}

/// How a Service, or another object that clients call, names the Gateway before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayByLabel {
    /// The label with its name, on the object or its Namespace.
    pub label: Arc<str>,
    /// The label with its namespace.
    pub namespace_label: Arc<str>,
    /// The name that means none.
    pub nobody: Arc<str>,
    /// The protocol of the listener that says from where it may be named.
    pub protocol: Arc<str>,
    /// The label of the Gateway, or of its class, with what it stands before.
    pub purpose_label: Arc<str>,
    /// The values of that label for such objects; the first is meant where it is not there.
    pub purposes: Vec<Arc<str>>,
    /// The classes of such Gateways.
    pub classes: Classes,
}

/// A setting that controls a field of targets of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// Keys within the settings.
    pub setting: Vec<String>,
    /// The kind of the target.
    pub target: GroupKind,
    /// Path of the field from `spec`.
    pub field: String,
    /// Whether `false`, 0 and the empty text in the target say nothing.
    pub zero_is_unset: bool,
}

/// A field that holds target references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own.
pub struct RefField {
    /// Path from `spec`: `targetRef`, or `a.b`.
    pub path: String,
    /// Whether it is a list.
    pub many: bool,
    /// The group of a reference that names none, where something says so.
    pub default_group: Option<Arc<str>>,
    /// The kind of a reference that names none, where something says so.
    pub default_kind: Option<Arc<str>>,
    /// The namespace of a reference that names none, where it is not the policy's own.
    pub default_namespace: Option<Arc<str>>,
    /// The key of an entry's labels, where it is not `matchLabels`.
    pub labels: Option<String>,
    /// Whether entries take `sectionName`; none where nothing says so.
    pub sections: Option<bool>,
    /// The member that names the section, where that is not `sectionName`.
    pub section_field: Option<String>,
    /// The member that names sections by their port, where there is one.
    pub port_field: Option<String>,
    /// Whether entries must have a `sectionName`.
    pub needs_section: bool,
    /// Whether entries take `namespace`; none where nothing says so.
    pub namespace: Option<bool>,
    /// The most entries, where something says it.
    pub max: Option<usize>,
    /// Whether something says that no target may stand twice.
    pub unique: bool,
    /// Fields that are not read where this one is set.
    pub hides: Vec<String>,
    /// `kind` and `name`, as far as nothing says that entries must have them.
    pub may_lack: Vec<&'static str>,
    /// What entries may have at all, where a definition says that.
    pub members: Option<Vec<String>>,
    /// Whether entries must have a `group`.
    pub needs_group: bool,
    /// Whether a definition says that entries are the same which differ in members of unknown meaning alone.
    pub keyed: bool,
    /// The kinds that a definition takes in this field, where it says all of them.
    pub kinds: Option<Vec<GroupKind>>,
}

/// A kind that can be a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The kind.
    pub gk: GroupKind,
    /// Whether its sections can be targets.
    pub sections: bool,
    /// Who may name it, if not everybody.
    pub only: Option<Only>,
    /// The only objects of the kind that can be targets; all where there are none.
    pub names: Vec<Arc<str>>,
}

/// An annotation of targets that names a policy: how kinds without target fields are attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The kind of the targets.
    pub target: GroupKind,
    /// Its key; the value is the name of a policy in the same namespace.
    pub key: Arc<str>,
}

/// Strategies of a kind and where the spec names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strategies {
    /// Path from `spec` of the field that names one.
    pub path: Option<String>,
    /// Names as users write them.
    pub values: BTreeMap<String, Strategy>,
    /// Whether the names are all there are.
    pub complete: bool,
    /// The fields of `spec` that are strategies, where the kind has such stanzas.
    pub stanzas: Option<StanzaNames>,
    /// What `strategy` inside a stanza may say, where something says it.
    pub inside: BTreeMap<String, Op>,
    /// Whether one policy may carry both stanzas, which merge field by field then.
    pub legacy: bool,
    /// Whether nothing keeps the stanzas apart, though it is not known that the kind is of the older dialect:
    /// one alone is atomic, and both in one policy merge field by field.
    pub takes_both: bool,
    /// The name that the API server fills in where none is written.
    pub default: Option<String>,
    /// Fields of `spec` that neither stanza has: beside a stanza they are no settings.
    pub apart: Vec<String>,
    /// Maps of anything by any name, which the older dialect replaces as one; paths within the settings.
    pub maps: Vec<Vec<String>>,
}

/// A protection, and the settings that give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// What users call it: `authentication`.
    pub name: Arc<str>,
    /// Paths within the settings, each of which gives it; the empty path is any policy at all.
    pub settings: Vec<Vec<String>>,
}

/// Something that the controller of a kind does and that is not modelled: what is said of a policy to which it applies may
/// be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caveat {
    /// One sentence for users.
    pub text: Arc<str>,
    /// It applies to policies with a target of these kinds; to all where there are none.
    pub targets: Vec<Arc<str>>,
    /// It applies to policies that set something under one of these paths; to all where there are none.
    pub settings: Vec<Vec<String>>,
    /// It applies where routes send requests to objects of these kinds of Gateway API; everywhere where there are none.
    pub backends: Vec<Arc<str>>,
    /// It applies where a Gateway, a `ListenerSet` or a route has one of these annotations; everywhere where there are none.
    pub annotations: Vec<Arc<str>>,
}

/// How the policies of a kind meet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merging {
    /// Whose strategy decides.
    pub dictated_by: Fact<DictatedBy>,
    /// With which policies one merges, where the challenger decides.
    pub with: Fact<With>,
    /// Fields that are replaced as one; `*` stands for any key.
    pub units: Fact<Vec<Vec<String>>>,
    /// What is replaced as one where policies merge by key and these are said.
    pub fills: Vec<Vec<String>>,
    /// Lists merged entry by entry: field name to the key of its entries.
    pub list_keys: Fact<BTreeMap<String, String>>,
    /// Names of lists that add up on one target.
    pub add_up: Fact<Vec<String>>,
    /// What a policy without settings does, where something says it.
    pub empty_spec: Fact<Option<EmptySpec>>,
    /// Fields of the settings of which a policy needs one, or it is empty; any will do where there are none.
    pub essential: Fact<Vec<String>>,
    /// Levels that are put together first.
    pub stages: Fact<Vec<Vec<Level>>>,
    /// Settings of one stage that those below it do not undo, as paths within the settings.
    pub lasting: Fact<Vec<Vec<String>>>,
    /// Settings of which each stage has its own in force, as paths within the settings.
    pub together: Fact<Vec<Vec<String>>>,
}

/// What the stanzas of a kind are called: `defaults` and `overrides`, or the singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StanzaNames {
    /// The one for defaults.
    pub defaults: &'static str,
    /// The one for overrides.
    pub overrides: &'static str,
}

// === impl Merging ===

impl Merging {
    /// Whether a policy without settings takes its place like any other under this strategy (design 9, ruling 35).
    ///
    /// Where one policy replaces the other whole it does, unless the kind says otherwise. Where policies merge, one without
    /// settings adds nothing; but one that merges with its nearest parent alone keeps those above that out.
    pub fn counts_empty(&self, strategy: Strategy) -> bool {
        let defaults = Strategy::Merge(Direction::Defaults, Op::Atomic);
        match *self.empty_spec {
            Some(EmptySpec::Counts) => true,
            Some(EmptySpec::Ignored) => false,
            Some(EmptySpec::IgnoredAsDefault) => strategy != defaults && strategy.is_whole(),
            None => strategy.is_whole() || self.passes_over(),
        }
    }

    /// The stage of a level: those of one are put together before others.
    pub fn stage(&self, level: Level) -> (usize, Option<Level>) {
        let mut stages = self.stages.iter();
        match stages.position(|levels| levels.contains(&level)) {
            Some(stage) => (stage, None),
            None => (usize::MAX, Some(level)),
        }
    }

    /// Whether a policy keeps others out by merging with one of those above it alone.
    fn passes_over(&self) -> bool {
        *self.dictated_by == DictatedBy::Challenger && *self.with != With::AllAncestors
    }
}

// === impl RefField ===

impl RefField {
    /// The member that names the section.
    pub fn section_member(&self) -> &str {
        self.section_field.as_deref().unwrap_or("sectionName")
    }

    /// Whether entries may have a name. Those of `targetSelectors` have none, unless a definition says otherwise.
    pub fn takes_name(&self) -> bool {
        let member = |members: &Vec<String>| members.iter().any(|member| member == "name");
        self.members
            .as_ref()
            .map_or(self.path != "targetSelectors", member)
    }

    /// Whether the meaning of a member of an entry is known.
    pub fn knows(&self, member: &str) -> bool {
        const KNOWN: [&str; 8] = [
            "group",
            "kind",
            "name",
            "namespace",
            "namespaces",
            "selector",
            "matchLabels",
            "matchExpressions",
        ];
        let of_the_kind = [&self.port_field, &self.labels];
        KNOWN.contains(&member)
            || member == self.section_member()
            || of_the_kind
                .into_iter()
                .flatten()
                .any(|known| known == member)
    }
}

// === impl StanzaNames ===

impl StanzaNames {
    /// As GEP-713 writes them.
    pub const PLURAL: Self = Self {
        defaults: "defaults",
        overrides: "overrides",
    };
    /// As it wrote them first.
    pub const SINGULAR: Self = Self {
        defaults: "default",
        overrides: "override",
    };
}

// === impl Allowed ===

impl Allowed {
    /// The kind. Where no group is said it is the one of Gateway API or core that is called so.
    pub fn meant(&self) -> GroupKind {
        if &*self.gk.group == "*" {
            GroupKind::new(guessed_group(&self.gk.kind), self.gk.kind.clone())
        } else {
            self.gk.clone()
        }
    }
}
