//! What is printed. Every number comes from a measurement of this run.

use crate::programs::Program;
use crate::variants::{NOW, THEN, Variant};
use crate::{Measured, PLAIN, Profile, ring};

/// Width of a column.
const WIDE: usize = 16;

/// Rounds that fill a ring of the default size with any program.
const FILLING: u32 = 4_000;

/// What the recorder aims at, times plain.
struct Aim {
    what: &'static str,
    profile: &'static str,
    most: f64,
    measured: fn(&Profile) -> Option<f64>,
}

const fn aim(
    what: &'static str,
    profile: &'static str,
    most: f64,
    measured: fn(&Profile) -> Option<f64>,
) -> Aim {
    Aim { what, profile, most, measured }
}

const AIMS: [Aim; 7] = [
    aim("time, crates", "release", 1.8, |profile| profile.mean(NOW)),
    aim("time, the dearest program", "release", 3.0, |profile| profile.worst(NOW)),
    aim("time, crates", "dev", 1.35, |profile| profile.mean(NOW)),
    aim("time to compile", "release", 1.15, |profile| profile.compile(NOW)),
    aim("time to compile", "dev", 1.15, |profile| profile.compile(NOW)),
    aim("size of the binary", "release", 1.3, |profile| profile.binary(NOW)),
    aim("size of the binary", "dev", 1.3, |profile| profile.binary(NOW)),
];

/// Everything of one profile.
pub fn profile(profile: &Profile) {
    let name = profile.name;
    println!("\n{name}: processor time, times plain; the best turn (the median of the turns' ratios)\n");
    header("plain ms", &profile.variants[PLAIN + 1..]);
    for measured in &profile.programs {
        print!("{:<14} {:>10.1}", measured.program.name, best(&measured.one_thread[PLAIN]) * 1e3);
        row(profile, |variant| ratios(&measured.one_thread, variant));
    }
    print!("{:<14} {:>10}", "mean of crates", "");
    row(profile, |variant| {
        profile.mean(profile.variants[variant].name()).map_or(String::new(), |mean| format!("{mean:.2}"))
    });

    if profile.variants.iter().skip(1).any(Variant::scales) {
        println!("\n{name}: the same on two threads, times plain on two threads\n");
        header("plain ms", profile.variants[PLAIN + 1..].iter().filter(|variant| variant.scales()));
        for measured in &profile.programs {
            print!("{:<14} {:>10.1}", measured.program.name, best(&measured.two_threads[PLAIN]) * 1e3);
            for (variant, _) in
                profile.variants.iter().enumerate().skip(1).filter(|(_, variant)| variant.scales())
            {
                print!(" {:>WIDE$}", ratios(&measured.two_threads, variant));
            }
            println!();
        }
    }

    if profile.programs.iter().any(|measured| measured.instructions[PLAIN].is_some()) {
        println!("\n{name}: instructions, times plain (added for each statement of a round)\n");
        header("statements", &profile.variants[PLAIN + 1..]);
        for measured in &profile.programs {
            let statements = measured.statements.map_or("?".into(), |statements| format!("{statements:.0}"));
            print!("{:<14} {statements:>10}", measured.program.name);
            row(profile, |variant| added(measured, variant).unwrap_or_default());
        }
    }

    println!("\n{name}: a clean build and its binary, times plain\n");
    println!("{:<14} {:>10} {:>8} {:>12} {:>8}   what it is", "", "seconds", "", "bytes", "");
    for variant in &profile.variants {
        let (build, plain) = (&variant.build, &profile.variants[PLAIN].build);
        let seconds = build.seconds.map_or(String::new(), |seconds| format!("{seconds:.1}"));
        let ratio = profile.compile(variant.name()).map_or(String::new(), |ratio| format!("{ratio:.2}"));
        let growth = build.bytes as f64 / plain.bytes as f64;
        let (name, about) = (variant.name(), variant.column.about);
        println!("{name:<14} {seconds:>10} {ratio:>8} {:>12} {growth:>8.2}   {about}", build.bytes);
    }
}

fn header<'a>(first: &str, variants: impl IntoIterator<Item = &'a Variant>) {
    print!("{:<14} {first:>10}", "program");
    variants.into_iter().for_each(|variant| print!(" {:>WIDE$}", variant.name()));
    println!();
}

/// A column for each variant but plain.
fn row(profile: &Profile, text: impl Fn(usize) -> String) {
    (1..profile.variants.len()).for_each(|variant| print!(" {:>WIDE$}", text(variant)));
    println!();
}

/// What rings of the default size hold, of each recorder.
pub fn rings<'a>(variants: &[Variant], programs: impl Iterator<Item = &'a Program>) {
    let recorded: Vec<&Variant> = variants.iter().filter(|variant| variant.has_ring()).collect();
    if recorded.is_empty() {
        return;
    }
    println!(
        "\nstatements that a ring of the default size reaches back (statements in a KiB of it); of function: entries\n"
    );
    header("", recorded.iter().copied());
    for program in programs {
        print!("{:<14} {:>10}", program.name, "");
        for variant in &recorded {
            let held = ring::held(variant, program.name, FILLING, None);
            let text = format!("{:.0} ({:.0})", held.statements, held.statements / held.kib);
            print!(" {text:>WIDE$}");
        }
        println!();
    }
}

/// The aims, and what this run gives.
pub fn summary(profiles: &[Profile]) {
    println!("\nsummary: {NOW}, times plain; means are geometric\n");
    println!("{:<32} {:<8} {:>8} {:>8}", "", "profile", "is", "aim");
    for aim in AIMS {
        let profile = profiles.iter().find(|profile| profile.name == aim.profile);
        let Some(measured) = profile.and_then(aim.measured) else { continue };
        let verdict = if measured <= aim.most { "reached" } else { "missed" };
        println!("{:<32} {:<8} {measured:>8.2} {:>8.2} {verdict}", aim.what, aim.profile, aim.most);
    }
    for profile in profiles {
        for (what, name) in [("time, kernels", NOW), ("time, crates, of 410ce89", THEN)] {
            let mean = if name == THEN { profile.mean(name) } else { profile.mean_of(name, false) };
            if let Some(mean) = mean {
                println!("{what:<32} {:<8} {mean:>8.2}", profile.name);
            }
        }
    }
}

impl Profile {
    fn place(&self, name: &str) -> Option<usize> {
        self.variants.iter().position(|variant| variant.name() == name)
    }

    /// The geometric mean of the crates' ratios.
    fn mean(&self, name: &str) -> Option<f64> {
        self.mean_of(name, true)
    }

    fn mean_of(&self, name: &str, is_real: bool) -> Option<f64> {
        let place = self.place(name)?;
        let programs = self.programs.iter().filter(|measured| measured.program.is_real == is_real);
        let logs: Vec<f64> = programs.map(|measured| ratio(&measured.one_thread, place).ln()).collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }

    fn worst(&self, name: &str) -> Option<f64> {
        let place = self.place(name)?;
        self.programs.iter().map(|measured| ratio(&measured.one_thread, place)).max_by(f64::total_cmp)
    }

    fn compile(&self, name: &str) -> Option<f64> {
        let seconds = |place: usize| self.variants[place].build.seconds;
        Some(seconds(self.place(name)?)? / seconds(PLAIN)?)
    }

    fn binary(&self, name: &str) -> Option<f64> {
        let bytes = |place: usize| self.variants[place].build.bytes as f64;
        Some(bytes(self.place(name)?) / bytes(PLAIN))
    }
}

fn best(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Of the best turns.
fn ratio(times: &[Vec<f64>], variant: usize) -> f64 {
    best(&times[variant]) / best(&times[PLAIN])
}

/// Of the best turns, and the median of each turn's.
fn ratios(times: &[Vec<f64>], variant: usize) -> String {
    let mut of_turns: Vec<f64> =
        times[variant].iter().zip(&times[PLAIN]).map(|(time, plain)| time / plain).collect();
    of_turns.sort_by(f64::total_cmp);
    format!("{:.2} ({:.2})", ratio(times, variant), of_turns[of_turns.len() / 2])
}

fn added(measured: &Measured, variant: usize) -> Option<String> {
    let (plain, instructions) = (measured.instructions[PLAIN]?, measured.instructions[variant]?);
    let ratio = instructions / plain;
    Some(match measured.statements {
        Some(statements) => format!("{ratio:.2} ({:+.1})", (instructions - plain) / statements),
        None => format!("{ratio:.2}"),
    })
}
