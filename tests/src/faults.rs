//! Real crates with a fault each: what is changed in them, and which lines are then faulty.
//!
//! The table `tests/fixtures/faults.tsv` has a crate, a file of it, its text, and the text with the fault. A row without a
//! crate is one more change of the fault above it. Behind a version there may be arguments for `cargo test`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::{Crate, Tree, repository};

/// A fault of a crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The crate.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What `cargo test` needs so that its tests build, such as features.
    pub arguments: String,
    /// What makes it faulty, in the order of the lines of each file.
    pub edits: Vec<FaultEdit>,
    /// What is wrong.
    pub what: String,
    /// The set that it belongs to.
    pub set: String,
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultEdit {
    /// The file.
    pub file: String,
    /// The text that is right, once in the file.
    pub old: String,
    /// The text that is wrong.
    pub new: String,
}

/// Faulty lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultyLines {
    /// The file.
    pub file: String,
    /// Their numbers, while the fault is there.
    pub lines: RangeInclusive<usize>,
}

impl Fault {
    /// Every fault of the table.
    pub fn list() -> Vec<Fault> {
        let table = repository().join("tests/fixtures/faults.tsv");
        Fault::parse(&std::fs::read_to_string(table).expect("the table of faults"))
    }

    fn parse(table: &str) -> Vec<Fault> {
        let mut faults: Vec<Fault> = Vec::new();
        for row in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let fields: Vec<String> = row
                .split('\t')
                .map(|field| field.replace("\\\\", "\0").replace("\\n", "\n").replace('\0', "\\"))
                .collect();
            let Ok([name, version, file, old, new, what, set]) = <[String; 7]>::try_from(fields) else {
                panic!("seven fields: {row}")
            };
            let edit = FaultEdit { file, old, new };
            if name.is_empty() {
                faults.last_mut().expect("a fault above").edits.push(edit);
            } else {
                let (version, arguments) = version.split_once(' ').unwrap_or((&version, ""));
                let (version, arguments) = (version.to_owned(), arguments.to_owned());
                faults.push(Fault { name, version, arguments, edits: vec![edit], what, set });
            }
        }
        faults
    }

    /// Whether it was in a released version, and is not a mistake that was made up.
    pub fn is_real(&self) -> bool {
        self.set.starts_with("real ")
    }

    /// How far from a faulty line a reader sees it. What was made up is one line, which has to be named itself.
    pub fn tolerance(&self) -> usize {
        if self.is_real() { 2 } else { 0 }
    }

    /// The crate, unpacked and without a fault.
    pub fn unpack(&self) -> (Crate, Tree) {
        let mut released = Crate::named(&format!("{}@{}", self.name, self.version));
        released.targets = format!("{} {}", released.targets, self.arguments);
        let (tree, _) = released.unpack();
        (released, tree)
    }

    /// Makes the crate faulty, until the result is dropped.
    pub fn put_into<'a>(&self, tree: &'a Tree) -> FaultyCrate<'a> {
        let mut faulty = FaultyCrate { tree, lines: Vec::new(), before: BTreeMap::new() };
        for FaultEdit { file, old, new } in &self.edits {
            let before = tree.read(file);
            let ends_as_file = |text: &str| match before.contains("\r\n") {
                true => text.replace('\n', "\r\n"),
                false => text.to_owned(),
            };
            let (old, new) = (ends_as_file(old), ends_as_file(new));
            assert!(before.contains(&old), "{} {}: {file} has no {old:?}", self.name, self.version);
            let after = before.replacen(&old, &new, 1);
            let lines = changed_lines(&before, &after);
            let mut above = faulty.lines.iter().filter(|other| other.file == *file);
            // Otherwise the numbers of those below are no longer theirs.
            assert!(
                above.all(|other| other.lines.start() <= lines.start()),
                "{file}: edits from top to bottom"
            );
            tree.write(file, &after);
            faulty.lines.push(FaultyLines { file: file.clone(), lines });
            faulty.before.entry(file.clone()).or_insert(before);
        }
        faulty
    }
}

/// A crate with a fault.
pub struct FaultyCrate<'a> {
    tree: &'a Tree,
    /// Its faulty lines.
    pub lines: Vec<FaultyLines>,
    /// Texts of its files without the fault.
    before: BTreeMap<String, String>,
}

impl Drop for FaultyCrate<'_> {
    fn drop(&mut self) {
        for (file, text) in &self.before {
            self.tree.write(file, text);
        }
    }
}

/// The lines of a text that are not in the one before; those on both sides of a place where lines are missing.
fn changed_lines(before: &str, after: &str) -> RangeInclusive<usize> {
    let [before, after] = [before, after].map(|text| text.lines().collect::<Vec<_>>());
    let same = before.iter().zip(&after).take_while(|(old, new)| old == new).count();
    let (old, new) = (&before[same..], &after[same..]);
    let below = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    match new.len() - below {
        0 => same.max(1)..=same + 1,
        changed => same + 1..=same + changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_a_crate_is_one_more_edit() {
        let table = "# crate\tversion\na\t1.0.0\tsrc/a.rs\tx\\n\\\\n\ty\twrong\tset\n\t\tsrc/b.rs\tp\tq\t\t\nb\t2.0.0 --features c\tsrc/b.rs\tx\ty\twrong\treal set\n";
        let faults = Fault::parse(table);
        let edits = |fault: &Fault| fault.edits.iter().map(|edit| edit.file.clone()).collect::<Vec<_>>();
        assert_eq!(
            faults.iter().map(edits).collect::<Vec<_>>(),
            [vec!["src/a.rs", "src/b.rs"], vec!["src/b.rs"]]
        );
        assert_eq!(faults[0].edits[0].old, "x\n\\n");
        let of_cargo: Vec<_> = faults.iter().map(|fault| (&*fault.version, &*fault.arguments)).collect();
        assert_eq!(of_cargo, [("1.0.0", ""), ("2.0.0", "--features c")]);
        assert_eq!(faults.iter().map(Fault::tolerance).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn every_fault_of_the_table_is_complete() {
        let faults = Fault::list();
        for fault in &faults {
            assert!(!fault.name.is_empty() && !fault.what.is_empty() && !fault.set.is_empty(), "{fault:?}");
            assert!(fault.edits.iter().all(|edit| !edit.old.is_empty() && edit.old != edit.new), "{fault:?}");
        }
        let of = |set: &str| {
            let of_set = faults.iter().filter(|fault| fault.set.ends_with(set));
            of_set.map(|fault| fault.name.as_str()).collect::<std::collections::BTreeSet<_>>()
        };
        let sets = ["tuned", "held out", "fresh", "last"];
        for (number, one) in sets.into_iter().enumerate() {
            for &other in &sets[..number] {
                assert!(of(one).is_disjoint(&of(other)), "a crate of {one} is in {other}");
            }
        }
    }

    #[test]
    fn changed_lines_are_those_of_the_fault() {
        let before = "a\nb\nc\nd\n";
        assert_eq!(changed_lines(before, "a\nB\nc\nd\n"), 2..=2);
        assert_eq!(changed_lines(before, "a\nb\nx\ny\nd\n"), 3..=4);
        assert_eq!(changed_lines(before, "a\nb\nb\nc\nd\n"), 3..=3, "a line that is there twice");
        assert_eq!(changed_lines(before, "a\nd\n"), 1..=2, "both sides of what is missing");
        assert_eq!(changed_lines(before, "b\nc\nd\n"), 1..=1, "nothing above");
    }

    #[test]
    fn a_fault_of_two_edits_is_put_in_and_taken_away() {
        let tree = Tree::empty("fault");
        tree.write("src/lib.rs", "a\nb\nc\nd\n");
        let edit =
            |old: &str, new: &str| FaultEdit { file: "src/lib.rs".into(), old: old.into(), new: new.into() };
        let fault = Fault {
            name: "a".into(),
            version: "1.0.0".into(),
            arguments: String::new(),
            edits: vec![edit("a\nb\n", "a\n"), edit("d", "e\nf")],
            what: "wrong".into(),
            set: "real tuned".into(),
        };
        let faulty = fault.put_into(&tree);
        let lines: Vec<_> = faulty.lines.iter().map(|faulty| faulty.lines.clone()).collect();
        assert_eq!((lines, tree.read("src/lib.rs")), (vec![1..=2, 3..=4], "a\nc\ne\nf\n".to_owned()));
        drop(faulty);
        assert_eq!(tree.read("src/lib.rs"), "a\nb\nc\nd\n");
        tree.write("src/lib.rs", "a\r\nb\r\nc\r\nd\r\n");
        let faulty = fault.put_into(&tree);
        assert_eq!(tree.read("src/lib.rs"), "a\r\nc\r\ne\r\nf\r\n", "the line ends of the file");
        drop(faulty);
    }
}
