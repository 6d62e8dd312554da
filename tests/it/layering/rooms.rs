//! The page with the floors of each crate, drawn from the import graph: a room uses rooms on lower floors only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use xhist_tests::imports::BUILDS;
use xhist_tests::repository;

use super::circles::{builds, sources};
use super::floors::FLOORS;

const PAGE: &str = "docs/design/floors.md";

/// From a room, a folder or a file in `src`, to the rooms that it uses.
type Rooms = BTreeMap<String, BTreeSet<String>>;

/// `XHIST_BLESS=1` writes the tables.
pub fn are_in_the_page() {
    assert_eq!(
        first_sentence("//! Reads `a.b` files\n//! of maps. More.\n\n//! Other."),
        "Reads `a.b` files of maps"
    );
    let path = repository().join(PAGE);
    let page = std::fs::read_to_string(&path).expect("the page");
    let mut now = page.clone();
    for name in BUILDS.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>() {
        let begin = format!("<!-- floors of {name} -->\n");
        let from = now.find(&begin).unwrap_or_else(|| panic!("{PAGE} has `{begin}`")) + begin.len();
        let to = from + now[from..].find("<!-- end -->").expect("and its end");
        now.replace_range(from..to, &table(name));
    }
    if std::env::var_os("XHIST_BLESS").is_some() {
        std::fs::write(path, now).expect("the page is written");
    } else {
        assert!(now == page, "{PAGE} differs from the import graph: XHIST_BLESS=1 writes its tables again");
    }
}

fn table(name: &str) -> String {
    let rooms = rooms(name);
    let floors = floors(&rooms);
    let mut rows: Vec<(usize, &String)> = rooms.keys().map(|room| (floors[room], room)).collect();
    rows.sort_by_key(|(floor, room)| (std::cmp::Reverse(*floor), *room));
    let mut table = String::from("| floor | room | job |\n|---|---|---|\n");
    for (floor, room) in rows {
        let circle = if reached(&rooms, room).contains(room) { " \\*" } else { "" };
        writeln!(table, "| {floor}{circle} | `{room}` | {} |", job(name, room)).expect("a string");
    }
    table
}

fn rooms(name: &str) -> Rooms {
    let mut rooms = Rooms::new();
    for (_, arrows) in builds().iter().filter(|(crate_name, _)| *crate_name == name) {
        for (file, targets) in &arrows.0 {
            let from = room(name, file);
            let targets = targets.keys().map(|target| room(name, target)).filter(|target| *target != from);
            rooms.entry(from.clone()).or_default().extend(targets);
        }
    }
    rooms
}

fn room(name: &str, file: &Path) -> String {
    let path = file.strip_prefix(sources(name)).expect("a file of the crate").with_extension("");
    // A file or a folder inside of a room is a room of its own if it has a floor of its own.
    let of_crate = FLOORS.iter().filter(|(crate_name, _)| *crate_name == name);
    let mut inner = of_crate.flat_map(|(_, floors)| floors.iter().copied().flatten().copied());
    let inner = inner
        .find(|room| room.contains('/') && file.starts_with(sources(name).join(room)))
        .map(|room| room.trim_end_matches(".rs").to_owned());
    let outer = path.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
    inner.unwrap_or(outer)
}

/// The floor of each room: one above the highest room that it uses. Rooms that use each other share one, marked `*`.
fn floors(rooms: &Rooms) -> BTreeMap<String, usize> {
    let below: BTreeMap<&String, BTreeSet<&String>> =
        rooms.keys().map(|room| (room, reached(rooms, room))).collect();
    let is_circle = |a: &String, b: &String| below[a].contains(b) && below[b].contains(a);
    // A room reaches more rooms than each of those below it does.
    let mut order: Vec<&String> = rooms.keys().collect();
    order.sort_by_key(|room| below[*room].iter().filter(|other| !is_circle(room, other)).count());
    let mut floors = BTreeMap::new();
    for room in order {
        let lower = below[room].iter().filter(|other| **other != room && !is_circle(room, other));
        let floor = lower.map(|other| floors.get(*other).copied().unwrap_or(0) + 1).max().unwrap_or(0);
        floors.insert(room.clone(), floor);
    }
    floors
}

fn reached<'a>(rooms: &'a Rooms, from: &'a str) -> BTreeSet<&'a String> {
    let (mut reached, mut ahead) = (BTreeSet::new(), vec![from]);
    while let Some(room) = ahead.pop() {
        let targets = rooms.get(room).into_iter().flatten();
        ahead.extend(targets.filter(|target| reached.insert(*target)).map(String::as_str));
    }
    reached
}

/// What the room's first file says of itself.
fn job(name: &str, room: &str) -> String {
    let source = sources(name);
    let files = [source.join(room).join("mod.rs"), source.join(room).with_extension("rs")];
    let file = files.iter().find(|file| file.is_file()).unwrap_or_else(|| panic!("{name} has a room {room}"));
    first_sentence(&std::fs::read_to_string(file).expect("a source file"))
}

fn first_sentence(text: &str) -> String {
    let lines =
        text.lines().map_while(|line| line.strip_prefix("//!")).take_while(|line| !line.trim().is_empty());
    let header = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    let mut ends = header.match_indices(". ").map(|(at, _)| at).filter(|at| !header[..*at].ends_with('.'));
    let end = ends.next().unwrap_or(header.len());
    let sentence = header[..end].trim_end_matches('.').replace('|', "\\|");
    if sentence.is_empty() { "the root of the crate".to_owned() } else { sentence }
}
