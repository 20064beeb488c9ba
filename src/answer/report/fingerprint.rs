//! The identity of a finding across reports: code, object and subject; never the line, an index or the
//! text.

use crate::engine::admission::finding::Finding;

/// FNV-1a with 128 bits: short, and the same on every machine.
const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// The fingerprint of a finding. A finding without an object is identified by its file.
pub(super) fn fingerprint(finding: &Finding, file: Option<&str>) -> String {
    let object = &finding.object;
    let file = file.map(|file| file.strip_prefix("./").unwrap_or(file));
    let parts = [
        finding.code.as_str(),
        &object.gk.group,
        &object.gk.kind,
        &object.namespace,
        &object.name,
        file.unwrap_or_default(),
        &finding.subject,
    ];
    let bytes = parts
        .iter()
        .flat_map(|part| part.bytes().chain(std::iter::once(0)));
    let hash = bytes.fold(BASIS, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(PRIME)
    });
    format!("{hash:032x}")
}
