//! Frames of a panic that no row shows: code of the program that runs and is not recorded, and calls that the history does not
//! show to be open. They are put among the last statements, where they belong.

use super::code::{Code, ListedStatement};
use super::view::{Hole, Row, RowKind};
use crate::calls::BodyId;
use crate::model::{CodePlace, Names, PanicPlace, ProgramFiles, has_lines, short_path};

/// Rows that are added at most, for the innermost frames.
const MOST: usize = 8;

/// Lines of an item that are searched for its attributes.
const ITEM: u32 = 200;

/// A frame of a panic in code of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SeenFrame {
    /// The line is part of this statement, which is recorded.
    Recorded(ListedStatement, u16, u32),
    Hole(Hole),
}

/// What the frames of a panic say about the rows before it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PanicRows {
    /// Rows that were added for frames that are recorded.
    pub added: usize,
    /// Where it was.
    pub place: PlaceOfPanic,
}

/// Where a thread panicked, seen from its last row. A line is its file and number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PlaceOfPanic {
    /// In the last row, as far as is known.
    #[default]
    LastRow,
    /// At this line; the calls in the rows below it had returned.
    Above((u16, u32)),
    /// At this line of this function, which is of no statement, as where a scope ends. Calls in the rows may have returned.
    Within((u16, u32), String),
    /// The message names this line. A function with `track_caller` may have panicked below it.
    Named((u16, u32)),
    /// The message names this file and line of code of others, and there are no frames. The last row may have called it, or what
    /// called the last row.
    NamedOutside(String, u32),
    /// In this file and line of code that is not recorded, when the calls in all rows had returned.
    Outside(String, u32),
}

/// Puts the frames of a panic that no row shows among the rows before it. `frames`: the lines of all frames, innermost first;
/// without them the place of the panic itself counts. `text_of`: the source text of a line.
pub fn add(
    rows: &mut Vec<Row>,
    (code, names): (&Code, &Names),
    (panic, frames): (&PanicPlace, &[CodePlace]),
    text_of: &mut dyn FnMut(u16, u32) -> Option<String>,
) -> PanicRows {
    let files = ProgramFiles::of(names);
    let has_frames = !frames.is_empty();
    let places = if has_frames { frames } else { panic.at.as_slice() };
    let is_outside = files.is_outside(panic, frames);
    let shown = places.iter().filter_map(|place| frame(&files, place, (code, names), text_of));
    // Where the calls begin that the frames so far have.
    let mut end = rows.len();
    let mut added: Vec<RowKind> = Vec::new();
    for (number, frame) in shown.enumerate() {
        let (frame, kind) = match frame {
            SeenFrame::Recorded(statement, file, line) => {
                if let Some((at, begin)) = call_around(&rows[..end], file, line, code) {
                    rows[at].frame.get_or_insert(line);
                    end = begin;
                    continue;
                }
                // Of many calls, and of a recursion, only some are shown.
                if number >= MOST || call_around(rows, file, line, code).is_some() {
                    continue;
                }
                // What an attribute as `#[tokio::main]` makes around the body of an `async fn` has the line of a statement in it.
                let function = code.function_of(statement).filter(|function| code.is_async(*function));
                if function.is_some() && rows.iter().any(|row| function_of(row, code) == function) {
                    continue;
                }
                (Some(line), RowKind::Statement(statement))
            }
            SeenFrame::Hole(hole) => (None, RowKind::NotRecorded(hole)),
        };
        if added.len() < MOST && added.last() != Some(&kind) {
            // Its callees are the rows behind it.
            let depth = rows.get(end).map_or(0, |row| row.depth);
            rows.insert(end, Row { frame, ..Row::new(depth, 1, kind.clone()) });
            added.push(kind);
        }
    }
    let mut seen = |place: &CodePlace| frame(&files, place, (code, names), text_of);
    let is_of_others = panic.at.as_ref().is_some_and(|at| files.file(&at.path).is_none());
    let place = match (panic.at.as_ref().map(&mut seen), &panic.at) {
        (Some(Some(SeenFrame::Recorded(_, file, line))), _) => {
            place_of_panic(rows, (file, line), has_frames, code)
        }
        (_, Some(CodePlace { path, line })) if is_outside => {
            let known = files.file(path).and_then(|file| names.shown_path(file));
            PlaceOfPanic::Outside(short_path(known.unwrap_or(path)).0, *line)
        }
        (Some(None), Some(CodePlace { path, line }))
            if is_of_others && !has_lines(frames) && ends_in_row(rows) =>
        {
            PlaceOfPanic::NamedOutside(short_path(path).0, *line)
        }
        // Code of others panicked: what called it is the innermost frame of the program.
        (Some(None), _) if is_of_others => {
            let function =
                |place: &CodePlace| files.function_around(place).map(|around| (around, place.line));
            let mut innermost = frames.iter().map(|place| (seen(place), function(place)));
            match innermost.find(|(seen, function)| seen.is_some() || function.is_some()) {
                Some((Some(SeenFrame::Recorded(_, file, line)), _)) => {
                    match place_of_panic(rows, (file, line), has_frames, code) {
                        PlaceOfPanic::Named(_) => PlaceOfPanic::LastRow,
                        known => known,
                    }
                }
                Some((None, Some(((file, body), line)))) if ends_in_row(rows) => {
                    PlaceOfPanic::Within((file, line), body.path.clone())
                }
                _ => PlaceOfPanic::LastRow,
            }
        }
        _ => PlaceOfPanic::LastRow,
    };
    PanicRows { added: added.iter().filter(|kind| matches!(kind, RowKind::Statement(_))).count(), place }
}

/// Whether the last row is a statement that is not known to be where the thread panicked.
fn ends_in_row(rows: &[Row]) -> bool {
    rows.last().is_some_and(|last| matches!(last.kind, RowKind::Statement(_)) && last.frame.is_none())
}

/// Where a thread panicked whose message names this line.
fn place_of_panic(rows: &[Row], (file, line): (u16, u32), has_frames: bool, code: &Code) -> PlaceOfPanic {
    let has_line = |row: &Row| has_line(row, (file, line), code);
    match rows.last() {
        Some(last) if ends_in_row(rows) && !has_line(last) => {}
        _ => return PlaceOfPanic::LastRow,
    }
    let is_open = has_frames && rows.iter().rfind(|row| row.frame.is_some()).is_some_and(has_line);
    if is_open { PlaceOfPanic::Above((file, line)) } else { PlaceOfPanic::Named((file, line)) }
}

fn statement(row: &Row) -> Option<ListedStatement> {
    match row.kind {
        RowKind::Statement(statement) => Some(statement),
        _ => None,
    }
}

fn function_of(row: &Row, code: &Code) -> Option<BodyId> {
    statement(row).and_then(|statement| code.function_of(statement))
}

fn has_line(row: &Row, (file, line): (u16, u32), code: &Code) -> bool {
    statement(row).is_some_and(|statement| {
        let (known, span) = code.place(statement);
        known == file && span.has_line(line)
    })
}

/// The newest row whose statement has this line, and where its call begins.
fn call_around(rows: &[Row], file: u16, line: u32, code: &Code) -> Option<(usize, usize)> {
    let function = |row: &Row| function_of(row, code);
    let begin = |at: usize| {
        let (depth, own) = (rows[at].depth, function(&rows[at]));
        let is_inside = |row: &Row| match &row.kind {
            RowKind::Statement(_) => row.depth > depth || row.depth == depth && function(row) == own,
            RowKind::NotRecorded(_) | RowKind::Open(..) | RowKind::Overwritten => false,
            _ => row.depth >= depth,
        };
        rows[..at].iter().rposition(|row| !is_inside(row)).map_or(0, |around| around + 1)
    };
    let found = rows.iter().rposition(|row| has_line(row, (file, line), code))?;
    let mut at = found;
    // The body of a macro is in the frame of the function that has its call.
    while function(&rows[at]).is_some_and(|function| code.is_macro(function))
        && let Some(caller) = begin(at).checked_sub(1)
        && statement(&rows[caller]).is_some()
    {
        at = caller;
    }
    Some((found, begin(at)))
}

/// What a line of a frame is; `None` for code of others, and for lines where nothing is known to be missing.
fn frame(
    files: &ProgramFiles<'_>,
    CodePlace { path, line }: &CodePlace,
    (code, names): (&Code, &Names),
    text_of: &mut dyn FnMut(u16, u32) -> Option<String>,
) -> Option<SeenFrame> {
    let hole = |what: &str, path: &str| {
        let place = format!("{path}:{line}");
        Some(SeenFrame::Hole(Hole { what: what.to_owned(), place }))
    };
    let Some(file) = files.file(path) else {
        return files.unknown_own(path).and_then(|path| hole("", &path));
    };
    let around = files.statement_in(file, *line);
    let skipped = names.skipped(file).filter(|skipped| (skipped.first..=skipped.last).contains(line));
    let skipped = skipped.max_by_key(|skipped| skipped.first);
    // The line of a statement is shown, but not the others of a macro's call.
    let is_inside = skipped.is_some_and(|skipped| match around.map(|around| around.span) {
        None => true,
        Some(span) if span.line == skipped.first => *line > span.line && skipped.last <= span.end_line,
        Some(span) => span.line < skipped.first,
    });
    match (skipped, around) {
        (Some(skipped), _) if is_inside => hole(skipped.what, code.path_of(file)),
        (_, Some(around)) => {
            let unknown = ListedStatement::Unknown { file, line: around.span.line };
            let statement = around.recorded.map_or(unknown, |recorded| code.find(names, recorded, None));
            Some(SeenFrame::Recorded(statement, file, *line))
        }
        // Other lines without a statement end a scope, or are those of attributes: a test's harness calls it at its signature.
        _ if is_derived(*line, &mut |line| text_of(file, line)) => hole("derived code", code.path_of(file)),
        _ => None,
    }
}

/// Whether a line is part of an item with a `derive`.
fn is_derived(line: u32, text_of: &mut dyn FnMut(u32) -> Option<String>) -> bool {
    let before = (line.saturating_sub(ITEM)..=line).rev().map_while(text_of);
    let is_other = |text: &String| text.trim_end().ends_with([';', '}']);
    // The line itself may end the item.
    let mut item = before.enumerate().take_while(|(above, text)| *above == 0 || !is_other(text));
    item.any(|(_, text)| text.trim_start().starts_with("#[derive("))
}

#[cfg(test)]
mod tests {
    use super::super::activations::Activations;
    use super::super::tests::ran;
    use super::super::{Wanted, view};
    use super::*;
    use qs_core::record::MOST_FRAMES;

    const MAP: &str = r#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"src/a.rs","base":0,"first":1,"room":9,"skipped":"20-29 const fn, 30-39 macro body, 4-5 macro arguments"}
{"fn":1,"path":"f","at":"1:1","end":"9:2"}
{"fn":1,"path":"g","at":"10:1","end":"19:2"}
{"stmt":1,"line":2,"col":5,"end":"2:9","kind":"let","fn":"f"}
{"stmt":1,"line":3,"col":5,"end":"5:9","kind":"expr","fn":"f","calls":"g"}
{"stmt":1,"line":11,"col":5,"end":"11:9","kind":"expr","fn":"g"}
{"stmt":1,"line":12,"col":5,"end":"12:9","kind":"expr","fn":"g","calls":"m!"}
{"fn":1,"path":"m!","at":"40:1","end":"49:2"}
{"stmt":1,"line":41,"col":5,"end":"41:9","kind":"expr","fn":"m!"}
{"file":2,"path":"src/off.rs","base":0}
{"file":3,"path":"/r/registry/src/i/dep-1.0.0/src/lib.rs","base":0,"first":20,"room":9}
{"stmt":3,"line":2,"col":5,"end":"2:9","kind":"let","fn":"f"}
"#;

    fn place(path: &str, line: u32) -> CodePlace {
        CodePlace { path: path.to_owned(), line }
    }

    /// The rows of a run of these lines with the holes of a panic, and where it was. `text` begins with line 50.
    fn added(
        map: &str,
        lines: &[u16],
        panic: &PanicPlace,
        frames: &[CodePlace],
        text: &str,
    ) -> (Vec<Row>, PlaceOfPanic) {
        let text: Vec<&str> = text.lines().collect();
        let names = Names::parse(map.as_bytes());
        let code = Code::of(&names);
        let mut activations = Activations::new(&code);
        lines.iter().for_each(|line| activations.take(&names, ran(1, *line)));
        let mut rows = view::rows(&activations, &code, Wanted { lines: 20, suspects: &[], test: None });
        let found = add(&mut rows, (&code, &names), (panic, frames), &mut |_, line| {
            text.get((line as usize).checked_sub(50)?).map(|line| (*line).to_owned())
        });
        (rows, found.place)
    }

    /// The rows of `f` and `g` with these frames of `src/a.rs`.
    fn with_frames(lines: &[u32]) -> Vec<Row> {
        let frames: Vec<CodePlace> = lines.iter().map(|line| place("src/a.rs", *line)).collect();
        added(MAP, &[2, 3, 11, 12], &PanicPlace::default(), &frames, "").0
    }

    /// Where a panic of `g` was.
    fn place_of(panic: &PanicPlace, frames: &[CodePlace]) -> PlaceOfPanic {
        added(MAP, &[2, 3, 11, 12], panic, frames, "").1
    }

    /// The rows of `f` and `g` with the holes of a panic: lines, and holes in words.
    fn shown(at: Option<(&str, u32)>, frames: &[(&str, u32)], text: &str) -> Vec<String> {
        shown_of(&[2, 3, 11, 12], at, frames, text)
    }

    /// The same, of a run of these lines.
    fn shown_of(lines: &[u16], at: Option<(&str, u32)>, frames: &[(&str, u32)], text: &str) -> Vec<String> {
        let panic = PanicPlace { at: at.map(|(path, line)| place(path, line)), ..PanicPlace::default() };
        let frames: Vec<CodePlace> = frames.iter().map(|(path, line)| place(path, *line)).collect();
        let (rows, _) = added(MAP, lines, &panic, &frames, text);
        let shown = rows.iter().map(|row| match &row.kind {
            RowKind::Statement(statement) => {
                Code::of(&Names::parse(MAP.as_bytes())).place(*statement).1.line.to_string()
            }
            RowKind::NotRecorded(hole) => format!("{} {}", hole.what, hole.place),
            other => format!("{other:?}"),
        });
        shown.collect()
    }

    #[test]
    fn frames_are_where_they_belong() {
        let frames = [("/p/src/a.rs", 21), ("src/a.rs", 12), ("/p/./src/a.rs", 31), ("/p/src/a.rs", 3)];
        let all = ["2", "3", "macro body src/a.rs:31", "11", "12", "const fn src/a.rs:21"];
        assert_eq!(shown(None, &frames, ""), all);
        // A call that has no row gets one.
        assert_eq!(
            shown(None, &[("src/a.rs", 41), ("src/a.rs", 12), ("src/a.rs", 3)], ""),
            ["2", "3", "11", "12", "41"]
        );
        let many = [frames[..3].to_vec(), vec![("src/a.rs", 12); MOST], vec![("src/a.rs", 41)]].concat();
        assert_eq!(shown(None, &many, ""), all, "the innermost ones only");
        // The place of the message says no more than the frames.
        assert_eq!(shown(Some(("src/a.rs", 22)), &frames, ""), all);
    }

    #[test]
    fn a_row_has_the_line_that_a_frame_names() {
        let lines: Vec<_> = with_frames(&[41, 12]).iter().map(|row| row.frame).collect();
        assert_eq!(lines, [None, None, None, Some(12), Some(41)]);
    }

    /// As the drop glue of a future, which is in the frame of its `async fn`.
    #[test]
    fn a_call_that_only_a_frame_shows_is_beside_its_callee() {
        let depths: Vec<_> = with_frames(&[12, 41, 3]).iter().map(|row| row.depth).collect();
        assert_eq!(depths, [0, 0, 1, 1, 1], "line 41 is before 11");
    }

    #[test]
    fn calls_below_the_panic_had_returned() {
        let above = |at: Option<u32>, frames: &[u32]| {
            let panic = PanicPlace { at: at.map(|line| place("src/a.rs", line)), ..PanicPlace::default() };
            let frames: Vec<CodePlace> = frames.iter().map(|line| place("src/a.rs", *line)).collect();
            place_of(&panic, &frames)
        };
        assert_eq!(above(Some(3), &[3]), PlaceOfPanic::Above((1, 3)), "`g` has no frame");
        assert_eq!(above(Some(12), &[12, 3]), PlaceOfPanic::LastRow, "`g` panicked");
        assert_eq!(above(Some(3), &[12, 3]), PlaceOfPanic::LastRow, "`g` names the line of its caller");
        assert_eq!(above(Some(3), &[]), PlaceOfPanic::Named((1, 3)), "without frames it may do so, too");
        assert_eq!(above(Some(2), &[3]), PlaceOfPanic::Named((1, 2)), "some frames are unknown");
        assert_eq!(above(Some(12), &[3]), PlaceOfPanic::LastRow, "the frame of `g` is unknown");
        assert_eq!(above(Some(40), &[3]), PlaceOfPanic::LastRow, "the line has no statement");
        assert_eq!(above(None, &[3]), PlaceOfPanic::LastRow);
        assert_eq!(
            above(Some(50), &[51]),
            PlaceOfPanic::Outside("src/a.rs".to_owned(), 50),
            "of no function"
        );
        assert_eq!(above(Some(50), &[31]), PlaceOfPanic::LastRow, "the body of a macro");
        assert_eq!(above(Some(50), &[51, 8]), PlaceOfPanic::LastRow, "the last line of `f`");
        assert_eq!(above(Some(50), &[]), PlaceOfPanic::LastRow, "no frame is known");
    }

    #[test]
    fn a_framework_that_fails_itself_is_named() {
        let found = |frames: &[&str], addresses| {
            let at = Some(place("/r/registry/src/i/check-0.9.2/src/tester.rs", 7));
            let panic = PanicPlace { at, frames: vec![5; addresses], ..PanicPlace::default() };
            let frames: Vec<CodePlace> = frames.iter().map(|path| place(path, 7)).collect();
            place_of(&panic, &frames)
        };
        let outside = PlaceOfPanic::Outside("check-0.9.2/src/tester.rs".to_owned(), 7);
        let (tester, std) =
            ("/r/registry/src/i/check-0.9.2/src/tester.rs", "/rustc/0/library/std/src/panic.rs");
        assert_eq!(found(&[std, tester], 9), outside);
        let named = PlaceOfPanic::NamedOutside("check-0.9.2/src/tester.rs".to_owned(), 7);
        assert_eq!(found(&[std], 9), named, "the program has no lines");
        let within = PlaceOfPanic::Within((1, 7), "f".to_owned());
        assert_eq!(found(&[tester, "src/a.rs"], 9), within, "`f` is open");
        let other = "/r/registry/src/i/dep-1.0.0/src/x.rs";
        assert_eq!(found(&[tester, other], 9), PlaceOfPanic::LastRow, "a package that is recorded");
        assert_eq!(found(&[tester], MOST_FRAMES), PlaceOfPanic::LastRow, "the outer frames are cut");
    }

    /// As a sort whose closure does not order.
    #[test]
    fn a_panic_in_code_of_others_is_at_the_statement_that_called_it() {
        let of_others = place("/rustc/1/library/core/src/slice/sort.rs", 7);
        let above = |frames: &[u32]| {
            let panic = PanicPlace { at: Some(of_others.clone()), ..PanicPlace::default() };
            let own = frames.iter().map(|line| place("src/a.rs", *line));
            place_of(&panic, &std::iter::once(of_others.clone()).chain(own).collect::<Vec<_>>())
        };
        assert_eq!(above(&[3]), PlaceOfPanic::Above((1, 3)), "`g` had returned");
        assert_eq!(above(&[12, 3]), PlaceOfPanic::LastRow, "`g` called it");
        assert_eq!(above(&[22, 3]), PlaceOfPanic::LastRow, "code that is not recorded called it");
        let end = PlaceOfPanic::Within((1, 19), "g".to_owned());
        assert_eq!(above(&[19, 3]), end, "what `g` dropped at its end");
        let named = PlaceOfPanic::NamedOutside("core/src/slice/sort.rs".to_owned(), 7);
        assert_eq!(above(&[]), named, "without lines of the program nothing shows what called it");
    }

    #[test]
    fn what_is_made_around_an_async_body_is_not_a_statement_of_it() {
        let map = MAP.replace(r#""end":"9:2"}"#, r#""end":"9:2","kind":"asyncfn"}"#);
        let rows = |frames: &[u32]| {
            let frames: Vec<CodePlace> = frames.iter().map(|line| place("src/a.rs", *line)).collect();
            added(&map, &[2, 11, 12], &PanicPlace::default(), &frames, "").0.len()
        };
        assert_eq!(rows(&[12, 2, 3]), rows(&[]), "line 3 did not run");
    }

    #[test]
    fn the_body_of_a_macro_is_in_the_frame_around_its_call() {
        let frames = [("src/a.rs", 41), ("src/a.rs", 31), ("src/a.rs", 3)];
        let all = ["2", "3", "macro body src/a.rs:31", "11", "12", "41"];
        assert_eq!(shown_of(&[2, 3, 11, 12, 41], None, &frames, ""), all);
    }

    #[test]
    fn without_frames_the_place_of_the_panic_counts() {
        assert_eq!(shown(Some(("src/a.rs", 22)), &[], "")[4..], ["const fn src/a.rs:22"]);
        for (path, line) in
            [("src/a.rs", 12), ("src/a.rs", 15), ("b/src/a.rs", 22), ("/rustc/x/src/a.rs", 22)]
        {
            assert_eq!(shown(Some((path, line)), &[], "").len(), 4, "{path}:{line}");
        }
        assert_eq!(shown(None, &[], "").len(), 4);
    }

    #[test]
    fn files_without_statements_count_where_their_package_is_recorded() {
        for (path, place) in [
            ("src/off.rs", None),
            ("/p/src/deep/gen.rs", Some(" src/deep/gen.rs:7")),
            ("/r/registry/src/i/dep-1.0.0/src/x.rs", Some(" /r/registry/src/i/dep-1.0.0/src/x.rs:7")),
            ("/r/registry/src/i/other-1.0.0/src/x.rs", None),
            ("/p/build.rs", None),
        ] {
            assert_eq!(shown(None, &[(path, 7)], "").get(4).map(String::as_str), place, "{path}");
        }
    }

    #[test]
    fn arguments_count_behind_the_line_of_their_macro() {
        assert_eq!(shown(None, &[("src/a.rs", 3)], "").len(), 4);
        assert_eq!(shown(None, &[("src/a.rs", 5)], "")[4..], ["macro arguments src/a.rs:5"]);
    }

    #[test]
    fn code_of_derives_is_named_and_that_of_other_attributes_is_not() {
        let text = " #[derive(Hash)]\nstruct A {\n  b: B,\n}\n#[other]\nstruct C(B);\n#[derive(Hash)] struct D(B);\n#[derive(Hash)]\nstruct E { b: B }\nfn f(\n)\n{}";
        for (line, is_derived) in [
            (52, true),
            (55, false),
            (56, true),
            (90, false),
            (19, false),
            (58, true),
            (59, false),
            (60, false),
            (61, false),
        ] {
            let hole = is_derived.then(|| format!("derived code src/a.rs:{line}"));
            assert_eq!(shown(None, &[("src/a.rs", line)], text).get(4), hole.as_ref(), "{line}");
        }
    }

    #[test]
    fn a_recursion_is_named_once_and_many_frames_are_cut() {
        let frames = [("src/a.rs", 21); 60];
        assert_eq!(shown(None, &frames, "").len(), 5);
        let frames: Vec<(&str, u32)> = (0..60).map(|number| ("src/a.rs", 21 + number % 2)).collect();
        assert_eq!(shown(None, &frames, "").len(), 4 + MOST);
    }
}
