//! The documentation page of each code: meaning, reason, example, remedy. Compiled into the program.

use crate::engine::admission::finding::Code;

/// The address of the repository on the web: as release/build.sh states it, else as the manifest of the package does.
const REPOSITORY: [Option<&str>; 2] = [
    option_env!("ATTACHE_SOURCE"),
    option_env!("CARGO_PKG_REPOSITORY"),
];

macro_rules! pages {
    ($($(#[$doc:meta])* $code:ident $name:literal $severity:ident,)*) => {
        /// The page of a code, in Markdown.
        pub fn page(code: Code) -> &'static str {
            match code {
                $(Code::$code => include_str!(concat!("../../../docs/findings/", $name, ".md")),)*
            }
        }
    };
}

crate::engine::with_codes!(pages);

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
