//! The structure of a checkout in numbers, this one's or an older one's: sizes, rooms, import circles, floors, shared type names,
//! and how many files each of three walks goes through.
//!
//! ```sh
//! cargo run -q -p xhist-tests --bin structure                      # this checkout
//! cargo run -q -p xhist-tests --bin structure -- OTHER             # another one
//! cargo run -q -p xhist-tests --bin structure -- --files [OTHER]   # with the names of the files on the walks
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xhist_tests::structure::{CRATES, CrateMeasures, WALKS, Walks};
use xhist_tests::{clean_up, repository};

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let with_names = arguments.iter().position(|argument| argument == "--files");
    with_names.map(|at| arguments.remove(at));
    let checkout = match arguments.as_slice() {
        [] => Ok(repository().to_owned()),
        [path] if !path.starts_with('-') => PathBuf::from(path).canonicalize(),
        _ => {
            eprintln!("usage: structure [--files] [CHECKOUT]");
            return ExitCode::from(2);
        }
    };
    match checkout {
        Ok(checkout) if CRATES.iter().all(|name| checkout.join(name).join("src/lib.rs").is_file()) => {
            print_crates(&checkout);
            let code = print_walks(&checkout, with_names.is_some());
            clean_up();
            code
        }
        Ok(checkout) => {
            eprintln!("error: {} is not a checkout of this project", checkout.display());
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("error: {}: {error}", arguments[0]);
            ExitCode::from(2)
        }
    }
}

fn print_crates(checkout: &Path) {
    println!(
        "{:17} {:>5} {:>5} {:>6} {:>8} {:>7} {:>7} {:>6} {:>12}  longest file, longest function",
        "crate", "rooms", "files", "code", "comments", "circles", "largest", "floors", "shared names"
    );
    for name in CRATES {
        let of = CrateMeasures::of(checkout, name);
        let (lines, file) = &of.longest_file;
        let function = &of.longest_function;
        println!(
            "{name:17} {:>5} {:>5} {:>6} {:>8} {:>7} {:>7} {:>6} {:>12}  {} {lines}, {} {}",
            of.rooms,
            of.files,
            of.code,
            of.comments,
            of.circles.len(),
            of.circles.first().unwrap_or(&0),
            of.floors,
            of.shared_names,
            file.strip_prefix(format!("{name}/src")).unwrap_or(file).display(),
            function.name,
            function.lines,
        );
    }
}

fn print_walks(checkout: &Path, with_names: bool) -> ExitCode {
    let walks = match Walks::prepare(checkout) {
        Ok(walks) => walks,
        Err(why) => {
            eprintln!("error: the walks are not measured: {why}");
            return ExitCode::FAILURE;
        }
    };
    println!("\n{:31} files", "walk");
    for (walk, name) in WALKS {
        let files = walks.files(walk);
        let of_crates: Vec<String> = CRATES
            .iter()
            .map(|name| (name, files.iter().filter(|file| file.starts_with(name)).count()))
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        println!("{name:31} {:>5}  ({})", files.len(), of_crates.join(", "));
        if with_names {
            files.iter().for_each(|file| println!("    {}", file.display()));
        }
    }
    ExitCode::SUCCESS
}
