//! What recording costs: real crates and kernels with the recorder, without it, and with what else could be done at each
//! statement, all in one run: `cargo bench -p xhist-tests --bench cost [-- --quick] [-- --depth] [-- --only NAME,…]`.
//!
//! Times are the processor time of the program that runs, user and system. Variants take turns, so that a slow
//! moment of the machine hits all of them. Instructions are counted where valgrind is installed.

mod arguments;
mod cpu;
mod instructions;
mod programs;
mod ring;
mod tables;
mod variants;

use arguments::Arguments;
use programs::{PROGRAMS, Program, WAIT};
use variants::{Builder, Variant};
use xhist_tests::clean_up;

/// The plain variant comes first; so it does in every list of this benchmark.
const PLAIN: usize = 0;

/// What was measured of a program in one profile; a place for each variant in lists.
pub struct Measured {
    program: &'static Program,
    /// Statements of a round; `None` when they do not fit into the largest ring.
    statements: Option<f64>,
    /// Seconds of each turn.
    one_thread: Vec<Vec<f64>>,
    /// The same with two threads; empty for variants that are not tried so.
    two_threads: Vec<Vec<f64>>,
    /// Instructions of a round.
    instructions: Vec<Option<f64>>,
}

/// What was measured in one profile.
pub struct Profile {
    name: &'static str,
    variants: Vec<Variant>,
    programs: Vec<Measured>,
}

fn main() {
    let arguments = Arguments::parse(std::env::args().skip(1)).unwrap_or_else(|problem| {
        eprintln!("{problem}\n\n{}", arguments::HELP);
        std::process::exit(2);
    });
    let start = std::time::Instant::now();
    let builder = Builder::new(&arguments);
    println!("one run of {} cores, {} turns", cores(), arguments.turns);
    let mut profiles = Vec::new();
    for &name in &arguments.profiles {
        let variants = builder.variants(name, &arguments.columns);
        let chosen = PROGRAMS.iter().filter(|program| !arguments.depth && arguments.has(program.name));
        let programs: Vec<Measured> = chosen.map(|program| measure(program, &variants, &arguments)).collect();
        let profile = Profile { name, variants, programs };
        if !arguments.depth {
            tables::profile(&profile);
        }
        profiles.push(profile);
    }
    if let Some(profile) = profiles.first() {
        let programs = PROGRAMS.iter().filter(|program| arguments.has(program.name)).chain([&WAIT]);
        tables::rings(&profile.variants, programs);
    }
    if !arguments.depth {
        tables::summary(&profiles);
    }
    for problem in builder.problems() {
        println!("left out: {problem}");
    }
    println!("the run took {:.0} s", start.elapsed().as_secs_f64());
    clean_up();
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn measure(program: &'static Program, variants: &[Variant], arguments: &Arguments) -> Measured {
    eprintln!("measuring {}", program.name);
    let rounds = program.rounds(&variants[PLAIN]);
    let mut one_thread = vec![Vec::new(); variants.len()];
    let mut two_threads = vec![Vec::new(); variants.len()];
    for _ in 0..arguments.turns {
        for (variant, times) in variants.iter().zip(&mut one_thread) {
            times.push(variant.seconds(program.name, rounds, 1));
        }
        for (variant, times) in variants.iter().zip(&mut two_threads).filter(|(variant, _)| variant.scales())
        {
            times.push(variant.seconds(program.name, rounds, 2));
        }
    }
    let instructions = match arguments.instructions {
        true => instructions::of_round(variants, program.name, rounds),
        false => vec![None; variants.len()],
    };
    let recorded = variants.iter().find(|variant| variant.keeps_ring());
    let statements = recorded.and_then(|variant| ring::statements_of_round(variant, program.name));
    Measured { program, statements, one_thread, two_threads, instructions }
}
