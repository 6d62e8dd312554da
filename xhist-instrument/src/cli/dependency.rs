//! How a manifest names the recorder, xhist-rt: under which name, in which table, with which features.

use std::collections::BTreeSet;
use toml::{Table, Value};

/// The crate that inserted calls name.
pub const RECORDER: &str = "xhist-rt";

/// What a manifest says about the recorder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependency {
    /// There is an entry under the name that inserted calls use, for code that is not only tests.
    pub is_normal: bool,
    /// There is one for tests, examples and benchmarks.
    pub is_dev: bool,
    /// The crate has this other name here, under which calls do not find it.
    pub renamed: Option<String>,
    /// The entry is in the table of this target: `cfg(unix)`.
    pub target: Option<String>,
    /// The features that are on by default.
    pub features: BTreeSet<String>,
    /// The feature of the package that adds the optional recorder.
    pub behind: Option<String>,
    /// The feature of the package that turns recording on.
    pub recorded_by: Option<String>,
    /// The workspace has an entry to inherit.
    pub in_workspace: bool,
}

impl Dependency {
    /// Reads this manifest, and that of its workspace.
    pub fn of(manifest: &Table, workspace: Option<&Table>) -> Self {
        let inherited = workspace.and_then(|table| table.get("workspace")?.get("dependencies")?.as_table());
        let mut found = Self {
            in_workspace: inherited.is_some_and(|table| table.contains_key(RECORDER)),
            ..Self::default()
        };
        let mut is_optional = false;
        for DependencyEntry { name, value, is_dev, target } in entries(manifest) {
            let shared = value.get("workspace").and_then(Value::as_bool) == Some(true);
            let shared = inherited.filter(|_| shared).and_then(|table| table.get(name));
            if package(name, value, shared) != RECORDER {
                continue;
            }
            if name.replace('_', "-") != RECORDER {
                found.renamed = Some(name.to_owned());
                continue;
            }
            found.is_dev |= is_dev;
            if !is_dev {
                found.is_normal = true;
                found.target = target.map(str::to_owned);
                is_optional |= value.get("optional").and_then(Value::as_bool) == Some(true);
            }
            found.features.extend([Some(value), shared].into_iter().flatten().flat_map(features));
        }
        found.add_own_features(manifest, is_optional);
        found
    }

    /// Adds what features of the package switch on.
    fn add_own_features(&mut self, manifest: &Table, is_optional: bool) {
        let own = Own { table: manifest.get("features").and_then(Value::as_table), is_optional };
        let by_default = own.switched_on("default");
        let brings_it = |on: &BTreeSet<FeatureSwitch>| on.contains(&FeatureSwitch::Dependency);
        let has = |on: &BTreeSet<FeatureSwitch>, feature: &str| {
            on.contains(&FeatureSwitch::Feature(feature.to_owned()))
        };
        if is_optional && !brings_it(&by_default) {
            self.behind = own.names().find(|name| brings_it(&own.switched_on(name)));
        }
        if !["trace", "auto"]
            .iter()
            .any(|feature| self.features.contains(*feature) || has(&by_default, feature))
        {
            self.recorded_by = own.names().find(|name| has(&own.switched_on(name), "trace"));
        }
        let of_default = by_default.into_iter().filter_map(|switch| match switch {
            FeatureSwitch::Feature(feature) => Some(feature),
            FeatureSwitch::Dependency => None,
        });
        self.features.extend(of_default);
        if self.features.contains("auto") {
            self.features.extend(["std", "trace"].map(str::to_owned));
        }
    }
}

/// An entry of a table of dependencies.
pub struct DependencyEntry<'a> {
    pub name: &'a str,
    pub value: &'a Value,
    pub is_dev: bool,
    /// The target whose table it is in.
    pub target: Option<&'a str>,
}

impl DependencyEntry<'_> {
    /// The crate, as far as the manifest itself says.
    pub fn package(&self) -> &str {
        package(self.name, self.value, None)
    }
}

/// All dependencies of a package but those of its build script.
pub fn entries(manifest: &Table) -> Vec<DependencyEntry<'_>> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let targets = targets.filter_map(|(target, table)| Some((Some(target.as_str()), table.as_table()?)));
    let mut found = Vec::new();
    for (target, table) in std::iter::once((None, manifest)).chain(targets) {
        for (key, is_dev) in [("dependencies", false), ("dev-dependencies", true), ("dev_dependencies", true)]
        {
            let entries = table.get(key).and_then(Value::as_table).into_iter().flatten();
            found.extend(entries.map(|(name, value)| DependencyEntry { name, value, is_dev, target }));
        }
    }
    found
}

/// The crate that an entry means; `shared`: the workspace's entry, when it inherits that.
fn package<'a>(name: &'a str, value: &'a Value, shared: Option<&'a Value>) -> &'a str {
    let named = |value: &'a Value| value.get("package").and_then(Value::as_str);
    named(value).or_else(|| named(shared?)).unwrap_or(name)
}

/// The features that an entry asks for.
pub fn features(value: &Value) -> impl Iterator<Item = String> + '_ {
    let features = value.get("features").and_then(Value::as_array).into_iter().flatten();
    features.filter_map(Value::as_str).map(str::to_owned)
}

/// The features of the package itself.
struct Own<'a> {
    table: Option<&'a Table>,
    is_optional: bool,
}

/// An effect of a package's feature on the recorder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FeatureSwitch {
    Dependency,
    Feature(String),
}

impl Own<'_> {
    /// All, also the one that an optional dependency makes unless the table has it as `dep:xhist-rt`.
    fn names(&self) -> impl Iterator<Item = String> {
        let named: Vec<String> = self.table.into_iter().flat_map(Table::keys).cloned().collect();
        let implied =
            (self.is_optional && !named.iter().any(|name| name == RECORDER)).then(|| RECORDER.to_owned());
        named.into_iter().chain(implied)
    }

    /// The effects of a feature and all features that it includes.
    fn switched_on(&self, feature: &str) -> BTreeSet<FeatureSwitch> {
        let mut on = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut work = vec![feature.to_owned()];
        while let Some(name) = work.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            if self.is_optional && name == RECORDER {
                on.insert(FeatureSwitch::Dependency);
            }
            let parts = self.table.and_then(|table| table.get(&name)?.as_array()).into_iter().flatten();
            for part in parts.filter_map(Value::as_str) {
                match part.strip_prefix("dep:").map_or_else(|| part.split_once('/'), |name| Some((name, "")))
                {
                    None => work.push(part.to_owned()),
                    Some((RECORDER, "")) => _ = on.insert(FeatureSwitch::Dependency),
                    Some((RECORDER, feature)) => {
                        on.insert(FeatureSwitch::Dependency);
                        on.insert(FeatureSwitch::Feature(feature.to_owned()));
                    }
                    Some(("xhist-rt?", feature)) => _ = on.insert(FeatureSwitch::Feature(feature.to_owned())),
                    Some(_) => {}
                }
            }
        }
        on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(manifest: &str) -> Dependency {
        Dependency::of(&manifest.parse().unwrap(), None)
    }

    fn features_of(found: &Dependency) -> Vec<&str> {
        found.features.iter().map(String::as_str).collect()
    }

    #[test]
    fn every_table_and_form_is_seen() {
        let plain = of("[dependencies]\nxhist-rt = \"1\"");
        assert!(plain.is_normal && plain.features.is_empty() && plain.renamed.is_none());
        let target =
            of("[target.'cfg(unix)'.dependencies]\nxhist-rt = { version = \"1\", features = [\"std\"] }");
        assert_eq!((target.target.as_deref(), features_of(&target)), (Some("cfg(unix)"), vec!["std"]));
        let dev = of("[dev-dependencies]\nxhist-rt = \"1\"");
        assert!(dev.is_dev && !dev.is_normal);
        assert_eq!(of("[build-dependencies]\nxhist-rt = \"1\""), Dependency::default());
        assert_eq!(
            features_of(&of("[dependencies]\nxhist-rt = { features = [\"auto\"] }")),
            ["auto", "std", "trace"]
        );
    }

    #[test]
    fn a_renamed_recorder_is_recognised() {
        let renamed = of("[dependencies]\nx = { package = \"xhist-rt\" }");
        assert_eq!((renamed.is_normal, renamed.renamed.as_deref()), (false, Some("x")));
        let underscore = of("[dependencies]\nxhist_rt = { package = \"xhist-rt\" }");
        assert!(underscore.is_normal && underscore.renamed.is_none());
        assert!(!of("[dependencies]\nxhist-rt = { package = \"other\" }").is_normal);
    }

    #[test]
    fn features_of_the_workspace_count() {
        let workspace =
            "[workspace.dependencies]\nxhist-rt = { version = \"1\", features = [\"std\"] }".parse().unwrap();
        let manifest =
            "[dependencies]\nxhist-rt = { workspace = true, features = [\"trace\"] }".parse().unwrap();
        let found = Dependency::of(&manifest, Some(&workspace));
        assert!(found.is_normal && found.in_workspace);
        assert_eq!(features_of(&found), ["std", "trace"]);
    }

    #[test]
    fn features_of_the_package_switch_it_on() {
        let optional = "[dependencies]\nxhist-rt = { version = \"1\", optional = true }\n";
        assert_eq!(of(optional).behind.as_deref(), Some("xhist-rt"));
        assert_eq!(of(&format!("{optional}[features]\ndefault = [\"xhist-rt\"]")).behind, None);
        let named = of(&format!("{optional}[features]\nhistory = [\"dep:xhist-rt\", \"xhist-rt/trace\"]"));
        assert_eq!(
            (named.behind.as_deref(), named.recorded_by.as_deref()),
            (Some("history"), Some("history"))
        );
        let forwarded =
            "[dependencies]\nxhist-rt = \"1\"\n[features]\ntrace = [\"xhist-rt/trace\", \"xhist-rt/std\"]\n";
        let found = of(forwarded);
        assert_eq!((found.recorded_by.as_deref(), found.features.len()), (Some("trace"), 0));
        let found = of(&format!("{forwarded}default = [\"more\"]\nmore = [\"trace\", \"more\"]"));
        assert_eq!(
            (found.recorded_by, features_of(&of(&format!("{forwarded}default = [\"trace\"]")))),
            (None, vec!["std", "trace"])
        );
    }
}
