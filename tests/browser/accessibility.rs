//! Accessibility of the page, as axe-core judges it.
//!
//! `make axe` fetches axe-core into the cache. Without it the test prints SKIPPED and passes; with
//! `ATTACHE_REQUIRE_AXE=1`, as in CI, it fails.

use std::env;
use std::io::{Write as _, stderr};
use std::path::PathBuf;

use serde_json::json;
use testing::eventually::eventually;

use super::page::{Page, many};
use super::{BROKEN, QUICKSTART};

/// As the Makefile has it.
const AXE: &str = "attache/tools/axe-core-4.14.1/node_modules/axe-core/axe.min.js";

/// All rules, those on trial too: one of them compares the name of a button with its text.
pub(crate) const FAULTS: &str = "const done = arguments[arguments.length - 1];
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice', 'experimental'];
    axe.run(document, { resultTypes: ['violations'], runOnly: tags }).then((found) => done(found.violations
      .filter((fault) => ['serious', 'critical'].includes(fault.impact))
      .flatMap((fault) => fault.nodes.slice(0, 3).map((node) => `${fault.id}: ${node.html.slice(0, 200)}`))), (e) => done([String(e)]))";

#[test]
fn there_are_no_serious_faults_of_accessibility() {
    let Some(axe) = axe() else {
        return;
    };
    for state in [QUICKSTART, BROKEN, &many(12, 13)] {
        for scheme in ["light", "dark"] {
            let Some(page) = Page::of(state) else {
                return;
            };
            let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            page.devtools("Emulation.setEmulatedMedia", &features);
            page.run(&axe);
            let holds = |what: &str| {
                let faults = page.run_later(FAULTS);
                assert_eq!(faults, json!([]), "{what}, {scheme}");
            };
            holds("as it opens");
            page.click("#view .chip .policy");
            eventually("the panel is open", || page.says("TARGETS"));
            holds("with a policy chosen");
            page.click("#bar [data-state]");
            eventually("a filter is on", || match page.text("#shown") {
                shown if shown.contains("shown") => Ok(()),
                shown => Err(shown),
            });
            holds("with a filter");
        }
    }
}

pub(crate) fn axe() -> Option<String> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")));
    let found = cache.and_then(|cache| std::fs::read_to_string(cache.join(AXE)).ok());
    if found.is_none() {
        let is_required = env::var("ATTACHE_REQUIRE_AXE").is_ok_and(|value| value == "1");
        assert!(!is_required, "axe-core is not there: make axe");
        // To stderr directly, since the test runner would capture other output.
        let _ = writeln!(
            stderr(),
            "SKIPPED: accessibility: axe-core is not there (make axe)"
        );
    }
    found
}
