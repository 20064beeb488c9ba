//! Ranges of IP addresses.

// `core` has no I/O, unlike `std::net`.
use core::net::Ipv4Addr;

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
    use super::are_all;

    #[test]
    fn ranges_may_have_every_address_together() {
        assert!(are_all(&["0.0.0.0/0"]));
        assert!(are_all(&["10.0.0.1/0", "::/0"]));
        assert!(are_all(&["192.0.0.0/2", "0.0.0.0/1", "128.0.0.0/2"]));
        assert!(!are_all(&["128.0.0.0/1", "0.0.0.0/2"]));
        assert!(!are_all(&["::/0"]) && !are_all(&["1.2.3.4"]) && !are_all(&["0.0.0.0/33", "x/0"]));
        assert!(!are_all(&[]));
    }
}
