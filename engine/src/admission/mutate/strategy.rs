//! `default-strategy`: writes the default strategy into a policy that names none.

use std::collections::BTreeMap;

use serde_json::Value;

use super::at_mut;
use crate::kinds::profile::{Op, Profile, Strategy};
use crate::policy::{StanzaPlace, stanzas, value_at};

/// Writes the strategy if the kind has a field and a name for it. Only into an existing object: a stanza that is
/// created for it would be next to settings outside of stanzas, which many kinds reject.
pub(super) fn fill_in(spec: &mut Value, profile: &Profile) {
    let Ok(stanzas_of_spec) = stanzas(spec, profile) else {
        return;
    };
    let known = &profile.strategies.value;
    let path = known.path.as_deref();
    if path.is_some_and(|path| value_at(spec, path).is_some_and(|named| !named.is_null())) {
        return;
    }
    for stanza in stanzas_of_spec {
        let inside = known.stanzas.and_then(|names| match stanza.place {
            StanzaPlace::Defaults => Some(names.defaults),
            StanzaPlace::Overrides => Some(names.overrides),
            StanzaPlace::Spec => None,
        });
        match (inside, stanza.strategy) {
            (Some(inside), Strategy::Merge(_, op)) => {
                let name = name_of(&known.nested, &op, op);
                set(spec.get_mut(inside), "strategy", name);
            }
            (None, strategy) => {
                let op = match strategy {
                    Strategy::Merge(_, op) => op,
                    Strategy::None => Op::Atomic,
                };
                let filled = known.default.as_deref();
                let filled = filled.filter(|name| known.values.get(*name) == Some(&strategy));
                let name = filled.or_else(|| name_of(&known.values, &strategy, op));
                let (parent, field) = match path.and_then(|path| path.rsplit_once('.')) {
                    Some((parent, field)) => (at_mut(spec, parent), Some(field)),
                    None => (Some(&mut *spec), path),
                };
                if let Some(field) = field {
                    set(parent, field, name);
                }
            }
            (Some(_), Strategy::None) => {}
        }
    }
}

/// The name that users write for a strategy. A custom strategy has no certain name.
fn name_of<'a, T: PartialEq>(
    names: &'a BTreeMap<String, T>,
    wanted: &T,
    op: Op,
) -> Option<&'a str> {
    let mut names = names.iter().filter(|(_, strategy)| *strategy == wanted);
    let (name, _) = names.next().filter(|_| op != Op::Custom)?;
    Some(name)
}

fn set(parent: Option<&mut Value>, field: &str, name: Option<&str>) {
    if let (Some(Value::Object(parent)), Some(name)) = (parent, name)
        && parent.get(field).is_none_or(Value::is_null)
    {
        parent.insert(field.to_owned(), name.into());
    }
}
