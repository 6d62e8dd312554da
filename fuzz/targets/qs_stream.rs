//! Any bytes as a QS stream, with options from its first bytes: no panic, no hang, the same lines for pieces of any
//! size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qs_host::{Decoder, LineClass, LineFormatter, Listener, StreamEvent, TargetDescription, TargetSymbols};
use xhist_report::format::by_name;
use xhist_report::{Options, report};

#[derive(Default)]
struct Lines(LineFormatter, Vec<u8>);

impl Listener for Lines {
    fn event(&mut self, event: StreamEvent<'_>, known: &mut TargetSymbols) {
        let Lines(text, all) = self;
        let mut keep = |_: LineClass, line: &[u8]| {
            all.extend_from_slice(line);
            all.push(b'\n');
        };
        match event {
            StreamEvent::Record(record) => {
                text.record(record, known, &mut keep);
            }
            StreamEvent::Trouble(trouble) => text.trouble(&trouble, known, &mut keep),
            StreamEvent::Jump(jump) => text.jump(&jump, &mut keep),
            _ => {}
        }
    }
}

fn lines(target: TargetDescription, stream: &[u8], piece: usize) -> Vec<u8> {
    let mut lines = Lines::default();
    let mut decoder = Decoder::new(TargetSymbols::new(target));
    stream.chunks(piece).for_each(|piece| decoder.push(piece, &mut lines));
    lines.1
}

fuzz_target!(|input: &[u8]| {
    let Some((&[sizes, version, piece], stream)) = input.split_first_chunk() else { return };
    let mut target = TargetDescription::default();
    target.set_version(u16::from(version) * 4);
    let pick = |bit: u8| if sizes >> bit & 1 == 1 { 8 } else { 4 };
    (target.sizes.obj, target.sizes.fun) = (pick(0), pick(1));
    (target.sizes.sig, target.sizes.time) = (pick(2) / 2, pick(3) / 2);
    assert_eq!(lines(target, stream, stream.len().max(1)), lines(target, stream, usize::from(piece).max(1)));
    for name in ["qspy", "json"] {
        let mut options = Options { format: by_name(name).expect("a format"), ..Options::default() };
        options.qs.target = target;
        let _ = report(stream, &options, &mut Vec::new(), &mut Vec::new());
    }
});
