//! The schema of a data set: its tables and their columns, in one place.
//!
//! Types are those that every engine reads alike: text, signed 64-bit integers and times in microseconds.

/// Version of the schema. It grows when a column changes its meaning; new columns do not change it.
pub const VERSION: u32 = 1;

/// The columns that come from the directory of a file, not from the file.
pub const PARTITION: [(&str, Kind); 2] = [("build", Kind::Text), ("day", Kind::Day)];

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// Signed, 64 bits.
    Int,
    /// Microseconds since 1970, UTC.
    Time,
    /// A date. Only partitions have it.
    Day,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// It may be missing.
    pub nullable: bool,
    /// What it holds.
    pub help: &'static str,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct TableRow {
    /// Which one.
    pub table: Table,
    /// Its name, and that of its directory.
    pub name: &'static str,
    /// What a row is.
    pub help: &'static str,
    /// Its columns, in the order of cells.
    pub columns: &'static [Column],
}

/// The tables of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// A dump.
    Rings,
    /// A label of a dump.
    Labels,
    /// A statement that ran.
    Statements,
    /// Anything else in a ring.
    Records,
    /// A recorded value.
    Values,
    /// A statement that ever ran in a dump.
    Spectra,
    /// Something that is missing.
    Losses,
}

const fn text(name: &'static str, help: &'static str) -> Column {
    Column { name, kind: Kind::Text, nullable: false, help }
}

const fn int(name: &'static str, help: &'static str) -> Column {
    Column { name, kind: Kind::Int, nullable: false, help }
}

const fn optional(column: Column) -> Column {
    Column { nullable: true, ..column }
}

const RING: Column = text("ring", "the dump: the first 32 hexadecimal digits of the SHA-256 of its bytes");
const THREAD: Column = text("thread", "name of the thread, its id, or the number of its ring");
const POSITION: Column = int("position", "number of the entry in the history, from 1, as listings have it");
const FILE: Column = text("file", "path of the source file, as the map has it");
const LINE: Column = int("line", "the line that the statement starts in");
const FUNCTION: Column = text("function", "its function; empty if not known");
const STATEMENT: Column = int("statement", "a hash of file, function and text: the same in each build");

/// All tables. A file of `rings` is published last: a dump that has a row there is complete.
pub const TABLES: [TableRow; 7] = [
    TableRow {
        table: Table::Labels,
        name: "labels",
        help: "a label of a dump, from `--label KEY=VALUE`",
        columns: &[RING, text("name", "KEY"), text("value", "VALUE")],
    },
    TableRow {
        table: Table::Statements,
        name: "statements",
        help: "a statement that ran, among the newest entries of a dump",
        columns: &[
            RING,
            THREAD,
            POSITION,
            FILE,
            LINE,
            FUNCTION,
            STATEMENT,
            int(
                "repetition",
                "how often it ran here in succession, with the statements of the same repetition",
            ),
        ],
    },
    TableRow {
        table: Table::Records,
        name: "records",
        help: "a QS record, a trace event, a panic, a signal or a mark",
        columns: &[
            RING,
            THREAD,
            POSITION,
            text("kind", "`record`, `trace`, `panic`, `signal`, `mark`, `cancelled`, `repetition` or `gap`"),
            text("name", "name of the record, or class and name of the trace event"),
            text("text", "its line"),
            optional(text("fields", "its fields, a JSON object")),
            optional(int("t_ns", "time of the recorder's clock, in nanoseconds")),
        ],
    },
    TableRow {
        table: Table::Values,
        name: "values",
        help: "a recorded value; engines that reserve the name have it as `recorded_values`",
        columns: &[
            RING,
            THREAD,
            POSITION,
            FILE,
            LINE,
            FUNCTION,
            text("name", "the name that was bound or assigned"),
            text("type_name", "its type; empty if not known"),
            text("value", "the value as text"),
        ],
    },
    TableRow {
        table: Table::Spectra,
        name: "spectra",
        help: "a statement that ran at least once: by the program's bitmap, else in the newest entries",
        columns: &[RING, STATEMENT, FILE, LINE, FUNCTION],
    },
    TableRow {
        table: Table::Losses,
        name: "losses",
        help: "something that is missing in a dump, or a dump that cannot be read",
        columns: &[RING, text("source", "path or URL of the dump"), text("text", "what is missing")],
    },
    TableRow {
        table: Table::Rings,
        name: "rings",
        help: "a dump",
        columns: &[
            RING,
            text("source", "path or URL of the dump"),
            Column {
                name: "time",
                kind: Kind::Time,
                nullable: false,
                help: "when the dump was last written",
            },
            optional(text("device", "the label `device`")),
            optional(text("map", "hash of the map of its build")),
            text("outcome", "`good`, `bad` or `unknown`: by how it ended, or the label `outcome`"),
            text(
                "ended",
                "how its program ended: `panicked`, `signal 11`, `exited`, `running or killed`, ...",
            ),
            optional(text(
                "signature",
                "what identifies the failure: 16 hexadecimal digits, the same in each build",
            )),
            optional(text("title", "the failure in words")),
            optional(text("stack", "the open calls, the innermost first")),
            optional(text("thread", "the thread that failed")),
            optional(text("file", "path of the file of the failing statement")),
            optional(int("line", "its line")),
            optional(text("function", "its function")),
            int("threads", "number of its threads"),
            int("entries", "number of entries in the data set"),
            int("left_out", "number of older entries in the dump"),
            int("losses", "number of rows in `losses`"),
            int("bytes", "size of the dump"),
        ],
    },
];

impl Table {
    /// Its row.
    pub fn row(self) -> &'static TableRow {
        TABLES.iter().find(|row| row.table == self).expect("each table has a row")
    }

    /// Its place in [`TABLES`].
    pub fn index(self) -> usize {
        TABLES.iter().position(|row| row.table == self).expect("each table has a row")
    }
}
