//! The rewriter as its users see it: its text, its rules, its program. Each module is one question.

mod checks;
mod cli;
mod cli_strip;
mod deep;
mod detail;
mod fixtures;
mod foreign_macros;
mod in_place;
mod project;
mod registry;
mod rules;
mod sources;
mod strip;
mod tasks;
mod text;
mod values;
