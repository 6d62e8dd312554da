//! Sites, packed to a tenth of their size: those of all files are in memory until the last one is analysed.

use crate::site::analysis::Analysis;
use crate::site::structure::{BodyKind, Jump, Place, Region, Structure};
use crate::site::value_site::{ValueKind, ValueSite};
use crate::site::{Insertion, Site, SiteKind};
use std::ops::Range;
use std::sync::Arc;

/// The sites of one file, and its structure.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    bytes: Arc<[u8]>,
    len: usize,
    recorded: usize,
    bodies: Arc<[u8]>,
    regions: Arc<[u8]>,
    values: Arc<[u8]>,
    value_count: usize,
}

/// A packed site: kind, line and column of both ends, bytes, shape, whether it is recorded, checks and awaits, the
/// function if it differs from that of the previous site, the sum of its text, what it calls, and how it jumps.
type Row<F> = (SiteKind, [u32; 4], Range<usize>, Insertion, [bool; 3], Option<F>, u32, F, u8);

/// A packed value site: kind, line and column, name, the offsets of its statement and of its call, attributes, whether it is
/// copied, generic, with its target and recorded, and the function if it differs from that of the previous one.
type ValueRow<F> = (ValueKind, [u32; 2], F, usize, Option<usize>, Option<F>, [bool; 5], Option<F>);

/// A packed body: path, place, kind, trait.
type BodyRow<F> = (F, Place, u8, F);

const JUMPS: [Option<Jump>; 6] =
    [None, Some(Jump::Return), Some(Jump::Break), Some(Jump::Continue), Some(Jump::Label), Some(Jump::Panic)];
const BODY_KINDS: [BodyKind; 5] = [
    BodyKind::Function,
    BodyKind::AsyncFunction,
    BodyKind::Closure,
    BodyKind::AsyncClosure,
    BodyKind::AsyncBlock,
];

/// [`BodyKind`] by its place in [`BODY_KINDS`].
pub(crate) mod body_kind {
    use super::{BODY_KINDS, BodyKind, number};
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(kind: &BodyKind, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u8(number(&BODY_KINDS, *kind))
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<BodyKind, D::Error> {
        let kind = u8::deserialize(from)?;
        Ok(BODY_KINDS.get(usize::from(kind)).copied().unwrap_or_default())
    }
}

/// The number of a value in a list that has all values.
fn number<T: PartialEq>(list: &[T], value: T) -> u8 {
    list.iter().position(|listed| *listed == value).unwrap_or(0) as u8
}

/// Unpacks rows one after another.
fn rows<'a, R: serde::Deserialize<'a>>(mut rest: &'a [u8]) -> impl Iterator<Item = R> {
    std::iter::from_fn(move || {
        (!rest.is_empty()).then(|| {
            let (row, behind) = postcard::take_from_bytes(rest).expect("rows were packed");
            rest = behind;
            row
        })
    })
}

impl Packed {
    /// The rows of sites and of values.
    pub(crate) fn rows(&self) -> (&[u8], &[u8]) {
        (&self.bytes, &self.values)
    }

    /// Only sites and values, of their rows.
    pub(super) fn of_rows(sites: &[u8], values: &[u8]) -> Self {
        Self { bytes: sites.into(), values: values.into(), ..Self::default() }
    }

    /// Packs the sites and the structure of an analysis.
    pub fn new(Analysis { sites, structure, values, .. }: &Analysis) -> Self {
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
                site.insertion.clone(),
                [site.recorded, site.checks, site.awaits],
                function,
                site.text,
                &site.calls,
                number(&JUMPS, site.jump),
            );
            bytes = postcard::to_extend(&row, bytes).expect("a vector grows");
            last = Some(&site.function);
        }
        let mut last = None;
        let value_count = values.iter().filter(|value| value.recorded).count();
        let values = values.iter().fold(Vec::new(), |bytes, value| {
            let ValueSite { kind, line, column, name, host, at, attributes, .. } = value;
            let function = Some(&*value.function).filter(|function| last != Some(*function));
            last = Some(&value.function);
            let flags = [value.copies, value.generic, value.targets, value.is_reference, value.recorded];
            let row: ValueRow<&str> =
                (*kind, [*line, *column], name, *host, *at, attributes.as_deref(), flags, function);
            postcard::to_extend(&row, bytes).expect("a vector grows")
        });
        let Structure { bodies, regions, .. } = structure;
        let bodies = bodies.iter().fold(Vec::new(), |bytes, body| {
            let row: BodyRow<&str> = (&body.path, body.place, number(&BODY_KINDS, body.kind), &body.of_trait);
            postcard::to_extend(&row, bytes).expect("a vector grows")
        });
        let regions = regions
            .iter()
            .fold(Vec::new(), |bytes, region| postcard::to_extend(region, bytes).expect("a vector grows"));
        let recorded = sites.iter().filter(|site| site.recorded).count();
        Self {
            bytes: bytes.into(),
            len: sites.len(),
            recorded,
            bodies: bodies.into(),
            regions: regions.into(),
            values: values.into(),
            value_count,
        }
    }

    /// Number of sites.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Number of sites that get a call.
    pub fn recorded(&self) -> usize {
        self.recorded
    }

    /// Records a site, whatever the detail.
    pub fn record(&mut self, site: usize) {
        let mut sites: Vec<Site> = self.iter().collect();
        sites[site].record();
        let packed = Self::new(&Analysis { sites, ..Analysis::default() });
        self.bytes = packed.bytes;
        self.recorded = packed.recorded;
    }

    /// Number of recorded values.
    pub fn value_count(&self) -> usize {
        self.value_count
    }

    /// The value sites, in their order.
    pub fn values(&self) -> impl Iterator<Item = ValueSite> {
        let mut function: Arc<str> = Arc::from("");
        rows::<ValueRow<&str>>(&self.values).map(move |row| {
            let (kind, [line, column], name, host, at, attributes, flags, other) = row;
            let [copies, generic, targets, is_reference, recorded] = flags;
            if let Some(other) = other {
                function = Arc::from(other);
            }
            let (name, function, attributes) = (name.into(), function.clone(), attributes.map(Box::from));
            ValueSite {
                kind,
                line,
                column,
                name,
                function,
                host,
                at,
                attributes,
                copies,
                generic,
                targets,
                is_reference,
                recorded,
            }
        })
    }

    /// Path, place, kind and trait of each body.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = (&str, Place, BodyKind, &str)> {
        rows::<BodyRow<&str>>(&self.bodies).map(|(path, place, kind, of_trait)| {
            let kind = BODY_KINDS.get(usize::from(kind)).copied().unwrap_or_default();
            (path, place, kind, of_trait)
        })
    }

    /// Loops and branches.
    pub(crate) fn regions(&self) -> impl Iterator<Item = Region> {
        rows(&self.regions)
    }

    /// Whether there are no sites.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The sites, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Site> {
        let mut function: Arc<str> = Arc::from("");
        rows::<Row<&str>>(&self.bytes).map(
            move |(kind, place, range, shape, flags, other, text, calls, jump)| {
                let ([line, column, end_line, end_column], [recorded, checks, awaits]) = (place, flags);
                if let Some(other) = other {
                    function = Arc::from(other);
                }
                let function = function.clone();
                Site {
                    kind,
                    line,
                    column,
                    end_line,
                    end_column,
                    function,
                    range,
                    insertion: shape,
                    recorded,
                    checks,
                    awaits,
                    text,
                    calls: calls.into(),
                    jump: JUMPS.get(usize::from(jump)).copied().flatten(),
                }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, analyze};

    #[test]
    fn packing_keeps_values() {
        let options = Options { values: crate::Values::Eight, ..Options::default() };
        let text = "fn a<T>(x: T) { #[cfg(b)] let y = x; } fn c(z: u8) { z; for r#w in v {} }";
        let analysis = analyze(text.as_bytes(), &options).unwrap();
        let packed = Packed::new(&analysis);
        assert_eq!((packed.values().collect::<Vec<_>>(), packed.value_count()), (analysis.values, 3));
    }

    #[test]
    fn packing_keeps_sites_and_functions() {
        let text = "async fn a() { let x = |y| y + 1; z.await; #[cfg(b)] x(2); }\nmod é { fn b() { match c { 1 => {}, _ => d } } }";
        let analysis = analyze(text.as_bytes(), &Options::default()).unwrap();
        let (packed, sites) = (Packed::new(&analysis), &analysis.sites);
        assert_eq!(packed.iter().collect::<Vec<_>>(), *sites);
        assert_eq!(packed.len(), sites.len());
        assert!(packed.bytes.len() < sites.len() * size_of::<Site>() / 4);
        let bodies: Vec<_> = packed.bodies().collect();
        assert_eq!(
            bodies,
            [
                ("a", [1, 14, 1, 61], BodyKind::AsyncFunction, ""),
                ("a", [1, 28, 1, 33], BodyKind::Closure, ""),
                ("é::b", [2, 16, 2, 47], BodyKind::Function, "")
            ]
        );
        assert_eq!(packed.regions().collect::<Vec<_>>(), analysis.structure.regions);
        assert!(analysis.structure.regions.len() == 1 && sites.iter().any(|site| &*site.calls == "()"));
        assert!(Packed::new(&Analysis::default()).is_empty() && Packed::default().iter().next().is_none());
    }
}
