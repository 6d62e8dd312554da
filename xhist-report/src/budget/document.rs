//! A report that is one JSON document.

use serde_json::{Map, Value, json};

use super::Budget;

/// Bytes of the field that says what is left out, without the command and the names of the lists.
const FIELD: usize = 200;

/// The indent of an element.
const INDENT: usize = 4;

/// The same document, with elements taken from the ends of its largest lists until it fits, and a field `left_out` that says how
/// many of which. Its lists begin with what matters most, so each keeps its first element as long as another has more.
pub fn cut_document(mut document: Value, budget: &Budget) -> Value {
    let mut missing = Map::new();
    if pretty(&document) <= budget.bytes {
        return document;
    }
    let room = budget.bytes.saturating_sub(FIELD + budget.command.len());
    loop {
        let mut excess = pretty(&document).saturating_sub(room);
        let mut lists = lists(&mut document);
        if excess == 0 || lists.is_empty() {
            break;
        }
        while excess > 0
            && let Some(largest) = lists.iter_mut().max_by_key(|list| list.weight())
            && let Some(element) = largest.elements.pop()
        {
            let size = indented(&element);
            excess = excess.saturating_sub(size);
            largest.size = largest.size.saturating_sub(size);
            let before = missing.get(largest.name).and_then(Value::as_u64).unwrap_or_default();
            missing.insert(largest.name.to_owned(), json!(before + 1));
        }
    }
    if let Some(fields) = document.as_object_mut() {
        missing.insert("command".to_owned(), json!(budget.command));
        fields.insert("left_out".to_owned(), Value::Object(missing));
    }
    document
}

fn pretty(value: &Value) -> usize {
    format!("{value:#}").len()
}

/// Bytes of an element of a list that is a field of the document.
fn indented(element: &Value) -> usize {
    let text = format!("{element:#}");
    text.len() + text.lines().count() * INDENT + ",\n".len()
}

/// A list among the fields of a document.
struct FieldList<'d> {
    name: &'d str,
    elements: &'d mut Vec<Value>,
    /// Bytes of its elements.
    size: usize,
}

impl FieldList<'_> {
    /// The largest list loses an element first, and the last element of a list goes last.
    fn weight(&self) -> (usize, usize) {
        (self.elements.len().min(2), self.size)
    }
}

/// The lists of a document that are not empty.
fn lists(document: &mut Value) -> Vec<FieldList<'_>> {
    let fields = document.as_object_mut().into_iter().flatten();
    let lists = fields.filter_map(|(name, value)| match value {
        Value::Array(elements) if !elements.is_empty() => {
            let size = elements.iter().map(indented).sum();
            Some(FieldList { name, elements, size })
        }
        _ => None,
    });
    lists.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_list_is_cut_at_its_end() {
        let row = |rank: u32| json!({ "rank": rank, "file": "src/main.rs" });
        let document =
            json!({ "schema": 2, "few": [1, 2], "suspects": (1..=500).map(row).collect::<Value>() });
        let budget = Budget { bytes: 2000, command: "xhist-report suspects --format json".to_owned() };
        let cut = cut_document(document.clone(), &budget);
        assert!(pretty(&cut) <= 2000 && pretty(&cut) > 1200, "{cut:#}");
        let kept = cut["suspects"].as_array().unwrap();
        assert_eq!((&kept[0]["rank"], &cut["few"]), (&json!(1), &json!([1, 2])));
        assert_eq!(cut["left_out"]["suspects"], 500 - kept.len());
        assert_eq!(cut["left_out"]["command"], budget.command);
        // Another list that is nearly as long does not cost the first elements of this one.
        let document = json!({ "suspects": (1..=20).map(row).collect::<Value>(), "functions": (1..=19).map(row).collect::<Value>() });
        for bytes in [1024, 1500] {
            let cut = cut_document(document.clone(), &Budget { bytes, ..budget.clone() });
            assert!(pretty(&cut) <= bytes, "{cut:#}");
            assert!(
                ["suspects", "functions"].iter().all(|name| cut[*name].as_array().unwrap().len() > 2),
                "{cut:#}"
            );
        }
        let whole = Budget { bytes: 1 << 20, ..budget };
        assert_eq!(cut_document(document.clone(), &whole), document);
    }
}
