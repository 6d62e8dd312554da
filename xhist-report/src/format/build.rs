//! A build as a person in the field reads it: one fact a line.

use std::io::{self, Write};

use anstyle::Style;

use xhist_history::model::{Age, Build, KnownBuild, KnownMap, Origin, Ring, SourceChanges, count};

/// Files of a kind that are named.
const SHOWN: usize = 10;

/// Writes what is known of a build, and the rings that came from it.
pub fn write(build: &Build, rings: &[&Ring], heading: Style, out: &mut dyn Write) -> io::Result<()> {
    match build.hash {
        0 => writeln!(out, "{heading}build not known{heading:#}")?,
        hash => writeln!(out, "{heading}build {hash:016x}{heading:#}")?,
    }
    match &build.origin {
        Origin::Known(known) => write_known(known, out)?,
        Origin::Unknown { searched, here } => write_unknown(build.hash, searched, here, out)?,
    }
    let is_in_map = matches!(&build.origin, Origin::Known(known) if known.recorded < known.statements);
    if !is_in_map && rings.iter().any(|ring| ring.entries_only) {
        fact(out, "detail", "function: the program records only entries")?;
    }
    if rings.iter().any(|ring| ring.has_values) {
        fact(out, "values", "recorded; they may be secrets, --redact PATTERN hides them in a report")?;
    }
    let mut pid = None;
    for ring in rings {
        if pid.replace(ring.pid) != Some(ring.pid) {
            let process = if ring.pid == 0 { "not known".to_owned() } else { ring.pid.to_string() };
            fact(out, "process", &process)?;
        }
        fact(out, &format!("ring {}", ring.number), &ring_text(ring))?;
    }
    writeln!(out)
}

fn write_known(known: &KnownBuild, out: &mut dyn Write) -> io::Result<()> {
    let KnownBuild { map, also, tool, files, statements, recorded, age, sources } = known;
    fact(out, "map", &map.path)?;
    fact(out, "written", &format!("{}, by xhist {tool}", when(map)))?;
    fact(out, "project", &map.root)?;
    for root in also {
        fact(out, "or", &format!("{root}, whose map is the same"))?;
    }
    fact(out, "holds", &format!("{}, {}", count(*files, "file"), count(*statements, "statement")))?;
    if recorded < statements {
        fact(
            out,
            "detail",
            &format!("function; {recorded} of the statements are entries, which alone are recorded"),
        )?;
    }
    write_age(map, age, out)?;
    write_sources(sources, *files, out)
}

fn fact(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {:<10}{text}", format!("{name}:"))
}

fn more(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "            {text}")
}

fn when(map: &KnownMap) -> String {
    map.written_text().unwrap_or_else(|| "at a time not known".to_owned())
}

fn write_age(map: &KnownMap, age: &Age, out: &mut dyn Write) -> io::Result<()> {
    match age {
        Age::Current => fact(out, "age", "this is the current build"),
        Age::Older(newest) => {
            let which = if newest.written < map.written { "another" } else { "an older" };
            fact(out, "age", &format!("{which} build; the current one is {:016x}", newest.hash))?;
            more(out, &format!("({}, written {})", newest.path, when(newest)))
        }
        Age::NotKnown => fact(out, "age", "not known: the project's own xhist.map is not here"),
    }
}

fn write_sources(sources: &SourceChanges, files: usize, out: &mut dyn Write) -> io::Result<()> {
    let SourceChanges { moved, touched, missing } = sources;
    let unchanged = files.saturating_sub(moved.len() + touched.len() + missing.len());
    let text = match unchanged {
        all if all == files => "unchanged since".to_owned(),
        _ if missing.len() == files => "not here".to_owned(),
        some => format!("{some} of {files} unchanged since"),
    };
    fact(out, "sources", &text)?;
    if missing.len() == files {
        return Ok(());
    }
    let moved: Vec<String> = moved
        .iter()
        .map(|(path, line)| format!("{path}: the statement of line {line} is elsewhere"))
        .collect();
    let touched: Vec<String> =
        touched.iter().map(|path| format!("{path}: written after the map, no statement has moved")).collect();
    let missing: Vec<String> = missing.iter().map(|path| format!("{path}: not here")).collect();
    for lines in [moved, touched, missing] {
        lines.iter().take(SHOWN).try_for_each(|line| more(out, line))?;
        if lines.len() > SHOWN {
            more(out, &format!("and {} more", lines.len() - SHOWN))?;
        }
    }
    Ok(())
}

fn write_unknown(hash: u64, searched: &[String], here: &[KnownMap], out: &mut dyn Write) -> io::Result<()> {
    match hash {
        0 => fact(out, "map", "the ring does not name one")?,
        _ => fact(out, "map", "not found")?,
    }
    for dir in searched {
        fact(out, "searched", &format!("{dir} and all directories above, and target/xhist in each"))?;
    }
    if here.is_empty() {
        fact(out, "here", "no map of any build")?;
    }
    for (index, map) in here.iter().enumerate() {
        let text = format!("{:016x} of {}, written {}", map.hash, map.root, when(map));
        fact(out, if index == 0 { "here" } else { "and" }, &text)?;
        more(out, &map.path)?;
    }
    match hash {
        0 => fact(out, "to do", "read it with --map FILE, the map of the program that ran")?,
        _ => {
            let kept = format!("target/xhist/maps/{hash:016x}.map");
            fact(out, "to do", "where the program was built, find its map and name it with --map FILE:")?;
            more(out, &format!("{kept} of `cargo xhist`, or xhist.map of `xhist-instrument`"))?;
        }
    }
    Ok(())
}

fn ring_text(ring: &Ring) -> String {
    let mut text = match (&ring.thread_name, ring.tid) {
        (Some(name), 0) => format!("thread {name}, {}", ring.status),
        (Some(name), tid) => format!("thread {name} ({tid}), {}", ring.status),
        (None, 0) if ring.core.is_some() => ring.thread(),
        (None, 0) => "owner not known".to_owned(),
        (None, tid) => format!("thread {tid}, {}", ring.status),
    };
    text += &format!(", {} bytes at offset 0x{:x}, layout {}", ring.size, ring.offset, ring.layout);
    match ring.clock_hz {
        0 => text + ", clock rate not known",
        hz => text + &format!(", {hz} ticks a second"),
    }
}
