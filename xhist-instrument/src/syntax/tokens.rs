//! What the unparsed tokens of macros and attributes still give away: files they lead to, and roughly how many
//! statements they hold.

use crate::site::{Include, IncludeKind, InlineMod, ModDecl};
use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};

/// Finds files named in tokens. Positions are bytes, as the parser counts them.
#[derive(Default)]
pub(super) struct Scan {
    pub modules: Vec<(usize, ModDecl)>,
    pub includes: Vec<(usize, IncludeKind, String)>,
    /// Statements inside braces, arms and closures, as far as tokens tell.
    pub statements: u32,
}

impl Scan {
    /// Goes through the tokens, which stand inside these inline modules.
    pub fn run(&mut self, tokens: TokenStream, inside: &mut Vec<InlineMod>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        self.statements += closures(&tokens);
        let mut paths = Vec::new();
        let mut rest = tokens.as_slice();
        while !rest.is_empty() {
            rest = self.step(rest, inside, &mut paths);
        }
    }

    /// Handles the construct at the front and returns what is behind it. `paths` collects `#[path]` values.
    fn step<'t>(
        &mut self,
        tokens: &'t [TokenTree],
        inside: &mut Vec<InlineMod>,
        paths: &mut Vec<String>,
    ) -> &'t [TokenTree] {
        use TokenTree::{Group, Ident, Literal, Punct};
        match tokens {
            [Ident(word), Ident(name), Punct(end), rest @ ..] if word == "mod" && end.as_char() == ';' => {
                let path_is_certain = false;
                let (name, paths) = (unraw(name), std::mem::take(paths));
                let found = ModDecl { name, inside: inside.clone(), paths, path_is_certain, line: 0 };
                self.modules.push((word.span().byte_range().start, found));
                rest
            }
            [Ident(word), Ident(name), Group(body), rest @ ..] if word == "mod" => {
                inside.push(InlineMod { name: unraw(name), paths: std::mem::take(paths) });
                self.group(body, inside);
                inside.pop();
                rest
            }
            [Ident(word), Punct(bang), Group(body), rest @ ..] if bang.as_char() == '!' => {
                self.include(word, body);
                self.group(body, inside);
                rest
            }
            [Ident(word), Punct(equals), Literal(value), rest @ ..]
                if word == "path" && equals.as_char() == '=' =>
            {
                paths.extend(string(value));
                rest
            }
            [Punct(hash), Group(body), rest @ ..] if hash.as_char() == '#' => {
                paths.extend(path_values(body.stream()));
                self.group(body, inside);
                rest
            }
            [Group(body), rest @ ..] => {
                self.group(body, inside);
                if body.delimiter() == Delimiter::Brace {
                    paths.clear();
                }
                rest
            }
            [Punct(end), rest @ ..] if end.as_char() == ';' => {
                paths.clear();
                rest
            }
            [_, rest @ ..] => rest,
            [] => &[],
        }
    }

    /// Like `run`, for the rules of a macro: what they write, not what they match.
    pub fn rules(&mut self, tokens: TokenStream, inside: &mut Vec<InlineMod>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            let is_written = at >= 2 && is_mark(&tokens[at - 1], '>') && is_mark(&tokens[at - 2], '=');
            match token {
                TokenTree::Group(body) if is_written => self.braced(body.stream(), inside),
                _ => {}
            }
        }
    }

    /// Like `run`, for tokens between braces.
    pub fn braced(&mut self, tokens: TokenStream, inside: &mut Vec<InlineMod>) {
        self.statements += statements(tokens.clone());
        self.run(tokens, inside);
    }

    fn group(&mut self, group: &proc_macro2::Group, inside: &mut Vec<InlineMod>) {
        match group.delimiter() {
            Delimiter::Brace => self.braced(group.stream(), inside),
            _ => self.run(group.stream(), inside),
        }
    }

    /// `include!("literal")` and its sisters, also with `concat!("literal", ..)`.
    pub fn include(&mut self, name: &proc_macro2::Ident, body: &proc_macro2::Group) {
        let Some(kind) = include_kind(&name.to_string()) else { return };
        let mut tokens = body.stream().into_iter();
        let found = match (tokens.next(), tokens.nth(1)) {
            (Some(TokenTree::Literal(path)), _) => string(&path).map(|path| (kind, path)),
            (Some(TokenTree::Ident(concat)), Some(TokenTree::Group(parts))) if concat == "concat" => {
                directory(parts.stream()).map(|path| (IncludeKind::Directory, path))
            }
            _ => None,
        };
        if let Some((kind, path)) = found {
            self.includes.push((name.span().byte_range().start, kind, path));
        }
    }
}

/// Roughly how many statements stand in these braces themselves, arms of a `match` included. The tokens tell no more.
fn statements(tokens: TokenStream) -> u32 {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let arms =
        tokens.windows(2).enumerate().filter(|(_, pair)| is_mark(&pair[0], '=') && is_mark(&pair[1], '>'));
    let arms: Vec<usize> = arms.map(|(at, _)| at + 2).collect();
    if !arms.is_empty() {
        // An arm that is a block holds statements of its own.
        let is_expression =
            |at: &&usize| !matches!(tokens.get(**at), Some(TokenTree::Group(group)) if holds_any(group));
        return arms.iter().filter(is_expression).count() as u32;
    }
    // Fields of a type or value, names of an import.
    let is_list = tokens.iter().any(|token| is_mark(token, ','))
        || matches!(tokens.as_slice(), [TokenTree::Ident(_), colon, next, ..] if is_mark(colon, ':') && !is_mark(next, ':'));
    if is_list && !tokens.iter().any(|token| is_mark(token, ';')) {
        return 0;
    }
    let mut rest = tokens.as_slice();
    let mut count = 0;
    while !rest.is_empty() {
        let (part, behind) = part(rest);
        count += u32::from(executes(part)) + repeated(part);
        rest = behind;
    }
    count
}

/// The tokens up to where a statement ends: behind a semicolon, or behind a block that ends it.
fn part(tokens: &[TokenTree]) -> (&[TokenTree], &[TokenTree]) {
    let goes_on = |next: Option<&TokenTree>| match next {
        Some(TokenTree::Ident(word)) => word == "else" || word == "as",
        Some(TokenTree::Punct(mark)) => !matches!(mark.as_char(), '$' | '#' | '*' | '&' | '-' | '\''),
        Some(TokenTree::Group(group)) => group.delimiter() != Delimiter::Brace,
        _ => false,
    };
    let ends_with_block = matches!(tokens.first(), Some(TokenTree::Ident(word))
        if ["if", "match", "loop", "while", "for", "unsafe", "fn", "impl", "trait", "mod", "struct", "enum", "pub"]
            .iter().any(|keyword| word == keyword));
    for (at, token) in tokens.iter().enumerate() {
        let ends = match token {
            TokenTree::Punct(mark) => mark.as_char() == ';',
            TokenTree::Group(group) => {
                group.delimiter() == Delimiter::Brace && ends_with_block && !goes_on(tokens.get(at + 1))
            }
            _ => false,
        };
        if ends {
            return tokens.split_at(at + 1);
        }
    }
    (tokens, &[])
}

/// Whether a part is neither empty nor a declaration, nor anything that the arguments of a macro bring.
fn executes(part: &[TokenTree]) -> bool {
    let mut rest = part;
    while let [hash, TokenTree::Group(attribute), more @ ..] = rest
        && is_mark(hash, '#')
        && attribute.delimiter() == Delimiter::Bracket
    {
        rest = more;
    }
    match rest {
        [] => false,
        // What stands in it counts.
        [TokenTree::Group(block)] if block.delimiter() == Delimiter::Brace => false,
        [TokenTree::Ident(first), next, ..] if first == "unsafe" || first == "const" || first == "async" => {
            matches!(next, TokenTree::Group(_))
        }
        [TokenTree::Ident(first), ..] => {
            !DECLARATIONS.iter().any(|word| first == word) && !is_forwarded(rest)
        }
        [dollar, TokenTree::Ident(krate), ..] if is_mark(dollar, '$') && krate == "crate" => {
            !is_forwarded(rest)
        }
        [TokenTree::Group(group), end] if is_mark(end, ';') => group.delimiter() != Delimiter::Bracket,
        [end] if is_mark(end, ';') => false,
        [dollar, TokenTree::Ident(_) | TokenTree::Group(_), more @ ..] if is_mark(dollar, '$') => {
            let ends = more.iter().take_while(|token| "*+?,;".chars().any(|mark| is_mark(token, mark)));
            executes(&more[ends.count()..])
        }
        _ => true,
    }
}

/// `$crate::name! { .. }` or `name!(@ ..)`: what another rule writes counts there.
fn is_forwarded(part: &[TokenTree]) -> bool {
    let Some(bang) = part.iter().position(|token| is_mark(token, '!')) else { return false };
    let [TokenTree::Group(arguments), end @ ..] = &part[bang + 1..] else { return false };
    let is_path = part[..bang]
        .iter()
        .all(|token| matches!(token, TokenTree::Ident(_)) || is_mark(token, ':') || is_mark(token, '$'));
    let is_inner = arguments.stream().into_iter().next().is_some_and(|first| is_mark(&first, '@'));
    is_path && end.len() < 2 && (is_inner || is_mark(&part[0], '$'))
}

/// Statements in repetitions of a macro's rule: `$( .. )*`.
fn repeated(part: &[TokenTree]) -> u32 {
    let groups = part.windows(2).filter_map(|pair| match pair {
        [dollar, TokenTree::Group(group)] if is_mark(dollar, '$') => Some(statements(group.stream())),
        _ => None,
    });
    groups.sum()
}

fn holds_any(group: &proc_macro2::Group) -> bool {
    group.delimiter() == Delimiter::Brace && statements(group.stream()) > 0
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

/// What declarations start with.
const DECLARATIONS: [&str; 14] = [
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "macro_rules",
    "mod",
    "pub",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "use",
];

/// Closures whose body is no block: `|a, b| a + b`.
fn closures(tokens: &[TokenTree]) -> u32 {
    let mut count = 0;
    let mut at = 0;
    let starts = |before: Option<&TokenTree>| match before {
        None => true,
        Some(TokenTree::Ident(word)) => word == "move" || word == "return",
        Some(TokenTree::Punct(mark)) => matches!(mark.as_char(), ',' | '=' | '>' | '&'),
        Some(_) => false,
    };
    while at < tokens.len() {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        if !is_mark(&tokens[at], '|') || !starts(before) {
            at += 1;
            continue;
        }
        let Some(end) = tokens[at + 1..].iter().position(|token| is_mark(token, '|')) else { break };
        at += end + 2;
        let is_block = |token: &TokenTree| matches!(token, TokenTree::Group(group) if holds_any(group));
        count += u32::from(tokens.get(at).is_some_and(|body| !is_block(body)));
    }
    count
}

/// All `path = "value"` in the tokens of an attribute, also under `cfg_attr`.
pub(super) fn path_values(tokens: TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut values = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match (token, &tokens[index + 1..]) {
            (TokenTree::Ident(word), [TokenTree::Punct(equals), TokenTree::Literal(value), ..])
                if word == "path" && equals.as_char() == '=' =>
            {
                values.extend(string(value));
            }
            (TokenTree::Group(group), _) => values.extend(path_values(group.stream())),
            _ => {}
        }
    }
    values
}

fn include_kind(name: &str) -> Option<IncludeKind> {
    Some(match name {
        "include" => IncludeKind::Code,
        "include_str" => IncludeKind::Str,
        "include_bytes" => IncludeKind::Bytes,
        _ => return None,
    })
}

/// The directory in the literal that a path starts with.
fn directory(parts: TokenStream) -> Option<String> {
    let Some(TokenTree::Literal(start)) = parts.into_iter().next() else { return None };
    string(&start)?.rsplit_once('/').map(|(directory, _)| directory.to_owned())
}

/// The value of a string literal.
fn string(literal: &Literal) -> Option<String> {
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}

/// The name of an identifier, without `r#`.
pub(super) fn unraw(ident: &proc_macro2::Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}

/// Adds what a scan found to an analysis; `position` turns the parser's bytes into lines.
pub(super) fn add(
    scan: Scan,
    modules: &mut Vec<ModDecl>,
    includes: &mut Vec<Include>,
    line: impl Fn(usize) -> u32,
) {
    modules.extend(scan.modules.into_iter().map(|(at, found)| ModDecl { line: line(at), ..found }));
    includes.extend(scan.includes.into_iter().map(|(at, kind, path)| Include { kind, path, line: line(at) }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> u32 {
        let mut scan = Scan::default();
        scan.braced(text.parse().unwrap(), &mut Vec::new());
        scan.statements
    }

    #[test]
    fn statements_are_guessed_from_tokens() {
        assert_eq!(count("let x = 1; x + 1"), 2);
        assert_eq!(count("f(); if a { b(); } else { c } d()"), 5);
        assert_eq!(count("match x { 1 => a, 2 => { b(); } _ => {} }"), 4);
        assert_eq!(count("use a::{b, c}; const X: u8 = 1; fn f() { g() } struct S { a: u8, b: u8 }"), 1);
        assert_eq!(count("impl A { pub fn b() -> u8 { let c = S { d: 1 }; c.d } const E: u8 = 1; }"), 2);
        assert_eq!(count("x.iter().map(|y| y + 1).any(|z| { f(z); true })"), 4);
        assert_eq!(count("a || b"), 1);
        assert_eq!(count(""), 0);
    }

    #[test]
    fn rules_count_what_they_write() {
        let rules = |text: &str| {
            let mut scan = Scan::default();
            scan.rules(text.parse().unwrap(), &mut Vec::new());
            scan.statements
        };
        assert_eq!(
            rules("({ $($a:tt);* }) => { f(); g() }; (b) => { $b }; ($($c:expr),*) => { $(h($c);)* $d };"),
            3
        );
        assert_eq!(rules("($($t:ty)*) => { $(impl A for $t { fn f() -> u8 { let x = 1; x } })* };"), 2);
        assert_eq!(rules("() => {}; (a) => (b());"), 1);
        assert_eq!(rules("(a) => { $crate::b!(c) }; (d) => { e!(@f g); h!(i) };"), 1);
    }
}
