//! Tests of reading the status of objects.

use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::{Header, Reported, ReportedAcceptance};

fn reported(generation: i64, status: &Value) -> Option<Reported> {
    let header = Header {
        namespace: "shop".into(),
        ..Header::default()
    };
    let status = to_raw_value(status).unwrap();
    Reported::read(&status, &header, Some(generation)).map(|reported| (*reported).clone())
}

fn ancestors(accepted: &str, observed: &Value) -> Value {
    json!({"ancestors": [{
        "ancestorRef": {"name": "edge"}, "controllerName": "x.io/c",
        "conditions": [{"type": "Accepted", "status": accepted, "reason": "Invalid",
            "message": "bad\n  cidr", "observedGeneration": observed}]}]})
}

#[test]
fn a_condition_counts_at_the_generation_that_it_saw() {
    let opinion = |status: &Value| {
        let reported = reported(2, status).unwrap();
        reported.entries[0].acceptance
    };
    assert_eq!(
        opinion(&ancestors("False", &json!(2))),
        ReportedAcceptance::Rejected
    );
    assert_eq!(
        opinion(&ancestors("False", &json!(1))),
        ReportedAcceptance::Outdated
    );
    assert_eq!(
        opinion(&ancestors("False", &Value::Null)),
        ReportedAcceptance::Rejected
    );
    assert_eq!(
        opinion(&ancestors("True", &json!("2"))),
        ReportedAcceptance::Accepted
    );
    assert_eq!(
        opinion(&ancestors("True", &json!(1))),
        ReportedAcceptance::Outdated
    );
    assert_eq!(reported(2, &ancestors("Unknown", &json!(2))), None);
}

#[test]
fn a_message_is_one_line_and_names_are_filled_in() {
    let reported = reported(1, &ancestors("False", &json!(1))).unwrap();
    let condition = reported.entries[0].rejection().unwrap();
    assert_eq!(&*condition.message, "bad cidr");
    let subject = format!("{:?}", reported.entries[0].subject);
    assert!(subject.contains("shop"), "{subject}");
}

#[test]
fn a_route_with_which_all_is_well_takes_no_memory() {
    let parents = |accepted: &str| {
        json!({"parents": [{"parentRef": {"name": "edge"}, "controllerName": "x.io/c",
            "conditions": [{"type": "Accepted", "status": accepted, "reason": "Accepted"}]}]})
    };
    assert_eq!(reported(1, &parents("True")), None);
    assert!(reported(1, &parents("False")).is_some());
}

#[test]
fn a_listener_that_is_not_programmed_for_a_lasting_reason_is_rejected() {
    let reports = |reason: &str, accepted: Option<&str>, observed: i64| {
        let mut conditions = vec![json!({"type": "Programmed", "status": "False",
            "reason": reason, "observedGeneration": observed})];
        conditions.extend(accepted.map(|status| {
            json!({"type": "Accepted", "status": status, "reason": "Accepted", "observedGeneration": 2})
        }));
        let status = json!({"listeners": [{"name": "http", "conditions": conditions}]});
        let entry = &reported(2, &status).unwrap().entries[0];
        let reason = entry
            .rejection()
            .map(|condition| condition.reason.to_string());
        (entry.acceptance == ReportedAcceptance::Rejected, reason)
    };
    let rejected = (true, Some("Invalid".to_owned()));
    assert_eq!(reports("Invalid", None, 2), rejected);
    assert_eq!(reports("Invalid", Some("True"), 2), rejected);
    assert!(reports("BadCertificate", None, 2).0);
    assert!(!reports("BadCertificate", Some("True"), 2).0);
    for reason in ["Pending", "AddressNotAssigned", "AddressNotUsable"] {
        assert_eq!(reports(reason, None, 2), (false, None), "{reason}");
    }
    assert_eq!(reports("Invalid", None, 1), (false, None));
}

#[test]
fn an_unreadable_status_is_ignored() {
    for status in [
        json!(7),
        json!({"ancestors": 7, "conditions": {"Accepted": "False"}}),
        json!({"ancestors": [{"conditions": "False"}]}),
    ] {
        assert_eq!(reported(1, &status), None, "{status}");
    }
}
