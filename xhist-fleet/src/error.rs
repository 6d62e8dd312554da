//! What can go wrong, in words for the user.

use std::fmt;
use std::io;
use std::path::PathBuf;

use datafusion::error::DataFusionError;
use datafusion::parquet::errors::ParquetError;

/// Why a command failed.
#[derive(Debug)]
pub enum FleetError {
    /// The directory holds no data set.
    NoDataSet(PathBuf),
    /// The directory holds other files.
    Foreign(PathBuf),
    /// The data set is of a newer version.
    Newer(PathBuf, u32),
    /// Another process changes the data set.
    Busy(PathBuf),
    /// A file cannot be read.
    Read(PathBuf, io::Error),
    /// A file cannot be written.
    Write(PathBuf, io::Error),
    /// A Parquet file is damaged or cannot be written.
    Parquet(PathBuf, ParquetError),
    /// A query failed.
    Query(Box<DataFusionError>),
    /// The arguments are wrong.
    Usage(String),
    /// An object store does not answer.
    Store(String, object_store::Error),
    /// A thread cannot be started, or the output cannot be written.
    System(io::Error),
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FleetError::NoDataSet(dir) => write!(
                f,
                "{0} is not a data set; `xhist-fleet add {0} DUMPS...` makes one, --data DIR names another one",
                dir.display()
            ),
            FleetError::Foreign(dir) => write!(
                f,
                "{} has files that are not those of a data set; name a new or an empty directory",
                dir.display()
            ),
            FleetError::Newer(dir, version) => write!(
                f,
                "{} has schema {version}, and this program knows {}; install a newer xhist-fleet",
                dir.display(),
                crate::schema::VERSION
            ),
            FleetError::Busy(dir) => write!(
                f,
                "another xhist-fleet adds to {}; wait until it ends, then run this command again",
                dir.display()
            ),
            FleetError::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            FleetError::Write(path, error) => write!(f, "cannot write {}: {error}", path.display()),
            FleetError::Parquet(path, error) => write!(f, "{}: {error}", path.display()),
            FleetError::Query(error) => f.write_str(&query_text(error)),
            FleetError::Usage(text) => f.write_str(text),
            FleetError::Store(url, error) => write!(f, "cannot read {url}: {error}"),
            FleetError::System(error) => write!(f, "{error}"),
        }
    }
}

/// The message of the engine, without what is for its developers.
fn query_text(error: &DataFusionError) -> String {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(why) => {
            format!("the query needs more memory than --memory allows: {why}")
        }
        _ => error.strip_backtrace(),
    }
}

impl std::error::Error for FleetError {}

impl From<DataFusionError> for FleetError {
    fn from(error: DataFusionError) -> FleetError {
        FleetError::Query(Box::new(error))
    }
}
