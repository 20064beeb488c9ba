//! What was found out above the routes, from one review to the next.
//!
//! Most reviews are of routes, and routes come to a few Gateways on which many policies stand. Each thread remembers
//! what it found in the last era of the snapshot; what is forgotten is only found out again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::region::Parent;
use super::stack::At;
use crate::engine::ids::{ByKey, ObjectKey};
use crate::engine::snapshot::Era;

/// Most objects of which something is remembered: a Gateway with 64 listeners takes some 10 kB.
const MOST: usize = 1024;

type Known<T> = HashMap<ObjectKey, Option<Rc<T>>, ByKey>;

/// What is known of one era.
#[derive(Default)]
struct Memo {
    era: Era,
    stands: Known<At>,
    parents: Known<Parent>,
}

thread_local! {
    static MEMO: RefCell<Memo> = RefCell::default();
}

/// What stands at an object.
pub(super) fn at(
    era: Era,
    key: &ObjectKey,
    find: impl FnOnce() -> Option<Rc<At>>,
) -> Option<Rc<At>> {
    remembered(era, key, |memo| &mut memo.stands, find)
}

/// The ways in by a parent of routes, where it is there.
pub(super) fn parent(
    era: Era,
    key: &ObjectKey,
    find: impl FnOnce() -> Option<Rc<Parent>>,
) -> Option<Rc<Parent>> {
    remembered(era, key, |memo| &mut memo.parents, find)
}

fn remembered<T>(
    era: Era,
    key: &ObjectKey,
    of: fn(&mut Memo) -> &mut Known<T>,
    find: impl FnOnce() -> Option<Rc<T>>,
) -> Option<Rc<T>> {
    if !era.lasts() {
        return find();
    }
    let known = MEMO.with_borrow_mut(|memo| {
        if memo.era != era {
            *memo = Memo {
                era,
                ..Memo::default()
            };
        }
        of(memo).get(key).cloned()
    });
    known.unwrap_or_else(|| {
        let found = find();
        MEMO.with_borrow_mut(|memo| {
            let known = of(memo);
            if known.len() >= MOST {
                known.clear();
            }
            known.insert(key.clone(), found.clone());
        });
        found
    })
}
