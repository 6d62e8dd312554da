//! Do the steps for CI of the page keep what it says? They run in the page's project, whose test fails, in the order and
//! under the conditions of GitHub and GitLab. Only what installs from the network is left out.

use std::path::PathBuf;

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::Value;
use xhist_tests::{Tree, other_cargo, report, repository};

/// Keys that the services know, of what a step, a job and their parts may have.
const GITHUB_STEP: [&str; 10] =
    ["id", "if", "name", "uses", "run", "working-directory", "shell", "with", "env", "continue-on-error"];
const UPLOAD: [&str; 7] = [
    "name",
    "path",
    "if-no-files-found",
    "retention-days",
    "compression-level",
    "overwrite",
    "include-hidden-files",
];
const GITLAB_JOB: [&str; 9] =
    ["image", "stage", "before_script", "script", "after_script", "artifacts", "cache", "rules", "variables"];
const GITLAB_ARTIFACTS: [&str; 7] = ["name", "paths", "exclude", "expire_in", "when", "untracked", "reports"];

/// The project, and what the steps run with.
struct CiMachine {
    tree: Tree,
    /// Artifacts of the last job.
    kept: Tree,
}

pub fn steps() {
    let text = std::fs::read_to_string(repository().join("docs/tests-and-ci.md")).expect("a page");
    let [history, gitlab_job, page] = super::blocks(&text, "yaml").try_into().expect("three blocks");
    let library = text.split_once("<<'END'\n").and_then(|(_, rest)| rest.split_once("END\n"));
    let library = library.expect("the project of the page").0;
    let mut machine = CiMachine { tree: Tree::package("prices"), kept: Tree::empty("kept") };
    machine.tree.write("src/lib.rs", library);

    for (block, run) in
        [(&history, CiMachine::github as fn(&mut CiMachine, &Value)), (&gitlab_job, CiMachine::gitlab)]
    {
        run(&mut machine, &parsed(block));
        assert_eq!(machine.kept_files(), ["xhist-failed.tar.gz"]);
        machine.read(&text);
    }
    machine.github(&parsed(&page));
    assert_eq!(machine.kept_files(), ["xhist.html"]);
    let kept = machine.kept.read("xhist.html");
    assert!(kept.starts_with("<!doctype html>") && kept.ends_with("</html>\n"), "a page");
    assert!(machine.tree.read("summary.md").contains("### xhist: "), "the summary of the job");

    // Nothing is kept of a job that passes.
    machine.tree.write("src/lib.rs", &library.replace("pieces > 10", "pieces >= 10"));
    machine.github(&parsed(&history));
    assert_eq!(machine.kept_files(), [] as [String; 0]);
    machine.gitlab(&parsed(&gitlab_job));
    assert_eq!(machine.kept_files(), [] as [String; 0]);
}

impl CiMachine {
    /// The steps of a job, as GitHub runs them.
    fn github(&mut self, steps: &Value) {
        self.clean();
        let mut has_failed = false;
        for step in steps.as_array().expect("a list of steps") {
            has_only(step, &GITHUB_STEP);
            let runs = match step["if"].as_str() {
                None | Some("success()") => !has_failed,
                Some("failure()") => has_failed,
                Some("always()") => true,
                Some(other) => panic!("`if: {other}` is not known"),
            };
            if !runs {
                continue;
            }
            match (step["run"].as_str(), step["uses"].as_str()) {
                (Some(lines), None) => has_failed |= !self.shell("bash -e", lines, &[]),
                (None, Some("actions/upload-artifact@v7")) => {
                    has_only(&step["with"], &UPLOAD);
                    assert!(step["with"]["name"].is_string(), "a name");
                    self.keep(step["with"]["path"].as_str().expect("a path"));
                }
                other => panic!("no step: {other:?}"),
            }
        }
    }

    /// The one job of the file, as GitLab runs it: lines of a script are one shell, and those behind it are another.
    fn gitlab(&mut self, file: &Value) {
        self.clean();
        let jobs: Vec<&Value> = file.as_object().expect("jobs").values().collect();
        let [job] = jobs[..] else { panic!("{} jobs", jobs.len()) };
        has_only(job, &GITLAB_JOB);
        has_only(&job["artifacts"], &GITLAB_ARTIFACTS);
        let passed = self.shell("bash -eo pipefail", &lines(&job["script"]), &[]);
        let status = if passed { "success" } else { "failed" };
        let behind = lines(&job["after_script"]);
        assert!(self.shell("bash -eo pipefail", &behind, &[("CI_JOB_STATUS", status)]), "{behind}");
        let is_kept = match job["artifacts"]["when"].as_str() {
            Some("always") => true,
            Some("on_failure") => !passed,
            None | Some("on_success") => passed,
            Some(other) => panic!("`when: {other}` is not known"),
        };
        for path in lines(&job["artifacts"]["paths"]).lines().filter(|_| is_kept) {
            self.keep(path);
        }
    }

    /// Runs these lines; whether they succeed. The user has an empty home, and cargo a place of its own: that of the
    /// image `rust` is `/usr/local/cargo`.
    fn shell(&self, shell: &str, lines: &str, variables: &[(&str, &str)]) -> bool {
        let lines: Vec<&str> = lines.lines().filter(|line| !is_install(line)).collect();
        let shell: Vec<&str> = shell.split(' ').chain(["-c"]).collect();
        let own = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        let run = other_cargo(shell[0], self.tree.path()).args(&shell[1..].join(" ")).arg(lines.join("\n"));
        let mut run = run.env("CARGO_NET_OFFLINE", "true");
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            run = run.env(name, std::env::var_os(name).unwrap_or_else(|| own.join(folder).into()));
        }
        for (name, value) in variables {
            run = run.env(name, value);
        }
        let home = self.tree.join("home");
        std::fs::create_dir_all(&home).expect("a home");
        let run = run.env("HOME", home).env("GITHUB_STEP_SUMMARY", self.tree.join("summary.md"));
        let done = run.env("GITHUB_WORKSPACE", self.tree.path()).done();
        done.check([0, 101].contains(&done.code()), "it is the tests that fail, and no command");
        done.code() == 0
    }

    /// Keeps a file of the job.
    fn keep(&self, path: &str) {
        std::fs::copy(self.tree.join(path), self.kept.join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    /// A new job: nothing of the last one is there.
    fn clean(&mut self) {
        self.kept = Tree::empty("kept");
        for name in ["xhist-failed.tar.gz", "xhist.html", "summary.md"] {
            drop(std::fs::remove_file(self.tree.join(name)));
        }
        drop(std::fs::remove_dir_all(self.tree.join("target")));
    }

    fn kept_files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.kept.path()).expect("a directory").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// What the page types on another machine shows the failure.
    fn read(&self, text: &str) {
        let elsewhere = |words: &str| {
            let run = report(self.kept.path()).env("XHIST_CACHE", self.kept.join("cache"));
            run.args(words).succeed()
        };
        let typed = text.split_once("### What the artifact holds").expect("the section").1;
        let commands: Vec<&str> =
            typed.lines().filter_map(|line| line.strip_prefix("$ cargo xhist ")).collect();
        assert_eq!(commands.len(), 3, "{commands:?}");
        for command in commands {
            // A view needs a terminal.
            let done = elsewhere(&command.replace("view ", "view --print "));
            done.check(done.stdout.contains("pieces > 10"), "the line of the mistake");
        }
        std::fs::remove_dir_all(self.kept.join("cache")).expect("the unpacked file");
    }
}

/// What installs from the network. What it names is there.
fn is_install(line: &str) -> bool {
    let Some(words) = line.strip_prefix("cargo install ") else { return false };
    let manifest = std::fs::read_to_string(repository().join("Cargo.toml")).expect("a manifest");
    let [option, link, package] = words.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
    assert!(option == "--git" && manifest.contains(&format!("repository = \"{link}\"")), "{line}");
    assert!(repository().join(package).join("Cargo.toml").is_file(), "{line}");
    true
}

fn has_only(map: &Value, known: &[&str]) {
    for key in map.as_object().expect("a map").keys() {
        assert!(known.contains(&key.as_str()), "`{key}` is no key of the service");
    }
}

/// The lines of a script, of which each is an item.
fn lines(list: &Value) -> String {
    let items = list.as_array().expect("a list").iter();
    items.map(|item| item.as_str().expect("a line")).collect::<Vec<_>>().join("\n")
}

fn parsed(text: &str) -> Value {
    let documents = Yaml::load_from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    let [document] = &documents[..] else { panic!("{} documents", documents.len()) };
    json(document)
}

fn json(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(Scalar::String(text)) => Value::from(text.as_ref()),
        Yaml::Value(Scalar::Boolean(flag)) => Value::from(*flag),
        Yaml::Value(Scalar::Integer(number)) => Value::from(*number),
        Yaml::Sequence(items) => items.iter().map(json).collect(),
        Yaml::Mapping(map) => {
            let key = |key: &Yaml<'_>| json(key).as_str().expect("a key is a text").to_owned();
            map.iter().map(|(name, value)| (key(name), json(value))).collect()
        }
        other => panic!("not of a workflow: {other:?}"),
    }
}
