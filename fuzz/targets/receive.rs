//! Any bytes into the receive channel: it answers or ignores them, and still works afterwards.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qs_core::filter::Filter;
use qs_core::frame::FrameWriter;
use qs_core::record::{PeekData, Record, Sig, Sizes, emit};
use qs_core::rx::{Callbacks, Executor, Port, Probes, To};

#[derive(Default)]
struct Target {
    infos: u32,
    local: Option<Filter>,
    probes: Probes<16>,
}

impl Port for Target {
    const SIZES: Sizes = Sizes::DEFAULT;
    const TESTS: bool = true;

    fn send(&mut self, record: &impl Record) {
        let mut frame = 0;
        emit(record, 1, 2, Self::SIZES, |_| frame += 1);
        assert!(frame <= 1024, "{frame}");
    }

    fn send_info(&mut self, _reset: u8) {
        self.infos += 1;
    }

    fn set_global(&mut self, filter: Filter) {
        assert_eq!(filter.or(Filter::ALWAYS).off(qs_core::filter::Records::All), Filter::ALWAYS);
    }

    fn set_local(&mut self, change: impl FnOnce(Filter) -> Filter) {
        let filter = change(self.local.unwrap_or(Filter::EVERY_OBJECT));
        assert!(filter.has(0));
        self.local = Some(filter);
    }

    fn peek(&mut self, _address: usize, answer: PeekData<'_>) -> bool {
        let data = vec![0x7D; answer.len()];
        self.send(&PeekData { data: &data, ..answer });
        true
    }

    fn poke(&mut self, _address: usize, size: u8, data: &[u8], _times: u8) -> bool {
        data.len().is_multiple_of(size.into())
    }

    fn add_probe(&mut self, fun: qs_core::record::Fun, data: u32) -> bool {
        self.probes.add(fun, data)
    }

    fn clear_probes(&mut self) {
        self.probes.clear();
    }
}

struct Application;

impl Callbacks for Application {
    fn event(&mut self, _to: To, sig: Sig, params: &[u8]) -> bool {
        sig.0 as usize > params.len()
    }
}

fuzz_target!(|bytes: &[u8]| {
    let (mut target, mut executor) = (Target::default(), Executor::<64>::new());
    for byte in bytes {
        executor.byte(*byte, &mut target, &mut Application);
    }
    let before = target.infos;
    // An escape may consume the first flag.
    executor.byte(0x7E, &mut target, &mut Application);
    executor.byte(0x7E, &mut target, &mut Application);
    FrameWriter::new(1, 0, |byte| executor.byte(byte, &mut target, &mut Application)).finish();
    assert!(target.infos > before, "a good packet is understood whatever came before");
});
