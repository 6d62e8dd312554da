//! Serial lines of Windows, such as COM3.

use std::io;

use serial2::os::windows::CommTimeouts;
use serial2::{CharSize, FlowControl, SerialPort, Settings, StopBits};

use super::super::ends::TAKE;
use super::{Connection, Flow, Parity, SerialLine};

/// Milliseconds without a byte after which a read returns what came.
const GAP: u32 = 10;
/// Milliseconds after which it returns, also without a byte.
const LONGEST: u32 = 100;

/// Whether the error shows another kind of file, which has no settings of a line.
pub(super) fn is_other_file(error: &io::Error) -> bool {
    const INVALID_FUNCTION: i32 = 1;
    const INVALID_HANDLE: i32 = 6;
    [INVALID_FUNCTION, INVALID_HANDLE].map(Some).contains(&error.raw_os_error())
}

pub(super) fn open(line: &SerialLine) -> io::Result<Connection> {
    let port = SerialPort::open(&line.path, |mut settings: Settings| {
        settings.set_raw();
        settings.set_baud_rate(line.baud)?;
        settings.set_char_size(if line.bits == 7 { CharSize::Bits7 } else { CharSize::Bits8 });
        settings.set_parity(match line.parity {
            Parity::None => serial2::Parity::None,
            Parity::Even => serial2::Parity::Even,
            Parity::Odd => serial2::Parity::Odd,
        });
        settings.set_stop_bits(if line.two_stops { StopBits::Two } else { StopBits::One });
        settings.set_flow_control(match line.flow {
            Flow::None => FlowControl::None,
            Flow::Hardware => FlowControl::RtsCts,
        });
        Ok(settings)
    })?;
    // A read ends when nothing more comes. Wine does not have the way that `set_read_timeout` takes.
    port.set_windows_timeouts(&CommTimeouts {
        read_interval_timeout: GAP,
        read_total_timeout_multiplier: 0,
        read_total_timeout_constant: LONGEST,
        write_total_timeout_multiplier: 0,
        write_total_timeout_constant: TAKE.as_millis() as u32,
    })?;
    // The buffers hold bytes that were sent with other settings.
    let _ = port.discard_buffers();
    let from = port.try_clone()?;
    Ok(Connection { peer: line.path.display().to_string(), from: Box::new(from), to: Box::new(port) })
}
