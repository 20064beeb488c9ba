//! A shared list of route paths, built lazily: a policy high in the hierarchy is on the paths through thousands of
//! routes, and most answers only need their number.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use super::route_path::{RoutePath, to_rules};
use crate::model::ids::ObjectKey;
use crate::model::object::Object;

/// Route paths.
#[derive(Clone)]
pub struct RoutePaths(Rc<List>);

struct List {
    made: OnceCell<Box<[Rc<RoutePath>]>>,
    /// The Namespace and the route, if the list contains the paths to all rules of one route.
    through: Option<(ObjectKey, Arc<Object>)>,
}

// === impl RoutePaths ===

impl RoutePaths {
    /// The paths to all rules of a route.
    pub fn to_rules(namespace: &ObjectKey, route: &Arc<Object>) -> Self {
        Self(Rc::new(List {
            made: OnceCell::new(),
            through: Some((namespace.clone(), route.clone())),
        }))
    }

    /// Whether both are the paths to all rules of a route, and the route is the same for both.
    pub fn are_of_same_route(&self, other: &Self) -> bool {
        let (Some((_, one)), Some((_, other))) = (&self.0.through, &other.0.through) else {
            return false;
        };
        Arc::ptr_eq(one, other) || one.is_identical(other)
    }

    /// Whether it is empty. Every route has at least one path.
    pub fn is_empty(&self) -> bool {
        self.0.through.is_none() && (**self).is_empty()
    }

    /// Whether an object may be on one of the paths. Does not build the paths of a route.
    pub fn may_have(&self, key: &ObjectKey) -> bool {
        let through = self.0.through.as_ref();
        through.is_none_or(|(namespace, route)| route.key == *key || namespace == key)
    }

    /// The route, if these are the paths to all of its rules.
    pub fn route(&self) -> Option<&ObjectKey> {
        let (_, route) = self.0.through.as_ref()?;
        Some(&route.key)
    }
}

impl fmt::Debug for RoutePaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Deref for RoutePaths {
    type Target = [Rc<RoutePath>];

    fn deref(&self) -> &Self::Target {
        self.0.made.get_or_init(|| {
            let through = self.0.through.iter();
            let paths = through.flat_map(|(namespace, route)| to_rules(namespace, route));
            paths.map(Rc::new).collect()
        })
    }
}

impl From<Vec<Rc<RoutePath>>> for RoutePaths {
    fn from(paths: Vec<Rc<RoutePath>>) -> Self {
        Self(Rc::new(List {
            made: OnceCell::from(paths.into_boxed_slice()),
            through: None,
        }))
    }
}

impl From<RoutePath> for RoutePaths {
    fn from(path: RoutePath) -> Self {
        Self::from(vec![Rc::new(path)])
    }
}

impl Ord for RoutePaths {
    fn cmp(&self, other: &Self) -> Ordering {
        // Every path through a route begins with the route's Namespace and the route.
        if let (Some((namespace, route)), Some((other_namespace, other_route))) =
            (&self.0.through, &other.0.through)
            && route.key != other_route.key
        {
            let begins = namespace.cmp(other_namespace);
            return begins.then_with(|| route.key.cmp(&other_route.key));
        }
        (**self).cmp(&**other)
    }
}

impl PartialOrd for RoutePaths {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RoutePaths {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for RoutePaths {}
