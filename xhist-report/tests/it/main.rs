//! xhist-report as its users run it. Each module is one question.

mod checks;
mod cli;
mod cover;
mod cut_streams;
mod damaged;
mod diff;
mod filters;
mod follow;
mod golden;
mod identify;
mod integrity;
mod loops;
mod maps;
mod marks;
mod order;
mod prologue;
mod property;
mod qs;
mod runs;
mod source_text;
mod sources;
mod support;
mod threads;
mod trace;
mod types;
mod values;
mod visible;
mod words;
#[path = "../../../qs-core/tests/it/words/model.rs"]
mod words_model;
