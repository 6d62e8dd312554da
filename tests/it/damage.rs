//! Is a ring of the real recorder that is damaged or missing ever passed over, and is one that is whole ever doubted?

use std::sync::OnceLock;

use qs_core::ring::find;
use xhist_history::{MapPlaces, ReadOptions};
use xhist_report::{Layout, Options, report};
use xhist_tests::{Case, Run, Tree, cargo, is_long, repository};

pub const CASES: &[Case] = &[
    Case::new("a_damaged_header_is_never_passed_over", damaged_headers),
    Case::new("a_ring_file_cut_anywhere_says_so", cut),
];

const PROGRAMS: [&str; 2] = ["ping_pong", "churn"];

/// These programs of the zoo as a project of their own: each report reads the whole map, and this one is small.
fn project() -> &'static Tree {
    static PROJECT: OnceLock<Tree> = OnceLock::new();
    PROJECT.get_or_init(|| {
        let tree = Tree::copy_of(&repository().join("tests/fixtures/zoo"));
        for file in std::fs::read_dir(tree.join("src/bin")).expect("programs").flatten() {
            if !PROGRAMS.iter().any(|name| file.path().file_stem().is_some_and(|stem| stem == *name)) {
                std::fs::remove_file(file.path()).expect("a copy");
            }
        }
        cargo(tree.path()).args("xhist build --quiet --bins").succeed();
        tree
    })
}

/// A ring file of this program, with the bitmap in front.
fn ring_file(name: &str, size: &str) -> Vec<u8> {
    let tree = Tree::empty(name);
    let file = tree.join("ring.xhist");
    let program = project().join(&format!("target/xhist/build/debug/{name}"));
    let run = Run::new(program, tree.path()).env("XHIST_FILE", &file);
    run.env("XHIST_SIZE", size).env("XHIST_EVER", "16").succeed();
    std::fs::read(&file).expect("a ring file")
}

/// Exit code, listing with threads, and stderr.
fn listed(image: &[u8]) -> (u8, Vec<u8>, String) {
    let layout = Layout { thread: true, ..Layout::default() };
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let maps = MapPlaces { work_dir: Some(project().path().to_owned()), ..MapPlaces::default() };
    let code = report(
        image,
        &Options { layout, ..ReadOptions { maps, ..ReadOptions::default() }.into() },
        &mut out,
        &mut notes,
    );
    (code as u8, out, String::from_utf8_lossy(&notes).into_owned())
}

/// Words that nothing contradicts: the newest time, how much is zeroed, the time of the open chunk, the thread's id, the
/// count of async tasks.
fn is_beyond_checking(byte: usize) -> bool {
    [64..72, 72..74, 104..112, 124..128, 144..152].iter().any(|field| field.contains(&byte))
}

fn damaged_headers() {
    for (name, size) in PROGRAMS.into_iter().zip(["4k", "256"]) {
        let image = ring_file(name, size);
        let rings: Vec<usize> =
            find(&image).filter(|found| found.header.is_ok()).map(|found| found.offset).collect();
        let (code, whole, notes) = listed(&image);
        assert_eq!((code, notes.contains("lost")), (0, false), "{name}: {notes}");
        // The first ring counts all of them. Of many rings, only the newest is damaged here.
        let few = if rings.len() > 2 { &rings[rings.len() - 1..] } else { &rings[..] };
        for ring in few {
            for (byte, bit) in (0..192).flat_map(|byte| (0..8).map(move |bit| (byte, bit))) {
                // One bit of each byte, or with XHIST_LONG=1 all.
                let is_tried = is_long() || (byte + bit) % 8 == 0;
                if !is_tried || is_beyond_checking(byte) {
                    continue;
                }
                let mut image = image.clone();
                image[*ring + byte] ^= 1 << bit;
                let (code, out, notes) = listed(&image);
                let is_named = notes.contains("lost") || notes.contains("no map of this build");
                let is_said = code == 1 && is_named || code == 0 && out == whole;
                assert!(is_said, "{name}, ring at {ring}, byte {byte}, bit {bit}: {code}\n{notes}");
            }
        }
    }
}

fn cut() {
    let image = ring_file("ping_pong", "4k");
    let edges = find(&image).flat_map(|found| {
        let end = found.offset + 4096 + 4096;
        [found.offset, found.offset + 8, found.offset + 100, found.offset + 192, end - 1, end, end + 1]
    });
    for len in edges.chain((0..image.len()).step_by(1009)).filter(|len| *len < image.len()) {
        let (code, _, notes) = listed(&image[..len]);
        assert!(code == 1 && notes.contains("lost") || code == 3, "cut to {len}: {code}\n{notes}");
    }
}
