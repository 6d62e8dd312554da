//! The locks in the text of a statement: which are taken, for how long, and which guards are dropped.

/// A lock that a statement takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenLock {
    /// What names the lock in the whole program: a static, a field, or a variable of one function.
    pub lock: String,
    /// How long it is held.
    pub held: HeldFor,
}

/// How long a lock is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldFor {
    /// To the end of the block, or until this variable is dropped.
    Guard(String),
    /// While the statement runs, with all inside it.
    Statement,
}

/// What a statement does with locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockUse {
    /// The locks it takes, in the order of the text.
    pub taken: Vec<TakenLock>,
    /// The variables it drops.
    pub dropped: Vec<String>,
}

/// Methods that take a lock and wait for it. None has an argument.
const METHODS: [&str; 3] = [".lock()", ".read()", ".write()"];
/// What may follow in a `let` whose variable is the guard.
const UNWRAPS: [&str; 5] = [".unwrap()", ".await", "?", ".expect(", ".unwrap_or_else("];

impl LockUse {
    /// Of the text of a statement in a function with this path.
    pub fn of(text: &str, function: &str) -> LockUse {
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // A chain of methods may be written in several lines.
        let text = without_strings(&text).replace(" .", ".");
        let mut found = LockUse::default();
        let mut rest = 0;
        while let Some((at, method)) = next_method(&text, rest) {
            let end = at + method.len();
            rest = end;
            let receiver = receiver(&text[..at]);
            if let Some(lock) = lock_name(receiver, function) {
                let start = at - receiver.len();
                let held = match guard(&text[..start], &text[end..]) {
                    Some(name) => HeldFor::Guard(name.to_owned()),
                    None => HeldFor::Statement,
                };
                found.taken.push(TakenLock { lock, held });
            }
        }
        for (at, word) in text.match_indices("drop(") {
            let is_name = !text[..at].ends_with(is_ident);
            let name: String = text[at + word.len()..].chars().take_while(|char| is_ident(*char)).collect();
            if is_name && !name.is_empty() && text[at + word.len() + name.len()..].starts_with(')') {
                found.dropped.push(name);
            }
        }
        found
    }

    /// Whether the statement has nothing to do with locks.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty() && self.dropped.is_empty()
    }
}

fn is_ident(char: char) -> bool {
    char == '_' || char.is_alphanumeric()
}

/// The text with the contents of its strings removed: what is in them is not code.
fn without_strings(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        plain.push(char);
        if char != '"' {
            continue;
        }
        while let Some(inside) = chars.next() {
            match inside {
                '\\' => _ = chars.next(),
                '"' => {
                    plain.push('"');
                    break;
                }
                _ => {}
            }
        }
    }
    plain
}

fn next_method(text: &str, from: usize) -> Option<(usize, &'static str)> {
    let found = METHODS.iter().filter_map(|method| Some((from + text.get(from..)?.find(method)?, *method)));
    found.min_by_key(|(at, _)| *at)
}

/// The path in front of a method: `self.a.b`, `crate::LOCK`. Empty for anything else.
fn receiver(before: &str) -> &str {
    let is_path = |char: char| is_ident(char) || char == '.' || char == ':';
    let start = before.char_indices().rev().take_while(|(_, char)| is_path(*char)).last();
    let path = start.map_or("", |(at, _)| &before[at..]);
    let before = before[..before.len() - path.len()].chars().next_back();
    // Behind a call or an index, the lock may be another one each time.
    let is_computed = path.starts_with('.') || matches!(before, Some(')' | ']' | '?'));
    if is_computed { "" } else { path.trim_start_matches(':') }
}

/// What names a lock: `LOCK` of `crate::LOCK`, `.field` of `self.x.field`, `f::name` of a variable.
fn lock_name(receiver: &str, function: &str) -> Option<String> {
    let last = receiver.rsplit(['.', ':']).next().filter(|last| !last.is_empty())?;
    let is_static = last.chars().any(char::is_uppercase) && !last.chars().any(char::is_lowercase);
    let is_number = last.starts_with(|char: char| char.is_ascii_digit());
    match receiver {
        _ if is_static => Some(last.to_owned()),
        // A field without a name says nothing of the lock; `self` is the lock itself.
        "self" => None,
        _ if is_number => None,
        _ if receiver.contains('.') => Some(format!(".{last}")),
        _ if receiver.contains(':') => None,
        _ if matches!(last, "stdout" | "stderr" | "stdin") => None,
        _ => Some(format!("{function}::{last}")),
    }
}

/// The variable that a `let` gives the guard, if nothing but the guard is taken from the lock.
fn guard<'t>(before: &'t str, after: &str) -> Option<&'t str> {
    let pattern = before.strip_prefix("let ")?.trim_end().strip_suffix('=')?.trim();
    let name = pattern.split(':').next()?.trim();
    let name = name.strip_prefix("mut ").unwrap_or(name);
    let mut rest = after.trim_start();
    while let Some(unwrap) = UNWRAPS.iter().find(|unwrap| rest.starts_with(**unwrap)) {
        rest = &rest[unwrap.len()..];
        if unwrap.ends_with('(') {
            rest = behind_parenthesis(rest)?;
        }
        rest = rest.trim_start();
    }
    let is_guard = rest.is_empty() || rest.starts_with(';');
    (is_guard && name.chars().all(is_ident) && name != "_").then_some(name)
}

/// The text behind the parenthesis that closes an open one.
fn behind_parenthesis(text: &str) -> Option<&str> {
    let mut depth = 1usize;
    for (at, char) in text.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[at + 1..]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> Vec<(String, String)> {
        let held = |held: &HeldFor| match held {
            HeldFor::Guard(name) => name.clone(),
            HeldFor::Statement => String::new(),
        };
        LockUse::of(text, "f").taken.iter().map(|taken| (taken.lock.clone(), held(&taken.held))).collect()
    }

    #[test]
    fn a_lock_is_named_by_its_static_its_field_or_its_variable() {
        for (text, expected) in [
            ("let a = A.lock().unwrap();", &[("A", "a")][..]),
            ("let mut a = crate::x::A_LOCK.lock()?;", &[("A_LOCK", "a")]),
            ("let guard: MutexGuard<u8> = self.one.lock().expect(\"x;y\");", &[(".one", "guard")]),
            ("let a = bank.accounts.read().await;", &[(".accounts", "a")]),
            (
                "let q = self.shared.queue.lock().unwrap_or_else(|error| error.into_inner());",
                &[(".queue", "q")],
            ),
            ("let a = left.lock().unwrap();", &[("f::left", "a")]),
            ("let n = self.one.lock().unwrap().len();", &[(".one", "")]),
            ("let _ = self.one.lock();", &[(".one", "")]),
            ("*left.lock().unwrap() += *right.lock().unwrap();", &[("f::left", ""), ("f::right", "")]),
            ("if let Ok(a) = self.one.lock() {", &[(".one", "")]),
            ("self.one\n    .lock()\n    .unwrap()\n    .push(1);", &[(".one", "")]),
            ("let a = locks[i].lock().unwrap();", &[]),
            ("let a = self.inner().lock().unwrap();", &[]),
            ("let out = stdout.lock();", &[]),
            ("let out = io::stdout().lock();", &[]),
            ("let a = self.0.lock();", &[]),
            ("self.lock();", &[]),
            ("log(\"A.lock()\");", &[]),
            ("file.read(&mut buffer)?;", &[]),
            ("let a = std::sync::Mutex::lock(&x);", &[]),
        ] {
            let expected: Vec<_> =
                expected.iter().map(|(lock, held)| ((*lock).to_owned(), (*held).to_owned())).collect();
            assert_eq!(taken(text), expected, "{text}");
        }
    }

    #[test]
    fn guards_are_dropped_by_name() {
        assert_eq!(LockUse::of("drop(a);", "f").dropped, ["a"]);
        assert_eq!(LockUse::of("std::mem::drop(guard_1);", "f").dropped, ["guard_1"]);
        assert!(LockUse::of("backdrop(a); drop(a.b); drop();", "f").is_empty());
    }

    #[test]
    fn any_text_is_fine() {
        for text in
            ["", ".lock()", "é.lock()", "let =.lock()", "\"\\", "((((.lock()", "let a = é.lock().expect("]
        {
            let _ = LockUse::of(text, "");
        }
    }
}
