//! Any datagrams of a front-end during any stream: no panic, few answers, and forwarded bytes are bounded by received
//! ones.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qs_host::front_end::{FrontEnd, FrontEndRequest, Tap};
use qs_host::{Decoder, TargetDescription, TargetSymbols};

fuzz_target!(|input: &[u8]| {
    let Some((&[sizes, split], rest)) = input.split_first_chunk() else { return };
    let mut target = TargetDescription::default();
    target.sizes.obj = if sizes & 1 == 1 { 8 } else { 4 };
    target.set_version(u16::from(sizes) * 4);
    let (mut decoder, mut front_end, mut tap) =
        (Decoder::new(TargetSymbols::new(target)), FrontEnd::default(), Tap::new(sizes & 2 == 2));
    tap.is_open = true;
    // Each datagram is preceded by its length, and arrives between pieces of the stream.
    let (mut datagrams, stream) = rest.split_at(rest.len() * usize::from(split) / 256);
    let mut pieces = stream.chunks(64);
    while let [len, behind @ ..] = datagrams {
        let (datagram, next) = behind.split_at(behind.len().min(usize::from(*len)));
        datagrams = next;
        let answers = front_end.packet(usize::from(len & 1), datagram, &decoder.known, &mut tap);
        assert!(answers.len() <= 2);
        for answer in answers {
            if let Some(FrontEndRequest::Send(request)) = answer.wish {
                assert!(request.payload.len() <= datagram.len() + 16);
                let _ = request.framed(1);
            }
        }
        decoder.push(pieces.next().unwrap_or_default(), &mut tap);
        for tapped in std::mem::take(&mut tap.tapped) {
            assert!(front_end.forwarded(tapped).len() <= 1024);
        }
    }
    let _ = front_end.farewell();
});
