//! `attache guardrails`: sessions as pages, each with its state in a directory. `TRYCMD=overwrite` writes the actual output into
//! the pages.

#[test]
fn sessions_of_guardrails() {
    trycmd::TestCases::new().case("tests/commands/guardrails/*.md");
}
