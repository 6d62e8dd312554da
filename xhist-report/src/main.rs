//! The program `xhist-report`: parses the command line, runs it, and exits with its code.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    xhist_report::cli::main(std::env::args_os()).into()
}
