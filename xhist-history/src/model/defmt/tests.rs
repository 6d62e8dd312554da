use proptest::prelude::*;

use super::{DefmtLevel, DefmtLine, DefmtTable};

/// A table in which the format is that of line 1.
fn table(format: &str) -> DefmtTable {
    DefmtTable::of(&[
        (1, "info", format),
        (2, "prim", "{=u8}"),
        (3, "derived", "Idle|Running {{ speed: {=u16:?}, limit: {=?:?} }}"),
        (4, "prim", "None|Some({=?})"),
        (5, "str", "interned"),
        (6, "prim", "{=__internal_FormatSequence}"),
        (7, "write", "{=i8} C"),
        (8, "prim", "{=__internal_Debug}"),
        (9, "derived", "{=?}"),
        // A linker may place them in any order.
        (32, "bitflags_value", "Flags::1::LATE"),
        (16, "bitflags_value", "Flags::0::READY"),
        (10, "bitflags", "{=u8:__internal_bitflags_Flags@an-app@1@an_app}"),
        (11, "error", "lost"),
    ])
}

/// The text of line 1 with this format and these bytes.
#[track_caller]
fn shown(format: &str, bytes: &[u8]) -> String {
    let line = table(format).line(&[&[1, 0], bytes].concat(), false).expect("a line");
    line.text.strip_prefix("an_app: ").expect("its crate").to_owned()
}

#[test]
fn values_are_written_as_defmt_writes_them() {
    let float = 1.5f32.to_le_bytes();
    for (format, bytes, expected) in [
        ("start {{}}", &[][..], "start {}"),
        ("{=u8} {=i16}", &[200, 0xFD, 0xFF], "200 -3"),
        ("{=i8:x} {=u32:#010x} {=u8:04b}", &[0xFF, 0xEF, 0xBE, 0, 0, 5], "ff 0x0000beef 0101"),
        (
            "{=f32} {=bool} {=char} {=char:?}",
            &[&float[..], &[1, 0xE9, 0, 0, 0, 0x61, 0, 0, 0]].concat(),
            "1.5 true é 'a'",
        ),
        ("{=u64:us} {=u32:ts}", &[0xC5, 0x7A, 0xF2, 4, 0, 0, 0, 0, 0x51, 1, 0, 0], "83.000005 00:05:37"),
        ("{=u32:iso8601s}", &[0, 0x5E, 0xD0, 0xB2], "2065-01-24T05:20:00Z"),
        ("{0=0..4} {0=4..12:#x} {1=u8}", &[0xA5, 0x0B, 7], "5 0xba 7"),
        ("{=str} {=str:?} {=istr}", b"\x02\0\0\0ab\x01\0\0\0\"\x05\0", r#"ab "\"" interned"#),
        (
            "{=[u8]:a} {=[u8; 2]} {=[u8; 2]:02x}",
            b"\x02\0\0\0a\n\x01\x02\x0a\xff",
            r#"b"a\n" [1, 2] [0a, ff]"#,
        ),
        ("{=[?]} {=[?; 2]:x}", &[2, 0, 0, 0, 2, 0, 9, 8, 2, 0, 255, 16], "[9, 8] [ff, 10]"),
        ("{}", &[3, 0, 0], "Idle"),
        ("{}", &[3, 0, 1, 4, 3, 4, 0, 1, 2, 0, 7], "Running { speed: 772, limit: Some(7) }"),
        ("{} {}", &[6, 0, 7, 0, 251, 7, 0, 4, 0, 0, 8, 0, b'o', b'k', 255], "-5 C4 C ok"),
        ("{} {}", &[10, 0, 0b1_0000, 10, 0, 0b11_0001], "READY READY | LATE | 0x1"),
        ("{}", &[10, 0, 0], "0x0"),
        ("{1=u8} {0=u8}", &[1, 2], "2 1"),
    ] {
        assert_eq!(shown(format, bytes), expected, "{format}");
    }
}

#[test]
fn what_is_missing_or_too_much_is_shown() {
    for (format, bytes, expected) in [
        ("{=u8} {=u16}!", &[1, 2][..], "1 ?!..."),
        ("{=str} {=u8}", b"\x09\0\0\0abc", "abc ?..."),
        ("{=u8}", &[1, 2, 3], "1 <02 03>"),
        ("{}", &[99, 0], "?..."),
        ("{}", &[3, 0, 9], "?..."),
        ("{=u9}", &[1], "?..."),
        ("{=[?]}", &[255, 255, 255, 255, 9, 0, 9, 0], "[?]..."),
    ] {
        assert_eq!(shown(format, bytes), expected, "{format}");
    }
    let line = table("{=u8}").line(&[1, 0, 7], true).expect("a line");
    assert_eq!(line.text, "an_app: 7...");
}

#[test]
fn a_line_has_a_level_and_the_time_of_the_program() {
    let table = DefmtTable::of(&[
        (1, "warn", "low"),
        (2, "println", "{=u8}"),
        (3, "timestamp", "{=u32:us}"),
        (4, "str", "no line"),
    ]);
    let from_crate = "an_app".to_owned();
    let line =
        |level, text: &str| Some(DefmtLine { level, from_crate: from_crate.clone(), text: text.to_owned() });
    assert_eq!(table.line(&[1, 0, 14, 0, 0, 0], false), line(Some(DefmtLevel::Warn), "0.000014 an_app: low"));
    assert_eq!(table.line(&[2, 0, 0, 0, 0, 0, 9], false), line(None, "0.000000 an_app: 9"));
    for wrong in [&[4, 0, 0, 0, 0, 0][..], &[9, 9], &[1], &[]] {
        assert_eq!(table.line(wrong, false), None, "{wrong:?}");
    }
}

#[test]
fn different_strings_of_programs_are_none() {
    let (a, b, none) = (|| table("a"), || table("b"), DefmtTable::default);
    assert!(a().agreed(none()) == a() && none().agreed(a()) == a() && a().agreed(a()) == a());
    for order in [[a(), b(), a()], [b(), none(), a()], [a(), b(), none()]] {
        let all = order.into_iter().reduce(DefmtTable::agreed).unwrap();
        assert!(all.is_empty() && all.agreed(a()).is_empty());
    }
}

#[test]
fn nothing_grows_without_bound() {
    // A format that has itself as a value, and lists of values without bytes.
    let table =
        DefmtTable::of(&[(1, "info", "{=[?; 999999999]}"), (2, "derived", "{=?}"), (3, "prim", "nothing")]);
    let itself: Vec<u8> = [1, 0].into_iter().chain([2, 0].repeat(60)).collect();
    let long = table.line(&[1, 0, 3, 0], false).expect("a line");
    for line in [table.line(&itself, false).expect("a line"), long] {
        assert!(line.text.len() < 2000 && line.text.ends_with("..."), "{line:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_and_any_format_give_a_text(
        format in r"(\{[0-3]?(=(u8|i32|f64|bool|char|str|istr|\?|\[\?\]|\[u8\]|\[\?; 3\]|0\.\.9|u128))?(:(x|#04X|a|\?|us|tms|iso8601ms))?\}|[a-z{}| ]){0,6}",
        bytes in proptest::collection::vec(any::<u8>(), 0..80),
        is_cut in any::<bool>(),
    ) {
        let line = table(&format).line(&[&[1, 0], &bytes[..]].concat(), is_cut).expect("a line");
        prop_assert_eq!(line.level, Some(DefmtLevel::Info));
        prop_assert!(line.text.len() < 4000);
        let _ = table("{}").line(&bytes, is_cut);
    }
}
