//! Any record with any values survives a round trip, and noise on the receive channel has no effect.

use proptest::prelude::*;
use qs_core::filter::Filter;
use qs_core::frame::{Decoder, FrameWriter, Outcome};
use qs_core::record::{BuildTime, Layout, Predefined, RECORDS, Record, Sig, Sizes, TargetInfo, emit};
use qs_core::rx::{self, Callbacks, Command, Executor, Packet, Port, To};

fn sizes() -> impl Strategy<Value = Sizes> {
    let number = || prop::sample::select(vec![1u8, 2, 4]);
    let address = || prop::sample::select(vec![1u8, 2, 4, 8]);
    let numbers = (number(), number(), number(), number(), number(), number(), number());
    (numbers, address(), address()).prop_map(
        |((time, sig, evt_size, queue_ctr, pool_ctr, pool_blk, time_ctr), obj, fun)| Sizes {
            time,
            obj,
            fun,
            sig,
            evt_size,
            queue_ctr,
            pool_ctr,
            pool_blk,
            time_ctr,
        },
    )
}

/// Id and layout of the records with a fixed layout.
fn layouts() -> impl Strategy<Value = (u8, Layout)> {
    let rows: Vec<_> = RECORDS.iter().filter_map(|row| row.layout.map(|layout| (row.id, layout))).collect();
    prop::sample::select(rows)
}

/// A payload with these bytes in its fields, one text after the other.
fn payload(layout: &Layout, sizes: &Sizes, bytes: &[u8], texts: &str) -> Vec<u8> {
    let mut bytes = bytes.iter().cycle().copied();
    let time = if layout.timed { sizes.time } else { 0 };
    let mut payload: Vec<u8> = bytes.by_ref().take(time.into()).collect();
    for field in layout.fields {
        match sizes.of(field.kind) {
            Some(size) => payload.extend(bytes.by_ref().take(size.into())),
            None => payload.extend(texts.bytes().chain([0])),
        }
    }
    payload
}

/// The frame's sequence number, id and payload.
fn read(frame: &[u8]) -> (u8, u8, Vec<u8>) {
    match Decoder::new().push_slice(frame) {
        (used, Outcome::Frame(read)) if used == frame.len() => (read.seq, read.id, read.payload.to_vec()),
        (_, outcome) => panic!("{outcome:?}"),
    }
}

proptest! {
    #[test]
    fn records_round_trip(
        (id, layout) in layouts(),
        sizes in sizes(),
        seq: u8,
        bytes in prop::collection::vec(any::<u8>(), 1..60),
        texts in "[^\0]{0,20}",
    ) {
        let payload = payload(&layout, &sizes, &bytes, &texts);
        let (time, record) = Predefined::parse(id, &payload, &sizes).expect("a record");
        prop_assert_eq!(time.is_some(), layout.timed);
        let mut frame = Vec::new();
        record.emit(seq, time.unwrap_or(0), sizes, |byte| frame.push(byte));
        prop_assert_eq!(read(&frame), (seq, id, payload));
    }

    #[test]
    fn a_record_of_another_length_is_refused(
        (id, layout) in layouts(),
        sizes in sizes(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut payload = payload(&layout, &sizes, &[1], "name");
        if !payload.is_empty() {
            let cut = cut.index(payload.len());
            prop_assert_eq!(Predefined::parse(id, &payload[..cut], &sizes), None);
        }
        payload.push(1);
        prop_assert_eq!(Predefined::parse(id, &payload, &sizes), None);
    }

    #[test]
    fn target_info_round_trips(
        (reset, version, max_active, big_endian) in (any::<u8>(), 0u16..0x8000, any::<u8>(), any::<bool>()),
        (max_pools, max_rates) in (0u8..16, 0u8..16),
        sizes in sizes(),
        (second, minute, hour, day, month, year) in any::<(u8, u8, u8, u8, u8, u8)>(),
    ) {
        let build = BuildTime { second, minute, hour, day, month, year };
        let info = TargetInfo { reset, version, big_endian, sizes, max_active, max_pools, max_rates, build };
        let mut frame = Vec::new();
        emit(&info, 1, 0, Sizes::DEFAULT, |byte| frame.push(byte));
        prop_assert_eq!(TargetInfo::parse(&read(&frame).2), Some(info));
    }

    #[test]
    fn any_packet_is_read_or_refused(id: u8, payload in prop::collection::vec(any::<u8>(), 0..40), sizes in sizes()) {
        let _ = Command::parse(&Packet { id, payload: &payload }, &sizes);
    }

    #[test]
    fn noise_does_nothing_but_count_errors(noise in prop::collection::vec(any::<u8>(), 0..2000)) {
        let (mut port, mut calls) = (Counts::default(), Nothing::default());
        let mut executor = Executor::<64>::new();
        let (mut sum, mut is_escaped, mut frames) = (0u8, false, 0);
        for byte in noise {
            match byte {
                0x7D if !is_escaped => is_escaped = true,
                0x7E if !is_escaped => {
                    // The checksum may match by chance, and then it is a packet.
                    if sum == 0xFF {
                        executor.byte(1, &mut port, &mut calls);
                    }
                    (sum, frames) = (0, frames + 1);
                }
                _ => {
                    sum = sum.wrapping_add(if is_escaped { byte ^ 0x20 } else { byte });
                    is_escaped = false;
                }
            }
            executor.byte(byte, &mut port, &mut calls);
        }
        prop_assert_eq!((calls.called, port.others, port.infos), (0, 0, 0));
        prop_assert!(port.errors >= 2 * frames, "checksum, discarded");
        // After any bytes, a packet behind a flag is executed.
        executor.byte(0x7E, &mut port, &mut calls);
        executor.byte(0x7E, &mut port, &mut calls);
        FrameWriter::new(9, rx::id::INFO, |byte| executor.byte(byte, &mut port, &mut calls)).finish();
        prop_assert_eq!(port.infos, 1);
    }
}

#[derive(Default)]
struct Counts {
    infos: u32,
    errors: u32,
    others: u32,
}

impl Port for Counts {
    const SIZES: Sizes = Sizes::DEFAULT;

    fn send(&mut self, record: &impl Record) {
        let mut frame = Vec::new();
        emit(record, 0, 0, Sizes::DEFAULT, |byte| frame.push(byte));
        match frame[..] {
            [0, 66, status, ..] if status & 0x80 != 0 => self.errors += 1,
            _ => self.others += 1,
        }
    }

    fn send_info(&mut self, _reset: u8) {
        self.infos += 1;
    }

    fn set_global(&mut self, _filter: Filter) {}

    fn set_local(&mut self, _change: impl FnOnce(Filter) -> Filter) {}
}

#[derive(Default)]
struct Nothing {
    called: u32,
}

impl Callbacks for Nothing {
    fn command(&mut self, _command: u8, _params: [u32; 3]) {
        self.called += 1;
    }

    fn event(&mut self, _to: To, _sig: Sig, _params: &[u8]) -> bool {
        self.called += 1;
        true
    }
}
