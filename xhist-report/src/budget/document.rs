//! A report that is one JSON document.

use serde_json::{Map, Value, json};

use super::Budget;

/// Bytes of the field that says what is left out, without the command and the names of the lists.
const FIELD: usize = 200;

/// The indent of an element.
const INDENT: usize = 4;

/// The same document, with elements taken from the ends of its largest lists until it fits, and a field `left_out` that says how
/// many of which. Its lists begin with what matters most.
pub fn cut_document(mut document: Value, budget: &Budget) -> Value {
    let mut missing = Map::new();
    if pretty(&document) <= budget.bytes {
        return document;
    }
    let room = budget.bytes.saturating_sub(FIELD + budget.command.len());
    loop {
        let size = pretty(&document);
        if size <= room {
            break;
        }
        let Some((name, list)) = largest(&mut document) else { break };
        let mut excess = size - room;
        let mut taken = 0;
        while excess > 0
            && let Some(element) = list.pop()
        {
            taken += 1;
            excess = excess.saturating_sub(indented(&element));
        }
        let before = missing.get(&name).and_then(Value::as_u64).unwrap_or_default();
        missing.insert(name, json!(before + taken));
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

/// The largest list among the fields of a document.
fn largest(document: &mut Value) -> Option<(String, &mut Vec<Value>)> {
    let lists = document.as_object_mut()?.iter_mut().filter_map(|(name, value)| match value {
        Value::Array(list) if !list.is_empty() => {
            Some((list.iter().map(pretty).sum::<usize>(), name.clone(), list))
        }
        _ => None,
    });
    lists.max_by_key(|(size, ..)| *size).map(|(_, name, list)| (name, list))
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
        let whole = Budget { bytes: 1 << 20, ..budget };
        assert_eq!(cut_document(document.clone(), &whole), document);
    }
}
