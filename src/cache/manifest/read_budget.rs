//! The memory budget of a run: files are counted before objects are built from them.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Estimated bytes per object, besides its text.
const OBJECT: usize = 1024;
/// Estimated bytes per byte of JSON, which is held as text, as values and in the snapshot.
const BYTE: usize = 5;
/// The most bytes for everything: 512 MiB with the program itself.
const MAX_BYTES: usize = 448 << 20;
/// Up to this many objects may be of any size; they take some 256 MiB.
pub(super) const SMALL: usize = 200_000;
/// The least average length in bytes of more objects than that. Smaller ones would take more than eight times their
/// text.
pub(super) const LEAST: usize = 128;

/// The amount that all threads have read so far.
#[derive(Debug, Default)]
pub(super) struct ReadBudget {
    /// Bytes of files.
    input: AtomicUsize,
    objects: AtomicUsize,
    /// Bytes of objects as JSON.
    json: AtomicUsize,
}

// === impl ReadBudget ===

impl ReadBudget {
    /// Counts a file.
    pub(super) fn file(&self, bytes: usize) {
        self.input.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts an object and says whether the budget allows it.
    pub(super) fn object(&self, bytes: usize) -> bool {
        self.objects.fetch_add(1, Ordering::Relaxed);
        self.json.fetch_add(bytes, Ordering::Relaxed);
        self.takes() <= MAX_BYTES
    }

    fn takes(&self) -> usize {
        let objects = self.objects.load(Ordering::Relaxed);
        objects * OBJECT + self.json.load(Ordering::Relaxed) * BYTE
    }

    /// Returns a message if the budget is exceeded.
    pub(super) fn refusal(&self) -> Option<String> {
        let objects = self.objects.load(Ordering::Relaxed);
        let input = self.input.load(Ordering::Relaxed);
        if self.takes() > MAX_BYTES {
            return Some(
                "all files together hold more than can be read in 512 MiB of memory: \
                 nothing of them is used; name fewer of them"
                    .to_owned(),
            );
        }
        (objects > SMALL && input / LEAST < objects).then(crowd)
    }
}

/// The message for a very large number of small objects.
pub(super) fn crowd() -> String {
    format!(
        "more than {SMALL} objects, of fewer than {LEAST} bytes each: these are not manifests; attache uses none of them"
    )
}

#[cfg(test)]
mod tests {
    use super::{LEAST, MAX_BYTES, OBJECT, ReadBudget, SMALL};

    fn refusal_of(objects: usize, input: usize, json: usize) -> Option<String> {
        let room = ReadBudget::default();
        room.file(objects * input);
        for _ in 0..objects {
            room.object(json);
        }
        room.refusal()
    }

    #[test]
    fn what_people_have_is_taken_and_what_fills_the_memory_is_not() {
        assert_eq!(refusal_of(SMALL, 1, 1), None);
        assert_eq!(refusal_of(100_000, 700, 500), None);
        assert!(refusal_of(SMALL + 1, LEAST - 1, 1).is_some());
        assert!(refusal_of(MAX_BYTES / OBJECT, 200, 150).is_some());
        assert!(refusal_of(1, 100 << 20, 100 << 20).is_some());
    }
}
