//! Sites in a tenth of their size: those of all files wait in memory until the last one is analysed.

use crate::site::{Analysis, Shape, Site, SiteKind};
use std::ops::Range;
use std::sync::Arc;

/// The sites of one file, and its functions.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    bytes: Arc<[u8]>,
    len: usize,
    recorded: usize,
    functions: Arc<[u8]>,
}

/// A site as it is packed: kind, line and column of both ends, bytes, shape, whether it is recorded, checks and awaits, and the function
/// when it is another than that of the site before.
type Row<F> = (SiteKind, [u32; 4], Range<usize>, Shape, [bool; 3], Option<F>);

impl Packed {
    /// Packs what an analysis has found.
    pub fn new(Analysis { sites, functions, .. }: &Analysis) -> Self {
        let mut bytes = Vec::new();
        let mut last: Option<&Arc<str>> = None;
        for site in sites {
            let places = [site.line, site.column, site.end_line, site.end_column];
            let function =
                Some(&*site.function).filter(|function| last.is_none_or(|last| **last != **function));
            let row: Row<&str> = (
                site.kind,
                places,
                site.range.clone(),
                site.shape.clone(),
                [site.recorded, site.checks, site.awaits],
                function,
            );
            bytes = postcard::to_extend(&row, bytes).expect("memory takes everything");
            last = Some(&site.function);
        }
        let functions = functions.iter().fold(Vec::new(), |bytes, function| {
            let row: (&str, [u32; 4]) = (&function.path, function.place);
            postcard::to_extend(&row, bytes).expect("memory takes everything")
        });
        let recorded = sites.iter().filter(|site| site.recorded).count();
        Self { bytes: bytes.into(), len: sites.len(), recorded, functions: functions.into() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// How many of them get a call.
    pub fn recorded(&self) -> usize {
        self.recorded
    }

    /// Records a site, whatever the detail.
    pub fn record(&mut self, site: usize) {
        let mut sites: Vec<Site> = self.iter().collect();
        sites[site].record();
        let functions = std::mem::take(&mut self.functions);
        *self = Self { functions, ..Self::new(&Analysis { sites, ..Analysis::default() }) };
    }

    /// Path and place of each function: line and column of its first character and behind its last one.
    pub fn functions(&self) -> impl Iterator<Item = (&str, [u32; 4])> {
        let mut rest = &*self.functions;
        std::iter::from_fn(move || {
            (!rest.is_empty()).then(|| {
                let (row, behind) = postcard::take_from_bytes(rest).expect("functions were packed");
                rest = behind;
                row
            })
        })
    }

    /// Whether there are no sites.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The sites, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Site> {
        let mut rest = &*self.bytes;
        let mut function: Arc<str> = Arc::from("");
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (
                (kind, [line, column, end_line, end_column], range, shape, [recorded, checks, awaits], other),
                behind,
            ) = postcard::take_from_bytes::<Row<&str>>(rest).expect("sites were packed");
            rest = behind;
            if let Some(other) = other {
                function = Arc::from(other);
            }
            let function = function.clone();
            Some(Site {
                kind,
                line,
                column,
                end_line,
                end_column,
                function,
                range,
                shape,
                recorded,
                checks,
                awaits,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, analyze};

    #[test]
    fn sites_come_out_as_they_went_in() {
        let text = "async fn a() { let x = |y| y + 1; z.await; #[cfg(b)] x(2); }\nmod é { fn b() { match c { 1 => {}, _ => d } } }";
        let analysis = analyze(text.as_bytes(), &Options::default()).unwrap();
        let (packed, sites) = (Packed::new(&analysis), &analysis.sites);
        assert_eq!(packed.iter().collect::<Vec<_>>(), *sites);
        assert_eq!(packed.len(), sites.len());
        assert!(packed.bytes.len() < sites.len() * size_of::<Site>() / 4);
        let functions: Vec<_> = packed.functions().collect();
        assert_eq!(functions, [("a", [1, 14, 1, 61]), ("é::b", [2, 16, 2, 47])]);
        assert!(Packed::new(&Analysis::default()).is_empty() && Packed::default().iter().next().is_none());
    }
}
