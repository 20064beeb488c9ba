//! Settings of several policies at one place, each of them in force.

use super::Tree;

// === impl Tree ===

impl Tree {
    /// Both, this one first. Settings of the same policy occur once.
    pub(crate) fn side_by_side_with(self, other: Self) -> Self {
        let mut each = self.into_each();
        for tree in other.into_each() {
            if !each.contains(&tree) {
                each.push(tree);
            }
        }
        match <[Self; 1]>::try_from(each) {
            Ok([one]) => one,
            Err(each) => Self::Each(each),
        }
    }

    fn into_each(self) -> Vec<Self> {
        match self {
            Self::Each(each) => each,
            Self::Instead(tree) => tree.into_each(),
            one => vec![one],
        }
    }

    /// The settings of the same policy, otherwise the most specific ones.
    pub(super) fn counterpart<'a>(&self, each: &'a [Self]) -> Option<&'a Self> {
        let own = self.sole();
        let mut same = each.iter();
        same.find(|tree| tree.sole() == own).or(each.last())
    }
}
