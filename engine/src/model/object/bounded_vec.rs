//! Lists of bounded length.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// The default maximum length: more than four times what the CRDs of Gateway API allow. The cost of a review grows
/// with the product of such lists.
pub(super) const MAX_ITEMS: usize = 256;

/// The beginning of the error message for a longer list.
pub(super) const LONG_LIST: &str = "a list of more than";

/// The maximum number of hostnames of a route, as for a `TLSRoute` (Gateway API since v1.6).
pub(super) const MOST_HOSTNAMES: usize = 1024;

/// A list of at most `N` items; deserializing a longer one fails.
pub(super) struct BoundedVec<T, const N: usize = MAX_ITEMS>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for BoundedVec<T, N> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Items<T, const N: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Items<T, N> {
            type Value = BoundedVec<T, N>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut read = Vec::new();
                while let Some(item) = items.next_element()? {
                    if read.len() == N {
                        return Err(A::Error::custom(format_args!("{LONG_LIST} {N} items")));
                    }
                    read.push(item);
                }
                Ok(BoundedVec(read))
            }
        }
        from.deserialize_seq(Items(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::{BoundedVec, MAX_ITEMS};

    #[test]
    fn a_long_list_cannot_be_read() {
        let read = |n: usize| {
            serde_json::from_str::<BoundedVec<u8>>(&format!("[{}]", vec!["1"; n].join(",")))
        };
        assert_eq!(read(MAX_ITEMS).ok().map(|few| few.0.len()), Some(MAX_ITEMS));
        let why = read(MAX_ITEMS + 1).err().map(|e| e.to_string());
        assert!(why.is_some_and(|why| why.starts_with("a list of more than 256 items")));
    }
}
