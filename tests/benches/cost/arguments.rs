//! The arguments of the benchmark.

use crate::programs::PROGRAMS;
use crate::variants::COLUMNS;

/// What is printed about the arguments.
pub const HELP: &str = "\
cargo bench -p xhist-tests --bench cost [-- OPTIONS]

  --only NAME,...      these programs only
  --columns NAME,...   these columns only, and plain; no-tasks, own, own-no-tasks,
                       values and values-8 are measured only so
  --profile NAME       `release` or `dev` only
  --depth              only how far back the rings reach, no times
  --turns N            the best of N turns counts (7)
  --quick              three programs, release, 3 turns, no instructions";

const PROFILES: [&str; 2] = ["release", "dev"];

/// The programs of a quick run: a kernel, a crate of dense code and one of many calls.
const QUICK: [&str; 3] = ["mix", "httparse", "petgraph"];

pub struct Arguments {
    programs: Vec<String>,
    /// Names of columns; empty for all.
    pub columns: Vec<String>,
    pub profiles: Vec<&'static str>,
    /// Measures only what rings hold.
    pub depth: bool,
    pub turns: usize,
    pub instructions: bool,
}

impl Arguments {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut parsed = Arguments {
            programs: Vec::new(),
            columns: Vec::new(),
            profiles: PROFILES.to_vec(),
            depth: false,
            turns: 7,
            instructions: true,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("`{word}` needs a value"));
            match word.as_str() {
                // Cargo adds this one.
                "--bench" => {}
                "--depth" => parsed.depth = true,
                "--only" => parsed.programs = names(&value()?, PROGRAMS.iter().map(|program| program.name))?,
                "--columns" => parsed.columns = names(&value()?, COLUMNS.iter().map(|column| column.name))?,
                "--profile" => {
                    let chosen = value()?;
                    parsed.profiles.retain(|name| *name == chosen);
                    if parsed.profiles.is_empty() {
                        return Err(format!("`{chosen}` is neither `release` nor `dev`"));
                    }
                }
                "--turns" => {
                    let turns = value()?.parse().ok().filter(|turns| *turns > 0);
                    parsed.turns = turns.ok_or("`--turns` needs a number from 1")?;
                }
                "--quick" => {
                    parsed.profiles.retain(|name| *name == "release");
                    parsed.turns = 3;
                    parsed.instructions = false;
                    if parsed.programs.is_empty() {
                        parsed.programs = QUICK.map(String::from).to_vec();
                    }
                }
                _ => return Err(format!("unknown argument `{word}`")),
            }
        }
        if parsed.depth {
            parsed.profiles.truncate(1);
        }
        Ok(parsed)
    }

    /// Whether this program is measured.
    pub fn has(&self, program: &str) -> bool {
        self.programs.is_empty() || self.programs.iter().any(|name| name == program)
    }
}

/// Names separated by commas, each of them known.
fn names(list: &str, known: impl Iterator<Item = &'static str>) -> Result<Vec<String>, String> {
    let known: Vec<&str> = known.collect();
    let names: Vec<String> = list.split(',').map(str::to_owned).collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("unknown name `{name}`; known are {}", known.join(", "))),
        None => Ok(names),
    }
}
