//! What a source without a ring is instead: memory in another form, or a core whose rings are in a file.

use memchr::memmem;
use qs_core::ring::MAGIC;

use crate::notes::Notes;
use crate::notes::typed;
use crate::options::ReadOptions;
use crate::source::mapped_rings;

/// First bytes of compressed files, and what unpacks them.
const PACKERS: [(&[u8], &str); 6] = [
    (&[0x1F, 0x8B, 8], "gzip -dc"),
    (&[0x28, 0xB5, 0x2F, 0xFD], "zstd -dc"),
    (&[0xFD, b'7', b'z', b'X', b'Z', 0], "xz -dc"),
    (b"BZh", "bzip2 -dc"),
    (&[4, 0x22, 0x4D, 0x18], "lz4 -dc"),
    (b"PK\x03\x04", "unzip -p"),
];

/// The mark of byte order behind the magic, after line ends were replaced.
const REPLACED_ENDS: [&[u8]; 2] = [&[0x0D, 0x0C, 0x0B, 0x0D, 0x0A], &[0x0D, 0x0A, 0x0B, 0x0C, 0x0D]];

/// Bytes from the magic to the end of the mark of byte order, and some more.
const START: usize = 24;

/// Characters of a text that show its form.
const SAMPLE: usize = 64;

/// Reports what a source without a ring is, if it shows, and the command that reads it.
pub fn report_wrapped(image: &[u8], options: &ReadOptions, notes: &mut Notes<'_>) {
    let file = options.programs.source.as_ref().map_or_else(|| "FILE".to_owned(), typed::quoted);
    let reads = |unpack: &str| format!("`{unpack} {file} | {}`", typed::command("history -"));
    if let Some((_, unpack)) = PACKERS.iter().find(|(start, _)| image.starts_with(start)) {
        return notes.note(format_args!("the source is compressed; {} reads it", reads(unpack)));
    }
    if let Some(unpack) = text_form(image) {
        return notes.note(format_args!("the source is text; {} reads its bytes", reads(unpack)));
    }
    if let Some(len) = reversed_words(image) {
        return notes.note(format_args!(
            "the bytes of each {len} are in reverse order; `objcopy -I binary -O binary --reverse-bytes={len} {file} \
             dump.bin && {}` reads them",
            typed::command("history dump.bin")
        ));
    }
    if was_text(image) {
        return notes.note(format_args!(
            "the source was copied as text, which changed its bytes: copy the dump again, as binary"
        ));
    }
    if let Some(path) = mapped_rings(image) {
        let read = typed::command(format!("history {}", typed::quoted(&path)));
        notes.note(format_args!(
            "a core leaves files out, and this program's rings are in one: `{read}` reads it"
        ));
    }
}

/// What turns a text that shows bytes into them.
fn text_form(image: &[u8]) -> Option<&'static str> {
    let sample = image.get(..SAMPLE)?;
    if sample.starts_with(b"00000000: ") {
        return Some("xxd -r");
    }
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/\r\n".contains(byte);
    let is_mixed = sample.iter().any(u8::is_ascii_lowercase) && sample.iter().any(u8::is_ascii_uppercase);
    (is_mixed && sample.iter().all(is_base64)).then_some("base64 -d")
}

/// Bytes of a word, if the magic is there with each of its words reversed.
fn reversed_words(image: &[u8]) -> Option<usize> {
    [4, 2, 8].into_iter().find(|len| {
        let mut magic = MAGIC;
        magic.chunks_mut(*len).for_each(<[u8]>::reverse);
        memmem::find(image, &magic).is_some()
    })
}

/// Whether a ring is there whose bytes above 127 were encoded, or whose line ends were replaced.
fn was_text(image: &[u8]) -> bool {
    let (start, end) = (&MAGIC[..6], &MAGIC[7..]);
    let is_encoded = |byte: &[u8]| memmem::find(image, &[start, byte, end].concat()).is_some();
    let has_other_ends = |at: usize| {
        let header = &image[at..image.len().min(at + START)];
        REPLACED_ENDS.iter().any(|ends| memmem::find(header, ends).is_some())
    };
    let replacement = char::REPLACEMENT_CHARACTER.to_string();
    is_encoded(&[0xC2, MAGIC[6]])
        || is_encoded(replacement.as_bytes())
        || memmem::find_iter(image, &MAGIC).any(has_other_ends)
}
