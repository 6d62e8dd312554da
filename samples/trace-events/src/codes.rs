//! The codes of this program's events. `fmt/drivers.fmt` describes them to the report.

use xhist_rt::trace::Code;

const UART: u32 = Code::major_of("uart");
pub const PARITY_ERROR: Code = Code::new(UART, 1);

const NET: u32 = Code::major_of("net");
pub const LATE_COLLISION: Code = Code::new(NET, 1);
pub const NO_BUFFER: Code = Code::new(NET, 2);
pub const BAD_QUEUE: Code = Code::new(NET, 3);

pub const TIMER_CREATED: u8 = 32;
pub const TIMER_ARMED: u8 = 33;
pub const TIMER_FIRED: u8 = 34;
pub const THREAD_READY: u8 = 35;
