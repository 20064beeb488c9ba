//! The output for a directory that changes.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use jiff::Timestamp;

use super::super::Failure;
use super::super::state::{Scope, State, View};
use super::{Printer, Query, Watching, follow};
use crate::cache::lists::ReadScope;
use crate::engine::model::ids::GroupKind;

/// The output of a run in which these steps happen, one between two looks.
fn printed(
    dir: &Path,
    screen: bool,
    steps: &[&dyn Fn()],
    answer: impl Fn(&View, Timestamp) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let state = State {
        from: Some(dir.to_owned()),
        ..State::default()
    };
    let opened = state.open_watching(&Scope::default(), Watching { watch: true })?;
    let mut looked: Box<dyn Query<View>> = opened.followed(&ReadScope::Everything)?;
    let mut steps = steps.iter();
    let mut out = Vec::new();
    let mut teller = Printer {
        out: &mut out,
        screen,
        wait: &mut || steps.next().map(|step| step()).is_some(),
        clock: &hour_by_hour(),
    };
    follow(&mut *looked, &mut teller, answer)?;
    String::from_utf8(out).map_err(Into::into)
}

/// The number of Services, and the hour.
fn services(view: &View, now: Timestamp) -> Result<String, Failure> {
    match view.snapshot.count(&GroupKind::core("Service")) {
        0 => Err("there is no Service".into()),
        n => Ok(format!("{n} at {}\n", now.as_second() / 3600)),
    }
}

/// A clock that advances an hour each time it is read.
fn hour_by_hour() -> impl Fn() -> Timestamp {
    let hour = RefCell::new(0);
    move || {
        *hour.borrow_mut() += 1;
        Timestamp::from_second(*hour.borrow() * 3600).unwrap()
    }
}

/// Writes a Service to a file of its own.
fn write(dir: &Path, name: &str) {
    let text = format!("apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\n");
    fs::write(dir.join(format!("{name}.yaml")), text).unwrap();
}

#[test]
fn an_answer_is_printed_again_when_it_changes() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a");
    let (one, same) = (
        || write(dir.path(), "b"),
        || {
            fs::write(dir.path().join("c.yaml"), "# nothing\n").unwrap();
        },
    );
    let text = printed(dir.path(), false, &[&|| {}, &one, &same], services).unwrap();
    assert_eq!(text, "1 at 2\n---\n2 at 3\n");
    let text = printed(dir.path(), true, &[], services).unwrap();
    assert_eq!(text, "\u{1b}[H\u{1b}[2J\u{1b}[3J2 at 2\n");
}

#[test]
fn a_removed_object_may_return() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a");
    let (gone, back) = (
        || fs::remove_file(dir.path().join("a.yaml")).unwrap(),
        || {
            write(dir.path(), "a");
            write(dir.path(), "b");
        },
    );
    let text = printed(dir.path(), false, &[&gone, &back], services).unwrap();
    assert_eq!(text, "1 at 2\n---\n2 at 3\n");
}

#[test]
fn a_missing_object_is_reported_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let error = printed(dir.path(), false, &[], services).unwrap_err();
    assert_eq!(error.to_string(), "there is no Service");
}

#[test]
fn a_closed_output_ends_the_watch() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a");
    let asked = RefCell::new(0);
    let mut looked = look(dir.path());
    let mut teller = Printer {
        out: &mut Closed,
        screen: false,
        wait: &mut || panic!("it is over"),
        clock: &hour_by_hour(),
    };
    let answer = |view: &View, now| {
        *asked.borrow_mut() += 1;
        services(view, now)
    };
    follow(&mut *looked, &mut teller, answer).unwrap();
    assert_eq!(*asked.borrow(), 2);
}

fn look(dir: &Path) -> Box<dyn Query<View>> {
    let state = State {
        from: Some(dir.to_owned()),
        ..State::default()
    };
    let opened = state
        .open_watching(&Scope::default(), Watching { watch: true })
        .unwrap();
    opened.followed(&ReadScope::Everything).unwrap()
}

struct Closed;

impl std::io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
