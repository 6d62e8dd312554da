//! Are statements in the arguments of well-known macros of real crates recorded, and do they do what they did?

use xhist_tests::{Case, Listing, Need, Tree, cargo, line_of, online_cargo, report, repository};

pub const CASES: &[Case] = &[
    Case::needing(
        "arguments_of_macros_are_recorded_where_they_are_code",
        &[Need::Long, Need::Registry],
        arguments,
    ),
    Case::new("a_foreign_macro_by_the_name_of_an_own_one_is_left_alone", foreign),
];

/// What marks each statement that is to be found.
const MARKS: [&str; 10] = [
    "cfg_if",
    "thread_local",
    "lazy_static",
    "lazy_static expression",
    "tokio::select",
    "else of tokio::select",
    "futures::select",
    "tokio::join",
    "async_stream",
    "scopeguard",
];

fn arguments() {
    let tree = Tree::kept("macros", &repository().join("tests/fixtures/macros"), str::to_owned);
    let plain = online_cargo(tree.path()).args("run --quiet").succeed();
    let file = Tree::empty("macros").join("history.xhist");
    let ours = online_cargo(tree.path()).args("xhist run --quiet").env("XHIST_FILE", &file).succeed();
    ours.check(plain.stdout == ours.stdout, &plain.stdout);
    let listing = report(tree.path()).arg(&file).succeed();
    let places = Listing::parse(&listing.stdout).places();
    let marks = MARKS.map(|mark| ("src/main.rs", mark));
    for (file, mark) in marks.into_iter().chain([("src/helpers/user.rs", "own macro")]) {
        let place = format!("{file}:{}", line_of(&tree.join(file), &format!(" // {mark}")));
        listing.check(places.contains(&place), &format!("{mark}: {place}"));
    }
}

fn foreign() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/foreign-macro"));
    let plain = cargo(tree.path()).args("run --quiet").succeed();
    let file = tree.join("history.xhist");
    let ours = cargo(tree.path()).args("xhist run --quiet").env("XHIST_FILE", &file).succeed();
    ours.check(plain.stdout == ours.stdout, &plain.stdout);
    let listing = report(tree.path()).arg(&file).succeed();
    let places = Listing::parse(&listing.stdout).places();
    for (file, mark) in [("src/own.rs", " // own"), ("src/user.rs", " // foreign")] {
        let place = format!("{file}:{}", line_of(&tree.join(file), mark));
        listing.check(places.contains(&place), &place);
    }
}
