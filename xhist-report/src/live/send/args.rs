//! The command line of `send`, and the packets that it means.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use qs_core::rx::id;

use super::error::CommandError;
use crate::qspy::TargetArgs;
use qs_host::control::filter_spec as filter;
use qs_host::{Request, TargetSymbols};

const AFTER_HELP: &str = "\
LINK is tcp://, tcp-listen://, udp:// or serial:// as for a report. While a report reads the link,
it is qspy://HOST[:7701], the report's own port for front-ends (its option -u), or that of a QSPY.

Exit codes: 0 acknowledged; 1 refused, or no answer; 2 wrong arguments, or a name that the target
did not send.

Examples:
  xhist-report send serial:///dev/ttyUSB0 info
  xhist-report send tcp-listen://0.0.0.0:6601 command PAUSE
  xhist-report send qspy://localhost filter global sm,ao,u4,-QS_QF_TICK";

/// Send a command to a target, and print its answer.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct SendArgs {
    /// The link to the target
    #[arg(value_name = "LINK")]
    pub link: String,

    /// Seconds to wait for the target, and for each answer
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = seconds)]
    timeout: f64,

    #[command(flatten)]
    pub target: TargetArgs,

    #[command(subcommand)]
    pub what: SendCommand,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "seconds are a number up to 86400, as in 2.5".to_owned())
}

impl SendArgs {
    /// How long to wait.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }
}

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum SendCommand {
    /// Ask which target it is
    Info,
    /// Ask for a reset
    Reset,
    /// A tick of the clock
    Tick {
        /// Rate of the tick
        #[arg(default_value = "0", value_parser = u8_of)]
        rate: u8,
    },
    /// Read memory of the current application object
    Peek {
        #[arg(value_parser = u16_of)]
        offset: u16,
        #[arg(value_parser = size)]
        size: u8,
        #[arg(value_parser = u8_of)]
        count: u8,
    },
    /// Write items to memory of the current application object
    Poke {
        #[arg(value_parser = u16_of)]
        offset: u16,
        #[arg(value_parser = size)]
        size: u8,
        #[arg(value_parser = u32_of, required = true)]
        values: Vec<u32>,
    },
    /// Fill memory of the current application object with an item
    Fill {
        #[arg(value_parser = u16_of)]
        offset: u16,
        #[arg(value_parser = size)]
        size: u8,
        #[arg(value_parser = u8_of)]
        count: u8,
        #[arg(value_parser = u32_of)]
        value: u32,
    },
    /// A command of the application
    Command {
        /// Its number or its name
        command: String,
        #[arg(value_parser = u32_of, num_args = 0..=3)]
        params: Vec<u32>,
    },
    /// An event: PRIO 0 publishes it, 253 is for the current active object, 254 and 255 for the current state machine
    Event {
        #[arg(value_parser = u8_of)]
        prio: u8,
        /// Number or name of its signal
        signal: String,
        /// Parameters in hexadecimal digits
        #[arg(default_value = "", value_parser = hex)]
        params: Bytes,
    },
    /// Choose the records that the target sends (global; u4 are the statements of xhist), the objects that it sends records about
    /// (local), or the profile events of a target of xhist (opcodes)
    Filter {
        which: Which,
        /// Names and numbers, `-` before those that go: sm,ao,-31; of opcodes also ranges: 32..35
        #[arg(allow_hyphen_values = true)]
        spec: String,
    },
    /// Send records about an active object, or no longer
    AoFilter {
        /// Its address or name
        object: String,
        #[arg(default_value = "on")]
        switch: Switch,
    },
    /// Make an object the current one of its kind
    Current {
        kind: ObjectKind,
        /// Its address or name
        object: String,
    },
    /// Ask for the current object of a kind
    Query { kind: ObjectKind },
    /// What the next use of a function's test probe finds
    Probe {
        /// Address or name of the function
        function: String,
        #[arg(value_parser = u32_of)]
        data: u32,
    },
    /// A test begins
    TestSetup,
    /// A test ends
    TestTeardown,
    /// The test goes on
    TestContinue,
}

/// Which filter.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Which {
    Global,
    Local,
    Opcodes,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// Kinds of objects, in the order of their numbers.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ObjectKind {
    Sm,
    Ao,
    Mp,
    Eq,
    Te,
    Ap,
    SmAo,
}

/// Bytes as hexadecimal digits.
#[derive(Clone, Debug)]
pub struct Bytes(Vec<u8>);

fn number(text: &str, most: u64) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    let number = number.ok().filter(|number| *number <= most);
    number.ok_or_else(|| format!("expected a number up to {most}, decimal or 0x and hexadecimal"))
}

fn u8_of(text: &str) -> Result<u8, String> {
    number(text, u8::MAX.into()).map(|number| number as u8)
}

fn u16_of(text: &str) -> Result<u16, String> {
    number(text, u16::MAX.into()).map(|number| number as u16)
}

fn u32_of(text: &str) -> Result<u32, String> {
    number(text, u32::MAX.into()).map(|number| number as u32)
}

fn size(text: &str) -> Result<u8, String> {
    u8_of(text)
        .ok()
        .filter(|size| [1, 2, 4].contains(size))
        .ok_or_else(|| "items have 1, 2 or 4 bytes".to_owned())
}

fn hex(text: &str) -> Result<Bytes, String> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|char| !char.is_whitespace())
        .map(|char| Some(char.to_digit(16)? as u8))
        .collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => {
            Ok(Bytes(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()))
        }
        _ => Err("expected pairs of hexadecimal digits".to_owned()),
    }
}

impl SendCommand {
    /// The name that the target has to send before this can be sent, if there is one.
    fn name(&self) -> Option<&str> {
        let text = match self {
            SendCommand::Command { command: text, .. }
            | SendCommand::Event { signal: text, .. }
            | SendCommand::AoFilter { object: text, .. }
            | SendCommand::Current { object: text, .. }
            | SendCommand::Probe { function: text, .. } => text,
            _ => return None,
        };
        number(text, u64::MAX).is_err().then_some(text)
    }

    /// Whether it needs the target's sizes or names to be sent.
    pub fn needs_target(&self) -> bool {
        self.name().is_some()
            || matches!(
                self,
                SendCommand::Event { .. }
                    | SendCommand::AoFilter { .. }
                    | SendCommand::Current { .. }
                    | SendCommand::Probe { .. }
            )
    }

    /// Whether its answer needs the target's sizes to be read.
    pub fn needs_sizes(&self) -> bool {
        matches!(self, SendCommand::Query { .. } | SendCommand::Peek { .. })
    }

    /// A warning to show before it is sent.
    pub fn warning(&self) -> Option<String> {
        match self {
            SendCommand::Filter { which: Which::Global, spec } if filter::silences_statements(spec) => {
                Some(format!(
                    "this filter replaces the target's, and lets no statements of xhist through: their history stops, in the ring as \
                 well; `filter global {spec},u4` keeps it, and `{spec},-u4` says that this is meant"
                ))
            }
            _ => None,
        }
    }

    /// Checks the command without a target.
    ///
    /// # Errors
    /// What is wrong, whatever the target is.
    pub fn check(&self) -> Result<(), CommandError> {
        match self {
            SendCommand::Filter { which: Which::Global, spec } => Ok(filter::global(spec).map(drop)?),
            SendCommand::Filter { which: Which::Local, spec } => Ok(filter::local(spec).map(drop)?),
            SendCommand::Filter { which: Which::Opcodes, spec } => Ok(filter::opcodes(spec).map(drop)?),
            SendCommand::Poke { values, .. } if values.len() > 255 => Err(CommandError::TooManyItems),
            SendCommand::Poke { size, values, .. } => fitting(*size, values),
            SendCommand::Fill { size, value, .. } => fitting(*size, &[*value]),
            SendCommand::Query { kind: ObjectKind::SmAo } => Err(CommandError::NotAKind),
            _ => Ok(()),
        }
    }

    /// The packet, with the symbols of the target.
    ///
    /// # Errors
    /// A name that the target has not sent, or a number that it has no room for.
    pub fn request(&self, known: &TargetSymbols) -> Result<Request, CommandError> {
        Ok(match self {
            SendCommand::Info => Request::bare(id::INFO),
            SendCommand::Reset => Request::bare(id::RESET),
            SendCommand::Tick { rate } => Request::byte(id::TICK, *rate),
            SendCommand::Peek { offset, size, count } => {
                Request::memory(id::PEEK, *offset, *size, *count, &[])
            }
            SendCommand::Poke { offset, size, values } => {
                let data: Vec<u8> = values
                    .iter()
                    .flat_map(|value| value.to_le_bytes().into_iter().take(usize::from(*size)))
                    .collect();
                Request::memory(id::POKE, *offset, *size, values.len() as u8, &data)
            }
            SendCommand::Fill { offset, size, count, value } => {
                Request::memory(id::FILL, *offset, *size, *count, &value.to_le_bytes()[..usize::from(*size)])
            }
            SendCommand::Command { command, params } => {
                let named = known.command_named(command.as_bytes()).map(u64::from);
                let command = chosen("command", command, 1, named)? as u8;
                let param = |index: usize| params.get(index).copied().unwrap_or(0);
                Request::command(command, [param(0), param(1), param(2)])
            }
            SendCommand::Event { prio, signal, params } => {
                let named = known.signal_named(signal.as_bytes(), 0).map(u64::from);
                let signal = chosen("signal", signal, known.target.sizes.sig, named)? as u32;
                Request::event(*prio, signal, &params.0, known)
            }
            SendCommand::Filter { which: Which::Global, spec } => {
                Request::filter(id::GLOBAL_FILTER, filter::global(spec)?)
            }
            SendCommand::Filter { which: Which::Local, spec } => {
                Request::filter(id::LOCAL_FILTER, filter::local(spec)?)
            }
            SendCommand::Filter { which: Which::Opcodes, spec } => {
                Request::filter(id::GLOBAL_FILTER, filter::opcodes(spec)?)
            }
            SendCommand::AoFilter { object, switch } => {
                let kind = u8::from(*switch == Switch::Off);
                Request::object(id::AO_FILTER, kind, object_of(object, known)?, known)
            }
            SendCommand::Current { kind, object } => {
                Request::object(id::CURRENT_OBJECT, *kind as u8, object_of(object, known)?, known)
            }
            SendCommand::Query { kind } => Request::byte(id::QUERY_CURRENT, *kind as u8),
            SendCommand::Probe { function, data } => {
                let named = known.functions.key_of(function.as_bytes());
                let address = chosen("function", function, known.target.sizes.fun, named)?;
                Request::probe(*data, address, known)
            }
            SendCommand::TestSetup => Request::bare(id::TEST_SETUP),
            SendCommand::TestTeardown => Request::bare(id::TEST_TEARDOWN),
            SendCommand::TestContinue => Request::bare(id::TEST_CONTINUE),
        })
    }
}

fn object_of(object: &str, known: &TargetSymbols) -> Result<u64, CommandError> {
    chosen("object", object, known.target.sizes.obj, known.objects.key_of(object.as_bytes()))
}

/// The number of what the user wrote: a number of at most this many bytes, or a name that the target sent.
fn chosen(kind: &'static str, text: &str, bytes: u8, named: Option<u64>) -> Result<u64, CommandError> {
    let most = u64::MAX >> (64 - 8 * u32::from(bytes.clamp(1, 8)));
    number(text, most).ok().or(named).ok_or_else(|| {
        match text.starts_with(|char: char| char.is_ascii_digit()) {
            true => CommandError::NumberTooLarge { kind, text: text.to_owned(), most },
            false => CommandError::UnknownName { kind, text: text.to_owned() },
        }
    })
}

fn fitting(size: u8, values: &[u32]) -> Result<(), CommandError> {
    let most = u64::from(u32::MAX) >> (32 - 8 * u32::from(size));
    match values.iter().find(|value| u64::from(**value) > most) {
        Some(value) => Err(CommandError::ItemSize { value: *value, size }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        assert_eq!((u8_of("255"), u16_of("0x1F"), u32_of("7")), (Ok(255), Ok(31), Ok(7)));
        assert!(u8_of("256").is_err() && u32_of("-1").is_err() && size("3").is_err());
        assert_eq!(hex("0a FF").unwrap().0, [10, 255]);
        assert!(hex("0").is_err() && hex("xx").is_err());
    }

    #[test]
    fn names_wait_for_the_target() {
        let known = TargetSymbols::new(Default::default());
        let named = SendCommand::Command { command: "PAUSE".into(), params: Vec::new() };
        assert!(named.needs_target() && named.request(&known).unwrap_err().to_string().contains("`PAUSE`"));
        let numbered = SendCommand::Command { command: "0".into(), params: vec![1] };
        assert!(!numbered.needs_target());
        assert_eq!(numbered.request(&known).unwrap(), Request::command(0, [1, 0, 0]));
        let wide = SendCommand::Command { command: "300".into(), params: Vec::new() };
        assert!(wide.request(&known).unwrap_err().to_string().contains("a number up to 255"));
        let poke = SendCommand::Poke { offset: 1, size: 2, values: vec![0x102, 3] };
        assert_eq!(poke.request(&known).unwrap().payload, [1, 0, 2, 2, 2, 1, 3, 0]);
        assert!(SendCommand::Fill { offset: 0, size: 1, count: 1, value: 256 }.check().is_err());
    }

    #[test]
    fn a_number_that_the_target_has_no_room_for_is_not_cut() {
        let known = TargetSymbols::new(Default::default());
        let event =
            |signal: &str| SendCommand::Event { prio: 1, signal: signal.into(), params: Bytes(Vec::new()) };
        assert_eq!(event("0xFFFF").request(&known).unwrap().payload[1..3], [0xFF, 0xFF]);
        assert!(event("65536").request(&known).unwrap_err().to_string().contains("a number up to 65535"));
        let too_wide = || "0x100000001".to_owned();
        let current = SendCommand::Current { kind: ObjectKind::Ap, object: too_wide() };
        let probe = SendCommand::Probe { function: too_wide(), data: 0 };
        for what in [current, probe] {
            assert!(what.request(&known).unwrap_err().to_string().contains("a number up to 4294967295"));
        }
    }
}
