//! The summary of a step: a page in Markdown with all failures and suspects.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use super::run_failures::RunFailures;

/// Failures in a summary. GitHub refuses more than a mebibyte.
const MOST: usize = 200;

/// The summary of a run.
pub struct StepSummary<'r>(pub &'r RunFailures);

impl StepSummary<'_> {
    /// Appends it to the file that GitHub names.
    pub fn append(&self, file: &Path) -> io::Result<()> {
        OpenOptions::new().create(true).append(true).open(file)?.write_all(self.text().as_bytes())
    }

    fn text(&self) -> String {
        let RunFailures { failures, suspects, more } = self.0;
        let mut text = format!("### xhist: {} failed\n\n", failures.len());
        for failure in failures.iter().take(MOST) {
            text += &format!("<details><summary>{}</summary>\n\n", escaped(&failure.title()));
            text += &format!("<pre>{}</pre>\n\n</details>\n\n", escaped(&failure.message()));
        }
        let hidden = failures.len().saturating_sub(MOST);
        if hidden > 0 {
            text += &format!("{hidden} more failures\n\n");
        }
        if !suspects.is_empty() {
            text += "| suspect | score | line | statement |\n|---|---|---|---|\n";
            for row in suspects {
                let place = escaped(&format!("{}:{}", row.path, row.line));
                let statement = escaped(&row.text);
                text +=
                    &format!("| {} | {:.2} | {place} | <code>{statement}</code> |\n", row.rank, row.score);
            }
            text.push('\n');
        }
        text + &format!("<pre>{}</pre>\n", escaped(more))
    }
}

/// Text that Markdown and HTML leave as it is.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' => safe.push_str(&format!("&#{};", character as u32)),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::super::failure::AnnotatedFailure;
    use super::*;

    #[test]
    fn text_of_a_run_is_no_markup() {
        let failure = AnnotatedFailure {
            name: "<script>|a`".into(),
            how: "failed".into(),
            ..AnnotatedFailure::default()
        };
        let failures = RunFailures { failures: vec![failure], suspects: Vec::new(), more: String::new() };
        let text = StepSummary(&failures).text();
        assert!(text.contains("&lt;script&gt;&#124;a&#96; failed") && !text.contains("<script"), "{text}");
    }
}
