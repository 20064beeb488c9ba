//! Ranges of IP addresses.

// `core` has no I/O, unlike `std::net`.
use core::net::{IpAddr, Ipv4Addr};

/// Whether ranges such as `10.0.0.0/8` have every IPv4 address together. Those that cannot be read have none.
pub(super) fn are_all(ranges: &[&str]) -> bool {
    let mut ranges: Vec<(u64, u64)> = ranges.iter().filter_map(|range| bounds(range)).collect();
    ranges.sort_unstable();
    let mut next = 0;
    for (first, end) in ranges {
        if first > next {
            return false;
        }
        next = next.max(end);
    }
    next > u64::from(u32::MAX)
}

/// Whether a range such as `172.17.0.0/12` names an address within the network instead of its first one. Texts that are no ranges do not.
pub(super) fn has_host_bits(range: &str) -> bool {
    let read = || {
        let (address, length) = range.split_once('/')?;
        let (bits, size) = match address.parse().ok()? {
            IpAddr::V4(address) => (u128::from(address.to_bits()), 32_u32),
            IpAddr::V6(address) => (address.to_bits(), 128),
        };
        let hosts = size.checked_sub(length.parse().ok()?)?;
        Some(bits.trailing_zeros() < hosts)
    };
    read() == Some(true)
}

/// The first address of a range, and the one after it.
fn bounds(range: &str) -> Option<(u64, u64)> {
    let (address, length) = range.split_once('/').unwrap_or((range, "32"));
    let address: Ipv4Addr = address.parse().ok()?;
    let length: u32 = length.parse().ok()?;
    let size = 1_u64 << 32_u32.checked_sub(length)?;
    let first = u64::from(address.to_bits()) / size * size;
    Some((first, first + size))
}

#[cfg(test)]
mod tests {
    use super::{are_all, has_host_bits};

    #[test]
    fn ranges_may_have_every_address_together() {
        assert!(are_all(&["0.0.0.0/0"]));
        assert!(are_all(&["10.0.0.1/0", "::/0"]));
        assert!(are_all(&["192.0.0.0/2", "0.0.0.0/1", "128.0.0.0/2"]));
        assert!(!are_all(&["128.0.0.0/1", "0.0.0.0/2"]));
        assert!(!are_all(&["::/0"]) && !are_all(&["1.2.3.4"]) && !are_all(&["0.0.0.0/33", "x/0"]));
        assert!(!are_all(&[]));
    }

    #[test]
    fn a_range_may_begin_within_its_network() {
        for range in ["172.17.0.0/12", "10.0.0.1/31", "fd01::/8", "::1/0"] {
            assert!(has_host_bits(range), "{range}");
        }
        for range in [
            "172.16.0.0/12",
            "0.0.0.0/0",
            "10.0.0.1/32",
            "10.0.0.1",
            "fd00::/8",
            "::/0",
            "x/8",
            "10.0.0.1/33",
        ] {
            assert!(!has_host_bits(range), "{range}");
        }
    }
}
