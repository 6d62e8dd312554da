//! What histories are made of, in the words of a user: rings, entries, gaps, files and lines.

mod build;
mod code;
pub mod defmt;
mod event;
mod interrupts;
mod item;
mod names;
mod package_path;
mod panic;
mod place;
mod program_files;
mod ring;
mod suspect_line;
mod task;
mod trace;
mod value;
mod visible;

pub use build::{Age, Build, KnownBuild, KnownMap, Origin, SourceChanges, moment_text, time_text};
pub use code::{BodyKind, CallName, CallNames, CodeBody, CodeStatement, FileCode, Jump, Span};
pub use event::{LineRange, Opening, Repetition};
pub use interrupts::InterruptNames;
pub use item::{Damaged, Gap, Item, Overtaken, Record, What};
pub use names::{BadLine, MapStatement, Names};
pub use package_path::{RegistryPackage, short_path};
pub use panic::{CodePlace, FrameAtPanic, LocatedPanic, PanicPlace};
pub use place::Place;
pub use program_files::{FrameStatement, ProgramFiles, comes_from, has_lines, panic_text};
pub use qs_host::FieldValue;
pub use ring::{BEFORE_RESET, Ring};
pub use suspect_line::SuspectLine;
pub use task::{CancelledTasks, LiveTask, TaskAround, TaskLink, TaskPlace, TaskSummary};
pub use trace::{Arg, Code, DescribedTrace, Severity, Trace, TraceClass};
pub use value::{ShownValue, ValuePlace, arguments_line, values_line};
pub use visible::{count, count_processes, is_visible, shortened, tail_of, visible};
