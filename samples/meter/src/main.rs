//! A meter that prints the mean of each minute's readings. In the third minute it panics.

mod meter;

use meter::Meter;

fn main() {
    let minutes = ["21 22 23", "24 -- 26", "22 21 --"];
    let mut meter = Meter::default();
    for readings in minutes {
        for reading in readings.split(' ') {
            meter.take(reading);
        }
        println!("mean {}", meter.mean());
    }
}
