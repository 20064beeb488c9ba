//! A cache of everything above the routes, valid for one topology generation.

use std::cell::RefCell;
use std::rc::Rc;

use super::at::At;
use super::region::Parent;
use crate::engine::ids::{ByKey, ObjectKey};
use crate::engine::memo::Memo;
use crate::engine::snapshot::Era;

/// By object. A Gateway with 64 listeners takes about 10 kB.
type Known<T> = Memo<ObjectKey, T, ByKey>;

thread_local! {
    static STANDS: RefCell<Known<Rc<At>>> = RefCell::default();
    static PARENTS: RefCell<Known<Option<Rc<Parent>>>> = RefCell::default();
}

/// The policies attached to an object.
pub(super) fn at(era: Era, key: &ObjectKey, find: impl FnOnce() -> Rc<At>) -> Rc<At> {
    STANDS.with(|memo| Memo::remembered(memo, era, key, find))
}

/// The ancestor paths through a parent of routes, if the parent exists.
pub(super) fn parent(
    era: Era,
    key: &ObjectKey,
    find: impl FnOnce() -> Option<Rc<Parent>>,
) -> Option<Rc<Parent>> {
    PARENTS.with(|memo| Memo::remembered(memo, era, key, find))
}
