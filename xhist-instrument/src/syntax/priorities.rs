//! Priorities of interrupts, as the attributes of an RTIC application give them.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::{Attribute, ForeignItem, Item, ItemMod, Signature};

use super::attributes;
use super::token_scan::unraw;

/// A function with `#[task]`.
struct Task {
    /// The interrupt of a hardware task.
    binds: Option<String>,
    priority: u8,
    /// A `cfg` may remove it.
    is_optional: bool,
}

/// The priority of each interrupt that runs a task. Dispatchers are left out if a `cfg` may change which task they run.
pub(super) fn of_app(module: &ItemMod) -> BTreeMap<String, BTreeSet<u8>> {
    let mut found: BTreeMap<String, BTreeSet<u8>> = BTreeMap::new();
    let Some(app) = module.attrs.iter().find_map(|attribute| arguments(attribute, "app")) else {
        return found;
    };
    let items = module.content.iter().flat_map(|(_, items)| items);
    let tasks: Vec<Task> = items.flat_map(tasks).collect();
    for task in &tasks {
        if let Some(interrupt) = &task.binds {
            found.entry(interrupt.clone()).or_default().insert(task.priority);
        }
    }
    let by_software = || tasks.iter().filter(|task| task.binds.is_none());
    if by_software().any(|task| task.is_optional) {
        return found;
    }
    // RTIC gives the last dispatcher to the highest priority; tasks of priority 0 run outside of interrupts.
    let priorities: BTreeSet<u8> =
        by_software().map(|task| task.priority).filter(|level| *level > 0).collect();
    for (dispatcher, priority) in dispatchers(app).into_iter().rev().zip(priorities.into_iter().rev()) {
        found.entry(dispatcher).or_default().insert(priority);
    }
    found
}

/// The arguments of an attribute, if its last segment is this name.
fn arguments(attribute: &Attribute, name: &str) -> Option<TokenStream> {
    let is_named = attribute.path().segments.last().is_some_and(|last| last.ident == name);
    is_named.then(|| attribute.meta.require_list().map_or(TokenStream::new(), |list| list.tokens.clone()))
}

/// The task of an item, or those that a block declares.
fn tasks(item: &Item) -> Vec<Task> {
    match item {
        Item::Fn(item) => Task::of(&item.attrs, &item.sig).into_iter().collect(),
        Item::ForeignMod(block) => {
            let of_one = |item: &ForeignItem| match item {
                ForeignItem::Fn(item) => Task::of(&item.attrs, &item.sig),
                _ => None,
            };
            block.items.iter().filter_map(of_one).collect()
        }
        _ => Vec::new(),
    }
}

impl Task {
    fn of(attributes: &[Attribute], signature: &Signature) -> Option<Task> {
        let task = attributes.iter().find_map(|attribute| arguments(attribute, "task"))?;
        let tokens: Vec<TokenTree> = task.into_iter().collect();
        let binds = value(&tokens, "binds").map(ToString::to_string);
        // Without a number it is 1, but for software tasks of RTIC 2, which are async.
        let default = u8::from(binds.is_some() || signature.asyncness.is_none());
        let priority = match value(&tokens, "priority") {
            Some(number) => number.to_string().parse().ok()?,
            None => default,
        };
        Some(Task { binds, priority, is_optional: attributes::has_cfg(attributes) })
    }
}

/// The token behind `name =`.
fn value<'t>(tokens: &'t [TokenTree], name: &str) -> Option<&'t TokenTree> {
    tokens.windows(3).find_map(|three| match three {
        [TokenTree::Ident(word), TokenTree::Punct(equals), value] if equals.as_char() == '=' => {
            (word == name).then_some(value)
        }
        _ => None,
    })
}

/// The list of dispatchers, without attributes of theirs.
fn dispatchers(app: TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = app.into_iter().collect();
    let Some(TokenTree::Group(list)) = value(&tokens, "dispatchers") else { return Vec::new() };
    let names = list.stream().into_iter().filter_map(|token| match token {
        TokenTree::Ident(name) => Some(unraw(&name)),
        _ => None,
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priorities(text: &str) -> String {
        let found = of_app(&syn::parse_str(text).expect("a module"));
        let text = |(name, levels): (&String, &BTreeSet<u8>)| {
            levels.iter().map(|level| format!("{name}:{level}")).collect::<Vec<_>>()
        };
        found.iter().flat_map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tasks_and_dispatchers_have_the_priorities_that_rtic_gives_them() {
        let app = "#[rtic::app(device = d, dispatchers = [A, #[link_section = \"x\"] B, C])] mod app {
            #[task(binds = UART, priority = 4)] fn u(_: u::Context) {}
            #[task(binds = SPI, local = [priority: u8 = 9])] fn s(_: s::Context) {}
            #[task(priority = 1)] async fn low(_: low::Context) {}
            #[task(shared = [x], priority = 3)] async fn high(_: high::Context) {}
            #[task(priority = 3)] async fn too(_: too::Context) {}
            #[task] async fn outside(_: outside::Context) {}
            fn other() {}
        }";
        assert_eq!(priorities(app), "B:1 C:3 SPI:1 UART:4");
        let optional = app.replace("#[task(priority = 1)]", "#[cfg(x)] #[task(priority = 1)]");
        assert_eq!(priorities(&optional), "SPI:1 UART:4");
        assert_eq!(priorities(&app.replace("rtic::app", "test")), "");
    }

    #[test]
    fn functions_of_rtic_1_and_declared_ones_are_tasks_too() {
        let app = "#[app(device = d, dispatchers = [A, B])] mod app {
            #[task] fn plain(_: plain::Context) {}
            extern \"Rust\" { #[task(priority = 2)] fn elsewhere(_: elsewhere::Context); }
        }";
        assert_eq!(priorities(app), "A:1 B:2");
    }
}
