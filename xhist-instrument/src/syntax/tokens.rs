//! What the unparsed tokens of macros and attributes still give away: files they lead to, and roughly how many
//! statements they hold.

use crate::site::{Include, IncludeKind, InlineMod, ModDecl};
use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};

/// Finds files named in tokens. Positions are bytes, as the parser counts them.
#[derive(Default)]
pub(super) struct Scan {
    pub modules: Vec<(usize, ModDecl)>,
    pub includes: Vec<(usize, IncludeKind, String)>,
    /// Semicolons inside braces, those of declarations left out.
    pub statements: u32,
}

impl Scan {
    /// Goes through the tokens, which stand inside these inline modules.
    pub fn run(&mut self, tokens: TokenStream, inside: &mut Vec<InlineMod>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
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

/// How many of the parts that end with a semicolon are no declarations.
fn statements(tokens: TokenStream) -> u32 {
    let mut count = 0;
    let mut starts = true;
    let mut counts = false;
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                count += u32::from(counts);
                (starts, counts) = (true, false);
            }
            // An attribute.
            TokenTree::Punct(punct) if starts && punct.as_char() == '#' => {}
            TokenTree::Group(group) if starts && group.delimiter() == Delimiter::Bracket => {}
            token if starts => {
                starts = false;
                counts = !DECLARATIONS
                    .iter()
                    .any(|word| matches!(token, TokenTree::Ident(ident) if ident == word));
            }
            _ => {}
        }
    }
    count
}

/// What declarations that end with a semicolon start with.
const DECLARATIONS: [&str; 7] = ["const", "extern", "mod", "pub", "static", "type", "use"];

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
