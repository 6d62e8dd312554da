//! An update with mcuboot: the history of the run before is in flash before the new image is confirmed.
// xhist instrument FALSE

use embedded_storage::nor_flash::NorFlash;

use crate::flash::{self, Partition, keep_earlier_run};

/// The end of a slot whose image was swapped in. In front of it are `image_ok` and `copy_done`, eight bytes each.
const MAGIC: [u8; 16] = *b"\x77\xc2\x95\xf3\x60\xd2\xef\x7f\x35\x52\x50\x0f\x2c\xb6\x79\x80";

/// Called first in `main`. If it does not come to its end, mcuboot takes the image back.
fn begin(primary_slot: &mut impl NorFlash, history: &mut impl NorFlash) {
    keep_earlier_run(history);
    confirm(primary_slot).expect("flash");
}

/// As `boot_set_confirmed` of mcuboot.
fn confirm<F: NorFlash>(slot: &mut F) -> Result<(), F::Error> {
    let end = slot.capacity() as u32;
    let (mut magic, mut image_ok) = ([0; 16], [0; 8]);
    slot.read(end - 16, &mut magic)?;
    slot.read(end - 24, &mut image_ok)?;
    if magic == MAGIC && image_ok[0] == 0xFF {
        image_ok[0] = 1;
        slot.write(end - 24, &image_ok)?;
    }
    Ok(())
}

pub fn start(is_new: bool, history: &mut Partition) {
    let mut primary_slot = Partition(flash::ACTIVE);
    if is_new {
        // What mcuboot writes when it swaps a new image in.
        let end = flash::ACTIVE.end;
        let copy_done = [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
        primary_slot.write(end - 32, &copy_done).expect("flash");
        primary_slot.write(end - 16, &MAGIC).expect("flash");
        return;
    }
    begin(&mut primary_slot, history);
}
