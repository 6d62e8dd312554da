//! Every packet of the protocol, and any bytes.

use super::*;
use crate::TargetDescription;
use proptest::prelude::*;

fn known() -> TargetSymbols {
    let mut known = TargetSymbols::new(TargetDescription::default());
    known.target.set_version(734);
    known.objects.define(0x11, b"Table");
    known.functions.define(0x22, b"read");
    known.signals.define(7, 0, b"EAT");
    known.signals.define(8, 0x11, b"ITS");
    known.enums[7].define(3, b"PAUSE");
    known
}

struct AttachedFrontEnd(FrontEnd, Tap, u8);

impl AttachedFrontEnd {
    fn attached() -> AttachedFrontEnd {
        let mut ends = AttachedFrontEnd(FrontEnd::default(), Tap::default(), 0);
        let answer = ends.one(128, &[3]);
        assert_eq!(answer.reply, Some(vec![1, 128]));
        assert_eq!(answer.line, Some((LineClass::Info, b"   <F-END> Attached Chan=00000011".to_vec())));
        ends
    }

    fn one(&mut self, id: u8, payload: &[u8]) -> FrontEndAnswer {
        let packet = [&[self.2, id], payload].concat();
        self.2 = self.2.wrapping_add(1);
        let mut answers = self.0.packet(1, &packet, &known(), &mut self.1);
        assert_eq!(answers.len(), 1, "{answers:?}");
        answers.remove(0)
    }

    fn sent(&mut self, id: u8, payload: &[u8]) -> Request {
        match self.one(id, payload).wish {
            Some(FrontEndRequest::Send(request)) => request,
            other => panic!("{other:?}"),
        }
    }

    fn line_of(&mut self, id: u8, payload: &[u8]) -> String {
        String::from_utf8(self.one(id, payload).line.expect("a line").1).unwrap()
    }
}

#[test]
fn names_become_numbers() {
    let mut ends = AttachedFrontEnd::attached();
    assert_eq!(ends.sent(3, &[1]), Request { id: 3, payload: vec![1] });
    assert_eq!(ends.sent(137, b"\x00\0\0\0\0Table\0"), Request { id: 13, payload: vec![0, 0x11, 0, 0, 0] });
    assert_eq!(ends.sent(136, b"\x01\0\0\0\0Table\0"), Request { id: 12, payload: vec![1, 0x11, 0, 0, 0] });
    assert_eq!(
        ends.sent(135, b"\x02\0\0\x01\0XITS\0"),
        Request { id: 16, payload: b"\x02\x08\0\x01\0X".to_vec() }
    );
    assert_eq!(
        ends.sent(138, b"\0\x01\0\0\0\x02\0\0\0\x03\0\0\0PAUSE\0").payload,
        [3, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]
    );
    assert_eq!(ends.sent(139, b"\x09\0\0\0\0\0\0\0read\0").payload, [9, 0, 0, 0, 0x22, 0, 0, 0]);
    assert_eq!(
        ends.line_of(137, b"\x00\0\0\0\0Chair\0"),
        "   <F-END> ERROR    Object Dictionary not found for Name=Chair"
    );
    assert!(ends.line_of(138, &[0; 13]).contains("Command Dictionary"));
    assert!(ends.line_of(135, b"\x02\0\0\0\0NO\0").contains("Signal Dictionary"));
}

#[test]
fn the_rest_of_the_protocol() {
    let mut ends = AttachedFrontEnd::attached();
    assert_eq!(ends.line_of(141, b"\xFFnote\0"), "note");
    assert_eq!(ends.one(140, &[]).wish, Some(FrontEndRequest::ClearScreen));
    assert_eq!(ends.one(130, &[]).wish, Some(FrontEndRequest::SaveDictionaries));
    assert_eq!(ends.one(131, &[1]).wish, Some(FrontEndRequest::Write(SideFile::Text, Some(true))));
    assert_eq!(ends.one(134, &[]).wish, Some(FrontEndRequest::Write(SideFile::Sequence, None)));
    assert_eq!(ends.line_of(200, &[]), "   <F-END> ERROR    Unrecognized command Rec=200");
    // Attaching again changes channels, quietly.
    assert_eq!(ends.one(128, &[2]).line, None);
    assert_eq!(ends.1.channels, 2);
    assert_eq!(ends.0.farewell(), Some(vec![2, 129]));
    let other = ends.0.packet(2, &[1, 0], &known(), &mut ends.1);
    assert_eq!(other[0].line.as_ref().unwrap().1, b"   <F-END> WARN     UDP socket in use");
    let jump = ends.0.packet(1, &[99, 0], &known(), &mut ends.1);
    assert_eq!(jump[0].line.as_ref().unwrap().1, b"   <F-END> ERROR    Data Discontinuity Seq=8->99");
    assert!(matches!(jump[1].wish, Some(FrontEndRequest::Send(_))));
    ends.2 = 100;
    assert!(ends.line_of(129, &[]).starts_with("   <F-END> Detached ####"));
    assert_eq!((ends.0.owner(), ends.1.channels, ends.0.farewell()), (None, 0, None));
    assert_eq!(ends.one(129, &[1]).wish, Some(FrontEndRequest::Exit));
}

proptest! {
    #[test]
    fn any_packets_are_fine(packets in prop::collection::vec((0usize..2, prop::collection::vec(any::<u8>(), 0..40)), 0..40)) {
        let (mut front_end, mut tap, known) = (FrontEnd::default(), Tap::default(), known());
        for (from, packet) in packets {
            let answers = front_end.packet(from, &packet, &known, &mut tap);
            prop_assert!(answers.len() <= 2);
        }
    }
}

#[test]
fn a_silent_front_end_gives_way_to_one_that_attaches() {
    let mut ends = AttachedFrontEnd::attached();
    let attach = [0, 128, 3];
    let (there, gone) = (|_| false, |_| true);
    assert_eq!(ends.0.give_up(2, &attach, there, &mut ends.1), None);
    assert_eq!(ends.0.give_up(1, &attach, gone, &mut ends.1), None, "it is itself");
    ends.0.heard = Instant::now().checked_sub(SILENCE);
    assert_eq!(ends.0.give_up(2, &[0, 141, 0], there, &mut ends.1), None, "a note takes nothing");
    assert_eq!(ends.0.give_up(2, &attach, there, &mut ends.1), Some((1, vec![2, 129])));
    assert_eq!((ends.0.owner(), ends.1.channels), (None, 0));
    let mut ends = AttachedFrontEnd::attached();
    assert_eq!(ends.0.give_up(2, &attach, gone, &mut ends.1), Some((1, vec![2, 129])));
}

#[test]
fn only_attaching_makes_an_owner() {
    let (mut front_end, mut tap, known) = (FrontEnd::default(), Tap::default(), known());
    front_end.packet(1, &[0, 141, 0, b'a', 0], &known, &mut tap);
    assert_eq!(front_end.owner(), None);
    front_end.packet(2, &[0, 128, 1], &known, &mut tap);
    assert_eq!(front_end.owner(), Some(2));
}
