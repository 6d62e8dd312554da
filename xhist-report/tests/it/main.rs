//! xhist-report as its users run it. Each module is one question.

mod cli;
mod cover;
mod cut_streams;
mod damaged;
mod follow;
mod golden;
mod identify;
mod loops;
mod maps;
mod order;
mod property;
mod qs;
mod source_text;
mod support;
mod threads;
mod trace;
mod visible;
