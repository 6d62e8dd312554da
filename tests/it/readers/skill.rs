//! `skill`: the file that says to agents when to use which command.

use xhist_tests::{Tree, report};

use super::{fresh, shell};

/// The commands in a text: lines of code blocks, and code in tables.
fn commands_of(text: &str) -> Vec<String> {
    let pieces = text.split('`').map(str::trim);
    let lines = text.lines().map(str::trim);
    let is_command = |piece: &&str| piece.starts_with("cargo xhist ") && !piece.contains(['\n', '|']);
    let mut found: Vec<String> = lines.chain(pieces).filter(is_command).map(str::to_owned).collect();
    found.retain(|command| !command.contains('`'));
    found.sort();
    found.dedup();
    found
}

/// Each, with names of the parser in place of the words in capitals.
pub fn commands() {
    let tree = fresh();
    let skill = shell(&tree, "cargo xhist skill").succeed().stdout;
    assert!(skill.lines().count() <= 60, "{} lines", skill.lines().count());
    let commands = commands_of(&skill);
    assert!(commands.len() >= 15, "{commands:#?}");
    for command in &commands {
        let typed = command
            .replace("CRATE", "parser")
            .replace("FUNCTION", "Parser::value")
            .replace("FILE:LINE", "src/lib.rs:43")
            .replace("FILE", "src/lib.rs")
            .replace("NAME=VALUE", "digit=3")
            .replace("TEST", "tests::unclosed");
        // The tests fail, the project has no program to run, and the input of the server is empty.
        let code = match typed.split(' ').nth(2) {
            Some("test") => 101,
            Some("run") => continue,
            _ => 0,
        };
        let done = shell(&tree, &typed).done().expect(code);
        if let Some(rest) = typed.split("--budget 8k").nth(1) {
            done.check(rest.is_empty() && done.stdout.len() <= 8192 && !done.stdout.is_empty(), command);
        }
    }
}

pub fn install() {
    let place = Tree::empty("skill");
    let install = || report(place.path()).args("skill --install");
    let done = install().succeed();
    let paths = [".claude/skills/xhist/SKILL.md", ".agents/skills/xhist/SKILL.md"];
    let skill = report(place.path()).args("skill").succeed().stdout;
    for path in paths {
        done.check(done.stderr.contains(&format!("{path}: is written")), path);
        assert_eq!(place.read(path), skill);
    }
    place.write(paths[1], "a skill of the user");
    let done = install().done().expect(2);
    done.check(done.stderr.contains(&format!("{}: is up to date", paths[0])), "ours");
    done.check(done.stderr.contains(&format!("{}: is there and not of xhist", paths[1])), "theirs");
    assert_eq!(place.read(paths[1]), "a skill of the user");
}
