//! The UID of an object.

use std::fmt;

/// A UID as the API server makes them (a UUID), in 16 bytes: every cached object has one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Uid([u8; 16]);

/// The lengths of the parts of the text.
const PARTS: [usize; 5] = [8, 4, 4, 4, 12];

// === impl Uid ===

impl Uid {
    /// Reads `5b7b4c2e-0b0e-4c34-9d5c-6f0f5a1f0a52`. `None` for any other form.
    pub fn read(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('-').collect();
        if !parts.iter().map(|part| part.len()).eq(PARTS) {
            return None;
        }
        let digits = parts.concat();
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if !digits.bytes().all(is_hex) {
            return None;
        }
        let number = u128::from_str_radix(&digits, 16).ok()?;
        Some(Self(number.to_be_bytes()))
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:032x}", u128::from_be_bytes(self.0));
        let mut remaining = digits.as_str();
        for (number, length) in PARTS.into_iter().enumerate() {
            let (part, after) = remaining
                .split_at_checked(length)
                .unwrap_or((remaining, ""));
            if number > 0 {
                f.write_str("-")?;
            }
            f.write_str(part)?;
            remaining = after;
        }
        Ok(())
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Uid;

    #[test]
    fn only_the_form_of_the_api_server_is_read_and_it_is_written_back() {
        for uid in [
            "5b7b4c2e-0b0e-4c34-9d5c-6f0f5a1f0a52",
            "00000000-0000-0000-0000-000000000001",
        ] {
            assert_eq!(Uid::read(uid).unwrap().to_string(), uid);
        }
        for other in [
            "",
            "5b7b4c2e",
            "5B7B4C2E-0b0e-4c34-9d5c-6f0f5a1f0a52",
            "5b7b4c2e0b0e-4c34-9d5c-6f0f5a1f0a52",
            "+b7b4c2e-0b0e-4c34-9d5c-6f0f5a1f0a52",
            "5b7b4c2é-0b0e-4c34-9d5c-6f0f5a1f0a5",
        ] {
            assert_eq!(Uid::read(other), None, "{other}");
        }
    }
}
