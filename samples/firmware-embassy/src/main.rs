//! A logger of temperatures with embassy: one task measures, one stores what it measured, and one shows it. After a while the
//! display freezes. Nothing has crashed, and every task looks right by itself.

#![no_std]
#![no_main]

mod link;
mod mailbox;
mod timer;

use core::hint::black_box;

use embassy_executor::Spawner;
use embassy_time::Timer;
use mailbox::Mailbox;
use panic_halt as _;

static READINGS: Mailbox = Mailbox::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    timer::start();
    link::start();
    spawner.spawn(measure().unwrap());
    spawner.spawn(store().unwrap());
    spawner.spawn(show().unwrap());
    link::serve().await;
}

#[embassy_executor::task]
async fn measure() {
    let mut temperature = 20;
    loop {
        temperature = (temperature * 7 + 3) % 40;
        READINGS.put(temperature);
        Timer::after_millis(5).await;
    }
}

#[embassy_executor::task]
async fn store() {
    loop {
        let reading = READINGS.take().await;
        black_box(reading);
    }
}

#[embassy_executor::task]
async fn show() {
    loop {
        let reading = READINGS.take().await;
        black_box(reading);
        Timer::after_millis(1).await;
    }
}
