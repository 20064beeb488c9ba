//! Settings of several policies at one place, each of them in force.

use super::Tree;
use crate::model::setting_path::SettingPath;

// === impl Tree ===

impl Tree {
    /// Both, this one first. Settings of the same policy occur once.
    pub(crate) fn side_by_side_with(self, other: Self) -> Self {
        let mut each = self.into_side_by_side();
        for tree in other.into_side_by_side() {
            if !each.contains(&tree) {
                each.push(tree);
            }
        }
        match <[Self; 1]>::try_from(each) {
            Ok([one]) => one,
            Err(each) => Self::SideBySide(each),
        }
    }

    /// The paths of settings that several policies have, each in force.
    pub(crate) fn side_by_side_paths(&self) -> Vec<SettingPath> {
        fn note(tree: &Tree, path: &mut SettingPath, places: &mut Vec<SettingPath>) {
            match tree {
                Tree::SideBySide(_) => places.push(path.clone()),
                Tree::Map(map) => {
                    for (key, tree) in map.iter() {
                        path.push(key.clone());
                        note(tree, path, places);
                        path.pop();
                    }
                }
                Tree::Replacement(tree) => note(tree, path, places),
                Tree::Leaf(_) | Tree::List(_) => {}
            }
        }
        let mut places = Vec::new();
        note(self, &mut SettingPath::new(), &mut places);
        places
    }

    /// The settings that several policies have, each by itself, after the others; `None` if there are none.
    pub(crate) fn split_side_by_side(&self) -> Option<Vec<Self>> {
        let places = self.side_by_side_paths();
        if places.is_empty() {
            return None;
        }
        let mut rest = self.clone();
        let mut apart = Vec::new();
        for place in places {
            let place: Vec<String> = place.iter().map(ToString::to_string).collect();
            if let Some(Self::SideBySide(each)) = self.at(&place) {
                let each = each.iter();
                apart.extend(each.map(|tree| Self::nested(tree, &place)));
            }
            rest.remove(&place);
        }
        apart.insert(0, rest);
        Some(apart)
    }

    fn into_side_by_side(self) -> Vec<Self> {
        match self {
            Self::SideBySide(each) => each,
            Self::Replacement(tree) => tree.into_side_by_side(),
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
