//! Evaluates expressions as Flux does: the members of the object are the variables, `failed` comes before `current`, and if
//! neither holds, or one cannot be evaluated, the object is in progress (github.com/fluxcd/pkg e2cfd1a2, runtime/cel).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cel::{Context, Program, Value as CelValue};
use serde_json::Value;

use super::Health;

/// The expressions of one kind.
pub(crate) struct Expressions {
    pub(crate) failed: String,
    pub(crate) current: String,
}

/// The expressions under `spec.healthCheckExprs`, by `Kind.group`. Flux takes one entry per kind.
pub(crate) fn expressions(kustomization: &Value) -> BTreeMap<String, Expressions> {
    let mut all = BTreeMap::new();
    for entry in kustomization["spec"]["healthCheckExprs"]
        .as_array()
        .unwrap()
    {
        let text = |name: &str| entry[name].as_str().unwrap().to_owned();
        let api_version = text("apiVersion");
        let (group, _) = api_version.split_once('/').unwrap();
        let expressions = Expressions {
            failed: text("failed"),
            current: text("current"),
        };
        let twice = all.insert(format!("{}.{group}", text("kind")), expressions);
        assert!(
            twice.is_none(),
            "Flux refuses two entries for one kind: {entry}"
        );
    }
    all
}

// === impl Expressions ===

impl Expressions {
    pub(crate) fn evaluate(&self, object: &Value) -> Health {
        let observed = &object["status"]["observedGeneration"];
        let generation = &object["metadata"]["generation"];
        if observed.is_i64() && generation.is_i64() && observed != generation {
            return Health::Progressing;
        }
        let mut context = Context::default();
        for (name, member) in object.as_object().unwrap() {
            context.add_variable_from_value(name, value(member));
        }
        let holds = |expression: &str| {
            let program =
                Program::compile(expression).unwrap_or_else(|e| panic!("{expression}\n{e}"));
            match program.execute(&context) {
                Ok(CelValue::Bool(holds)) => Ok(holds),
                other => Err(format!("{other:?}")),
            }
        };
        match holds(&self.failed) {
            Ok(true) => Health::Degraded,
            Ok(false) if holds(&self.current) == Ok(true) => Health::Healthy,
            _ => Health::Progressing,
        }
    }
}

/// Numbers of Kubernetes are `int64`.
fn value(json: &Value) -> CelValue {
    match json {
        Value::Null => CelValue::Null,
        Value::Bool(yes) => CelValue::Bool(*yes),
        Value::Number(number) => CelValue::Int(number.as_i64().unwrap()),
        Value::String(text) => CelValue::String(Arc::new(text.clone())),
        Value::Array(items) => CelValue::List(Arc::new(items.iter().map(value).collect())),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, member)| (name.clone(), value(member)));
            CelValue::Map(members.collect::<HashMap<_, _>>().into())
        }
    }
}
