//! Carries out a command.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use super::args::{AddArgs, Args, Command, QueryArgs};
use super::{diff, groups, suspects};
use crate::add::{AddOptions, add};
use crate::data_set::DataSet;
use crate::engine::{self, Engine, EngineOptions};
use crate::error::FleetError;
use crate::overview;

/// Something was lost.
const INCOMPLETE: u8 = 1;
/// The command failed.
const FAILED: u8 = 2;

/// Carries out a command line.
pub fn run(args: &Args) -> ExitCode {
    let mut out = BufWriter::new(io::stdout().lock());
    let done = carry_out(args, &mut out).and_then(|code| {
        out.flush().map_err(FleetError::System)?;
        Ok(code)
    });
    match done {
        Ok(code) => code,
        // The reader of a pipe has seen enough.
        Err(FleetError::System(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xhist-fleet: error: {error}");
            ExitCode::from(FAILED)
        }
    }
}

fn carry_out(args: &Args, out: &mut dyn Write) -> Result<ExitCode, FleetError> {
    match &args.command {
        Command::Add(added) => return run_add(args, added, out),
        Command::Groups(command) => {
            let engine = open(args, &args.data_set(command.dir.as_deref())?)?;
            groups::run(&engine, command, out)?;
        }
        Command::Suspects(command) => {
            let engine = open(args, &args.data_set(command.dir.as_deref())?)?;
            suspects::run(&engine, command, out)?;
        }
        Command::Diff(command) => {
            let (data_set, builds) = args.split(&command.names, 2)?;
            diff::run(&open(args, &data_set)?, builds, command.limit, out)?;
        }
        Command::Query(QueryArgs { names, format }) => {
            let (data_set, sql) = args.split(names, 1)?;
            engine::print(&open(args, &data_set)?, &sql[0], *format, out)?;
        }
        Command::Overview(command) => {
            let engine = open(args, &args.data_set(command.dir.as_deref())?)?;
            let written = overview::write(&engine, &command.options())?;
            writeln!(out, "{written}").map_err(FleetError::System)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn open(args: &Args, data_set: &DataSet) -> Result<Engine, FleetError> {
    let memory = args.memory.max(16) << 20;
    Engine::open(data_set, &EngineOptions { memory, jobs: args.jobs(), temporary: None })
}

fn run_add(args: &Args, command: &AddArgs, out: &mut dyn Write) -> Result<ExitCode, FleetError> {
    let options = AddOptions {
        dir: command.dir.clone(),
        dumps: command.dumps.clone(),
        labels: command.labels.iter().cloned().collect(),
        maps: command.maps.clone(),
        entries: command.last.max(1),
        commit: command.commit.max(1),
        jobs: args.jobs(),
        progress: io::stderr().is_terminal(),
    };
    let added = add(&options, &mut |line| eprintln!("xhist-fleet: not read: {line}"))?;
    let known = match added.known {
        0 => String::new(),
        known => format!(", {known} were there"),
    };
    writeln!(out, "{} histories added ({} rows){known}", added.histories, added.rows)
        .map_err(FleetError::System)?;
    let dir = command.dir.display();
    if added.damaged > 0 {
        eprintln!(
            "xhist-fleet: {} dumps have no history; see xhist-fleet query {dir} \"SELECT source, text FROM losses\"",
            added.damaged
        );
    }
    if added.histories + added.known > 0 {
        writeln!(out, "next: xhist-fleet groups {dir}").map_err(FleetError::System)?;
    }
    let is_complete = added.damaged + added.unreadable == 0;
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::from(INCOMPLETE) })
}
