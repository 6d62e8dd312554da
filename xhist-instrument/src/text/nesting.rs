//! How deep a parser would recurse into a text, guessed from above in one pass over its tokens.
//! The unit is the stack that a prefix operator takes; what was measured to take more counts more.

use super::lexer::Kind;

/// A bracket takes this many units, one of them on the level outside.
const BRACKET: usize = 3;
/// Generic arguments.
const ANGLE: usize = 4;
/// `&` and `*` are cheap in expressions but not in types.
const POINTER: usize = 3;

/// One open bracket, and what has been seen in it since the last statement or item ended.
#[derive(Default)]
struct Level {
    /// Operators, adjacent words and brackets since the last separator: each may be one level.
    run: usize,
    /// `<` not closed and `|` seen: these go on over commas.
    over_commas: usize,
    after_word: bool,
    after_braces: bool,
    /// Behind `-` or `=`: a `>` is the end of an arrow.
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
        // Behind a block another statement or item starts, unless the word goes on with it.
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

/// Fed with all tokens, gives an upper bound in levels.
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

    pub fn see(&mut self, kind: Kind, text: &[u8]) {
        let Some(level) = self.levels.last_mut() else { return };
        let after_word = std::mem::take(&mut level.after_word);
        let after_braces = std::mem::take(&mut level.after_braces);
        let after_shaft = std::mem::take(&mut level.after_shaft);
        match kind {
            Kind::Comment => (level.after_word, level.after_braces) = (after_word, after_braces),
            Kind::Literal => {}
            Kind::Word => level.word(text, after_word, after_braces),
            Kind::Mark(mark) => level.mark(mark, after_braces, after_shaft),
            Kind::Open(bracket) => {
                level.run += 1;
                self.below += level.depth();
                self.levels.push(Level { braces: bracket == b'{', ..Level::default() });
            }
            Kind::Close => self.close(),
        }
        if let Some(level) = self.levels.last() {
            self.deepest = self.deepest.max(self.below + level.depth());
        }
    }

    fn close(&mut self) {
        // A closing bracket too many: the parser will say so.
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
        Lexer::new(text.as_bytes(), 0).for_each(|(kind, range)| nesting.see(kind, text[range].as_bytes()));
        nesting.deepest()
    }

    #[test]
    fn long_but_flat_is_shallow() {
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
