//! Expands macros by example, to see what becomes of the arguments of a call.
//!
//! ```text
//! rules (text) ─► definition ─► matcher: arguments to fragments ─► transcriber: fragments to tokens
//! ```
//!
//! Tokens of the arguments keep their places in the source; tokens of the rules have none. What an expansion shows is
//! used to find statements, never compiled.

mod definition;
pub(super) mod known;
mod matcher;
mod transcriber;

use definition::Rule;
use proc_macro2::TokenStream;
use syn::parse::Parser as _;
use syn::parse::discouraged::Speculative as _;

/// A macro.
pub(super) struct Definition {
    rules: Vec<Rule>,
}

/// What becomes of a call.
pub(super) enum Expanded {
    Tokens(TokenStream),
    /// No rule fits: another macro of this name is meant.
    NoRule,
    /// Something in the rules is not understood here, or the expansion is too long.
    Unsure,
}

/// Why a rule does not apply.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Miss {
    /// The arguments are others.
    Different,
    /// This cannot be told.
    Unsure,
}

impl Definition {
    /// Reads what stands between the brackets of `macro_rules! name { .. }`.
    pub fn parse(rules: &str) -> Option<Self> {
        Some(Self { rules: definition::rules(rules.parse().ok()?)? })
    }

    /// Expands one call, into at most `budget` tokens.
    pub fn expand(&self, arguments: TokenStream, budget: &mut usize) -> Expanded {
        let first_match = |input: syn::parse::ParseStream<'_>| {
            for rule in &self.rules {
                let ahead = input.fork();
                match matcher::arguments(&rule.matcher, &ahead) {
                    Err(Miss::Different) => continue,
                    Err(Miss::Unsure) => return Err(input.error("not understood")),
                    Ok(found) => {
                        input.advance_to(&ahead);
                        let tokens = transcriber::tokens(&rule.body, &found, budget);
                        return Ok(tokens.map_or(Expanded::Unsure, Expanded::Tokens));
                    }
                }
            }
            input.parse::<TokenStream>().map(|_| Expanded::NoRule)
        };
        first_match.parse2(arguments).unwrap_or(Expanded::Unsure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(rules: &str, arguments: &str) -> String {
        let definition = Definition::parse(rules).expect("rules");
        match definition.expand(arguments.parse().expect("tokens"), &mut 1000) {
            Expanded::Tokens(tokens) => tokens.to_string().split_whitespace().collect::<Vec<_>>().join(" "),
            Expanded::NoRule => "no rule".to_owned(),
            Expanded::Unsure => "unsure".to_owned(),
        }
    }

    #[test]
    fn the_first_rule_that_fits_is_taken() {
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
    fn a_finished_fragment_is_no_token_again() {
        let rules = "(@ 1) => { literal }; (@ $x:expr) => { other }; ($x:expr) => { $x }";
        assert_eq!(expand(rules, "@ 1"), "literal");
        let definition = Definition::parse(rules).expect("rules");
        let Expanded::Tokens(one) = definition.expand("1".parse().expect("tokens"), &mut 99) else {
            panic!()
        };
        let at: TokenStream = "@".parse().expect("tokens");
        let again = at.into_iter().chain(one).collect();
        let Expanded::Tokens(again) = definition.expand(again, &mut 99) else { panic!() };
        assert_eq!(again.to_string(), "other");
    }

    #[test]
    fn operators_and_lifetimes_are_one_token_tree() {
        assert_eq!(expand("($a:tt $b:tt) => { $b $a }", "'x ..="), "..= 'x");
        assert_eq!(expand("($a:tt $($b:tt)*) => { [$a] $($b)* }", "::x"), "[::] x");
    }

    #[test]
    fn the_crate_is_named_and_other_variables_stay() {
        assert_eq!(expand("() => { $crate::f($y) }", ""), "crate :: f ($ y)");
    }

    #[test]
    fn the_budget_ends_it() {
        assert_eq!(expand("($($t:tt)*) => { $($t $t $t)* }", &"a ".repeat(400)), "unsure");
        assert_eq!(expand("($s:stmt) => { $s }", "let x = 1"), "unsure");
    }
}
