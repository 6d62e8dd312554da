//! Targets that run: links to them, sessions that show what comes, and commands to them.

pub mod link;
mod run;
pub mod send;
mod session;

pub use run::report_live;
pub use session::Setup;
