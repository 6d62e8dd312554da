//! Traits that the types of a file derive: the field `derived` of its line.

/// Reads a list: each trait with a type that a field of a deriving type names.
pub fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let traits = text.split(' ').filter_map(|derived| derived.split_once(':'));
    traits.flat_map(|(of_trait, types)| types.split(',').map(move |of_type| (of_trait, of_type)))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[test]
    fn each_type_comes_with_its_trait() {
        let pairs: Vec<_> = pairs("Clone:Vec,Name Eq:Name x").collect();
        assert_eq!(pairs, [("Clone", "Vec"), ("Clone", "Name"), ("Eq", "Name")]);
    }
}
