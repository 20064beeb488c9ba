//! What the README and the documents show of the commands is what they say.

#[test]
fn sessions_in_documents_are_true() {
    trycmd::TestCases::new().case("README.md").case("docs/*.md");
}
