//! `docs/records.md` matches the table. `XHIST_BLESS=1` writes it again.

use std::fmt::Write;
use std::path::Path;

use qs_core::record::{Kind, RECORDS};

const HEAD: &str = "\
# Predefined records

Made from the table in `qs-core/src/record/table.rs`: `XHIST_BLESS=1 cargo test -p xhist-qs --test it records_page`.

T is the time stamp. Of the fields, O is the address of an object, F of a function, S a signal, E the size of an event.
Q, P and C are counters of queues, pools and time events. A target declares how wide each is in record 64. In the text,
`{sig@obj}` is a signal as that object knows it, `{evt@obj}` is `Evt<Sig=…,Pool=…,Ref=…>`, and the part behind a colon
says how a number is shown.
";

/// Ids that QP reserves for switching interrupts off and on. It never sends them, so they have no layout.
const NEVER_SENT: [u8; 2] = [43, 44];

fn letter(kind: Kind) -> &'static str {
    match kind {
        Kind::Obj => "O",
        Kind::Fun => "F",
        Kind::Sig => "S",
        Kind::EvtSize => "E",
        Kind::QueueCtr => "Q",
        Kind::PoolCtr => "P",
        Kind::TimeCtr => "C",
        Kind::U8 => "u8",
        Kind::U16 => "u16",
        Kind::U32 => "u32",
        Kind::Str => "text",
    }
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    page.push_str("\n| id | name | group | fields | text |\n|---|---|---|---|---|\n");
    for row in RECORDS {
        let (mut fields, mut text) = (Vec::new(), String::from("depends on the data"));
        if NEVER_SENT.contains(&row.id) {
            assert!(row.layout.is_none(), "{} has a layout", row.name);
            text = format!("no target sends it: `Unknown Rec={},Len=…`", row.id);
        }
        if let Some(layout) = row.layout {
            fields.extend(layout.timed.then(|| "T".to_owned()));
            fields.extend(layout.fields.iter().map(|field| format!("{} {}", field.name, letter(field.kind))));
            text = if layout.text.is_empty() { String::new() } else { format!("`{}`", layout.text) };
        }
        let group = format!("{:?}", row.group).to_uppercase();
        let _ = writeln!(page, "| {} | {} | {group} | {} | {text} |", row.id, row.name, fields.join(", "));
    }
    page
}

#[test]
fn the_page_is_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/records.md");
    let page = page();
    if std::env::var_os("XHIST_BLESS").is_some() {
        std::fs::write(&path, &page).expect("written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/records.md is out of date: XHIST_BLESS=1 updates it");
}
