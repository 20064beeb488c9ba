//! The names that a configuration had before the first release: an old name is an error that gives the new one.

use super::plain::with_hint;
use crate::engine::model::hint::nearest;

/// Keys and values under their names before the first release, with the names they have now.
pub const RENAMED: [(&str, &str); 63] = [
    ("without", "onMissing"),
    ("withoutExcept", "onMissingExcept"),
    ("root", "rootNamespace"),
    ("spelled", "nameComparison"),
    ("exactly", "exact"),
    ("core-too", "core-alias"),
    ("loosely", "ignore-case"),
    ("meets", "scope"),
    ("same-section", "section"),
    ("whole-too", "section-and-target"),
    ("any-section", "target"),
    ("unset", "default"),
    ("with", "mergeWith"),
    ("inside", "nestedStrategies"),
    ("units", "atomicFields"),
    ("addUp", "appendLists"),
    ("emptyCounts", "emptySpec"),
    ("true", "counts"),
    ("false", "ignored"),
    ("idle", "ineffective"),
    ("that", "existence"),
    ("which", "name"),
    ("what", "settings"),
    ("apart", "partitionBy"),
    ("final", "keptFromAbove"),
    ("together", "accumulatePerStage"),
    ("together", "accumulate"),
    ("together", "containsAll"),
    ("essential", "nonEmptyIf"),
    ("needs", "requirements"),
    ("with", "itemFields"),
    ("without", "exceptSettings"),
    ("instead", "suggestion"),
    ("nobody", "optOutValue"),
    ("hides", "takesPrecedenceOver"),
    ("actsElsewhere", "mayApplyElsewhere"),
    ("mayActElsewhere", "mayApplyElsewhere"),
    ("oneUntargeted", "oneWithNoTarget"),
    ("makesRoutes", "generatedRoutes"),
    ("answeringFilters", "directResponseFilters"),
    ("backendForAll", "wildcardBackend"),
    ("servesWithoutRoutes", "waypointClasses"),
    ("refusesListeners", "rejectedListeners"),
    ("refusesServices", "rejectedServices"),
    ("clashes", "rejectedBecause"),
    ("unread", "ignoredSettings"),
    ("unreadBesideStanzas", "ignoredBesideStanzas"),
    ("inheritance", "delegation"),
    ("dialect", "gepVersion"),
    ("legacy", "of-2021"),
    ("refused", "excluded"),
    ("refusesMisdirectedRequests", "rejectsMisdirectedRequests"),
    ("refusesWiderWildcards", "rejectsWiderWildcards"),
    ("onlyBehind", "onlyForRoutes"),
    ("actsThrough", "appliesThrough"),
    ("byFilterOf", "namedByFiltersOf"),
    ("unsetIs", "assumedWhenUnset"),
    ("noProxyLabels", "namespacesWithoutProxy"),
    ("noMeshLabels", "namespacesWithoutMesh"),
    ("noProxyWhen", "unreadWithoutProxyIf"),
    ("idle", "nothingToApplyTo"),
    ("messageGoesOn", "messageIsPrefix"),
    ("with", "otherKinds"),
];

/// The name that an error of serde does not accept, and those that it accepts. `None` if it is about something else.
pub(crate) fn offered(error: &str) -> Option<(&str, Vec<&str>)> {
    let (wrong, known) = error.split_once(", expected ")?;
    let is_name = wrong.contains("unknown ");
    let wrong = wrong.split('`').nth(1)?;
    let known = known.strip_prefix("one of ").unwrap_or(known);
    let known = known.split(", ").flat_map(|names| names.split(" or "));
    let known: Vec<&str> = known
        .map(|name| name.split('`').nth(1).unwrap_or(name))
        .collect();
    (is_name && !known.is_empty()).then_some((wrong, known))
}

/// Adds the current name of a renamed key to an error, or else replaces the list of names by the one that was most likely
/// meant.
pub(super) fn meant(why: &str) -> String {
    let first = why.lines().next().unwrap_or_default();
    let Some((wrong, known)) = offered(first) else {
        return why.to_owned();
    };
    let mut renamed = RENAMED.iter();
    let renamed = renamed.find(|(old, new)| *old == wrong && known.contains(new));
    match (renamed, nearest(wrong, &known)) {
        (Some((_, new)), _) => {
            why.replacen(first, &format!("{first}; it is called {new:?} now"), 1)
        }
        (None, Some(near)) => with_hint(why, wrong, near),
        (None, None) => why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Configuration;

    fn read(text: &str) -> Result<Configuration, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Configuration::read(file.path()).map_err(|e| e.to_string())
    }

    #[test]
    fn an_old_key_is_an_error_that_names_the_new_one() {
        let profile = |keys: &str| {
            let why = read(&format!(
                "profiles: [{{match: {{group: g, kind: K}}, {keys}}}]"
            ))
            .unwrap_err();
            why.lines().next().unwrap_or_default().to_owned()
        };
        for (keys, hint) in [
            (
                "merge: {unset: {direction: defaults, op: patch}}",
                "it is called \"default\" now",
            ),
            (
                "merge: {with: nearest-parent}",
                "it is called \"mergeWith\" now",
            ),
            (
                "targets: {without: namespace}",
                "it is called \"onMissing\" now",
            ),
            (
                "targets: {nameComparison: core-too}",
                "it is called \"core-alias\" now",
            ),
            (
                "conflict: {meets: any-section}",
                "it is called \"scope\" now",
            ),
            (
                "conflict: {scope: any-section}",
                "it is called \"target\" now",
            ),
            ("merge: {listKey: {}}", "did you mean \"listKeys\"?"),
        ] {
            let why = profile(keys);
            assert!(why.ends_with(hint), "{why}");
        }
    }
}
