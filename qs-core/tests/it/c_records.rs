//! The calls of `samples/qs-c/xhist_qs_records.h` match the table. `XHIST_BLESS=1` writes it again.

use std::fmt::Write;
use std::path::Path;

use qs_core::record::{Group, Kind, Layout, RECORDS, RecordInfo};

const HEAD: &str = "\
/* Predefined records of QP for C; xhist_qs.h includes it. `object` is the number of the object for the local filter.
 * Made from the table in qs-core/src/record/table.rs: XHIST_BLESS=1 cargo test -p xhist-qs --test it c_records */
#ifndef XHIST_QS_RECORDS_H
#define XHIST_QS_RECORDS_H

";
const END: &str = "\n#endif\n";

/// The type of a parameter, and the letter by which the library knows its width.
fn parameter(kind: Kind) -> (&'static str, char) {
    match kind {
        Kind::Obj => ("const void *", 'O'),
        Kind::Fun => ("const void *", 'F'),
        Kind::Sig => ("uint32_t ", 'S'),
        Kind::EvtSize => ("uint32_t ", 'E'),
        Kind::QueueCtr => ("uint32_t ", 'Q'),
        Kind::PoolCtr => ("uint32_t ", 'P'),
        Kind::TimeCtr => ("uint32_t ", 'C'),
        Kind::U8 => ("uint8_t ", '1'),
        Kind::U16 => ("uint16_t ", '2'),
        Kind::U32 => ("uint32_t ", '4'),
        Kind::Str => panic!("a text has a call of its own"),
    }
}

/// The layout of what a framework or an application records. The others are sent by the library itself.
fn recorded(row: &RecordInfo) -> Option<Layout> {
    let is_own = matches!(row.group, Group::Inf | Group::Dic | Group::Tst | Group::Err);
    row.layout.filter(|_| !is_own || row.name == "QS_QF_RUN")
}

fn call(row: &RecordInfo, layout: &Layout) -> String {
    let (mut parameters, mut values) = (String::from("uint8_t object"), Vec::new());
    let mut letters = String::from(if layout.timed { "T" } else { "" });
    for field in layout.fields {
        let ((ctype, letter), name) = (parameter(field.kind), field.name);
        letters.push(letter);
        let _ = write!(parameters, ", {ctype}{name}");
        values.push(match field.kind {
            Kind::Obj | Kind::Fun => format!("xhist_qs_address({name})"),
            _ => name.to_owned(),
        });
    }
    let (values, passed) = match values.is_empty() {
        true => (String::new(), "NULL"),
        false => (format!("        const uint64_t values[] = {{{}}};\n", values.join(", ")), "values"),
    };
    let (id, name) = (row.id, row.name.replace("QS_", "xhist_qs_").to_lowercase());
    format!(
        "static inline void {name}({parameters}) {{\n    if (xhist_qs_is_on({id}, object)) {{\n{values}        \
         xhist_qs_record({id}, \"{letters}\", {passed});\n    }}\n}}\n"
    )
}

#[test]
fn the_header_is_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/qs-c/xhist_qs_records.h");
    let calls = RECORDS.iter().filter_map(|row| Some(call(row, &recorded(row)?)));
    let header = format!("{HEAD}{}{END}", calls.collect::<Vec<_>>().join("\n"));
    if std::env::var_os("XHIST_BLESS").is_some() {
        std::fs::write(&path, &header).expect("written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == header, "xhist_qs_records.h is out of date: XHIST_BLESS=1 updates it");
}
