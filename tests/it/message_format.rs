//! Does `--message-format json` say in JSON what the text says, by its schema, and leave cargo's messages as they are?

use serde_json::Value;
use xhist_tests::{Case, Done, Need, Run, Tree, cargo, report};

pub const CASES: &[Case] = &[
    Case::new("failed_tests_are_one_json_line", failed_tests),
    Case::new("programs_and_what_passed_are_json_too", programs),
    Case::needing("the_json_of_failures_is_valid_by_its_schema", &[Need::JsonSchema], schema),
    Case::needing("nextest_gets_no_format_that_it_does_not_know", &[Need::Nextest], nextest),
];

const LIBRARY: &str = r#"//! Prices.

/// The price of some pieces.
pub fn price(pieces: u32, cents: u32) -> u32 {
    let mut price = pieces * cents;
    if pieces > 10 {
        price -= price / 10;
    }
    price
}

#[test]
fn one_piece() {
    assert_eq!(price(1, 250), 250);
}

#[test]
fn ten_pieces() {
    assert_eq!(price(10, 250), 2250);
}

#[test]
fn a_loop() {
    for cents in 0..40 {
        price(cents, 2);
    }
    assert_eq!(price(10, 2), 18);
}
"#;

const PROGRAM: &str = "fn main() {\n    let how = std::env::args().nth(1).unwrap_or_default();\n    if how == \"abort\" {\n        std::process::abort();\n    }\n    if how == \"exit\" {\n        std::process::exit(3);\n    }\n}\n";

fn project() -> Tree {
    let tree = Tree::package("prices");
    tree.write("src/lib.rs", LIBRARY);
    tree.write("src/main.rs", PROGRAM);
    tree
}

/// The only line of ours; the lines of cargo.
fn lines(done: &Done) -> (Value, Vec<Value>) {
    let json = done.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let (mut ours, cargos): (Vec<Value>, Vec<Value>) =
        json.filter(|line| line["reason"].is_string()).partition(|line| line["reason"] == "xhist-answer");
    assert_eq!(ours.len(), 1, "{}", done.summary());
    (ours.remove(0), cargos)
}

fn failed_tests() {
    let tree = project();
    // One thread: failures are in the order in which the tests ended.
    let command = "xhist test --lib --message-format json -- --test-threads=1";
    let done = cargo(tree.path()).args(command).done().expect(101);
    let (answer, cargos) = lines(&done);
    let reasons: Vec<&Value> = cargos.iter().map(|line| &line["reason"]).collect();
    assert!(reasons.contains(&&"compiler-artifact".into()), "{reasons:?}");
    assert_eq!(reasons.last(), Some(&&"build-finished".into()));
    done.check(!done.stderr.contains("last statements"), "the text is not printed as well");
    assert_eq!(
        (&answer["exit"], &answer["failed"], &answer["complete"]),
        (&101.into(), &true.into(), &true.into())
    );

    // The same as the text: each line of it that is a statement, and no other.
    let text = report(tree.path()).args("answer last").succeed().stdout;
    let listed = text.lines().filter(|line| line.starts_with("  src/lib.rs:")).count();
    let failures = answer["failures"].as_array().expect("a list");
    let statements: Vec<&Value> = failures
        .iter()
        .flat_map(|failure| failure["threads"].as_array().expect("a list"))
        .flat_map(|thread| thread["rows"].as_array().expect("a list"))
        .filter(|row| row["kind"] == "statement")
        .collect();
    assert_eq!(statements.len(), listed, "{text}\n{answer:#}");
    for row in statements {
        let place = format!("{}:{}", row["file"].as_str().expect("a file"), row["line"]);
        let source = row["text"].as_str().expect("a text");
        assert!(text.lines().any(|line| line.contains(&place) && line.contains(source)), "{row}");
    }
    let names: Vec<&str> = failures.iter().filter_map(|failure| failure["name"].as_str()).collect();
    assert_eq!(names, ["a_loop", "ten_pieces"]);
    assert_eq!(failures[1]["place"]["line"], 9);
    let rounds = &failures[0]["threads"][0]["rows"][1];
    assert_eq!((&rounds["times"], &rounds["inside"]), (&40.into(), &33.into()), "{answer:#}");
    let short = report(tree.path()).args("answer last --format json --lines 3").succeed().stdout;
    assert!(short.contains("\"kind\":\"folded\""), "{short}");
    let suspect = &answer["suspects"][0];
    let marked = format!("src/lib.rs:{}", suspect["line"]);
    assert!(
        text.lines().any(|line| line.contains(&marked) && line.ends_with("suspect 1")),
        "{text}\n{suspect}"
    );
    // What it says to type works as it is.
    let next = answer["next"].as_array().expect("a list");
    assert_eq!(next.len(), 3, "{next:?}");
    for command in next {
        let command = command.as_str().expect("a command").strip_prefix("cargo ").expect("of cargo");
        cargo(tree.path()).args(command).succeed();
    }
    let again = cargo(tree.path()).args("xhist answer last --format json").succeed();
    assert_eq!(lines(&again).0, answer);
}

fn programs() {
    let tree = project();
    for (how, code, kind) in [("abort", 134, "process"), ("exit", 3, "file")] {
        let run = format!("xhist run -q --message-format=json-render-diagnostics -- {how}");
        let (answer, _) = lines(&cargo(tree.path()).args(&run).done().expect(code));
        let failure = &answer["failures"][0];
        assert_eq!((&failure["kind"], &answer["failed"]), (&kind.into(), &true.into()), "{answer:#}");
        let line = if how == "abort" { 4 } else { 7 };
        assert_eq!(failure["place"]["line"], line, "{answer:#}");
    }
    let (answer, _) = lines(&cargo(tree.path()).args("xhist run -q --message-format json").succeed());
    let nothing = Value::Array(Vec::new());
    assert_eq!((&answer["failed"], &answer["failures"]), (&false.into(), &nothing), "{answer:#}");
    // Other formats are cargo's alone.
    let done = cargo(tree.path()).args("xhist run -q --message-format short -- abort").done().expect(134);
    done.check(done.stderr.contains("last statements") && !done.stdout.contains("xhist-answer"), "the text");
}

const VALIDATE: &str = "import json, jsonschema
schema = json.load(open('schema.json'))
kind = jsonschema.validators.validator_for(schema)
kind.check_schema(schema)
validator = kind(schema, format_checker=jsonschema.FormatChecker())
errors = [error for line in open('documents.jsonl') for error in validator.iter_errors(json.loads(line))]
for error in errors:
    print('/'.join(map(str, error.absolute_path)), error.message[:300])
raise SystemExit(bool(errors))
";

/// Validates documents, each in a line, by `schema.json`: the exit code is 0 if they are valid.
pub fn validate(tree: &Tree, documents: &str) -> Done {
    tree.write("validate.py", VALIDATE);
    tree.write("documents.jsonl", documents);
    Run::new("python3", tree.path()).args("validate.py").done()
}

fn schema() {
    let tree = project();
    let commands = [
        "test --lib --message-format json",
        "run --message-format json",
        "run --message-format json -- abort",
    ];
    let answers =
        commands.map(|command| lines(&cargo(tree.path()).args(&format!("xhist {command}")).done()).0);
    tree.write("schema.json", &report(tree.path()).args("answer --format json-schema").succeed().stdout);
    validate(&tree, &answers.each_ref().map(Value::to_string).join("\n")).expect(0);
    // The schema refuses what is not there: each field is described.
    let mut other = answers[0].clone();
    other["failures"][0]["threads"][0]["rows"][0]["kind"] = "other".into();
    validate(&tree, &other.to_string()).expect(1);
    // No field is without a description.
    let schema: Value = serde_json::from_str(&tree.read("schema.json")).expect("JSON");
    answers.iter().for_each(|answer| check_fields(answer, &schema, &schema));
}

/// Whether the schema has each field of a value.
fn check_fields(value: &Value, described: &Value, schema: &Value) {
    let described = match described["$ref"].as_str() {
        Some(reference) => schema.pointer(reference.trim_start_matches('#')).expect("a definition"),
        None => described,
    };
    match value {
        Value::Object(fields) => {
            let known = described["oneOf"].as_array().and_then(|forms| forms.last()).unwrap_or(described);
            for (name, field) in fields {
                assert!(known["properties"][name].is_object(), "{name}: {known:#}");
                check_fields(field, &known["properties"][name], schema);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| check_fields(item, &described["items"], schema)),
        _ => {}
    }
}

fn nextest() {
    let tree = project();
    let done = cargo(tree.path())
        .args("xhist nextest run --lib --no-fail-fast --message-format json")
        .done()
        .expect(100);
    let (answer, _) = lines(&done);
    assert_eq!(answer["failures"].as_array().map(Vec::len), Some(2), "{answer:#}");
}
