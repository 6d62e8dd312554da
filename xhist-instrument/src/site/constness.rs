//! Which `const fn` may lose its `const`, so that its statements can be recorded: one that no const context calls.
//!
//! Functions are compared by name, over all files of a build. A wrong guess costs a build: the compiler then refuses a call,
//! and that name is kept.

use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// What one file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constness {
    /// The functions with the keyword, in the order of the text.
    pub(crate) functions: Vec<ConstFn>,
    /// Names that const contexts call, or macros.
    pub(crate) uses: Vec<ConstUse>,
    /// Type names that may mean another type.
    pub(crate) aliases: Vec<String>,
    /// Functions that are imported under another name: that name, and the function's.
    pub(crate) renames: Vec<(String, String)>,
    /// The macros that the file defines.
    pub(crate) macros: Vec<ConstMacro>,
    /// What the arguments of macros call.
    pub(crate) arguments: Vec<MacroArguments>,
}

/// A function with the keyword `const`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConstFn {
    /// Offset of the keyword.
    pub at: usize,
    /// The type that it belongs to; `None` for a free function.
    pub owner: Option<String>,
    pub name: String,
    /// What its body calls. These are const contexts if the function stays const.
    pub calls: Vec<ConstUse>,
}

/// A macro, and the functions and macros that its rules call. Where the macro is expanded in a constant, so are they.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConstMacro {
    pub name: String,
    pub calls: Vec<ConstUse>,
    /// Macros that its rules call, without those of the standard library: they may get its arguments.
    pub passes_on: Vec<String>,
    /// Its rules put no argument into a constant.
    pub is_plain: bool,
}

/// The arguments of a macro. They are const contexts if one of the macros puts them into a constant, or is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MacroArguments {
    /// The macro, and those that the arguments call, without those of the standard library.
    pub macros: Vec<String>,
    pub calls: Vec<ConstUse>,
}

/// A name that is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ConstUse {
    pub owner: Owner,
    pub name: String,
}

/// What a path says about the owner of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Owner {
    /// No owner: `name()` or `module::name()`.
    Free,
    /// `Type::name()`.
    Type(String),
    /// A method call, or a path that does not say it.
    Unknown,
    /// No function: `name!()`.
    Macro,
}

impl Constness {
    /// The names of the functions whose keywords are at these offsets.
    pub fn names_at(&self, keywords: &[usize]) -> impl Iterator<Item = &str> {
        let is_meant = |function: &&ConstFn| keywords.binary_search(&function.at).is_ok();
        self.functions.iter().filter(is_meant).map(|function| function.name.as_str())
    }
}

/// The keyword.
const KEYWORD: &str = "const";

impl ConstUse {
    /// Whether this may call the function, whose name is the same. `aliases`: names that may mean another type.
    fn may_call(&self, function: &ConstFn, aliases: &HashSet<&str>) -> bool {
        match (&self.owner, &function.owner) {
            (Owner::Unknown, _) | (Owner::Free, None) => true,
            (Owner::Type(owner), Some(of)) => owner == of || aliases.contains(owner.as_str()),
            (Owner::Free, Some(_)) | (Owner::Type(_), None) | (Owner::Macro, _) => false,
        }
    }
}

/// What can change, so that it is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removable {
    /// For each file, the offsets of the keywords that can go.
    pub keywords: Vec<Vec<usize>>,
    /// Macros that constants may call: of their rules, only functions may change. With a `!`: those that the compiler refused,
    /// where nothing may.
    pub kept_macros: HashSet<String>,
}

/// What can change in these files. `kept`: names of functions that the compiler needs as const, and of macros that it refused,
/// those with a `!`.
pub fn removable(files: &[&Constness], kept: &HashSet<String>) -> Removable {
    let all = || files.iter().copied();
    let aliases: HashSet<&str> = all().flat_map(|file| &file.aliases).map(String::as_str).collect();
    let mut renames: HashMap<&str, Vec<&str>> = HashMap::new();
    for (new, old) in all().flat_map(|file| &file.renames) {
        renames.entry(new).or_default().push(old);
    }
    let mut functions: HashMap<&str, Vec<(usize, usize, &ConstFn)>> = HashMap::new();
    let mut stays: Vec<Vec<bool>> = all().map(|file| vec![false; file.functions.len()]).collect();
    let mut todo: Vec<&ConstUse> = all().flat_map(|file| &file.uses).collect();
    for (index, file) in files.iter().enumerate() {
        for (place, function) in file.functions.iter().enumerate() {
            functions.entry(&function.name).or_default().push((index, place, function));
            if kept.contains(&function.name) {
                stays[index][place] = true;
                todo.extend(&function.calls);
            }
        }
    }
    let mut macros: HashMap<&str, Vec<&ConstMacro>> = HashMap::new();
    for known in all().flat_map(|file| &file.macros) {
        macros.entry(&known.name).or_default().push(known);
    }
    let arguments = all().flat_map(|file| &file.arguments);
    todo.extend(arguments.filter(|found| !are_plain(&found.macros, &macros)).flat_map(|found| &found.calls));
    let refused = kept.iter().filter_map(|name| name.strip_suffix('!'));
    let refused: Vec<ConstUse> =
        refused.map(|name| ConstUse { owner: Owner::Macro, name: name.to_owned() }).collect();
    todo.extend(&refused);
    let mut kept_macros: HashSet<String> = kept.iter().filter(|name| name.ends_with('!')).cloned().collect();
    let mut seen = HashSet::new();
    while let Some(used) = todo.pop() {
        if !seen.insert(used) {
            continue;
        }
        let name = used.name.as_str();
        let names = renames.get(name).into_iter().flatten().copied().chain([name]);
        if used.owner == Owner::Macro {
            for name in names {
                kept_macros.insert(name.to_owned());
                todo.extend(macros.get(name).into_iter().flatten().flat_map(|known| &known.calls));
            }
            continue;
        }
        for (index, place, function) in names.filter_map(|name| functions.get(name)).flatten() {
            if !stays[*index][*place] && used.may_call(function, &aliases) {
                stays[*index][*place] = true;
                todo.extend(&function.calls);
            }
        }
    }
    let removable = |(file, stays): (&&Constness, Vec<bool>)| {
        let pairs = file.functions.iter().zip(stays);
        pairs.filter(|(_, stays)| !stays).map(|(function, _)| function.at).collect()
    };
    Removable { keywords: files.iter().zip(stays).map(removable).collect(), kept_macros }
}

/// Whether these macros, and those that get their arguments from them, put no argument into a constant.
fn are_plain(names: &[String], macros: &HashMap<&str, Vec<&ConstMacro>>) -> bool {
    let mut todo: Vec<&String> = names.iter().collect();
    let mut seen = HashSet::new();
    while let Some(name) = todo.pop() {
        let Some(known) = macros.get(name.as_str()) else { return false };
        if !seen.insert(name) {
            continue;
        }
        if known.iter().any(|known| !known.is_plain) {
            return false;
        }
        todo.extend(known.iter().flat_map(|known| &known.passes_on));
    }
    true
}

/// The text with blanks in place of these keywords: all else keeps its place. `None` when there is another word.
pub(crate) fn without(text: &[u8], keywords: &[usize]) -> Option<Vec<u8>> {
    let mut text = text.to_vec();
    for at in keywords {
        let word = text.get_mut(*at..at + KEYWORD.len()).filter(|word| *word == KEYWORD.as_bytes())?;
        word.fill(b' ');
    }
    Some(text)
}
