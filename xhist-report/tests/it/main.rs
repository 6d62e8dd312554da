//! xhist-report as its users run it. Each module is one question.

mod cli;
mod cover;
mod damaged;
mod follow;
mod golden;
mod identify;
mod integrity;
mod loops;
mod maps;
mod marks;
mod order;
mod property;
mod qs;
mod sources;
mod support;
mod threads;
mod trace;
