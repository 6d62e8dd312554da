//! A failed test as a later run needs it: where it failed, and the functions whose values say why.

use std::path::Path;

use super::findings::SuspectFindings;
use super::program::module;
use super::{brief, ranked};
use xhist_history::MapPlaces;
use xhist_history::model::visible;
use xhist_history::notes::Notes;

/// Suspects whose functions are taken.
const SUSPECTS: usize = 10;
/// Open calls whose functions are taken, the innermost first.
const OPEN: usize = 10;

/// A test that failed in a run, or firmware that did not end well by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedTest {
    /// Its name.
    pub name: String,
    /// The functions of its open calls and of its first suspects, as patterns of Rust paths.
    pub functions: Vec<String>,
    /// `file:line` of the innermost open call at the failure; `None` if its history is not known.
    pub at: Option<String>,
    /// The same of the outermost one, if no panic is recorded: a loop that was stopped may be anywhere in it.
    pub within: Option<String>,
}

/// Finds a failed test of a run by its name, by the last part of it, or by any part; without a name, the first one.
///
/// # Errors
/// Why no test is found, as a sentence.
pub fn failed_test(directory: &Path, name: Option<&str>) -> Result<FailedTest, String> {
    found(directory, |clusters| find(clusters, name))
}

/// Finds the firmware that failed in a run, or was stopped.
///
/// # Errors
/// Why no firmware is found, as a sentence.
pub fn failed_firmware(directory: &Path) -> Result<FailedTest, String> {
    found(directory, |clusters| {
        let firmware = clusters.iter().find_map(|findings| {
            let mut failed = findings.ranking.failed.iter();
            let is_bare = |test: &&usize| {
                let ring = findings.tests.tests[**test].ring.as_ref();
                ring.is_some_and(|(ring, _)| !ring.is_of_thread())
            };
            Some((findings, *failed.find(is_bare)?))
        });
        let (findings, test) = firmware.ok_or("in that run no firmware failed")?;
        Ok(described(findings, test))
    })
}

fn found(
    directory: &Path,
    find: impl FnOnce(&[SuspectFindings<'_>]) -> Result<FailedTest, String>,
) -> Result<FailedTest, String> {
    let options = brief(directory, SUSPECTS, &MapPlaces::default(), &[]);
    let mut nowhere = std::io::sink();
    match ranked(&options, &mut Notes::new(&mut nowhere), |clusters, _, _| find(clusters)) {
        Ok(found) => found.unwrap_or_else(|| Err("the map of that run cannot be read".to_owned())),
        Err(error) => Err(error.to_string()),
    }
}

fn find(clusters: &[SuspectFindings<'_>], name: Option<&str>) -> Result<FailedTest, String> {
    let all = clusters
        .iter()
        .flat_map(|findings| findings.ranking.failed.iter().map(move |test| (findings, *test)));
    let name_of = |(findings, test): &(&SuspectFindings<'_>, usize)| findings.tests.tests[*test].name.clone();
    let is_like = |found: &(&SuspectFindings<'_>, usize)| {
        let (known, Some(name)) = (name_of(found), name) else { return Some(0) };
        let is_last = known.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with("::"));
        (known == name).then_some(0).or(is_last.then_some(1)).or(known.contains(name).then_some(2))
    };
    let liked = all.clone().filter_map(|found| Some((is_like(&found)?, found)));
    let Some((_, (findings, test))) = liked.min_by_key(|(like, (_, test))| (*like, *test)) else {
        let failed: Vec<String> = all.map(|found| visible(&name_of(&found)).into_owned()).collect();
        return Err(format!(
            "no failed test `{}` in that run; failed: {}",
            name.unwrap_or_default(),
            failed.join(", ")
        ));
    };
    if findings.tests.are_crashes {
        return Err("in that run a program crashed, and no test failed".to_owned());
    }
    Ok(described(findings, test))
}

fn described(findings: &SuspectFindings<'_>, test: usize) -> FailedTest {
    let test = &findings.tests.tests[test];
    let open = test.history.iter().flat_map(|history| &history.open).copied();
    let suspects = findings.ranking.suspects.iter().map(|suspect| suspect.site);
    let mut functions: Vec<String> = Vec::new();
    for site in open.clone().take(OPEN).chain(suspects.take(SUSPECTS)) {
        let function = &findings.program.functions[findings.site(site).function as usize];
        let pattern = format!("**::{}{}", module(findings.path(function.file)), function.path);
        if !function.path.is_empty() && !functions.contains(&pattern) {
            functions.push(pattern);
        }
    }
    let place = |site: u32| {
        let site = findings.site(site);
        findings.place(site, site.line)
    };
    let has_panic = test.history.as_ref().is_some_and(|history| history.has_panic);
    let within = open.clone().last().filter(|_| !has_panic).map(place);
    FailedTest { name: test.name.clone(), functions, at: open.clone().next().map(place), within }
}
