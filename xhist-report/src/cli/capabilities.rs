//! Which options go with which report and which source: one table of conflicts.

use super::args::Args;
use super::error::UsageError;
use crate::format::Document;
use crate::model::ReportKind;
use crate::source;

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

const FOLLOW: Opt = Opt { name: "--follow", is_given: |args| args.follow && !args.is_live() };
const CLEAR: Opt = Opt { name: "--clear", is_given: |args| args.clear };
const LAST: Opt = Opt { name: "--last", is_given: |args| args.last.is_some() };
const LANES: Opt = Opt { name: "--lanes", is_given: |args| args.lanes.is_some() };
const TIME: Opt = Opt { name: "--time", is_given: |args| args.time };
const COLUMN: Opt = Opt { name: "--thread", is_given: Args::thread_column };
const THREAD: Opt = Opt { name: "--thread NAME", is_given: |args| args.asked_threads().next().is_some() };
const ONLY: Opt = Opt { name: "--only", is_given: |args| !args.only.is_empty() };
const NOT: Opt = Opt { name: "--not", is_given: |args| !args.not.is_empty() };
const EACH: Opt = Opt { name: "--each", is_given: |args| args.each };
const SOURCE: Opt = Opt { name: "--source", is_given: |args| args.source_text };
const SOURCE_ROOT: Opt = Opt { name: "--source-root", is_given: |args| !args.source_roots.is_empty() };
const HOT: Opt = Opt { name: "--hot", is_given: |args| args.hot };
const TASKS: Opt = Opt { name: "--tasks", is_given: |args| args.tasks };
const IDENTIFY: Opt = Opt { name: "--identify", is_given: |args| args.identify };
const RING: Opt = Opt { name: "--ring", is_given: |args| args.ring.is_some() };
const MAP: Opt = Opt { name: "--map", is_given: |args| args.map.is_some() && !args.identify };
const QP8: Opt = Opt { name: "--qp8", is_given: |args| args.qp8 };
const FRONT_END: Opt = Opt { name: "-u", is_given: wants_port };
const TRACES: Opt = Opt { name: "--format traceinfo", is_given: |args| args.format().only_traces };
const ORDER: Opt = Opt { name: "--order", is_given: Args::checks_order };
const LCOV: Opt = Opt { name: "--format lcov", is_given: shows_coverage };
const DOCUMENT: Opt =
    Opt { name: "a format that is one document", is_given: |args| args.format().document.is_some() };
const OPEN: Opt = Opt { name: "--open", is_given: |args| args.open };
const OUTPUT: Opt = Opt { name: "--output", is_given: |args| args.output.is_some() };
const CALLS: Opt = Opt { name: "--format calls", is_given: shows_calls };

/// Conflicts of every command line, in the order in which they are reported.
const CONFLICTS: &[Conflict] = &[
    Conflict {
        when: shows_qspy,
        options: &[
            FOLLOW,
            CLEAR,
            LAST,
            LANES,
            TIME,
            COLUMN,
            THREAD,
            ONLY,
            NOT,
            SOURCE,
            SOURCE_ROOT,
            HOT,
            TASKS,
            ORDER,
        ],
        why: "does not go with --format qspy, which prints every record as QSPY does",
    },
    Conflict {
        when: shows_coverage,
        options: &[
            FOLLOW,
            CLEAR,
            LAST,
            LANES,
            TIME,
            COLUMN,
            THREAD,
            SOURCE,
            SOURCE_ROOT,
            HOT,
            TASKS,
            ORDER,
            IDENTIFY,
            RING,
        ],
        why: "does not go with --format lcov, which shows what was ever executed, in all rings",
    },
    Conflict {
        when: shows_calls,
        options: &[FOLLOW, CLEAR, LAST, LANES, TIME, COLUMN, SOURCE, SOURCE_ROOT],
        why: "does not go with --format calls, which shows the calls of each thread from its oldest statement on",
    },
    Conflict {
        when: shows_calls,
        options: &[HOT, TASKS, ORDER],
        why: "does not go with --format calls, which needs every statement of a thread",
    },
    Conflict {
        when: |args| args.format().document.is_some(),
        options: &[FOLLOW, LANES, TIME, COLUMN, SOURCE, HOT, TASKS, ORDER, IDENTIFY],
        why: "does not go with a format that is one document with the whole history",
    },
    Conflict {
        when: |args| args.format().document != Some(Document::Page),
        options: &[OPEN],
        why: "shows a page in the browser, which --format html makes",
    },
    Conflict {
        when: |args| args.sources().len() > 1,
        options: &[OUTPUT],
        why: "writes one file of one source; start a report for each",
    },
    Conflict {
        when: |args| args.identify,
        options: &[COLUMN, THREAD, ONLY, NOT],
        why: "does not go with --identify, which prints no entries",
    },
    Conflict {
        when: Args::checks_order,
        options: &[FOLLOW, CLEAR, LAST, LANES, TIME, COLUMN, ONLY, NOT, SOURCE, HOT, IDENTIFY, TRACES],
        why: "does not go with --order, which needs every statement and prints where rules are broken",
    },
    Conflict {
        when: |args| args.tasks,
        options: &[LAST, FOLLOW, CLEAR, LANES, TIME, COLUMN, SOURCE, HOT, IDENTIFY],
        why: "does not go with --tasks, which needs every statement and prints where each task is; for entries of tasks use --lanes=tasks",
    },
    Conflict {
        when: |args| args.hot,
        options: &[COLUMN],
        why: "without a name is a column of entries, and --hot prints none",
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
        when: |args| args.format().only_traces,
        options: &[ONLY, NOT],
        why: "is about statements, and --format traceinfo shows trace events, which have no place",
    },
    Conflict {
        when: shows_qspy,
        options: &[MAP],
        why: "does not go with --format qspy, which names no files",
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
    options: &[LAST, EACH, IDENTIFY, HOT, TASKS, ORDER, RING, LANES, LCOV, CALLS, DOCUMENT, OUTPUT],
    why: "needs the end of its source, and a live link has none",
}];

fn shows_qspy(args: &Args) -> bool {
    args.format().report == ReportKind::Qspy
}

fn shows_calls(args: &Args) -> bool {
    args.format().report == ReportKind::Calls
}

fn shows_coverage(args: &Args) -> bool {
    args.format().report == ReportKind::Coverage
}

/// Whether a port is wanted; no front-end can attach to port 0, so that number asks for none.
fn wants_port(args: &Args) -> bool {
    args.front_end.is_some_and(|port| port != Some(0))
}

fn has_port(args: &Args) -> bool {
    wants_port(args) || args.front_end.is_none() && shows_qspy(args)
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

    /// Checks which options go with live links.
    pub(super) fn check_live(&self) -> Result<(), UsageError> {
        check(self, LIVE_CONFLICTS)?;
        // The bytes of a link are gone from it once they were read; those of a file are not.
        match self.sources.iter().find(|text| self.clear && !source::is_link(text)) {
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
