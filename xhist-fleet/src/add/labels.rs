//! Labels of a dump: those of its path, and those of the command.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Labels by name.
pub type Labels = Arc<BTreeMap<String, String>>;

/// The labels of a dump. Directories such as `device=dev-17` in its path or URL are labels; those of the command win.
pub fn labels_of(source: &str, given: &Labels) -> Labels {
    let directories = source.rsplit_once('/').map_or("", |(directories, _)| directories);
    let in_path: Vec<(&str, &str)> = directories.split('/').filter_map(label).collect();
    if in_path.is_empty() {
        return Arc::clone(given);
    }
    let mut labels: BTreeMap<String, String> =
        in_path.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    labels.extend(given.iter().map(|(name, value)| (name.clone(), value.clone())));
    Arc::new(labels)
}

/// Name and value, if the name of a directory is a label.
fn label(directory: &str) -> Option<(&str, &str)> {
    let (name, value) = directory.split_once('=')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && !value.is_empty()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_labels_and_the_command_wins() {
        let given: Labels = Arc::new([("build".to_owned(), "2".to_owned())].into());
        let labels = labels_of("s3://crashes/device=dev-17/build=1/=x/a b=c/x=1.bin", &given);
        let expected =
            [("build", "2"), ("device", "dev-17")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(*labels, expected.into());
        assert!(Arc::ptr_eq(&labels_of("/tmp/a.bin", &given), &given));
    }
}
