//! Do the pages hold together: links, the book's table of contents, short lines and sentences, commands that work?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use walkdir::WalkDir;
use xhist_tests::{Case, Tree, cargo, repository};

mod ci;

pub const CASES: &[Case] = &[
    Case::new("every_link_leads_somewhere", links),
    Case::new("every_path_in_the_text_is_there", paths),
    Case::new("every_page_of_the_book_is_in_its_summary", summary),
    Case::new("the_readme_is_short", readme),
    Case::new("what_is_not_published_is_installed_from_a_checkout", installs),
    Case::new("lines_and_sentences_are_short", prose),
    Case::new("the_pages_work_when_typed", typed),
    Case::new("the_steps_for_ci_keep_a_failure", ci::steps),
];

/// Not pages of ours.
const SKIPPED: [&str; 6] = ["target", ".git", "fixtures", "seeds", "corpus", "node_modules"];

/// A page of Markdown.
struct Page {
    path: PathBuf,
    text: String,
}

/// Every page of the repository, its path relative to it.
fn pages() -> Vec<Page> {
    let wanted = |entry: &walkdir::DirEntry| !SKIPPED.iter().any(|name| entry.file_name() == *name);
    let files = WalkDir::new(repository()).sort_by_file_name().into_iter().filter_entry(wanted).flatten();
    let files = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "md"));
    let page = |file: walkdir::DirEntry| Page {
        path: file.path().strip_prefix(repository()).expect("below it").to_owned(),
        text: std::fs::read_to_string(file.path()).expect("a page"),
    };
    let pages: Vec<Page> = files.map(page).collect();
    assert!(pages.len() > 20, "the pages are found");
    pages
}

/// No page and no message advises a command that fails: none of the crates is published.
fn installs() {
    for words in ["cargo-xhist`", "--locked xhist-report", "xhist-instrument && x"] {
        assert!(is_of_a_registry(&format!("`cargo install {words}")), "{words}");
    }
    for words in ["--path cargo-xhist", "--git https://x.y/xhist cargo-xhist", "mdbook # xhist"] {
        assert!(!is_of_a_registry(&format!("cargo install {words}")), "{words}");
    }
    let wanted = |entry: &walkdir::DirEntry| !SKIPPED.iter().any(|name| entry.file_name() == *name);
    let files = WalkDir::new(repository()).into_iter().filter_entry(wanted).flatten();
    let files = files.filter(|file| {
        file.path()
            .extension()
            .is_some_and(|extension| ["md", "rs", "py"].iter().any(|known| extension == *known))
    });
    let texts = files.filter_map(|file| Some((std::fs::read_to_string(file.path()).ok()?, file)));
    let advised = texts.filter(|(text, _)| text.lines().any(is_of_a_registry));
    let advised = advised.map(|(_, file)| file.into_path());
    assert_eq!(advised.collect::<Vec<_>>(), [] as [PathBuf; 0]);
}

/// Whether a line installs a program of ours by its name alone.
fn is_of_a_registry(line: &str) -> bool {
    let advice = line.split_once("cargo install ").map(|(_, words)| words);
    let words = advice
        .into_iter()
        .flat_map(|words| words.split(['`', '&', '#']).next())
        .flat_map(str::split_whitespace);
    let (options, names): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with("--"));
    names.iter().any(|name| name.contains("xhist"))
        && !options.iter().any(|option| ["--path", "--git"].contains(option))
}

fn parse(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// Targets of the links and pictures of a page.
fn targets(text: &str) -> Vec<String> {
    let target = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    };
    parse(text).filter_map(target).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut anchors, mut heading) = (BTreeSet::new(), None::<String>);
    for event in parse(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) if heading.is_some() => {
                heading.get_or_insert_default().push_str(&text);
            }
            Event::End(TagEnd::Heading(_)) => {
                anchors.insert(anchor(&heading.take().unwrap_or_default()));
            }
            _ => {}
        }
    }
    anchors
}

fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// A path without `.` and `..`; `None` where it leaves the repository.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => normal.pop().then_some(())?,
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    Some(normal)
}

/// What is wrong with a link of a page.
fn broken(page: &Page, target: &str, anchors: &BTreeMap<PathBuf, BTreeSet<String>>) -> Option<&'static str> {
    if ["https://", "http://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
        return None;
    }
    let (path, fragment) = target.split_once('#').map_or((target, None), |(path, part)| (path, Some(part)));
    let file = match path {
        "" => page.path.clone(),
        path => normal(&page.path.parent().unwrap_or(Path::new("")).join(path)).unwrap_or_default(),
    };
    let is_there = !file.as_os_str().is_empty() && repository().join(&file).exists();
    let has_anchor = |fragment| anchors.get(&file).is_some_and(|anchors| anchors.contains(fragment));
    // The book has the pages in docs/ only.
    let leaves_book = page.path.starts_with("docs") && !file.starts_with("docs");
    match fragment {
        _ if !is_there => Some("no such file"),
        _ if leaves_book => Some("outside of the book"),
        Some(fragment) if !has_anchor(fragment) => Some("no such heading"),
        _ => None,
    }
}

fn links() {
    assert_eq!(anchor("The `XHIST_FILE` variable, in short"), "the-xhist_file-variable-in-short");
    let pages = pages();
    let anchors: BTreeMap<_, _> = pages.iter().map(|page| (page.path.clone(), anchors(&page.text))).collect();
    let example = Page { path: "docs/x.md".into(), text: String::new() };
    for wrong in ["nowhere.md", "limits.md#nowhere", "../README.md", "../../outside.md"] {
        assert!(broken(&example, wrong, &anchors).is_some(), "{wrong} is noticed");
    }
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in &pages {
        for target in targets(&page.text) {
            seen += 1;
            if let Some(reason) = broken(page, &target, &anchors) {
                wrong.push(format!("{}: {target}: {reason}", page.path.display()));
            }
        }
    }
    assert!(seen > 50, "{seen} links");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Where paths start that lead into the repository.
const ROOTS: [&str; 13] = [
    "cargo-xhist/",
    "qs-core/",
    "qs-host/",
    "xhist-fleet/",
    "xhist-history/",
    "xhist-rt/",
    "xhist-instrument/",
    "xhist-report/",
    "tests/",
    "samples/",
    "docs/",
    "fuzz/",
    ".ci/",
];

fn paths() {
    let is_path = |code: &str| {
        let plain = |char: char| char.is_ascii_alphanumeric() || "/._-".contains(char);
        ROOTS.iter().any(|root| code.starts_with(root)) && code.chars().all(plain)
    };
    assert!(is_path("docs/x.md") && !is_path("docs/*.md") && !is_path("src/main.rs"));
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in pages() {
        let codes = parse(&page.text).filter_map(|event| match event {
            Event::Code(code) if is_path(&code) => Some(code.into_string()),
            _ => None,
        });
        for path in codes {
            seen += 1;
            if !repository().join(&path).exists() {
                wrong.push(format!("{}: `{path}`", page.path.display()));
            }
        }
    }
    assert!(seen > 20, "{seen} paths");
    assert!(wrong.is_empty(), "not there: {wrong:#?}");
}

fn summary() {
    let contents = std::fs::read_to_string(repository().join("docs/SUMMARY.md")).expect("SUMMARY.md");
    let listed = targets(&contents);
    let set: BTreeSet<PathBuf> = listed.iter().map(|target| Path::new("docs").join(target)).collect();
    assert_eq!(set.len(), listed.len(), "a page is listed once");
    let pages = pages().into_iter().map(|page| page.path);
    let there: BTreeSet<PathBuf> =
        pages.filter(|path| path.starts_with("docs") && !path.ends_with("SUMMARY.md")).collect();
    assert_eq!(set, there, "the pages that are listed are those that are there");
}

fn readme() {
    let text = std::fs::read_to_string(repository().join("README.md")).expect("README.md");
    assert!(text.lines().count() <= 150, "{} lines", text.lines().count());
}

/// Columns of a line of prose, and words of a sentence on average.
const LONGEST_LINE: usize = 120;
const MOST_WORDS: f64 = 20.0;

fn prose() {
    let mut wrong = Vec::new();
    for page in pages().into_iter().filter(|page| !is_of_a_crate(&page.path)) {
        let mut is_code = false;
        for (index, line) in page.text.lines().enumerate() {
            is_code ^= line.starts_with("```");
            // A row of a table cannot be broken.
            let is_prose = !is_code && !line.starts_with('|');
            if is_prose && line.chars().count() > LONGEST_LINE {
                wrong.push(format!(
                    "{}:{}: longer than {LONGEST_LINE} columns",
                    page.path.display(),
                    index + 1
                ));
            }
        }
        let (words, sentences) = count(&page.text);
        let mean = words as f64 / sentences.max(1) as f64;
        if mean > MOST_WORDS {
            wrong.push(format!("{}: {mean:.1} words a sentence", page.path.display()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether a page is the README of a crate, which rustdoc shows.
fn is_of_a_crate(page: &Path) -> bool {
    page.components().count() > 1 && repository().join(page).with_file_name("Cargo.toml").exists()
}

/// Words and sentences in the paragraphs of a page; code in a sentence is a word.
fn count(text: &str) -> (usize, usize) {
    let (mut prose, mut depth) = (String::new(), 0);
    for event in parse(text) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Table(_) | Tag::Heading { .. }) => depth += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::Table | TagEnd::Heading(_)) => depth -= 1,
            Event::End(TagEnd::Paragraph | TagEnd::Item) => prose.push_str(". "),
            Event::Text(text) if depth == 0 => prose.push_str(&text),
            Event::Code(_) if depth == 0 => prose.push_str("code"),
            Event::SoftBreak | Event::HardBreak => prose.push(' '),
            _ => {}
        }
    }
    let ends = |word: &str| word.trim_end_matches(['"', ')']).ends_with(['.', '?', '!']);
    let (mut words, mut sentences, mut is_open) = (0, 0, false);
    for word in prose.split_whitespace() {
        let is_word = word.chars().any(char::is_alphanumeric);
        words += usize::from(is_word);
        is_open |= is_word;
        if is_open && ends(word) {
            sentences += 1;
            is_open = false;
        }
    }
    (words, sentences)
}

/// Pages whose commands, typed from an empty directory, print what the page shows.
const TYPED: [&str; 7] =
    ["getting-started", "tests-and-ci", "threads-and-async", "formats", "suspects", "origin", "exports"];

fn typed() {
    assert_eq!(first_missing("a\n...\nc\n", "1: a\nb\nc\n"), None);
    assert_eq!(first_missing("c\na\n", "a\nc\n"), Some("a"));
    let mut wrong = Vec::new();
    for name in TYPED {
        let text = std::fs::read_to_string(repository().join(format!("docs/{name}.md"))).expect("a page");
        let commands = blocks(&text, "sh").concat();
        let tree = Tree::empty(name);
        let cargo = cargo(tree.path()).into_command();
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(tree.path()).stdin(std::process::Stdio::null());
        for (name, value) in cargo.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let output = shell.arg("-c").arg(format!("exec 2>&1\n{commands}")).output().expect("a shell");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(!blocks(&text, "text").is_empty(), "{name} shows output");
        for shown in blocks(&text, "text") {
            if let Some(line) = first_missing(&shown, &printed) {
                wrong.push(format!("{name}: `{line}` of this block is not printed:\n{shown}\n{printed}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Fenced blocks of a kind.
fn blocks(text: &str, kind: &str) -> Vec<String> {
    let fence = format!("```{kind}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// The first line of the block that is not found behind the lines before it. `...` matches any lines.
pub(crate) fn first_missing<'a>(shown: &'a str, printed: &str) -> Option<&'a str> {
    let mut printed = printed.lines();
    shown
        .lines()
        .filter(|line| *line != "...")
        .find(|line| !printed.any(|printed| printed.contains(line.trim())))
}
