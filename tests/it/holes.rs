//! Does the answer to a panic name the code that the history lacks, where it belongs, and nothing else?

use std::sync::OnceLock;

use xhist_tests::{Case, Done, Tree, cargo, line_of, report, repository};

use super::after_run::fixture;

pub const CASES: &[Case] = &[
    Case::new("frames_that_are_not_recorded_are_named_where_they_belong", named),
    Case::new("without_the_program_the_place_of_the_panic_is_named", without_program),
    Case::new("a_panic_that_aborts_names_them_too", aborts),
    Case::new("a_low_share_of_recorded_statements_is_printed_once", share),
];

fn tree() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| fixture("holes"))
}

fn place(file: &str, mark: &str) -> String {
    format!("{file}:{}", line_of(&tree().join(file), mark))
}

fn main_place(mark: &str) -> String {
    place("src/main.rs", mark)
}

/// The last lines of an answer before the panic: places, and what was not recorded.
fn last(answer: &str, count: usize) -> Vec<String> {
    let lines = answer.lines().map_while(|line| (!line.starts_with("  -- ")).then_some(line));
    let rows = lines.filter_map(|line| {
        let row = line.strip_prefix("  ")?;
        let is_hole = row.starts_with("not recorded: ");
        Some(if is_hole { row } else { row.split(' ').next()? }.to_owned())
    });
    let rows: Vec<String> = rows.collect();
    rows[rows.len().saturating_sub(count)..].to_vec()
}

fn answer(done: &Done) -> &str {
    done.stderr.split("\nxhist: ").nth(1).unwrap_or_default()
}

fn named() {
    let hole = |what: &str, mark: &str| format!("not recorded: {what}{}", main_place(mark));
    let in_file = |file: &str, mark: &str| format!("not recorded: {}", place(file, mark));
    let inner = || {
        [
            line_of(&tree().join("src/main.rs"), "// inner") - 1,
            line_of(&tree().join("src/main.rs"), "// inner"),
        ]
        .map(|line| format!("src/main.rs:{line}"))
    };
    let cases: [(&str, Vec<String>); 8] = [
        ("macro", vec![main_place("// call of the macro"), hole("macro body at ", "// in the macro")]),
        ("made", [vec![main_place("// in the made function")], inner().to_vec()].concat()),
        ("const", vec![main_place("// call of the const fn"), hole("const fn at ", "// in the const fn")]),
        ("off", vec![main_place("// call into the file"), in_file("src/off.rs", "// off")]),
        ("excluded", vec![in_file("src/excluded.rs", "// excluded")]),
        (
            "derived",
            vec![
                main_place("// call of the derived eq"),
                hole("derived code at ", "// derived"),
                main_place("// eq"),
            ],
        ),
        // The panic came from what made the text, so that is not the text of its message.
        (
            "text",
            [
                vec![main_place("// makes a text"), main_place("// call of what makes a text")],
                inner().to_vec(),
            ]
            .concat(),
        ),
        ("all", vec![main_place("// inner")]),
    ];
    for (how, expected) in cases {
        let done = cargo(tree().path()).args(&format!("xhist run --quiet -- {how}")).done().expect(101);
        assert_eq!(last(answer(&done), expected.len()), expected, "{}", done.summary());
        let holes = expected.iter().filter(|row| row.starts_with("not")).count();
        done.check(done.stderr.matches("not recorded").count() == holes, "and nothing else");
    }
    let done = cargo(tree().path()).args("xhist run --quiet -- caught").done().expect(3);
    done.check(!done.stderr.contains("not recorded"), "a panic that was caught is not the end");
}

/// The ring and the map are enough for the place of the panic itself.
fn without_program() {
    let away = Tree::empty("away");
    for (how, expected) in [
        ("const", format!("not recorded: const fn at {}", main_place("// in the const fn"))),
        ("macro", main_place("// call of the macro")),
    ] {
        let file = away.join(&format!("{how}.xhist"));
        cargo(tree().path())
            .args(&format!("xhist run --quiet -- {how}"))
            .env("XHIST_FILE", &file)
            .done()
            .expect(101);
        std::fs::copy(tree().join("target/xhist/xhist.map"), away.join("xhist.map")).expect("a map");
        let read = report(away.path()).args("answer").arg(&file).succeed();
        assert_eq!(last(&read.stdout, 1), [expected], "{}", read.summary());
    }
}

fn aborts() {
    // It is built again, so no other case may run it.
    let own = fixture("holes");
    let done = cargo(own.path())
        .args("xhist run --quiet --config profile.dev.panic=\"abort\" -- macro")
        .done()
        .expect(134);
    let hole = format!("not recorded: macro body at {}", main_place("// in the macro"));
    assert_eq!(last(answer(&done), 1), [hole], "{}", done.summary());
}

fn share() {
    let own = Tree::copy_of(&repository().join("tests/fixtures/holes"));
    let share = |command: &str| {
        let done = cargo(own.path()).args(&format!("xhist {command}")).done();
        let lines = done.stderr.lines().filter(|line| line.contains("of the statements are recorded"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(share("build"), [""; 0], "nothing runs");
    assert_eq!(share("run --quiet -- all"), [""; 0]);
    let line = "; not recorded: 2 in const fn, about 3 in macro bodies, 4 excluded";
    let printed = share("run -- all");
    assert!(printed.len() == 1 && printed[0].ends_with(line), "{printed:?}");
    assert_eq!(share("run -- all"), [""; 0]);
    let main = own.join("src/main.rs");
    let text = std::fs::read_to_string(&main).expect("a file");
    let edited = text.replace("let value = by + LESS;", "let value = LESS + by;");
    std::fs::write(&main, edited).expect("an edit");
    assert_eq!(share("run -- all"), [""; 0], "an edit that changes no share");
    std::fs::write(
        &main,
        text.replace(
            "make!(made);",
            "make!(made);\nconst fn all() {\n one();\n one(); }\nconst fn one() {}\nconst _: () = all();",
        ),
    )
    .expect("an edit");
    assert_eq!(share("test").len(), 1, "another share");
}
