//! Which options go with which source. Which go with which report is known by clap: each command has its own.

use super::args::Args;
use super::error::UsageError;
use crate::format::ReportKind;
use crate::live::link;

/// Options that have no meaning in some situation.
struct Conflict {
    /// Whether the situation is there.
    when: fn(&Args) -> bool,
    /// The options, each with whether it is given.
    options: &'static [Opt],
    /// What is wrong then, behind the name of the option.
    why: &'static str,
}

/// An option.
struct Opt {
    name: &'static str,
    is_given: fn(&Args) -> bool,
}

const LAST: Opt = Opt { name: "--last", is_given: |args| args.last.is_some() };
const EACH: Opt = Opt { name: "--each", is_given: |args| args.each };
const COLUMN: Opt = Opt { name: "--thread", is_given: Args::thread_column };
const THREAD: Opt = Opt { name: "--thread NAME", is_given: |args| args.asked_threads().next().is_some() };
const RING: Opt = Opt { name: "--ring", is_given: |args| args.ring.is_some() };
const QP8: Opt = Opt { name: "--qp8", is_given: |args| args.qp8 };
const FRONT_END: Opt = Opt { name: "-u", is_given: wants_port };
const FOLLOW: Opt = Opt { name: "--follow", is_given: |args| args.follow && !args.is_live() };
const BUDGET: Opt = Opt { name: "--budget", is_given: |args| args.budget.is_given() };
const OUTPUT: Opt = Opt { name: "--output", is_given: |args| args.output.is_some() };

/// Conflicts of every command line, in the order in which they are reported.
const CONFLICTS: &[Conflict] = &[
    Conflict {
        when: |args| args.format().report == ReportKind::Qspy,
        options: &[FOLLOW],
        why: "goes with `-`, standard input: `qspy` prints a file to its end",
    },
    Conflict {
        when: |args| args.follow,
        options: &[BUDGET],
        why: "needs the end of its source, and --follow goes on",
    },
    Conflict {
        when: |args| args.sources().len() > 1,
        options: &[OUTPUT],
        why: "writes one file of one source; start a report for each",
    },
    Conflict {
        when: |args| args.lanes.is_some(),
        options: &[COLUMN],
        why: "without a name is a column, and --lanes has one for each thread",
    },
    Conflict {
        when: |args| args.ring.is_some(),
        options: &[THREAD],
        why: "does not go with --ring, which names a thread, too",
    },
    Conflict {
        when: |args| !args.is_live(),
        options: &[QP8, FRONT_END],
        why: "is about front-ends of a live link, and no source is one",
    },
    Conflict {
        when: |args| !has_port(args),
        options: &[QP8],
        why: "is about front-ends, and there is no port for them: -u opens one",
    },
];

/// Conflicts with a live link.
const LIVE_CONFLICTS: &[Conflict] = &[Conflict {
    when: |_| true,
    options: &[LAST, EACH, RING, BUDGET, OUTPUT],
    why: "needs the end of its source, and a live link has none",
}];

/// Whether a report is printed as entries come.
fn goes_on(args: &Args) -> bool {
    let of_entries = matches!(args.format().report, ReportKind::History | ReportKind::Qspy);
    args.report().is_none() && of_entries
}

/// Whether a port is wanted; no front-end can attach to port 0, so that number asks for none.
fn wants_port(args: &Args) -> bool {
    args.front_end.is_some_and(|port| port != Some(0))
}

fn has_port(args: &Args) -> bool {
    wants_port(args) || args.front_end.is_none() && args.format().report == ReportKind::Qspy
}

impl Args {
    /// Whether the report shows trace events as such.
    pub(super) fn shows_traces(&self) -> bool {
        self.format().report == ReportKind::History && self.report().is_none()
    }

    /// Checks which options go with the report.
    pub(super) fn check_options(&self) -> Result<(), UsageError> {
        check(self, CONFLICTS)
    }

    /// Checks which reports and options go with live links.
    pub(super) fn check_live(&self) -> Result<(), UsageError> {
        check(self, LIVE_CONFLICTS)?;
        if !goes_on(self) {
            let why =
                "has no end, which this report needs; `history`, `qspy` and `traceinfo` print what comes";
            return Err(UsageError::Source { name: "a live link".to_owned(), why });
        }
        // The bytes of a link are gone from it once they were read; those of a file are not.
        match self.sources.iter().find(|text| self.clear && !link::is_link(text)) {
            Some(file) => Err(UsageError::Source {
                name: format!("--clear: {}", file.display()),
                why: "is read as a stream beside links, and is not cleared",
            }),
            None => Ok(()),
        }
    }

    /// Checks how many files there are. Several are reported one after another, and the end of one that is followed never comes.
    ///
    /// # Errors
    /// What to do.
    pub fn check_files(&self) -> Result<(), UsageError> {
        match self.follow && self.sources.len() > 1 {
            true => Err(UsageError::Conflict {
                option: "--follow",
                why: "is about one ring file; start a report for each",
            }),
            false => Ok(()),
        }
    }
}

fn check(args: &Args, conflicts: &[Conflict]) -> Result<(), UsageError> {
    for Conflict { options, why, .. } in conflicts.iter().filter(|conflict| (conflict.when)(args)) {
        if let Some(Opt { name: option, .. }) = options.iter().find(|option| (option.is_given)(args)) {
            return Err(UsageError::Conflict { option, why });
        }
    }
    Ok(())
}
