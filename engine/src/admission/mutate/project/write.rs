//! Writes one projected field into a spec.

use serde_json::{Map, Value};

use super::field::ProjectedField;
use crate::merge::is_unset;
use crate::model::projected::{Projected, Written, descend};

/// Writes a projected field if the object permits it, and records what was written. In a list of objects, each existing item is
/// processed; missing objects are created.
pub(super) fn write(spec: &mut Value, field: &ProjectedField, written: &mut Projected) {
    let mut writer = FieldWriter {
        field,
        written,
        pointer: "/spec".to_owned(),
    };
    writer.at(spec, &field.field);
}

struct FieldWriter<'a> {
    field: &'a ProjectedField,
    written: &'a mut Projected,
    pointer: String,
}

impl FieldWriter<'_> {
    fn at(&mut self, place: &mut Value, field: &[String]) {
        let Some((key, below)) = field.split_first() else {
            return;
        };
        match place {
            Value::Object(map) => {
                let holds_list = key.ends_with("[]");
                let key = key.trim_end_matches("[]");
                let before = descend(&mut self.pointer, key);
                match (below.is_empty(), map.get_mut(key)) {
                    (true, _) if holds_list => {}
                    (true, _) => self.leaf(map, key),
                    (false, Some(inner)) if !inner.is_null() => self.at(inner, below),
                    (false, _) if !holds_list => {
                        self.note(Value::Object(Map::new()), None);
                        let mut made = Value::Object(Map::new());
                        self.at(&mut made, below);
                        map.insert(key.to_owned(), made);
                    }
                    (false, _) => {}
                }
                self.pointer.truncate(before);
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let before = descend(&mut self.pointer, &index.to_string());
                    if item.is_object() {
                        self.at(item, field);
                    }
                    self.pointer.truncate(before);
                }
            }
            _ => {}
        }
    }

    fn leaf(&mut self, map: &mut Map<String, Value>, key: &str) {
        let value = &self.field.value;
        let zero_too = self.field.zero_is_unset;
        let own = map.get(key).filter(|own| !is_unset(own, zero_too));
        let own = own.cloned();
        let may = match &own {
            None => true,
            Some(own) => self.field.overrides && own != value && same_form(own, value),
        };
        if may {
            map.insert(key.to_owned(), value.clone());
            self.note(value.clone(), own);
        }
    }

    fn note(&mut self, value: Value, own: Option<Value>) {
        let policy = self.field.policies();
        let written = Written { policy, value, own };
        self.written.note(&self.pointer, written);
    }
}

/// The API server would reject a list in place of a map or a scalar, and with it the request. Scalars of different
/// types have the same form, because some fields support several types.
fn same_form(one: &Value, other: &Value) -> bool {
    let form = |value: &Value| match value {
        Value::Object(_) => 0,
        Value::Array(_) => 1,
        _ => 2,
    };
    form(one) == form(other)
}
