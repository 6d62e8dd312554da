//! Damaged dumps, wrong arguments, and queries that fail.

use std::fs;

use super::support::{dumps, number, query, run, truth, whole};

pub fn damaged_dumps() {
    let dir = tempfile::tempdir().unwrap();
    let (bad, data_set) = (dir.path().join("bad"), dir.path().join("fleet"));
    fs::create_dir(&bad).unwrap();
    fastrand::seed(21);
    let sources: Vec<_> = truth().iter().take(40).map(|dump| dumps().join(&dump["path"])).collect();
    for (index, source) in sources.iter().enumerate() {
        let mut bytes = fs::read(source).unwrap();
        match index % 5 {
            0 => bytes.truncate(fastrand::usize(..bytes.len())),
            1 => (0..200).for_each(|_| {
                bytes[fastrand::usize(..4096.min(source.metadata().unwrap().len() as usize))] =
                    fastrand::u8(..)
            }),
            2 => (0..20).for_each(|_| {
                let at = fastrand::usize(..bytes.len());
                bytes[at] = fastrand::u8(..);
            }),
            3 => bytes = (0..5000).map(|_| fastrand::u8(..)).collect(),
            _ => bytes.extend_from_slice(b"'; DROP TABLE rings; --"),
        }
        fs::write(bad.join(format!("{index} '\"<script>.bin")), bytes).unwrap();
    }
    fs::write(bad.join("empty"), "").unwrap();
    let good = &sources[0];
    let printed = run([
        "add".as_ref(),
        data_set.as_os_str(),
        bad.as_os_str(),
        "/no/such/dump".as_ref(),
        good.as_os_str(),
        "--maps".as_ref(),
        dumps().join("maps").as_os_str(),
    ]);
    assert_eq!(printed.code, Some(1), "{}", printed.err);
    assert!(printed.err.contains("/no/such/dump") && !printed.err.contains("panicked"), "{}", printed.err);
    let with_history = number(&data_set, "SELECT COUNT(*) FROM rings");
    let without = number(
        &data_set,
        "SELECT COUNT(DISTINCT l.ring) FROM losses AS l LEFT JOIN rings AS r ON l.ring = r.ring WHERE r.ring IS NULL",
    );
    assert_eq!(with_history + without, 42, "each dump has a row");
    let path = std::path::absolute(good).unwrap();
    let rows = query(&data_set, &format!("SELECT entries FROM rings WHERE source = '{}'", path.display()));
    assert!(rows[0]["entries"].as_i64().unwrap() > 0, "the good dump is there");
    assert_eq!(run(["groups".as_ref(), data_set.as_os_str()]).code, Some(0));
}

pub fn arguments() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().display().to_string();
    let printed = run(["groups", &text]);
    assert_eq!(printed.code, Some(2));
    assert!(printed.err.contains("is not a data set; `xhist-fleet add"), "{}", printed.err);
    let file = dir.path().join("mine");
    fs::write(&file, "mine").unwrap();
    let printed = run(["add", &text, "/no/such/dump"]);
    assert_eq!(printed.code, Some(2));
    assert!(printed.err.contains("has files that are not those of a data set"), "{}", printed.err);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "the directory is as it was");
    assert_eq!(run(["add", &text, "x", "--label", "no-value"]).code, Some(2));
    let printed = run(["add", dir.path().join("new").to_str().unwrap(), "/no/such/dump"]);
    assert_eq!(printed.code, Some(1));
    assert!(printed.err.contains("/no/such/dump"), "{}", printed.err);
}

pub fn queries() {
    for (sql, text) in [
        ("SELECT * FROM nothing", "nothing"),
        ("SELEC 1", "SELEC"),
        ("SELECT no_column FROM rings", "no_column"),
        ("SELECT 1/0 FROM rings", "zero"),
    ] {
        let printed = run(["query".as_ref(), whole().as_os_str(), sql.as_ref()]);
        assert_eq!(printed.code, Some(2), "{sql}: {}", printed.out);
        assert!(printed.err.to_lowercase().contains(&text.to_lowercase()), "{sql}: {}", printed.err);
    }
    let printed = run(["diff".as_ref(), whole().as_os_str(), "1".as_ref(), "2".as_ref()]);
    assert!(printed.err.contains("no dump is of build 1; there are"), "{}", printed.err);
    let printed = run(["suspects".as_ref(), whole().as_os_str(), "--group".as_ref(), "x'".as_ref()]);
    assert!(printed.err.contains("is not the beginning of a group's name"), "{}", printed.err);
}
