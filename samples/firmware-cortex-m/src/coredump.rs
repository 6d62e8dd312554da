//! A coredump in flash, as crash reporters such as Memfault keep one: a head, and regions of memory, each with a head of its
//! own. One of them is the history of the run before.
// xhist instrument FALSE

use embedded_storage::nor_flash::NorFlash;

use crate::flash::PageWriter;

/// Bytes of each head: three words.
const HEAD: usize = 12;
/// The kind of a region: memory.
const MEMORY: u32 = 1;
/// Where a Cortex-M says why it faulted.
const FAULT_STATUS: *const [u32; 5] = 0xE000_ED28 as *const [u32; 5];

unsafe extern "C" {
    /// The rings of the recorder.
    static XHIST_RING: u8;
}

/// Called at the start. A dump that is there stays until it is uploaded.
pub fn keep(storage: &mut impl NorFlash) {
    let mut len = 0;
    if !xhist_rt::export_earlier(|piece| len += piece.len()) {
        return;
    }
    // SAFETY: registers that may be read at any time.
    let status = unsafe { FAULT_STATUS.read_volatile() };
    let Some(mut dump) = PageWriter::of_empty(storage) else { return };
    let total = HEAD + HEAD + size_of_val(&status) + HEAD + len;
    dump.words(&[u32::from_le_bytes(*b"CORE"), 1, total as u32]);
    dump.words(&[MEMORY, FAULT_STATUS.addr() as u32, size_of_val(&status) as u32]);
    dump.words(&status);
    dump.words(&[MEMORY, (&raw const XHIST_RING).addr() as u32, len as u32]);
    xhist_rt::export_earlier(|piece| dump.write(piece));
}

impl<F: NorFlash> PageWriter<'_, F> {
    fn words(&mut self, words: &[u32]) {
        words.iter().for_each(|word| self.write(&word.to_le_bytes()));
    }
}
