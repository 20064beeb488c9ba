//! Facts about a policy kind. (stub)

/// Profiles from the configuration and the built-in ones, before they meet a CRD.
#[derive(Clone, Debug, Default)]
pub struct ProfileRules {}

/// A CRD is a policy kind (design 2.1)
pub fn is_policy_kind(_rules: &ProfileRules, _crd: &super::object::Crd) -> bool {
    todo!()
}
