//! RTT: a debug probe takes the stream of xhist from channel 1, beside the logs of channel 0, and sends commands.
// xhist instrument FALSE

use core::cell::Cell;

use critical_section::Mutex;
use embassy_time::Timer;
use rtt_target::{ChannelMode, DownChannel, UpChannel, rtt_init};
use xhist_rt::qs::{self, Callbacks, Info, Pump};

/// The record that shows when tasks begin, are woken and end. A host switches it on: `filter global ua,sc`.
const TASKS: u8 = 110;

xhist_rt::embassy_trace!(TASKS);

static CHANNELS: Mutex<Cell<Option<(UpChannel, DownChannel)>>> = Mutex::new(Cell::new(None));

struct Application;

impl Callbacks for Application {}

pub fn start() {
    let channels = rtt_init! {
        up: {
            0: { size: 256, mode: ChannelMode::NoBlockSkip, name: "Terminal" }
            1: { size: 4096, mode: ChannelMode::NoBlockTrim, name: "xhist" }
        }
        down: {
            0: { size: 16, name: "Terminal" }
            1: { size: 128, name: "xhist" }
        }
    };
    rtt_target::set_print_channel(channels.up.0);
    rtt_target::rprintln!("a logger of temperatures");
    critical_section::with(|token| CHANNELS.borrow(token).set(Some((channels.up.1, channels.down.1))));
    qs::start(Info { dictionaries: Some(dictionaries), ..Info::default() });
}

fn dictionaries() {
    xhist_rt::name_files!();
    qs::embassy::report(TASKS);
}

/// Exchanges bytes with the host, for ever.
pub async fn serve() {
    let Some((mut up, mut down)) = critical_section::with(|token| CHANNELS.borrow(token).take()) else {
        return;
    };
    let mut pump = Pump::<128>::new();
    loop {
        pump.turn(|bytes| up.write(bytes), |bytes| down.read(bytes), &mut Application);
        Timer::after_millis(10).await;
    }
}
