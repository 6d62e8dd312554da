//! Expands `macro_rules!` macros, to find out how they use the arguments of a call.
//!
//! ```text
//! rules (text) ─► definition ─► matcher: arguments to fragments ─► transcriber: fragments to tokens
//! ```
//!
//! Tokens of the arguments keep their spans; tokens of the rules have none. Expansions are only analysed, never
//! compiled.

mod definition;
pub(super) mod known_macros;
mod matcher;
mod mismatch;
mod outline;
mod transcriber;

use definition::MacroRule;
use mismatch::Mismatch;
pub(super) use outline::{Outline, Repetition, outlines};
use proc_macro2::TokenStream;
use syn::parse::Parser as _;
use syn::parse::discouraged::Speculative as _;

/// The rules of a macro.
pub(super) struct MacroDefinition {
    rules: Vec<MacroRule>,
}

/// The result of expanding a call.
pub(super) enum Expansion {
    Tokens(TokenStream),
    /// No rule matches: the call refers to another macro of this name.
    NoRule,
    /// The rules use unsupported syntax, or the expansion exceeds the budget.
    Unsupported,
}

impl MacroDefinition {
    /// Parses the text between the brackets of `macro_rules! name { .. }`.
    pub fn parse(rules: &str) -> Option<Self> {
        Some(Self { rules: definition::rules(rules.parse().ok()?)? })
    }

    /// Expands one call to at most `budget` tokens.
    pub fn expand(&self, arguments: TokenStream, budget: &mut usize) -> Expansion {
        let first_match = |input: syn::parse::ParseStream<'_>| {
            for rule in &self.rules {
                let ahead = input.fork();
                match matcher::arguments(&rule.matcher, &ahead) {
                    Err(Mismatch::Different) => continue,
                    Err(Mismatch::Unsupported) => return Err(input.error("not understood")),
                    Ok(found) => {
                        input.advance_to(&ahead);
                        let tokens = transcriber::tokens(&rule.body, &found, budget);
                        return Ok(tokens.map_or(Expansion::Unsupported, Expansion::Tokens));
                    }
                }
            }
            input.parse::<TokenStream>().map(|_| Expansion::NoRule)
        };
        first_match.parse2(arguments).unwrap_or(Expansion::Unsupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(rules: &str, arguments: &str) -> String {
        let definition = MacroDefinition::parse(rules).expect("rules");
        match definition.expand(arguments.parse().expect("tokens"), &mut 1000) {
            Expansion::Tokens(tokens) => tokens.to_string().split_whitespace().collect::<Vec<_>>().join(" "),
            Expansion::NoRule => "no rule".to_owned(),
            Expansion::Unsupported => "unsure".to_owned(),
        }
    }

    #[test]
    fn the_first_matching_rule_is_used() {
        let rules = "(a $x:expr) => { 1 + $x }; ($x:ident) => { $x }; ($($t:tt)*) => { 3 };";
        assert_eq!(expand(rules, "a 2 * b"), "1 + 2 * b");
        assert_eq!(expand(rules, "b"), "b");
        assert_eq!(expand(rules, "'x' => ;"), "3");
        assert_eq!(expand("(a) => {}", "b"), "no rule");
    }

    #[test]
    fn repetitions_follow_their_fragments() {
        let rules = "($($k:ident => $v:expr),* $(,)?) => { $(f($k, $v);)* }";
        assert_eq!(expand(rules, "a => 1, b => { 2 },"), "f (a , 1) ; f (b , { 2 }) ;");
        assert_eq!(expand(rules, ""), "");
        let nested = "($($n:ident [$($v:literal)+]);*) => { $(($n $(, $v)+))* }";
        assert_eq!(expand(nested, "a [1 -2]; b [\"c\"]"), "(a , 1 , - 2) (b , \"c\")");
        assert_eq!(expand("($($a:ident)* ; $($b:ident)*) => { $($a $b)* }", "a b; c"), "unsure");
        assert_eq!(
            expand("($(if $a:block)else+ else $b:block) => { $($a)* $b }", "if {1} else if {2} else {3}"),
            "{ 1 } { 2 } { 3 }"
        );
    }

    #[test]
    fn a_matched_fragment_does_not_match_tokens() {
        let rules = "(@ 1) => { literal }; (@ $x:expr) => { other }; ($x:expr) => { $x }";
        assert_eq!(expand(rules, "@ 1"), "literal");
        let definition = MacroDefinition::parse(rules).expect("rules");
        let Expansion::Tokens(one) = definition.expand("1".parse().expect("tokens"), &mut 99) else {
            panic!()
        };
        let at: TokenStream = "@".parse().expect("tokens");
        let again = at.into_iter().chain(one).collect();
        let Expansion::Tokens(again) = definition.expand(again, &mut 99) else { panic!() };
        assert_eq!(again.to_string(), "other");
    }

    #[test]
    fn operators_and_lifetimes_are_one_token_tree() {
        assert_eq!(expand("($a:tt $b:tt) => { $b $a }", "'x ..="), "..= 'x");
        assert_eq!(expand("($a:tt $($b:tt)*) => { [$a] $($b)* }", "::x"), "[::] x");
    }

    #[test]
    fn crate_is_replaced_and_unknown_variables_stay() {
        assert_eq!(expand("() => { $crate::f($y) }", ""), "crate :: f ($ y)");
    }

    #[test]
    fn an_expansion_over_budget_is_unsupported() {
        assert_eq!(expand("($($t:tt)*) => { $($t $t $t)* }", &"a ".repeat(400)), "unsure");
        assert_eq!(expand("($s:stmt) => { $s }", "let x = 1"), "unsure");
    }
}
