//! Two replicas and an API server over the life of many pairs, with a clock that jumps as the test says.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{Rotation, Step, contains};
use crate::certificates::{Stored, make_ca_and_pair};

const NAME: &str = "attache.attache-system.svc";
const LIFE: Duration = Duration::from_mins(50);

fn rotation() -> Rotation {
    Rotation {
        names: vec![NAME.to_owned()],
        life: LIFE,
    }
}

fn start() -> Timestamp {
    "2031-03-14T12:00:00Z".parse().unwrap()
}

fn after(seconds: i64) -> Timestamp {
    start() + SignedDuration::from_secs(seconds)
}

/// A Secret, a webhook configuration, and what each replica serves.
#[derive(Default)]
struct FakeCluster {
    secret: Option<Stored>,
    bundle: String,
    served: [Option<Stored>; 2],
    /// Why the Secret was written.
    written: Vec<&'static str>,
}

impl FakeCluster {
    /// Does the work of one replica at one time: takes the next step, and serves the Secret.
    fn look(&mut self, which: usize, now: Timestamp) {
        let rotation = rotation();
        let served = self.served[which].as_ref();
        let published = [self.bundle.clone()];
        let step = rotation.step(self.secret.as_ref(), served, &published, now);
        if let Step::Write(new, why) = step.unwrap() {
            self.secret = Some(new);
            self.written.push(why);
        }
        let secret = self.secret.as_ref().unwrap();
        self.bundle = secret.bundle();
        self.served[which] = Some(secret.clone());
    }

    /// Whether the API server accepts what each replica serves.
    fn trusts(&self, now: Timestamp) -> [bool; 2] {
        self.served.each_ref().map(|served| {
            let pair = served.as_ref().map(|served| &served.pair);
            pair.is_some_and(|pair| pair.is_accepted(&self.bundle, NAME, now))
        })
    }

    fn settled() -> Self {
        let mut cluster = Self::default();
        for which in [0, 1] {
            cluster.look(which, start());
        }
        cluster
    }
}

#[test]
fn no_call_fails_over_ten_lives_though_one_replica_is_slow() {
    let mut cluster = FakeCluster::settled();
    let first = cluster.secret.clone().unwrap();
    let life = i64::try_from(LIFE.as_secs()).unwrap();
    for second in (0..10 * life).step_by(50) {
        cluster.look(0, after(second));
        // The second looks ten times less often, and its clock is a minute late.
        if second % 500 == 0 {
            cluster.look(1, after(second - 60));
        }
        assert_eq!(cluster.trusts(after(second)), [true, true], "{second}");
    }
    let renewed = cluster.written.iter().filter(|why| why.contains("renewed"));
    assert!(
        (14..=15).contains(&renewed.count()),
        "{:?}",
        cluster.written
    );
    let last = cluster.secret.unwrap();
    assert!(last.pair != first.pair && !contains(&last.ca, &first.ca));
}

#[test]
fn the_next_pair_waits_for_every_configuration() {
    let mut cluster = FakeCluster::settled();
    let before = cluster.bundle.clone();
    let due = after(2100);
    cluster.look(0, due);
    let next = cluster.secret.clone().unwrap();
    assert!(next.next.is_some());
    let later = due + SignedDuration::from_secs(600);
    let step = |published: &[String]| rotation().step(Some(&next), None, published, later);
    let both = [next.bundle(), before];
    assert!(
        matches!(step(&both).unwrap(), Step::Keep),
        "one lacks the CA"
    );
    let Step::Write(promoted, _) = step(&[next.bundle()]).unwrap() else {
        panic!("it is served when all have the CA");
    };
    assert!(promoted.next.is_none() && promoted.pair != next.pair);
    assert_eq!(promoted.ca, next.ca, "the CA before stays until it expires");
}

#[test]
fn a_secret_that_is_deleted_or_broken_gets_what_is_served() {
    let cluster = FakeCluster::settled();
    let served = cluster.secret.clone().unwrap();
    let broken: [fn(&mut Stored); 5] = [
        |stored| stored.pair.key.clear(),
        |stored| stored.pair.cert = "-----BEGIN CERTIFICATE-----\nAAAA\n".to_owned(),
        |stored| stored.ca.clear(),
        |stored| {
            let made = make_ca_and_pair(&[NAME.to_owned()], jiff::civil::date(2031, 3, 14));
            stored.ca = made.unwrap().ca_pem;
        },
        |stored| {
            let made = make_ca_and_pair(&["other.svc".to_owned()], jiff::civil::date(2031, 3, 14));
            let made = made.unwrap();
            (stored.ca, stored.pair.cert, stored.pair.key) =
                (made.ca_pem, made.cert_pem, made.key_pem);
        },
    ];
    let mut cases: Vec<Option<Stored>> = vec![None];
    cases.extend(broken.map(|breaks| {
        let mut stored = served.clone();
        breaks(&mut stored);
        Some(stored)
    }));
    for stored in cases {
        let step = rotation().step(stored.as_ref(), Some(&served), &[], after(10));
        let Step::Write(restored, _) = step.unwrap() else {
            panic!("it is written");
        };
        assert!(restored == served);
        // A replica that just started serves nothing yet: it makes a new pair.
        let step = rotation().step(stored.as_ref(), None, &[served.bundle()], after(10));
        let Step::Write(new, _) = step.unwrap() else {
            panic!("it is written");
        };
        assert!(rotation().is_usable(&new.ca, &new.pair, after(10)));
        // Other replicas may still serve the one before.
        assert!(served.pair.is_accepted(&new.bundle(), NAME, after(10)));
    }
}

#[test]
fn certificates_of_others_stay_trusted_for_an_hour() {
    let names = [NAME.to_owned()];
    let others = make_ca_and_pair(&names, jiff::civil::date(2031, 3, 14)).unwrap();
    let day = Rotation {
        life: Duration::from_hours(24),
        ..rotation()
    };
    let step = day.step(None, None, std::slice::from_ref(&others.ca_pem), start());
    let Step::Write(first, _) = step.unwrap() else {
        panic!("it is written");
    };
    assert!(contains(&first.bundle(), &others.ca_pem));
    let published = [first.bundle()];
    let step = |seconds| {
        day.step(Some(&first), None, &published, after(seconds))
            .unwrap()
    };
    let Step::Write(later, _) = step(3601) else {
        panic!("the hour is over");
    };
    assert!(later.previous.is_none() && !contains(&later.bundle(), &others.ca_pem));
}

#[test]
fn what_is_written_is_read_as_it_was() {
    let mut cluster = FakeCluster::settled();
    cluster.look(0, after(2100));
    let stored = cluster.secret.unwrap();
    assert!(stored.next.is_some());
    assert!(Stored::read(&stored.data()) == Some(stored.clone()));
    for key in ["ca.crt", "tls.crt", "tls.key"] {
        let mut data = stored.data();
        data.remove(key);
        assert!(Stored::read(&data).is_none(), "{key}");
        data.insert(key.to_owned(), vec![0xff, 0xfe]);
        assert!(Stored::read(&data).is_none(), "{key}");
    }
    assert!(Stored::read(&BTreeMap::default()).is_none());
}
