//! What was typed.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Parser, Subcommand};

use crate::data_set::DataSet;
use crate::engine::QueryFormat;
use crate::error::FleetError;
use crate::overview::OverviewOptions;

const AFTER_HELP: &str = "\
Exit codes: 0 done; 1 a dump is damaged or cannot be read (the table `losses` says which); 2 wrong arguments, a query
that fails, or a data set that cannot be written.

Examples:
  xhist-fleet add fleet crashes/                     every dump below crashes/
  find /srv -name '*.xhist' | xhist-fleet add fleet -   a list
  xhist-fleet add fleet s3://crashes/2026-11 --label device=lab-3
  xhist-fleet groups fleet                           which failures there are
  xhist-fleet suspects fleet --group 1f0c            what the good dumps did differently
  xhist-fleet diff fleet 1.4.1 1.4.2                 what a build changed
  xhist-fleet query fleet \"SELECT build, COUNT(*) FROM rings GROUP BY build\"
  xhist-fleet overview fleet --output fleet.html     the groups as a page
";

/// Thousands of statement histories as one data set
#[derive(Clone, Debug, Parser)]
#[command(name = "xhist-fleet", version, after_help = AFTER_HELP)]
pub struct Args {
    /// The data set; without it the first argument that is one, $XHIST_FLEET, or the working directory
    #[arg(long, value_name = "DIR", global = true, env = "XHIST_FLEET")]
    pub data: Option<PathBuf>,

    /// Memory for queries, in MiB; what needs more goes to temporary files
    #[arg(long, value_name = "MIB", global = true, default_value_t = 512)]
    pub memory: usize,

    /// Threads
    #[arg(short, long, value_name = "N", global = true)]
    pub jobs: Option<usize>,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Add dumps to a data set; what it has already is left out
    Add(AddArgs),
    /// The same failure together: how often, on which devices, since which build
    Groups(GroupsArgs),
    /// Statements by how much bad dumps differ in them from good ones
    Suspects(SuspectsArgs),
    /// What differs between two builds: new failures, those that are gone, and how often the others are
    Diff(DiffArgs),
    /// Run SQL on the tables and views
    Query(QueryArgs),
    /// The groups as an HTML page, over builds and days, with the history of examples
    Overview(OverviewArgs),
}

/// What to add.
#[derive(Clone, Debug, ClapArgs)]
pub struct AddArgs {
    /// Directory of the data set; it is made if it does not exist
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// Files, directories, s3://, gs:// and az:// URLs, or `-` for a list on standard input
    #[arg(value_name = "DUMPS", required = true)]
    pub dumps: Vec<String>,

    /// A label of all these dumps, besides directories named KEY=VALUE; `build`, `device` and `outcome` (good, bad) are columns
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,

    /// Look for maps in DIR, besides where each dump is
    #[arg(long, value_name = "DIR")]
    pub maps: Vec<PathBuf>,

    /// Keep only the last N entries of a dump
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    pub last: u64,

    /// Publish after N rows; more rows make larger files, fewer make less to repeat after a crash
    #[arg(long, value_name = "N", default_value_t = 12_000_000)]
    pub commit: usize,
}

/// Which groups.
#[derive(Clone, Debug, ClapArgs)]
pub struct GroupsArgs {
    /// Directory of the data set
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,

    /// At most this number of groups
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,

    /// Print the view `groups` instead
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<QueryFormat>,
}

/// Which suspects.
#[derive(Clone, Debug, ClapArgs)]
pub struct SuspectsArgs {
    /// Directory of the data set
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,

    /// Only this group: the beginning of its name
    #[arg(long, value_name = "GROUP")]
    pub group: Option<String>,

    /// At most this number of statements of a group
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub limit: usize,

    /// Print the view `suspects` instead
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<QueryFormat>,
}

/// Which builds.
#[derive(Clone, Debug, ClapArgs)]
pub struct DiffArgs {
    /// Directory of the data set, and two builds
    #[arg(value_name = "[DIR] BUILD BUILD", num_args = 2..=3, required = true)]
    pub names: Vec<String>,

    /// At most this number of groups and statements of a kind
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,
}

/// Which query.
#[derive(Clone, Debug, ClapArgs)]
pub struct QueryArgs {
    /// Directory of the data set, and the query
    #[arg(value_name = "[DIR] SQL", num_args = 1..=2, required = true)]
    pub names: Vec<String>,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: QueryFormat,
}

/// Which page.
#[derive(Clone, Debug, ClapArgs)]
pub struct OverviewArgs {
    /// Directory of the data set
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,

    /// The page; its histories lie in a directory beside it
    #[arg(short, long, value_name = "FILE", default_value = "fleet.html")]
    pub output: PathBuf,

    /// At most this number of groups
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,

    /// Look for maps in DIR, besides where each dump is
    #[arg(long, value_name = "DIR")]
    pub maps: Vec<PathBuf>,
}

impl OverviewArgs {
    /// What to write.
    pub fn options(&self) -> OverviewOptions {
        OverviewOptions { output: self.output.clone(), limit: self.limit, maps: self.maps.clone() }
    }
}

fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("a label is KEY=VALUE".to_owned()),
    }
}

impl Args {
    /// Number of threads.
    pub fn jobs(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.unwrap_or_else(all).max(1)
    }

    /// The data set that a command is about.
    ///
    /// # Errors
    /// The directory holds no data set.
    pub fn data_set(&self, named: Option<&Path>) -> Result<DataSet, FleetError> {
        let dir = named.or(self.data.as_deref()).unwrap_or(Path::new("."));
        DataSet::open(dir)
    }

    /// The data set, and `count` other arguments: the first argument may be its directory.
    ///
    /// # Errors
    /// There is no data set, or an argument is missing.
    pub fn split<'n>(
        &self,
        names: &'n [String],
        count: usize,
    ) -> Result<(DataSet, &'n [String]), FleetError> {
        match names.split_first() {
            Some((dir, rest)) if rest.len() == count => Ok((self.data_set(Some(Path::new(dir)))?, rest)),
            Some((dir, _)) if names.len() == count && DataSet::is_at(Path::new(dir)) => {
                Err(FleetError::Usage(format!("after the data set {dir} an argument is missing; see --help")))
            }
            _ => Ok((self.data_set(None)?, names)),
        }
    }
}
