//! Profiles as people write them: the form of the built-in files and of `profiles:` in the configuration.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Clash, Class, CrossNamespace, DictatedBy, Direction, EmptySpec, Meets, NeedFile, Only, Op,
    Parent, PortsBy, SameTarget, SectionNaming, ServiceAs, Spelled, StatusShape, With, Without,
};
use crate::engine::ids::GroupKind;
use crate::engine::level::Level;

/// A file of profiles.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// The profiles, one a kind.
    #[serde(default)]
    pub profiles: Vec<ProfileFile>,
    /// Facts about controllers of Gateways.
    #[serde(default)]
    pub controllers: Vec<ControllerFile>,
}

/// What is known of a controller of Gateways, whatever the policies.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControllerFile {
    /// `controllerName` of its `GatewayClasses`.
    pub name: String,
    /// Whether it serves an `HTTPRoute` and a `GRPCRoute` on one hostname of a listener. Where it does not, the older
    /// one is accepted, and the other is not.
    #[serde(default)]
    pub http_and_grpc_on_one_hostname: bool,
}

/// One profile. Every field is optional: what is left out is taken from the CRD.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProfileFile {
    /// The kind that it is about, in any version.
    #[serde(rename = "match")]
    pub matches: Match,
    /// Its versions; those of its CRD count where there is one.
    pub versions: Option<Vec<String>>,
    /// Whether it is a policy kind at all; it is, where this is left out.
    pub policy: Option<bool>,
    /// Direct or inherited.
    pub class: Option<Class>,
    /// Where the spec names targets, and which are allowed.
    #[serde(default)]
    pub targets: Targets,
    /// How policies of the kind merge.
    #[serde(default)]
    pub merge: Merge,
    /// Two policies on one target.
    #[serde(default)]
    pub conflict: Conflict,
    /// Kinds whose behaviour changes in the end. Where it is left out: the target itself for direct
    /// kinds, the rule of the route or the lowest allowed target for inherited ones.
    pub effective: Option<Vec<Match>>,
    /// Whether policies act only where a route leads. Those of a mesh act on Gateways and Services to
    /// which no route is attached, too.
    pub needs_route: Option<bool>,
    /// The kinds of parents through which policies of the kind reach routes: those that its controllers follow. All where it
    /// is left out.
    pub parents: Option<Vec<Parent>>,
    /// Levels from the least to the most specific; the others do not count. All where it is left out.
    pub hierarchy: Option<Vec<Level>>,
    /// Fields of targets that settings of the policy control.
    #[serde(default)]
    pub controls: Vec<ControlFile>,
    /// Protections that policies of the kind give, by what users call them, and the settings that give each: where the last
    /// of these is lost on a path, that is a finding of its own. `spec` alone is any policy of the kind.
    pub protects: Option<BTreeMap<String, Vec<String>>>,
    /// Fields without which a policy is refused, by its definition or by the admission of its controllers.
    pub needs: Option<Vec<NeedFile>>,
    /// Settings that switch such a protection off: `spec.extAuth.disable`.
    pub switched_off_by: Option<Vec<String>>,
    /// What the controllers of the kind do and attache does not model.
    pub caveats: Option<Vec<CaveatFile>>,
    /// Names of the controllers that act on the kind, as in `controllerName` of a `GatewayClass`.
    pub controllers: Option<Vec<String>>,
    /// The domain in the type of conditions: `<domain>/<Kind>Affected`.
    pub domain: Option<String>,
    /// Status.
    #[serde(default)]
    pub status: StatusFile,
}

/// Conflicts.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Conflict {
    /// Who wins on one target and section.
    pub same_target: Option<SameTarget>,
    /// Which policies of one object meet at all.
    pub meets: Option<Meets>,
    /// What of other objects makes its controllers reject a policy.
    pub clashes: Option<Vec<Clash>>,
    /// The fields by which policies conflict, as paths within the settings; all where it is left out.
    pub fields: Option<Vec<String>>,
    /// The annotation of a policy with its weight, a whole number: where two meet on one level, the heavier
    /// counts as the older one. 0 where it is not there.
    pub weight: Option<String>,
}

/// One setting that controls a field of the target.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControlFile {
    /// Path within the settings: `retryOn`.
    pub setting: String,
    /// The kind of the target.
    pub target: Match,
    /// Path of the field from the object: `spec.retryOn`.
    pub field: String,
    /// Whether `false`, 0 and the empty text in the target say nothing, like an absent field.
    #[serde(default)]
    pub zero_is_unset: bool,
}

/// Something that the controller does and that attache does not model. It is shown beside every policy to which it applies.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaveatFile {
    /// One sentence for users.
    pub text: String,
    /// Kinds of targets: it applies to policies that name one of these. To all where it is left out.
    #[serde(default)]
    pub targets: Vec<String>,
    /// Paths of settings: it applies to policies that set one of these. To all where it is left out.
    #[serde(default)]
    pub settings: Vec<String>,
    /// Kinds of Gateway API: it applies where routes send requests to objects of one of these. Everywhere where it is left out.
    #[serde(default)]
    pub backends: Vec<String>,
    /// Annotations: it applies where a Gateway, a `ListenerSet` or a route has one of these. Everywhere where it is left out.
    #[serde(default)]
    pub annotations: Vec<String>,
}

/// Status.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StatusFile {
    /// Where it says what became of a policy.
    pub shape: Option<StatusShape>,
    /// The most entries that `status.ancestors` takes.
    pub max_ancestors: Option<usize>,
    /// Whether controllers write a condition `Overridden` with status `True` where other policies are in force in the place of
    /// one somewhere.
    pub overridden: Option<bool>,
}

/// Group and kind.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
}

/// Targets.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Targets {
    /// Fields that hold references.
    pub refs: Option<Vec<RefFile>>,
    /// The annotation of targets that names a policy, for kinds without target fields.
    pub annotation: Option<AnnotationFile>,
    /// Whether a policy without target is wrong.
    pub required: Option<bool>,
    /// What a policy without target acts on.
    pub without: Option<Without>,
    /// Gateways on which policies without target do not act, by their `GatewayClass`.
    pub without_except: Option<ClassesFile>,
    /// The Gateway before a Service, where labels name it: policies on the Service act at that Gateway and nowhere else.
    pub gateway_by_label: Option<GatewayByLabelFile>,
    /// The namespace whose policies reach further than those of others.
    pub root: Option<String>,
    /// Kinds that can be targets; all where it is left out.
    pub allow: Option<Vec<AllowFile>>,
    /// How exactly group and kind are compared.
    pub spelled: Option<Spelled>,
    /// Whether unnamed rule *i* of a route may be called `rule-<i+1>`.
    pub section_naming: Option<SectionNaming>,
    /// How a section names a port of a Service: by its name where this is left out.
    pub ports_by: Option<PortsBy>,
    /// Whether a reference may name an object of another namespace.
    pub cross_namespace: Option<CrossNamespace>,
    /// Which of its two roles a policy on a Service means.
    pub service_as: Option<ServiceAs>,
}

/// How a Service, or another object that clients call, names the Gateway before it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GatewayByLabelFile {
    /// The label with the name of the Gateway, on the object or on its Namespace: that of the object counts first.
    pub label: String,
    /// The label beside it with the namespace of the Gateway; that of the object where it is not there.
    pub namespace_label: String,
    /// The name by which the object says that it has none, whatever its Namespace says.
    pub nobody: String,
    /// The protocol of the listener that says from which namespaces objects may name the Gateway; from its own where there is
    /// no such listener.
    pub protocol: String,
    /// The label of the Gateway, or of its class, with what it stands before.
    pub purpose_label: String,
    /// The values of that label for such objects; the first is meant where it is not there.
    pub purposes: Vec<String>,
    /// The classes of such Gateways.
    pub classes: ClassesFile,
}

/// Classes of Gateways.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClassesFile {
    /// Those of these controllers.
    #[serde(default)]
    pub controllers: Vec<String>,
    /// Those of these names, whether or not it is known whose they are.
    #[serde(default)]
    pub names: Vec<String>,
}

/// One field that holds references.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own.
pub struct RefFile {
    /// Path from the object: `spec.targetRef`.
    pub path: String,
    /// Whether it is a list.
    #[serde(default)]
    pub many: bool,
    /// The group of a reference that names none.
    pub default_group: Option<String>,
    /// The kind of a reference that names none.
    pub default_kind: Option<String>,
    /// The namespace of a reference that names none; the policy's own where it is left out.
    pub default_namespace: Option<String>,
    /// The key under which an entry has the labels that it selects by, where that is not `matchLabels`.
    pub labels: Option<String>,
    /// Whether entries take `sectionName`.
    pub sections: Option<bool>,
    /// The member of an entry that names the section, where that is not `sectionName`; a number is
    /// read as text.
    pub section_field: Option<String>,
    /// A member of an entry that names sections by their port: the listeners of a Gateway on it, or the
    /// port of a Service.
    pub port_field: Option<String>,
    /// Whether entries must have a `group`.
    #[serde(default)]
    pub needs_group: bool,
    /// Whether entries must have a `sectionName`.
    #[serde(default)]
    pub needs_section: bool,
    /// Whether entries take `namespace`.
    pub namespace: Option<bool>,
    /// The most entries.
    pub max: Option<usize>,
    /// Whether no target may stand twice.
    #[serde(default)]
    pub unique: bool,
    /// Fields that are not read where this one is set: `spec.targetRefs`.
    #[serde(default)]
    pub hides: Vec<String>,
}

/// An annotation of targets that names a policy in their namespace.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnnotationFile {
    /// The kind of the targets.
    pub target: Match,
    /// Its key.
    pub key: String,
}

/// One kind that can be a target.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllowFile {
    /// API group.
    pub group: String,
    /// Kind, or several of one group.
    pub kind: Names,
    /// Whether sections of it can be targets.
    #[serde(default = "yes")]
    pub sections: bool,
    /// Who may name it, if not everybody.
    pub only: Option<Only>,
    /// The only objects of the kind that can be targets, by their names; all where it is left out.
    #[serde(default)]
    pub names: Vec<String>,
}

/// One name or several.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Names {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// Merging.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Merge {
    /// One policy may carry defaults and overrides at once (design 2.5).
    pub dialect: Option<Dialect>,
    /// A field that names the strategy.
    pub strategy: Option<StrategyFile>,
    /// Whether `spec.defaults` and `spec.overrides` are strategies; `singular` where they are written
    /// `spec.default` and `spec.override`.
    pub stanzas: Option<StanzasFile>,
    /// What `strategy` inside a stanza may say.
    pub inside: Option<BTreeMap<String, Op>>,
    /// What holds where nothing is named.
    pub unset: Option<StrategyValue>,
    /// Whose strategy decides when two policies meet.
    pub dictated_by: Option<DictatedBy>,
    /// With which policies above it one merges, where the challenger decides.
    pub with: Option<With>,
    /// Fields that are replaced as one, whatever the operation: `limits.*` is each entry of `limits`.
    pub units: Option<Vec<String>>,
    /// Lists merged entry by entry under the operations strategic and by-key: field name to the key of
    /// its entries.
    pub list_keys: Option<BTreeMap<String, String>>,
    /// Lists that add up where several policies stand on one target, by the name of the field; from one
    /// level to the next they are replaced whole.
    pub add_up: Option<Vec<String>>,
    /// What a policy without settings does. Unsaid: it replaces others where policies of the kind replace each other whole,
    /// and does nothing where they merge.
    pub empty_spec: Option<EmptySpec>,
    /// Fields of which a policy needs one, or it counts as empty: `spec.rules`.
    pub essential: Option<Vec<String>>,
    /// Fields of `spec` that are not settings, beside targets and strategy.
    pub exclude: Option<Vec<String>>,
    /// Routes on which only some settings act, each filled in from above where a more specific policy does not have it.
    pub on_routes: Option<Vec<OnRoutesFile>>,
    /// Settings that do nothing where a policy stands on some levels.
    pub idle: Option<Vec<IdleFile>>,
    /// Levels that the controller puts together first; then it lays the results over each other. Each level by itself where it
    /// is left out.
    pub stages: Option<Vec<Vec<Level>>>,
    /// Settings of a less specific stage that a more specific one does not undo: `spec.extAuth.disable` keeps `extAuth` as
    /// it is.
    #[serde(rename = "final")]
    pub lasting: Option<Vec<String>>,
    /// Settings of which each stage has its own in force, beside those of the others: `spec.extAuth`.
    pub together: Option<Vec<String>>,
}

/// Settings that do nothing on some levels.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdleFile {
    /// The levels.
    pub levels: Vec<Level>,
    /// The settings: `spec.timeouts`.
    pub settings: Vec<String>,
}

/// What holds on routes of some kinds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnRoutesFile {
    /// Kinds of routes, of the group `gateway.networking.k8s.io`.
    pub kinds: Vec<String>,
    /// The settings that act there: `spec.timeout`.
    pub settings: Vec<String>,
    /// Whether policies on a rule act.
    #[serde(default = "yes")]
    pub sections: bool,
    /// Whether a policy on such a route is refused for any other setting.
    #[serde(default)]
    pub refuses_others: bool,
}

/// Whether a kind has stanzas, and how they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum StanzasFile {
    /// Whether it has them, written as its CRD says or in the plural.
    Has(bool),
    /// It has them, written so.
    Written(Number),
}

/// How the names of stanzas are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Number {
    /// `default` and `override`.
    Singular,
    /// `defaults` and `overrides`.
    Plural,
}

/// Which generation of the pattern a kind follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Both stanzas in one policy.
    Legacy,
}

/// A field that names the strategy.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrategyFile {
    /// Path from the object: `spec.mergeStrategy`.
    pub path: String,
    /// What each name means.
    pub values: BTreeMap<String, StrategyValue>,
}

/// A strategy in two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrategyValue {
    /// Who wins.
    pub direction: Direction,
    /// In what pieces.
    pub op: Op,
}

// === impl Match ===

impl Match {
    /// The kind.
    pub fn gk(&self) -> GroupKind {
        GroupKind::new(self.group.as_str(), self.kind.as_str())
    }
}

// === impl Names ===

impl Names {
    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        };
        names.iter().map(String::as_str)
    }
}

fn yes() -> bool {
    true
}
