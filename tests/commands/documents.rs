//! The sessions in the README and the documents show the actual output.

#[test]
fn sessions_in_documents_are_true() {
    trycmd::TestCases::new()
        .case("README.md")
        .case("docs/*.md")
        .case("docs/*/*.md");
}
