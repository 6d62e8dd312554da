//! What one device does in one run: its jobs, and the bug that they reach, if the build has it.

use crate::fleet::bugs::{BUGS, BUILDS, HANG, IN_CRATE, InjectedBug};
use crate::fleet::dice::Dice;

/// The share of runs that go wrong, in percent.
const BAD: u64 = 30;

/// Days of the fleet. A build is released on the first, the third, and so on.
pub const DAYS: u64 = 10;

/// One run of the program.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The number of the build.
    pub build: u8,
    /// The number of the device.
    pub device: u64,
    /// The day, from 1.
    pub day: u64,
    /// The second of the day.
    pub second: u64,
    /// The bug that ends the run.
    pub bug: Option<u8>,
    /// The arguments of the program.
    pub jobs: Vec<String>,
    /// The job that never ends.
    pub hanging: Option<usize>,
    /// Milliseconds after which a run that never ends is killed.
    pub patience: u64,
    /// Bytes of each ring.
    pub ring: u32,
}

impl Scenario {
    /// The run with this number.
    pub fn new(seed: u64, number: u64, has_crates: bool) -> Scenario {
        let mut dice = Dice::new(seed, number);
        let bugs: Vec<&InjectedBug> =
            BUGS.iter().filter(|bug| has_crates || bug.number != IN_CRATE).collect();
        let bug = dice.chance(BAD).then(|| *dice.pick(&bugs));
        let (build, day) = loop {
            let (build, day) = build_and_day(&mut dice);
            if bug.is_none_or(|bug| bug.is_in(build)) {
                break (build, day);
            }
        };
        let mut jobs = Jobs { has_crates, has_pool: false, list: Vec::new() };
        for _ in 0..dice.between(0, 10) {
            jobs.add_harmless(&mut dice);
        }
        // The input of a bug that this build does not have.
        let absent: Vec<_> = bugs.iter().filter(|bug| !bug.is_in(build)).collect();
        if !absent.is_empty() && dice.chance(25) {
            let bug = dice.pick(&absent).number;
            jobs.add_trigger(bug, &mut dice);
        }
        let hanging = bug.is_some_and(|bug| bug.number == HANG).then_some(jobs.list.len());
        if let Some(bug) = bug {
            jobs.add_trigger(bug.number, &mut dice);
        }
        for _ in 0..dice.between(0, 4) {
            jobs.add_harmless(&mut dice);
        }
        let ring = match dice.between(1, 100) {
            1..=10 => 1024,
            11..=25 => 2048,
            26..=85 => 4096,
            86..=99 => 8192,
            _ => 65536,
        };
        Scenario {
            build,
            device: dice.between(0, 199),
            day,
            second: dice.between(0, 86_399),
            bug: bug.map(|bug| bug.number),
            jobs: jobs.list,
            hanging,
            patience: dice.between(10, 25),
            ring,
        }
    }
}

/// A day, and a build that devices ran on it: mostly the newest.
fn build_and_day(dice: &mut Dice) -> (u8, u64) {
    let day = dice.between(1, DAYS);
    let newest = day.div_ceil(2).min(u64::from(BUILDS));
    let age = match dice.between(1, 100) {
        1..=60 => 0,
        61..=85 => 1,
        86..=95 => 2,
        _ => 3,
    };
    (newest.saturating_sub(age).max(1) as u8, day)
}

/// The jobs of a run.
struct Jobs {
    has_crates: bool,
    /// Whether there are worker threads. Each has a ring, so one pool is enough.
    has_pool: bool,
    list: Vec<String>,
}

impl Jobs {
    fn add_harmless(&mut self, dice: &mut Dice) {
        let job = match dice.between(1, if self.has_crates { 15 } else { 12 }) {
            1 => format!("meter:{}", minutes(dice, false)),
            2 if self.has_pool || dice.chance(75) => format!("meter:{}", minutes(dice, false)),
            2 => {
                self.has_pool = true;
                format!("pool:{}", messages(dice, false))
            }
            3 => format!("expression:{}", expression(dice, false)),
            4 => format!("frames:{}", frames(dice, false)),
            5 => format!("write:{}", entries(dice, None)),
            6 => format!("import:{}", entries(dice, None)),
            7 => format!("restore:{}", entries(dice, None)),
            8 => format!("settings:{}", settings(dice, false)),
            9 => format!("route:{}", destinations(dice, false)),
            10 => format!("sample:{}", dice.between(1, 100)),
            11 => format!("upload:{}", dice.between(1, 100)),
            12 => format!("idle:{}", dice.between(1, 100)),
            13 => format!("request:{}", request(dice)),
            14 => format!("chunk:{}", hexadecimal(dice, 1, 8)),
            _ => format!("wait:{}h {}min {}s", dice.between(0, 9), dice.between(0, 99), dice.between(0, 99)),
        };
        self.list.push(job);
    }

    fn add_trigger(&mut self, bug: u8, dice: &mut Dice) {
        let job = match bug {
            1 => format!("meter:{}", minutes(dice, true)),
            2 => format!("pool:{}", messages(dice, true)),
            3 => format!("expression:{}", expression(dice, true)),
            HANG => format!("frames:{}", frames(dice, true)),
            5 => {
                let slot = dice.between(16, 300);
                let value = dice.between(1, 20);
                format!("{}:{}", storing(dice), entries(dice, Some((slot, value))))
            }
            6 => {
                let slot = dice.between(0, 15);
                let value = dice.between(200_000, 900_000);
                format!("{}:{}", storing(dice), entries(dice, Some((slot, value))))
            }
            7 => format!("settings:{}", settings(dice, true)),
            8 => format!("route:{}", destinations(dice, true)),
            IN_CRATE => {
                format!("chunk:{}{}", dice.between(1, 9), (0..16).map(|_| digit(dice)).collect::<String>())
            }
            _ => {
                let kind = dice.pick(&["sample", "upload", "idle"]);
                format!("{kind}:{}", dice.between(101, 5000))
            }
        };
        self.list.push(job);
    }
}

fn digit(dice: &mut Dice) -> char {
    *dice.pick(&['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
}

fn hexadecimal(dice: &mut Dice, from: u64, to: u64) -> String {
    let digits = dice.between(from, to);
    (0..digits).map(|_| *dice.pick(&['0', '1', '2', '7', '9', 'a', 'c', 'f', 'B', 'E'])).collect()
}

/// Some texts, with this mark between them.
fn list(dice: &mut Dice, most: u64, mark: &str, mut item: impl FnMut(&mut Dice) -> String) -> String {
    let count = dice.between(1, most);
    (0..count).map(|_| item(dice)).collect::<Vec<_>>().join(mark)
}

/// Minutes of readings. A minute with a bad end has no mean.
fn minutes(dice: &mut Dice, bad: bool) -> String {
    let good = list(dice, 6, ";", |dice| {
        let start = if dice.chance(20) { "-- " } else { "" };
        format!("{start}{}", list(dice, 20, " ", |dice| dice.between(15, 29).to_string()))
    });
    if !bad {
        return good;
    }
    let last = list(dice, 8, " ", |dice| dice.between(15, 29).to_string());
    format!("{good};{last} --")
}

fn messages(dice: &mut Dice, bad: bool) -> String {
    const NAMES: [&str; 5] = ["Ada", "Bob", "Eve", "Kim", "Tom"];
    let good = list(dice, 10, ";", |dice| {
        let text = list(dice, 5, " ", |_| "hello".to_owned());
        format!("from {} to {}: {text}", dice.pick(&NAMES), dice.pick(&NAMES))
    });
    if !bad {
        return good;
    }
    let last = format!("from {}{}", dice.pick(&NAMES), if dice.chance(50) { " to" } else { "" });
    format!("{good};{last}")
}

/// A list of numbers and lists. A bad one has an empty list at any depth.
fn expression(dice: &mut Dice, bad: bool) -> String {
    let depth = dice.between(1, 40);
    let numbers = |dice: &mut Dice| list(dice, 5, " ", |dice| dice.between(0, 999).to_string());
    let mut text = if bad { String::new() } else { numbers(dice) };
    for _ in 0..depth {
        text = match dice.between(1, 3) {
            1 => format!("({text})"),
            2 => format!("({} ({text}))", numbers(dice)),
            _ => format!("{} ({text}) {}", numbers(dice), numbers(dice)),
        };
    }
    text
}

/// Lengths, each with as many bytes. Only the bad ones have padding.
fn frames(dice: &mut Dice, bad: bool) -> String {
    let good = list(dice, 12, " ", |dice| {
        let length = dice.between(1, 9);
        let bytes: Vec<_> = (0..length).map(|_| dice.between(0, 255).to_string()).collect();
        format!("{length} {}", bytes.join(" "))
    });
    let padding = if bad { " 0 0 2 7 7" } else { "" };
    format!("{good}{padding}")
}

fn storing(dice: &mut Dice) -> &'static str {
    const KINDS: [&str; 3] = ["write", "import", "restore"];
    dice.pick::<&str>(&KINDS)
}

/// Slots with their values; one of them is given.
fn entries(dice: &mut Dice, given: Option<(u64, u64)>) -> String {
    let entry = |dice: &mut Dice| format!("{}={}", dice.between(0, 15), dice.between(0, 60));
    let before = list(dice, 8, ",", entry);
    match given {
        None => before,
        Some((slot, value)) => format!("{before},{slot}={value},{}", list(dice, 3, ",", entry)),
    }
}

fn settings(dice: &mut Dice, bad: bool) -> String {
    let others = list(dice, 6, ",", |dice| format!("key{}={}", dice.between(0, 9), dice.between(0, 99)));
    let (rate, limit) = (dice.between(1, 9), dice.between(10, 99));
    match bad {
        false => format!("{others},rate={rate},limit={limit}"),
        true if dice.chance(50) => format!("{others},limit={limit}"),
        true => format!("rate={rate},{others}"),
    }
}

fn destinations(dice: &mut Dice, bad: bool) -> String {
    let good = list(dice, 6, ",", |dice| dice.between(0, 11).to_string());
    if bad { format!("{good},{}", dice.between(12, 99)) } else { good }
}

fn request(dice: &mut Dice) -> String {
    let method = dice.pick(&["GET", "POST", "PUT", "OPTIONS"]);
    let headers =
        list(dice, 6, "", |dice| format!("X-Key-{}: {}|", dice.between(0, 9), dice.between(0, 999)));
    let end = if dice.chance(80) { "|" } else { "" };
    format!("{method} /devices/{} HTTP/1.{}|{headers}{end}", dice.between(0, 199), dice.between(0, 2))
}

#[cfg(test)]
mod tests {
    use super::Scenario;
    use crate::fleet::bugs::{BUGS, InjectedBug};

    #[test]
    fn two_thousand_runs_have_every_bug_twenty_times() {
        let runs: Vec<_> = (0..2000).map(|number| Scenario::new(1, number, true)).collect();
        let good = runs.iter().filter(|run| run.bug.is_none()).count();
        assert!((1300..1500).contains(&good), "{good} are good");
        for bug in &BUGS {
            let with: Vec<_> = runs.iter().filter(|run| run.bug == Some(bug.number)).collect();
            assert!(with.len() >= 20, "bug {}: {}", bug.number, with.len());
            assert!((bug.since..=bug.until).all(|build| with.iter().any(|run| run.build == build)));
        }
        let of_build =
            |run: &&Scenario| run.bug.is_none_or(|bug| InjectedBug::numbered(bug).is_in(run.build));
        assert_eq!(runs.iter().filter(of_build).count(), 2000);
    }

    #[test]
    fn a_build_runs_on_no_day_before_its_release() {
        let runs = (0..2000).map(|number| Scenario::new(2, number, false));
        assert!(runs.into_iter().all(|run| run.day > 2 * (u64::from(run.build) - 1)));
    }

    #[test]
    fn a_run_has_one_pool_besides_that_of_the_bug() {
        for number in 0..2000 {
            let pools =
                Scenario::new(3, number, true).jobs.iter().filter(|job| job.starts_with("pool")).count();
            assert!(pools <= 2);
        }
    }
}
