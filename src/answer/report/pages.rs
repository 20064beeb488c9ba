//! The documentation page of each code: meaning, reason, example, remedy. Compiled into the program.

use crate::engine::admission::finding::Code;

/// The address of the repository on the web: as release/build.sh states it, else as the manifest of the package does.
const REPOSITORY: [Option<&str>; 2] = [
    option_env!("ATTACHE_SOURCE"),
    option_env!("CARGO_PKG_REPOSITORY"),
];

/// The page of a code, in Markdown.
pub fn page(code: Code) -> &'static str {
    match code {
        Code::ProtectionLost => include_str!("../../../docs/findings/protection-lost.md"),
        Code::Guardrail => include_str!("../../../docs/findings/guardrail.md"),
        Code::RouteDetached => include_str!("../../../docs/findings/route-detached.md"),
        Code::RouteNotAttached => include_str!("../../../docs/findings/route-not-attached.md"),
        Code::RouteShadowed => include_str!("../../../docs/findings/route-shadowed.md"),
        Code::BackendNotUsable => include_str!("../../../docs/findings/backend-not-usable.md"),
        Code::ClassNotFound => include_str!("../../../docs/findings/class-not-found.md"),
        Code::ListenerNotAccepted => {
            include_str!("../../../docs/findings/listener-not-accepted.md")
        }
        Code::NoEffect => include_str!("../../../docs/findings/no-effect.md"),
        Code::StrategyUnsupported => include_str!("../../../docs/findings/strategy-unsupported.md"),
        Code::StrategyMultiple => include_str!("../../../docs/findings/strategy-multiple.md"),
        Code::SectionUnknown => include_str!("../../../docs/findings/section-unknown.md"),
        Code::SectionUnsupported => include_str!("../../../docs/findings/section-unsupported.md"),
        Code::SectionAmbiguous => include_str!("../../../docs/findings/section-ambiguous.md"),
        Code::TargetMissingRef => include_str!("../../../docs/findings/target-missing-ref.md"),
        Code::TargetKindUnsupported => {
            include_str!("../../../docs/findings/target-kind-unsupported.md")
        }
        Code::TargetDuplicate => include_str!("../../../docs/findings/target-duplicate.md"),
        Code::TargetLimit => include_str!("../../../docs/findings/target-limit.md"),
        Code::TargetGroupVersioned => {
            include_str!("../../../docs/findings/target-group-versioned.md")
        }
        Code::TargetNotFound => include_str!("../../../docs/findings/target-not-found.md"),
        Code::TargetNamespaceForbidden => {
            include_str!("../../../docs/findings/target-namespace-forbidden.md")
        }
        Code::TargetNotGranted => include_str!("../../../docs/findings/target-not-granted.md"),
        Code::TargetClusterScoped => {
            include_str!("../../../docs/findings/target-cluster-scoped.md")
        }
        Code::TargetSpelling => include_str!("../../../docs/findings/target-spelling.md"),
        Code::TargetBothForms => include_str!("../../../docs/findings/target-both-forms.md"),
        Code::TargetSelectsNothing => {
            include_str!("../../../docs/findings/target-selects-nothing.md")
        }
        Code::SpecEmpty => include_str!("../../../docs/findings/spec-empty.md"),
        Code::VersionUnknown => include_str!("../../../docs/findings/version-unknown.md"),
        Code::FieldUnknown => include_str!("../../../docs/findings/field-unknown.md"),
        Code::FieldInvalid => include_str!("../../../docs/findings/field-invalid.md"),
        Code::FieldConflict => include_str!("../../../docs/findings/field-conflict.md"),
        Code::Conflicted => include_str!("../../../docs/findings/conflicted.md"),
        Code::Rejected => include_str!("../../../docs/findings/rejected.md"),
        Code::Overridden => include_str!("../../../docs/findings/overridden.md"),
        Code::PartlyOverridden => include_str!("../../../docs/findings/partly-overridden.md"),
        Code::Affects => include_str!("../../../docs/findings/affects.md"),
        Code::AffectedBy => include_str!("../../../docs/findings/affected-by.md"),
        Code::EffectiveChange => include_str!("../../../docs/findings/effective-change.md"),
        Code::RouteAttached => include_str!("../../../docs/findings/route-attached.md"),
        Code::SectionOrphaned => include_str!("../../../docs/findings/section-orphaned.md"),
        Code::TargetOrphaned => include_str!("../../../docs/findings/target-orphaned.md"),
        Code::GrantClosed => include_str!("../../../docs/findings/grant-closed.md"),
        Code::GrantOpened => include_str!("../../../docs/findings/grant-opened.md"),
        Code::CrdLabel => include_str!("../../../docs/findings/crd-label.md"),
        Code::CrdLabelMismatch => include_str!("../../../docs/findings/crd-label-mismatch.md"),
        Code::CrdStatus => include_str!("../../../docs/findings/crd-status.md"),
        Code::CrdConditions => include_str!("../../../docs/findings/crd-conditions.md"),
        Code::CrdTargetRefs => include_str!("../../../docs/findings/crd-target-refs.md"),
        Code::CrdTargetLimits => include_str!("../../../docs/findings/crd-target-limits.md"),
        Code::CrdBothForms => include_str!("../../../docs/findings/crd-both-forms.md"),
        Code::CrdStrategy => include_str!("../../../docs/findings/crd-strategy.md"),
        Code::CrdStrategyDefault => include_str!("../../../docs/findings/crd-strategy-default.md"),
        Code::CrdName => include_str!("../../../docs/findings/crd-name.md"),
        Code::CrdSpecEmpty => include_str!("../../../docs/findings/crd-spec-empty.md"),
        Code::PendingOver => include_str!("../../../docs/findings/pending-over.md"),
        Code::ControllerMismatch => include_str!("../../../docs/findings/controller-mismatch.md"),
        Code::OrderDecides => include_str!("../../../docs/findings/order-decides.md"),
        Code::StatusDisagrees => include_str!("../../../docs/findings/status-disagrees.md"),
        Code::Unverified => include_str!("../../../docs/findings/unverified.md"),
        Code::Unreadable => include_str!("../../../docs/findings/unreadable.md"),
        Code::TargetSchema => include_str!("../../../docs/findings/target-schema.md"),
        Code::ObjectDuplicate => include_str!("../../../docs/findings/object-duplicate.md"),
        Code::KindUnknown => include_str!("../../../docs/findings/kind-unknown.md"),
        Code::SuppressionInvalid => include_str!("../../../docs/findings/suppression-invalid.md"),
    }
}

/// The address on the web of a code's page, of this version. `None` if it is not known where the repository is: an
/// address that leads nowhere is worse than none.
pub fn address(code: Code) -> Option<String> {
    let mut stated = REPOSITORY.into_iter().flatten();
    let repository = stated.find(|address| !address.is_empty())?;
    Some(address_in(repository, code))
}

/// The address of a code's page in a repository.
pub fn address_in(repository: &str, code: Code) -> String {
    let repository = repository.trim_end_matches('/').trim_end_matches(".git");
    let (version, code) = (env!("CARGO_PKG_VERSION"), code.as_str());
    format!("{repository}/blob/v{version}/docs/findings/{code}.md")
}
