//! The prologue: the first frames of a history, in the header, before those that the ring still has.

use super::model::keep_prologue;
use super::*;
use qs_core::ring::{CheckedPosition, PROLOGUE_AT, PROLOGUE_OFFSET};

/// A history whose ring has overwritten its beginning: an image of it, and its statements. `None` if it is too short.
fn history(acts: &[Act], bits: u32) -> Option<(Vec<u8>, Vec<Statement>)> {
    let mut model = Model::new(1 << bits);
    let mut early = model.image();
    for act in acts.iter().cycle().take(400) {
        perform(&mut model, act);
        let image = model.image();
        match Header::parse(&image).unwrap().kept() {
            0 => early = image,
            kept if kept > 3 << bits => break,
            _ => {}
        }
    }
    let mut image = model.image();
    keep_prologue(&early, &mut image).then_some((image, model.truth))
}

/// What a reader yields before and behind what is overwritten, and how much that is.
fn read_parts(image: &[u8], shown: Shown) -> (Given, Given, Option<u64>) {
    let (table, header) = (table(), Header::parse(image).unwrap());
    let mut reader = Reader::with_prologue(header, image, 0, 0, shown).with_numbers(Numbers::new(&table));
    let mut before = Given::default();
    let overwritten = before.take(&mut reader);
    let mut behind = Given::default();
    if overwritten.is_some() {
        assert_eq!(behind.take(&mut reader), None, "once");
    }
    (before, behind, overwritten)
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn each_frame_comes_once_and_what_is_missing_is_counted(acts in vec(act(), 1..30), bits in 12u32..14) {
        let Some((image, truth)) = history(&acts, bits) else { return Ok(()) };
        let header = Header::parse(&image).unwrap();
        let (before, behind, overwritten) = read_parts(&image, Shown::default());
        prop_assert_eq!((before.losses, before.overrun, behind.losses, behind.overrun), (0, false, 0, false));
        prop_assert!(truth.starts_with(&before.statements));
        let all = before.statements.len() + behind.statements.len();
        match overwritten {
            None => prop_assert_eq!(&before.statements, &truth),
            Some(bytes) => {
                prop_assert!(truth.ends_with(&behind.statements));
                prop_assert_eq!(&behind.statements, &read(&image).statements, "as without a prologue");
                prop_assert!(bytes + header.prologue().end >= header.kept());
                prop_assert!(all <= truth.len());
            }
        }
        // What was shown is not shown again, and neither is what was overwritten before it.
        let shown = Shown { position: header.state.head(), ..Shown::default() };
        let (before, behind, overwritten) = read_parts(&image, shown);
        prop_assert!(overwritten.is_none() && behind.statements.is_empty());
        prop_assert!(truth.ends_with(&before.statements));
        // The numbers of a stream go on, because no frame is lost.
        let mut stream = Reader::with_prologue(header, &image, 0, 0, Shown::default()).whole_frames();
        let mut newest = None;
        while let Some(item) = stream.next() {
            let Item::Frame(frame) = item else { continue };
            prop_assert_eq!((frame.missing, newest.map_or(frame.seq, |seq: u8| seq.wrapping_add(1))), (0, frame.seq));
            newest = Some(frame.seq);
        }
    }

    #[test]
    fn any_damage_is_survived_and_damage_of_the_prologue_is_reported(
        acts in vec(act(), 1..30),
        at in any::<prop::sample::Index>(),
        bit in 0u32..8,
        noise in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        word in prop_oneof![2 => Just(None), 1 => any::<u64>().prop_map(Some), 2 => (0u64..5000).prop_map(|at| Some(CheckedPosition::at(at).0))],
        cut in any::<prop::sample::Index>(),
    ) {
        let Some((mut image, truth)) = history(&acts, 12) else { return Ok(()) };
        let len = Header::parse(&image).unwrap().prologue().end as usize;
        image[PROLOGUE_AT + at.index(len)] ^= 1 << bit;
        let (before, ..) = read_parts(&image, Shown::default());
        prop_assert!(before.losses > 0 || truth.starts_with(&before.statements));
        prop_assert!(before.losses > 0, "byte {} bit {}", at.index(len), bit);
        for (at, byte) in &noise {
            let at = at.index(image.len() - PROLOGUE_OFFSET) + PROLOGUE_OFFSET;
            image[at] = *byte;
        }
        if let Some(word) = word {
            image[PROLOGUE_OFFSET..][..8].copy_from_slice(&word.to_ne_bytes());
        }
        image.truncate(PROLOGUE_OFFSET + 8 + cut.index(image.len() - PROLOGUE_OFFSET));
        let header = Header::parse(&image).unwrap();
        let is_word = word.is_none_or(|word| CheckedPosition(word) == CheckedPosition::NOWHERE);
        prop_assert!(is_word || header.words.is_prologue_damaged || header.words.prologue.is_some());
        for (from, safe) in [(0, 0), (header.prologue().end, 0), (0, header.state.head())] {
            let mut reader = Reader::with_prologue(header, &image, from, safe, Shown::default());
            let mut items = 0;
            while reader.next().is_some() {
                items += 1;
                prop_assert!(items < 4 * image.len().max(PAGE));
            }
            let mut frames = Reader::with_prologue(header, &image, from, safe, Shown::default()).whole_frames();
            while frames.next().is_some() {}
        }
    }
}
