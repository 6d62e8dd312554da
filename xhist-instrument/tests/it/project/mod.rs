//! A project in a temporary directory, and the program in it as a user runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_xhist-instrument");
pub const GOOD: &str = "fn main() {\n    let x = 1;\n    println!(\"{x}\");\n}\n";

pub struct Project {
    pub dir: tempfile::TempDir,
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let project = Self { dir: tempfile::tempdir().unwrap() };
        project.write(
            "Cargo.toml",
            "[package]\nname = \"p\"\nedition = \"2021\"\n[dependencies]\nxhist-rt = \"0.1\"\n",
        );
        files.iter().for_each(|(path, text)| project.write(path, text));
        project
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::new(Command::new(PROGRAM).current_dir(self.dir.path()).args(args).output().unwrap())
    }
}

#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn new(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Temporary files of this tool in a directory.
pub fn temporaries(dir: &Path) -> usize {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with(".xhist-")).count()
}
