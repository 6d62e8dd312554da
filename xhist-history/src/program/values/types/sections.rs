//! Sections of a program's file.

use object::{CompressionFormat, File, Object as _, ObjectSection as _};

/// The bytes of a section; none if there is no such section, or if it is compressed.
pub fn plain_section<'a>(file: &File<'a>, name: &str) -> &'a [u8] {
    let section = file.section_by_name(name).filter(|section| {
        section.compressed_file_range().is_ok_and(|range| range.format == CompressionFormat::None)
    });
    section.and_then(|section| section.data().ok()).unwrap_or_default()
}
