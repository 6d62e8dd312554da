//! Tests of the view: keys in, state or screen out.

use std::path::Path;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;

use super::draw::draw;
use super::index::ViewIndex;
use super::panes::Scene;
use super::press::Effect;
use super::state::ViewState;
use super::{parse_keys, print};
use xhist_history::recording::{EventKind, LaneId, Recording, RecordingSample, SuspectRow};

/// `main` calls `leaf` twice and panics; `leaf` has a value each time.
fn sample() -> Recording {
    let mut sample = RecordingSample::calls();
    sample.event(EventKind::Panic, "the thread panicked here");
    sample.value((2, 1), "x", "one");
    sample.value((4, 2), "x", "two");
    let recording = &mut sample.recording;
    recording.losses.push("ring 1: 3 entries are missing".to_owned());
    recording.evidence.message = "assertion failed".to_owned();
    recording.evidence.suspects.push(SuspectRow {
        rank: 1,
        score: 0.5,
        path: "src/main.rs".to_owned(),
        line: 11,
        function: "leaf".to_owned(),
        text: "line 11".to_owned(),
    });
    sample.recording
}

/// A view of a recording after some keys, and the effect of the last one.
fn after(recording: &Recording, keys: &str, size: (u16, u16)) -> (ViewState, ViewIndex, Effect) {
    let mut index = ViewIndex::default();
    index.extend(recording);
    let mut state = ViewState::opened(recording, None, size);
    let mut effect = Effect::Draw;
    for key in parse_keys(keys) {
        effect = state.press(&key, recording, &index);
    }
    (state, index, effect)
}

fn screen(recording: &Recording, keys: &str, size: (u16, u16)) -> String {
    let (state, index, _) = after(recording, keys, size);
    let mut out = Vec::new();
    print(recording, &index, &state, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The screen on a terminal.
fn buffer(recording: &Recording, keys: &str, size: (u16, u16), has_colour: bool) -> Buffer {
    let (state, index, _) = after(recording, keys, size);
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    let scene = Scene { recording, index: &index, state: &state };
    terminal.draw(|frame| draw(&scene, has_colour, frame.buffer_mut())).unwrap();
    terminal.backend().buffer().clone()
}

#[test]
fn keys_move_the_cursor() {
    // The steps run the lines 1, 2, 10, 11, 10, 11, 3; the eighth is the panic.
    let cases = [
        ("", 8),
        ("S", 7),
        ("SS", 6),
        ("SO", 2),
        ("SOO", 1),
        ("SSU", 2),
        ("1g", 1),
        ("2gs", 3),
        ("2go", 7),
        ("3gu", 5),
        ("3gl", 5),
        ("3gll", 5),
        ("5gL", 3),
        ("5gL*", 5),
        ("g", 1),
        ("gG", 8),
        ("gjjj", 4),
        ("g3j", 4),
        ("Gk", 7),
        ("g3s", 4),
        ("gG!", 8),
        ("g!", 8),
        (":5<Enter>", 5),
        (":#5<Enter>", 5),
        (":52<Backspace><Enter>", 5),
        (":5<Esc>", 8),
        (":99<Enter>", 8),
        ("/line 10<Enter>", 5),
        ("/line 10<Enter>n", 3),
        ("/line 10<Enter>nnN", 5),
        ("g/leaf<Enter>", 3),
        ("g/leaf<Enter>nn", 5),
        ("g/LEAF<Enter>", 1),
        ("g/main.rs:11<Enter>", 4),
        ("g/two<Enter>", 5),
        ("g/x = two<Enter>", 5),
        ("g/panicked<Enter>", 8),
        ("gma4j'a", 1),
        ("g'a", 1),
        ("3gBgccC", 3),
        ("3gBGC", 5),
        ("Gc", 8),
        ("t", 8),
        ("4g<Tab><Enter>", 4),
        ("4g<Tab>k<Enter>", 2),
        ("2g<Tab>jj<Enter>", 3),
        ("<Tab><Tab><Tab><Tab>jjjjj<Enter>", 6),
        ("é", 8),
    ];
    let recording = sample();
    for (keys, number) in cases {
        let (state, ..) = after(&recording, keys, (80, 24));
        assert_eq!(recording.number(state.step), number, "{keys}: {}", state.message);
    }
}

#[test]
fn keys_that_cannot_move_say_why() {
    let cases = [
        ("gS", "this is the first statement of thread main for this key; a small letter goes forward"),
        ("7gl", "line 3 does not run again; L goes to its previous run"),
        ("c", "no breakpoint is on a line that ran; B sets one on this line"),
        ("3gB", "breakpoint on line 10, which ran 2 times; c and C go to it"),
        ("3gBB", "the breakpoint on line 10 is removed"),
        ("t", "there is no other thread"),
        (":99<Enter>", "there is no step 99; this is the nearest one"),
        ("n", "no search yet; / asks for a text"),
        (
            "/nothing<Enter>",
            "\"nothing\" is in no other step: no line, place, function, event or value has it",
        ),
        ("/line 10<Enter>", "not found after this step, but before it; n goes on that way"),
        ("'b", "no step has the mark b; mb sets it here"),
        ("x", "x does nothing; ? shows the keys"),
        ("e", "src/main.rs is not here or has changed; --source-root DIR looks for it below DIR"),
        ("<Shift-Tab>jjL", "line 5 did not run in this history"),
    ];
    let recording = sample();
    for (keys, message) in cases {
        assert_eq!(after(&recording, keys, (80, 24)).0.message, message, "{keys}");
    }
}

#[test]
fn keys_have_effects_outside() {
    let mut recording = sample();
    recording.files[0].found = Some("/here/main.rs".into());
    let cases = [
        ("q", Effect::Quit),
        ("?q", Effect::Draw),
        ("/a<Ctrl-C>", Effect::Quit),
        ("<Ctrl-Z>", Effect::Suspend),
        ("<Ctrl-L>", Effect::Redraw),
        ("e", Effect::Edit("/here/main.rs".into(), 3)),
        ("<Shift-Tab>jje", Effect::Edit("/here/main.rs".into(), 5)),
    ];
    for (keys, effect) in cases {
        assert_eq!(after(&recording, keys, (80, 24)).2, effect, "{keys}");
    }
}

#[test]
fn screens_are_as_agreed() {
    let recording = sample();
    let mut text = String::new();
    for (keys, size) in [
        ("", (80, 24)),
        ("5g", (80, 24)),
        ("5g<Tab>", (80, 24)),
        ("2g<Tab>", (60, 16)),
        ("5g<Tab><Tab>", (80, 16)),
        ("<Tab><Tab><Tab>", (80, 16)),
        ("<Tab><Tab><Tab><Tab>", (80, 24)),
        ("5g<Shift-Tab>B", (80, 12)),
        ("/lin", (40, 10)),
        ("?", (80, 24)),
        ("5gz", (30, 6)),
        ("5g", (130, 30)),
    ] {
        let (width, height) = size;
        text += &format!("=== {keys:?} in {width}x{height}\n{}", screen(&recording, keys, size));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected/view.txt");
    if std::env::var_os("XHIST_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{} (XHIST_BLESS=1 rewrites it)", path.display());
}

#[test]
fn no_size_and_no_key_is_too_much() {
    let recording = sample();
    for size in [(1, 1), (9, 3), (10, 2), (10, 3), (11, 4), (200, 4), (12, 80), (300, 200)] {
        for keys in ["", "<Tab>", "<Tab><Tab><Tab>", "?", "z", "/", "<Right><Right><Right>", "+++++++-"] {
            assert_eq!(
                screen(&recording, keys, size).lines().count(),
                usize::from(size.1),
                "{keys} {size:?}"
            );
        }
    }
    let empty = Recording::default();
    for (name, _) in super::keys::KEYS.iter().flat_map(|row| row.keys.iter().chain(row.also)) {
        let name = if name.len() > 1 { format!("<{name}>") } else { (*name).to_owned() };
        screen(&empty, &name, (80, 24));
        screen(&empty, &format!("<Tab>{name}{name}"), (80, 24));
    }
}

#[test]
fn colours_are_there_only_if_wanted() {
    let recording = sample();
    let coloured = |has_colour| {
        let buffer = buffer(&recording, "", (80, 24), has_colour);
        buffer.content().iter().filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
    };
    assert!(coloured(true) > 100);
    assert_eq!(coloured(false), 0);
}

#[test]
fn a_view_at_the_end_follows_what_is_new() {
    let mut sample = RecordingSample::calls();
    let mut index = ViewIndex::default();
    index.extend(&sample.recording);
    let mut state = ViewState::opened(&sample.recording, None, (80, 24));
    let seen = sample.recording.len();
    sample.line(10);
    index.extend(&sample.recording);
    state.grew(seen, &sample.recording);
    assert_eq!(sample.recording.number(state.step), 8);
    state.press("k", &sample.recording, &index);
    let seen = sample.recording.len();
    sample.line(11);
    state.grew(seen, &sample.recording);
    assert_eq!(sample.recording.number(state.step), 7);
    assert_eq!(sample.recording.lane_of(state.step), LaneId(0));
}

#[test]
fn hostile_text_reaches_no_terminal() {
    let mut recording = sample();
    let bad = "\u{1b}[2J\u{7}\r\n\t\u{202e}";
    recording.functions[0].name = bad.to_owned();
    recording.lanes[0].name = bad.to_owned();
    recording.files[0].path = bad.to_owned();
    recording.files[0].text = Some(bad.repeat(20).into());
    recording.evidence.message = bad.to_owned();
    for keys in ["", "<Tab>", "<Tab><Tab>", "<Tab><Tab><Tab>", "<Tab><Tab><Tab><Tab>", "z"] {
        let text = screen(&recording, keys, (80, 24));
        assert!(!text.chars().any(|char| char.is_control() && char != '\n'), "{text:?}");
    }
}

#[test]
fn a_key_shows_the_whole_call_and_another_where_a_value_comes_from() {
    let recording = sample();
    let whole = screen(&recording, "2gi", (80, 14));
    assert!(whole.contains("main  ") && whole.contains("-> leaf"), "{whole}");
    assert!(whole.contains("any other key leaves"), "{whole}");
    // Enter goes to the row's step, another key leaves.
    let (state, ..) = after(&recording, "2gigj<Enter>", (80, 14));
    assert_eq!(recording.number(state.step), 1);
    assert_eq!(after(&recording, "2giq", (80, 14)).2, Effect::Draw);
    assert_eq!(after(&recording, "2giqq", (80, 14)).2, Effect::Quit);
    let from = screen(&recording, "3gw", (80, 14));
    assert!(from.contains("has a variable `x`"), "why not is said: {from}");
    assert!(screen(&recording, "1gw", (120, 14)).contains("origin NAME@1"), "no value there");
}
