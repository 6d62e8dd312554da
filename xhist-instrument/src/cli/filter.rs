//! `-`: one source from stdin to stdout, as the scanner of the Xhist paper.
//! Without `--map` its file id is 0 and nothing is written elsewhere; with `--map` the source is entered there
//! under `--stdin-path`. A source that is refused gives no output.

use super::instrument::absolute;
use super::outcome::{Analyzed, Outcome};
use super::{Args, ExitCode, Fatal};
use crate::map::MapFile;
use crate::trigger::{self, Request};
use crate::{Analysis, MainHash, Numbers, Options, Packed, analyze, ids_needed, instrument, try_strip};
use std::io::{Read as _, Write as _};
use std::path::Path;

pub fn run(args: &Args) -> Result<ExitCode, Fatal> {
    let failed = |error: std::io::Error| Fatal::Failed(error.to_string());
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).map_err(failed)?;
    let result = if args.strip { stripped(args, &text)? } else { instrumented(args, &text)? };
    match std::io::stdout().write_all(&result).and_then(|()| std::io::stdout().flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(failed(error)),
        _ => Ok(ExitCode::Done),
    }
}

fn stripped(args: &Args, text: &[u8]) -> Result<Vec<u8>, Fatal> {
    let name = args.stdin_path.display();
    let stripped = try_strip(text).map_err(|left| Fatal::Failed(format!("{name}:{left}")))?;
    for (line, column) in stripped.comments {
        eprintln!("note: {name}:{line}:{column}: a comment with calls in it stays");
    }
    Ok(stripped.text)
}

fn instrumented(args: &Args, text: &[u8]) -> Result<Vec<u8>, Fatal> {
    let name = args.stdin_path.display();
    let refused = |refusal| Fatal::Failed(format!("{name}:{refusal}"));
    let edition2015 = args.edition == Some(super::args::EditionArg::E2015);
    let requests = Request::of_command_line(&args.start_at, &args.stop_at).map_err(Fatal::Usage)?;
    let mut options = Options {
        edition2015,
        detail: args.detail.map(crate::Detail::from).unwrap_or_default(),
        when: args.when.map(crate::When::from).unwrap_or_default(),
        main_hash: MainHash::None,
        triggers: !requests.is_empty(),
    };
    let mut analysis = analyze(text, &options).map_err(refused)?;
    let placed = trigger::place(&requests, &[&args.stdin_path], |_| Ok(analysis.clone()), |_| ());
    placed.map_err(Fatal::Usage)?.into_iter().for_each(|(_, trigger)| analysis.add_trigger(trigger));
    super::instrument::print_debug_notes(&args.stdin_path, &analysis);
    if args.list {
        super::instrument::print_list(&args.stdin_path, &analysis)
            .map_err(|error| Fatal::Failed(error.to_string()))?;
        return Ok(Vec::new());
    }
    let mut numbers = Numbers { ids: vec![0; ids_needed(analysis.lines)], first: 1 };
    if let Some(path) = &args.map {
        // Filters of one build share the map.
        let mut wanted = super::lock::Wanted::default();
        wanted.map(path);
        let _locks = wanted.take();
        let (map, mapped) = enter(path, &args.stdin_path, &analysis)?;
        numbers = mapped;
        let hash = map.hash();
        options.main_hash = MainHash::Literal(hash);
        if !args.check {
            map.write(hash, path).map_err(|error| Fatal::Failed(format!("{}: {error}", path.display())))?;
        }
    }
    let result = instrument(text, &analysis, &numbers, &options).map_err(refused)?;
    if args.check {
        let mut summary = super::console::Summary::default();
        summary.add(&Outcome::Analyzed(Box::new(Analyzed::new(analysis, 0))));
        summary.print();
        return Ok(Vec::new());
    }
    Ok(result)
}

/// Enters the source into the map; gives the map and the numbers of the source.
fn enter(path: &Path, source: &Path, analysis: &Analysis) -> Result<(MapFile, Numbers), Fatal> {
    let failed = |error: crate::map::MapError| Fatal::Failed(error.to_string());
    let absolute_path = absolute(path);
    let root = absolute_path.parent().unwrap_or(Path::new("/"));
    let mut map = MapFile::load(path, root).map_err(failed)?;
    let name = map.relative(source);
    let numbers = map.numbers(&name, analysis.lines, analysis.sites.len()).map_err(failed)?;
    map.set_sites(&name, Packed::new(analysis));
    Ok((map, numbers))
}
