//! An analysis as bytes, for a file that is read by the next run of the same program.

use crate::site::analysis::Analysis;
use crate::text::fingerprint;
use std::sync::Arc;

impl Analysis {
    /// The analysis as bytes, with a sum in front.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = fingerprint(&[]).to_le_bytes().to_vec();
        bytes = postcard::to_extend(self, bytes).expect("a vector grows");
        let sum = fingerprint(&bytes[8..]).to_le_bytes();
        bytes[..8].copy_from_slice(&sum);
        bytes
    }

    /// Reads what [`Analysis::to_bytes`] wrote. `None` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Analysis> {
        let (known, rest) = bytes.split_first_chunk()?;
        if u64::from_le_bytes(*known) != fingerprint(rest) {
            return None;
        }
        let mut analysis: Analysis = postcard::from_bytes(rest).ok()?;
        // The statements of a function share its name.
        let names = analysis.sites.iter_mut().map(|site| &mut site.function);
        let mut last: Option<&Arc<str>> = None;
        for name in names.chain(analysis.values.iter_mut().map(|value| &mut value.function)) {
            if let Some(same) = last.filter(|last| **last == *name) {
                *name = Arc::clone(same);
            }
            last = Some(name);
        }
        Some(analysis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Values, analyze};

    const TEXT: &str = "mod a;\nconst fn f() -> u8 { 1 }\nmacro_rules! m { () => { f(); } }\n\
        async fn g(x: u8) { let y = include!(\"b.rs\"); z.await; #[cfg(c)] h(|| y + x); }\n#[derive(Eq)] struct S(T);";

    #[test]
    fn an_analysis_is_read_as_it_was_written() {
        let options = Options { values: Values::Eight, ..Options::default() };
        let analysis = analyze(TEXT.as_bytes(), &options).unwrap();
        assert!(!analysis.sites.is_empty() && !analysis.values.is_empty() && !analysis.skips.is_empty());
        assert_eq!(Analysis::from_bytes(&analysis.to_bytes()), Some(analysis));
    }

    #[test]
    fn damaged_bytes_are_no_analysis() {
        let bytes = analyze(TEXT.as_bytes(), &Options::default()).unwrap().to_bytes();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(Analysis::from_bytes(&damaged), None);
            assert_eq!(Analysis::from_bytes(&bytes[..at]), None);
        }
    }
}
