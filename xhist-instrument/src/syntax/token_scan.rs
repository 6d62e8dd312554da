//! Scans unparsed tokens of macros and attributes for file names, and estimates how many statements they hold.

use crate::site::{Include, IncludeKind, InlineMod, ModDecl};
use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};

/// The files named in tokens. Positions are bytes, as the parser counts them.
#[derive(Default)]
pub(super) struct TokenScan {
    pub modules: Vec<(usize, ModDecl)>,
    pub includes: Vec<(usize, IncludeKind, String)>,
    /// Estimated statements inside braces, match arms and closures.
    pub statements: u32,
}

impl TokenScan {
    /// Scans tokens inside these inline modules.
    pub fn tokens(&mut self, tokens: TokenStream, inside: &mut Vec<InlineMod>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        self.statements += closures(&tokens);
        let mut paths = Vec::new();
        let mut rest = tokens.as_slice();
        while !rest.is_empty() {
            rest = self.step(rest, inside, &mut paths);
        }
    }

    /// Scans the construct at the front and returns the tokens after it. `paths` collects `#[path]` values.
    fn step<'t>(
        &mut self,
        tokens: &'t [TokenTree],
        inside: &mut Vec<InlineMod>,
        paths: &mut Vec<String>,
    ) -> &'t [TokenTree] {
        use TokenTree::{Group, Ident, Literal, Punct};
        match tokens {
            [Ident(word), Ident(name), Punct(end), rest @ ..] if word == "mod" && end.as_char() == ';' => {
                self.module(word, unraw(name), inside.clone(), std::mem::take(paths));
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

    /// Notes `mod name;`, where `keyword` is the `mod`.
    fn module(
        &mut self,
        keyword: &proc_macro2::Ident,
        name: String,
        inside: Vec<InlineMod>,
        paths: Vec<String>,
    ) {
        let found = ModDecl { name, inside, paths, path_is_certain: false, line: 0 };
        self.modules.push((keyword.span().byte_range().start, found));
    }

    /// Scans the rules of a macro: their bodies, not their matchers.
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

    /// Scans the tokens between braces.
    pub fn braced(&mut self, tokens: TokenStream, inside: &mut Vec<InlineMod>) {
        self.statements += statements(tokens.clone());
        self.tokens(tokens, inside);
    }

    fn group(&mut self, group: &proc_macro2::Group, inside: &mut Vec<InlineMod>) {
        match group.delimiter() {
            Delimiter::Brace => self.braced(group.stream(), inside),
            _ => self.tokens(group.stream(), inside),
        }
    }

    /// Notes the file of `include!("literal")` and its variants, including `concat!("literal", ..)`.
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

/// Estimated number of statements directly in these braces, match arms included.
fn statements(tokens: TokenStream) -> u32 {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let arms =
        tokens.windows(2).enumerate().filter(|(_, pair)| is_mark(&pair[0], '=') && is_mark(&pair[1], '>'));
    let arms: Vec<usize> = arms.map(|(at, _)| at + 2).collect();
    if !arms.is_empty() {
        // A block arm holds statements of its own.
        let is_expression =
            |at: &&usize| !matches!(tokens.get(**at), Some(TokenTree::Group(group)) if holds_any(group));
        return arms.iter().filter(is_expression).count() as u32;
    }
    // Fields of a type or value, or names of an import.
    let is_list = tokens.iter().any(|token| is_mark(token, ','))
        || matches!(tokens.as_slice(), [TokenTree::Ident(_), colon, next, ..] if is_mark(colon, ':') && !is_mark(next, ':'));
    if is_list && !tokens.iter().any(|token| is_mark(token, ';')) {
        return 0;
    }
    let mut rest = tokens.as_slice();
    let mut count = 0;
    while !rest.is_empty() {
        let (part, after) = part(rest);
        count += u32::from(executes(part)) + repeated(part);
        rest = after;
    }
    count
}

/// Splits off one statement: up to a semicolon, or up to a block that ends the statement.
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

/// Whether a statement executes anything: it is not empty, not a declaration, and not a fragment of a macro's
/// arguments.
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
        // The statements in the block are counted instead.
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

/// Whether a statement is `$crate::name! { .. }` or `name!(@ ..)`: its statements are counted in the rule that it
/// invokes.
fn is_forwarded(part: &[TokenTree]) -> bool {
    let Some(bang) = part.iter().position(|token| is_mark(token, '!')) else { return false };
    let [TokenTree::Group(arguments), end @ ..] = &part[bang + 1..] else { return false };
    let is_path = part[..bang]
        .iter()
        .all(|token| matches!(token, TokenTree::Ident(_)) || is_mark(token, ':') || is_mark(token, '$'));
    let is_inner = arguments.stream().into_iter().next().is_some_and(|first| is_mark(&first, '@'));
    is_path && end.len() < 2 && (is_inner || is_mark(&part[0], '$'))
}

/// Statements in repetitions of a rule: `$( .. )*`.
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

/// First words of declarations.
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

/// Number of closures whose body is not a block: `|a, b| a + b`.
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

/// The values of all `path = "value"` in the tokens of an attribute, also under `cfg_attr`.
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

/// The directory part of the string literal that a composed path starts with.
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

/// Adds the result of a scan to an analysis; `line` converts the parser's bytes to lines.
pub(super) fn add(
    scan: TokenScan,
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
        let mut scan = TokenScan::default();
        scan.braced(text.parse().unwrap(), &mut Vec::new());
        scan.statements
    }

    #[test]
    fn statements_are_estimated_from_tokens() {
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
    fn only_the_bodies_of_rules_count() {
        let rules = |text: &str| {
            let mut scan = TokenScan::default();
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
