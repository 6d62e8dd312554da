//! An update with embassy-boot: the history of the run before is in flash before the new image is marked as good.
// xhist instrument FALSE

use embassy_boot::{
    AlignedBuffer, BlockingFirmwareState, BlockingFirmwareUpdater, BootLoader, BootLoaderConfig,
    FirmwareUpdaterConfig,
};
use embedded_storage::nor_flash::NorFlash;

use crate::flash::{self, Partition, keep_earlier_run};

/// Called first in `main`. If it does not come to its end, the boot loader takes the image back.
fn begin<S: NorFlash>(state: S, history: &mut impl NorFlash) {
    keep_earlier_run(history);
    let mut word = AlignedBuffer([0; 8]);
    let mut firmware = BlockingFirmwareState::new(state, &mut word.0[..S::WRITE_SIZE]);
    firmware.mark_booted().expect("flash");
}

pub fn start(is_new: bool, history: &mut Partition) {
    let [active, dfu, state] = [flash::ACTIVE, flash::UPDATE, flash::STATE].map(Partition);
    if is_new {
        // An update that came over some link.
        let mut word = AlignedBuffer([0; 8]);
        let config = FirmwareUpdaterConfig { dfu, state };
        let mut updater = BlockingFirmwareUpdater::new(config, &mut word.0);
        updater.write_firmware(0, &[0x42; 1024]).expect("flash");
        updater.mark_updated().expect("flash");
        return;
    }
    // On a chip the boot loader is a program of its own.
    let mut word = AlignedBuffer([0; 8]);
    BootLoader::new(BootLoaderConfig { active, dfu, state }).prepare_boot(&mut word.0).expect("flash");
    begin(Partition(flash::STATE), history);
}
