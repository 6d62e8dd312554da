//! QSPY's letters for links. Here a link is a source, so each of them is an error with the word to type.

use clap::Args as ClapArgs;
use xhist_history::notes::typed;

/// Fields that never have a value.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct QspyLinkArgs {
    #[arg(short = 't', hide = true, num_args = 0..=1, default_missing_value = "6601", value_parser = tcp)]
    _tcp: Option<String>,

    #[arg(short = 'c', hide = true, value_parser = serial)]
    _serial: Option<String>,

    #[arg(short = 'b', hide = true, value_parser = baud)]
    _baud: Option<String>,
}

fn tcp(port: &str) -> Result<String, String> {
    Err(in_place(&format!("tcp-listen://0.0.0.0:{port}")))
}

fn serial(port: &str) -> Result<String, String> {
    Err(in_place(&format!("'serial://{port}?baud=115200'")))
}

fn baud(rate: &str) -> Result<String, String> {
    Err(in_place(&format!("'serial:///dev/ttyS0?baud={rate}'")))
}

fn in_place(link: &str) -> String {
    format!("a link is a source here: {}", typed::command(format!("qspy {link}")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::command::CommandLine;

    #[test]
    fn letters_for_links_name_what_to_type() {
        for (words, typed) in [
            (&["-t"][..], "xhist-report qspy tcp-listen://0.0.0.0:6601"),
            (&["-t7000"], "xhist-report qspy tcp-listen://0.0.0.0:7000"),
            (&["-c", "COM3"], "xhist-report qspy 'serial://COM3?baud=115200'"),
            (&["-c/dev/ttyACM0", "-b", "9600"], "xhist-report qspy 'serial:///dev/ttyACM0?baud=115200'"),
            (&["-b9600"], "xhist-report qspy 'serial:///dev/ttyS0?baud=9600'"),
        ] {
            let line = ["xhist-report", "qspy"].iter().chain(words);
            let error = CommandLine::try_parse_from(line).expect_err("no option").to_string();
            assert!(error.contains(typed), "{error}");
        }
    }
}
