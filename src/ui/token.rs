//! A secret that a URL or a header carries.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

/// The length of a token in bytes: too long to be guessed.
const BYTES: usize = 32;

/// The token in the value of `Authorization: Bearer`.
pub(super) fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim())
}

/// A random token. It does not appear in debug output.
pub(super) struct Token(String);

// === impl Token ===

impl Token {
    /// # Errors
    /// If the system has no randomness.
    pub(super) fn new() -> Result<Self, String> {
        let mut bytes = [0; BYTES];
        let filled = SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| "the system has no randomness for a token".to_owned())?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a text is the token. Digests are compared, so that the duration does not show how
    /// much of a guess was right.
    pub(super) fn is(&self, given: &str) -> bool {
        digest(&SHA256, given.as_bytes()).as_ref() == digest(&SHA256, self.0.as_bytes()).as_ref()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}
