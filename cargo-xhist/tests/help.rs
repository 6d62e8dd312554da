//! `cargo xhist` as a program: its help.

#![cfg(unix)]

use std::process::{Command, Stdio};

#[test]
fn help_into_a_closed_pipe_succeeds() {
    for args in ["--help", "--version"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-xhist"));
        let done = command.args(["xhist", args]).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        drop(command);
        let done = done.wait_with_output().unwrap();
        assert_eq!((done.status.code(), &*done.stderr), (Some(0), &b""[..]), "{args}");
    }
}

#[test]
fn reports_are_commands_of_cargo_xhist() {
    let help = |word: &str| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_cargo-xhist")).args(["xhist", word, "-h"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{word}");
        String::from_utf8(output.stdout).unwrap()
    };
    for word in ["history", "answer", "calls", "view", "page", "suspects", "diff", "runs", "qspy", "export"] {
        assert!(help(word).contains(&format!("Usage: cargo xhist {word}")), "{}", help(word));
    }
}
