//! Real sources: every file that parses is instrumented, keeps its lines, and is restored by `strip`.

use crate::sources::{analyzed, options};
use xhist_instrument::{Numbers, Options, ids_needed, instrument, parses, strip};

#[test]
fn registry_sources_round_trip() {
    let files = crate::sources::sample(250);
    let mut counts = [0_u64; 5];
    let mut failures = Vec::new();
    for (index, path) in files.iter().enumerate() {
        let text = std::fs::read(path).unwrap();
        let options = options(index);
        match round_trip(&text, &options) {
            Ok((sites, skipped)) => {
                counts[0] += 1;
                counts[1] += text.len() as u64;
                counts[2] += sites;
                counts[3] += skipped;
            }
            Err(Failure::Refused(reason)) => {
                counts[4] += 1;
                println!("refused {}:{reason}", path.display());
            }
            Err(Failure::Broken(reason)) => failures.push(format!("{}: {reason}", path.display())),
        }
    }
    let [instrumented, bytes, sites, skipped, refused] = counts;
    println!(
        "{} files: {instrumented} instrumented ({bytes} bytes, {sites} statements, {skipped} skipped), \
         {refused} refused, {} failed",
        files.len(),
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(files.len() >= 83, "only {} files", files.len());
    let share = refused * 100 / files.len() as u64;
    assert!(share <= MAY_REFUSE, "{refused} of {} files are refused", files.len());
}

/// Per cent of files that the parser may refuse: test data of parsers, and code of edition 2015.
const MAY_REFUSE: u64 = 5;

enum Failure {
    /// Does not parse, is not UTF-8, or the like.
    Refused(String),
    Broken(String),
}

fn round_trip(text: &[u8], options: &Options) -> Result<(u64, u64), Failure> {
    let analysis = analyzed(text, options).map_err(|refusal| {
        // Only files that the parser refuses may be refused.
        let parses = std::str::from_utf8(text).is_ok_and(|text| syn::parse_file(text).is_ok());
        match parses {
            true => Failure::Broken(format!("refused although it parses: {refusal}")),
            false => Failure::Refused(refusal.to_string()),
        }
    })?;
    let ids: Vec<u16> = (0..ids_needed(analysis.lines) as u16).collect();
    let result = instrument(text, &analysis, &Numbers { ids, first: 1, values: 1 }, options)
        .map_err(|refusal| Failure::Broken(refusal.to_string()))?;
    let newlines = |text: &[u8]| text.iter().filter(|&&byte| byte == b'\n').count();
    if newlines(text) != newlines(&result) {
        return Err(Failure::Broken("number of lines changed".to_owned()));
    }
    if strip(&result) != text {
        return Err(Failure::Broken("strip does not give back the original".to_owned()));
    }
    parses(&result).map_err(|refusal| Failure::Broken(refusal.to_string()))?;
    let skipped = analysis.skips.iter().map(|skip| u64::from(skip.statements)).sum();
    Ok((analysis.sites.len() as u64, skipped))
}
