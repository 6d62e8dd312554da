//! The command line: a report by its name, or something else than a report.

use clap::{Parser, Subcommand};

use super::answer::AnswerArgs;
use super::args::Args;
use super::budget_args::BudgetArgs;
use super::completions::ShellArgs;
use super::dap::DapArgs;
use super::diff::DiffArgs;
use super::fleet::FleetArgs;
use super::later::Later;
use super::mcp::McpArgs;
use super::origin::OriginArgs;
use super::pack::PackArgs;
use super::query::{CallFrameArgs, FindArgs, SourceListingArgs};
use super::reports::{
    BuildsCommand, CoverageCommand, ExportCommand, HistoryCommand, OrderCommand, PageCommand, QspyCommand,
    ReportCommand, ThreadsReport, TraceinfoCommand,
};
use super::skill::SkillArgs;
use super::suspects::SuspectsArgs;
use super::view::ViewArgs;
use crate::live::link::{self, SOURCES};
use crate::live::send::SendArgs;
use crate::reports::run_list::RunsFormat;

const AFTER_HELP: &str = "Options of a command: COMMAND -h. Examples and kinds of sources: --help.";

const AFTER_LONG_HELP: &str = "\
On a pipe, `history` prints `N file:line` and nothing else; columns asked for follow,
each behind a tab, in the order time, thread, source. Other QS records appear in their
place as QSPY prints them; marks of xhist itself (a panic, a trigger) appear on a terminal
only. With --last and filters the numbers start from 1 as well.
Losses and notes go to stderr.

SOURCES
A link, and `-` with --follow, is printed as it comes, until Ctrl-C. A lost link is opened again; the loss is reported on
stderr. At a terminal, keys are those of QSPY (h lists them).

Exit codes: 0 complete; 1 something was lost or damaged, the map is of another build, or a line
of a .fmt file is wrong; 2 wrong arguments or unreadable file; 3 no ring, or nothing in it.

Examples:
  xhist-report answer                what failed in the run that failed last
  xhist-report                       the run that failed last
  xhist-report runs                  what is kept, and the names of runs
  ssh target cat ring | xhist-report   what another program gives
  xhist-report page --open           the same in the browser: one page, to look at or to attach to a report
  xhist-report dump.bin --last 20    the last 20 statements before the dump
  xhist-report core --source         with the text of each line
  xhist-report --only src/net --not Socket::poll   what these files ran, without a function
  xhist-report --thread 'worker*' --last 9   the last 9 entries of each worker
  xhist-report builds dump.bin       which build it came from, and how old that is
  xhist-report order --expect Lock::take..Lock::give   where a lock was taken again before it was given
  xhist-report qspy qs.bin           every record of a QS stream, as QSPY prints it
  xhist-report tcp-listen://0.0.0.0:6601   the history of a target that connects, live
  xhist-report traceinfo -c ring.xhist --severity 2..   trace events, printed once";

/// The text behind the options, with the forms of sources.
fn after_long_help() -> String {
    let row =
        |row: &link::SourceRow| format!("  {}\n      {}\n", row.form, row.help.replace('\n', "\n      "));
    let sources: String = SOURCES.iter().map(row).collect();
    AFTER_LONG_HELP.replacen("SOURCES\n", &format!("Sources:\n{sources}\n"), 1)
}

/// Print what ran just before, statement by statement, from a memory dump, a core file or a ring file.
#[derive(Clone, Debug, Parser)]
#[command(version, after_help = AFTER_HELP, after_long_help = after_long_help())]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct CommandLine {
    #[command(subcommand)]
    pub(super) command: Option<Command>,

    #[command(flatten)]
    pub(super) history: HistoryCommand,
}

/// What to print.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum Command {
    /// What failed in a run: each failed test and crash with its last statements
    Answer(Later<AnswerArgs>),
    /// The statements, oldest first; also what is printed without a command
    History(Later<HistoryCommand>),
    /// A tree of calls for each thread, and what was open at the end
    Calls(Later<ThreadsReport>),
    /// One call as a whole: arguments, statements, callees, how it was left
    Frame(Later<CallFrameArgs>),
    /// Where a line, a function or a value is: how often, first, last, steps
    Find(Later<FindArgs>),
    /// Source text with how often each line ran
    Source(Later<SourceListingArgs>),
    /// Async tasks that have not ended: where each is parked, and who awaits it
    ///
    /// Of each also for how long, and its last statements; and where tasks were cancelled.
    Tasks(Later<ThreadsReport>),
    /// Where the order of statements is broken: sections, rules, locks
    ///
    /// Rules: sections between `// xhist exclusive TRUE` and `FALSE` are not entered again before they are left, `// xhist expect
    /// A..B`, and locks are taken in one order. The exit code is 1 if one is broken.
    Order(Later<OrderCommand>),
    /// Which functions fill the rings, and how to leave them out
    Hot(Later<ThreadsReport>),
    /// Which statements were ever executed, as lcov
    Coverage(Later<CoverageCommand>),
    /// The statements of a failed run by how likely each is the mistake
    Suspects(Later<SuspectsArgs>),
    /// Where a value comes from: back over assignments and calls to where it was made
    Origin(Later<OriginArgs>),
    /// Two histories compared: where control flow parts first
    #[command(alias = "compare")]
    Diff(Later<DiffArgs>),
    /// The runs that `cargo xhist` keeps, the newest last
    Runs(Later<RunsArgs>),
    /// Which build each ring came from
    ///
    /// Exit codes: 0 every build is known; 1 the map of one is missing or damaged; 3 no ring.
    Builds(Later<BuildsCommand>),
    /// Every record of a QS stream, as QSPY prints it
    Qspy(Later<QspyCommand>),
    /// Trace events, as traceinfo of QNX prints them
    Traceinfo(Later<TraceinfoCommand>),
    /// One HTML page to step through the history in a browser
    Page(Later<PageCommand>),
    /// The history for Perfetto, flame graphs or CodeTracer
    Export(Later<ExportCommand>),
    /// Step through a history in the terminal: source, history, calls and threads
    View(Later<ViewArgs>),
    /// One file with a run, its maps and its sources, to send to another machine
    Pack(Later<PackArgs>),
    /// Debug adapter on standard input and output: an editor steps through a history
    Dap(Later<DapArgs>),
    /// Server for agents (MCP) on standard input and output
    Mcp(Later<McpArgs>),
    /// The skill file for agents: when to use which command
    Skill(Later<SkillArgs>),
    /// Send a command to a target, and print its answer
    Send(Later<SendArgs>),
    /// Thousands of dumps as one data set: the same failure together (needs xhist-fleet)
    Fleet(Later<FleetArgs>),
    /// Completions for a shell, or the page of the manual
    Completions(Later<ShellArgs>),
}

/// How the runs are listed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct RunsArgs {
    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = RunsFormat::Table)]
    pub(super) format: RunsFormat,

    #[command(flatten)]
    pub(super) budget: BudgetArgs,
}

impl CommandLine {
    /// The report that is asked for, unless it is something else.
    pub(super) fn report(&self) -> Option<Args> {
        Some(match &self.command {
            None => self.history.args(),
            Some(Command::History(command)) => command.args(),
            Some(Command::Calls(command)) => command.calls(),
            Some(Command::Tasks(command)) => command.tasks(),
            Some(Command::Order(command)) => command.args(),
            Some(Command::Hot(command)) => command.hot(),
            Some(Command::Coverage(command)) => command.args(),
            Some(Command::Builds(command)) => command.args(),
            Some(Command::Qspy(command)) => command.args(),
            Some(Command::Traceinfo(command)) => command.args(),
            Some(Command::Page(command)) => command.args(),
            Some(Command::Export(command)) => command.args(),
            Some(_) => return None,
        })
    }

    /// The options of the history, which has some that print no report.
    pub(super) fn history(&self) -> Option<&HistoryCommand> {
        match &self.command {
            None => Some(&self.history),
            Some(Command::History(command)) => Some(command),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Lines of a terminal.
    const SCREEN: usize = 60;

    #[test]
    fn arguments_are_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn each_short_help_fits_a_screen() {
        let mut program = CommandLine::command();
        program.build();
        let mut all = vec![program];
        while let Some(mut command) = all.pop() {
            let help = command.render_help().to_string();
            assert!(help.lines().count() <= SCREEN, "{} lines:\n{help}", help.lines().count());
            all.extend(command.get_subcommands().cloned());
        }
    }

    #[test]
    fn help_names_every_source() {
        let help = CommandLine::command().render_long_help().to_string();
        // Terminals wrap long lines.
        let words: Vec<&str> = help.split_whitespace().collect();
        for row in SOURCES {
            let text: Vec<&str> = row.form.split_whitespace().chain(row.help.split_whitespace()).collect();
            assert!(words.join(" ").contains(&text.join(" ")), "{text:?}");
        }
    }
}
