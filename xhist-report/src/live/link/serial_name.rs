//! Parses the name of a serial line: `serial:///dev/ttyUSB0?baud=115200&parity=even`.

use super::LinkError;
use std::path::PathBuf;

const FORM: &str = "serial:///dev/ttyUSB0?baud=115200&bits=8&parity=none&stop=1&flow=none";

/// A serial line and its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SerialLine {
    /// The device.
    pub path: PathBuf,
    /// Bits a second.
    pub baud: u32,
    /// Data bits of a character.
    pub bits: u8,
    /// The parity bit.
    pub parity: Parity,
    /// Two stop bits and not one.
    pub two_stops: bool,
    /// How a full side stops the other one.
    pub flow: Flow,
}

/// The parity bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    None,
    Even,
    Odd,
}

/// How a full side stops the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    None,
    /// By the wires RTS and CTS.
    Hardware,
}

/// Parses a name.
///
/// # Errors
/// A missing device or an unknown setting.
pub fn parse(name: &str) -> Result<SerialLine, LinkError> {
    let rest = name.strip_prefix("serial://").unwrap_or(name);
    let (path, settings) = rest.split_once('?').unwrap_or((rest, ""));
    if path.is_empty() {
        return Err(LinkError::NoDevice { name: name.to_owned(), form: FORM });
    }
    let mut line = SerialLine {
        path: path.into(),
        baud: 115_200,
        bits: 8,
        parity: Parity::None,
        two_stops: false,
        flow: Flow::None,
    };
    for setting in settings.split('&').filter(|setting| !setting.is_empty()) {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        set(&mut line, key, value).ok_or_else(|| LinkError::UnknownSetting {
            name: name.to_owned(),
            setting: setting.to_owned(),
            form: FORM,
        })?;
    }
    Ok(line)
}

fn set(line: &mut SerialLine, key: &str, value: &str) -> Option<()> {
    match (key, value) {
        ("baud", value) => line.baud = value.parse().ok().filter(|baud| *baud > 0)?,
        ("bits", value) => line.bits = value.parse().ok().filter(|bits| [7, 8].contains(bits))?,
        ("parity", "none") => line.parity = Parity::None,
        ("parity", "even") => line.parity = Parity::Even,
        ("parity", "odd") => line.parity = Parity::Odd,
        ("stop", "1") => line.two_stops = false,
        ("stop", "2") => line.two_stops = true,
        ("flow", "none") => line.flow = Flow::None,
        ("flow", "rtscts") => line.flow = Flow::Hardware,
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        let line = parse("serial:///dev/ttyS0?baud=9600&bits=7&parity=even&stop=2&flow=rtscts").unwrap();
        assert_eq!((line.baud, line.bits, line.parity), (9600, 7, Parity::Even));
        assert_eq!((line.two_stops, line.flow), (true, Flow::Hardware));
        assert_eq!(parse("serial:///dev/ttyS0").unwrap().baud, 115_200);
        for wrong in
            ["serial://", "serial:///dev/x?baud=0", "serial:///dev/x?speed=1", "serial:///dev/x?bits=9"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
