//! An upper bound of a parser's recursion depth, from one pass over the tokens.
//! The unit is the stack of one prefix operator. Measured costs of other syntax are multiples of it.

use super::lexer::TokenKind;

/// Cost of a bracket. One unit of it belongs to the level outside.
const BRACKET: usize = 3;
/// Cost of generic arguments.
const ANGLE: usize = 4;
/// Cost of `&` and `*`: low in expressions, high in types.
const POINTER: usize = 3;

/// One open bracket, with the cost of its current statement or item.
#[derive(Default)]
struct Level {
    /// Operators, adjacent words and brackets since the last separator: each may add a level.
    run: usize,
    /// Open `<`, and `|` of closures: their cost does not end at a comma.
    over_commas: usize,
    after_word: bool,
    after_braces: bool,
    /// After `-` or `=`, where `>` ends an arrow.
    after_shaft: bool,
    braces: bool,
}

impl Level {
    fn depth(&self) -> usize {
        BRACKET - 1 + self.run + self.over_commas
    }

    fn restart(&mut self) {
        self.run = 0;
        self.over_commas = 0;
    }

    fn word(&mut self, word: &[u8], after_word: bool, after_braces: bool) {
        // After a block a new statement or item starts, unless this word continues the old one.
        if after_braces && word != b"else" && word != b"as" {
            self.restart();
        }
        self.run += usize::from(after_word);
        self.after_word = true;
    }

    fn mark(&mut self, mark: u8, after_braces: bool, after_shaft: bool) {
        match mark {
            b';' => self.restart(),
            b'#' if after_braces => self.restart(),
            b',' => self.run = 0,
            b'<' => self.over_commas += ANGLE,
            b'|' => self.over_commas += 1,
            b'>' => {
                self.run += 1;
                self.over_commas = self.over_commas.saturating_sub(if after_shaft { 0 } else { ANGLE });
            }
            b'&' | b'*' => self.run += POINTER,
            _ => self.run += 1,
        }
        self.after_shaft = matches!(mark, b'-' | b'=');
    }
}

/// Adds up tokens; `deepest` is the bound.
pub(crate) struct Nesting {
    levels: Vec<Level>,
    below: usize,
    deepest: usize,
}

impl Nesting {
    pub fn new() -> Self {
        Self { levels: vec![Level::default()], below: 0, deepest: BRACKET }
    }

    pub fn deepest(&self) -> usize {
        self.deepest
    }

    pub fn add(&mut self, kind: TokenKind, text: &[u8]) {
        let Some(level) = self.levels.last_mut() else { return };
        let after_word = std::mem::take(&mut level.after_word);
        let after_braces = std::mem::take(&mut level.after_braces);
        let after_shaft = std::mem::take(&mut level.after_shaft);
        match kind {
            TokenKind::Comment => (level.after_word, level.after_braces) = (after_word, after_braces),
            TokenKind::Literal => {}
            TokenKind::Word => level.word(text, after_word, after_braces),
            TokenKind::Mark(mark) => level.mark(mark, after_braces, after_shaft),
            TokenKind::Open(bracket) => {
                level.run += 1;
                self.below += level.depth();
                self.levels.push(Level { braces: bracket == b'{', ..Level::default() });
            }
            TokenKind::Close => self.close(),
        }
        if let Some(level) = self.levels.last() {
            self.deepest = self.deepest.max(self.below + level.depth());
        }
    }

    fn close(&mut self) {
        // A surplus closing bracket: the parser will report it.
        if self.levels.len() < 2 {
            return;
        }
        let closed = self.levels.pop();
        if let (Some(level), Some(closed)) = (self.levels.last_mut(), closed) {
            self.below -= level.depth();
            level.after_braces = closed.braces;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::Lexer;
    use super::*;

    fn of(text: &str) -> usize {
        let mut nesting = Nesting::new();
        Lexer::new(text.as_bytes(), 0).for_each(|(kind, range)| nesting.add(kind, text[range].as_bytes()));
        nesting.deepest()
    }

    #[test]
    fn long_flat_texts_are_shallow() {
        assert!(of(&"fn f() { a(); b(c, d); }\n".repeat(10_000)) < 20);
        assert!(of(&format!("const T: [u8; 9] = [{}];", "0x1, ".repeat(100_000))) < 20);
        assert!(of(&format!("fn f() {{ {} }}", "if a { b } ".repeat(10_000))) < 20);
        assert!(of("}}}}) fn f() {}") < 20);
    }

    #[test]
    fn chains_and_brackets_are_deep() {
        assert!(of(&format!("fn f() {{ x{} }}", " + x".repeat(5_000))) > 5_000);
        assert!(of(&format!("fn f() {{ {}x{} }}", "(".repeat(5_000), ")".repeat(5_000))) > 5_000);
        assert!(of(&format!("fn f() {{ {}x }}", "return ".repeat(5_000))) > 4_900);
        assert!(of(&format!("fn f() {{ if a {{ }} {} }}", "else if a { }".repeat(5_000))) > 5_000);
        assert!(of(&format!("fn f() {{ {}x }}", "|a, b| ".repeat(5_000))) > 5_000);
        assert!(of(&format!("type T = {}u8{};", "A<u8, ".repeat(5_000), ">".repeat(5_000))) > 5_000);
        assert!(of(&format!("type T = {}u8{};", "A<fn() -> u8, ".repeat(5_000), ">".repeat(5_000))) > 20_000);
        assert!(of(&format!("fn f() {{ x{} }}", " >> x".repeat(5_000))) > 5_000);
    }
}
