//! Sums and counts readings. A reading that is not a number starts the mean from the beginning.

#[derive(Default)]
pub struct Meter {
    sum: i32,
    count: i32,
}

impl Meter {
    pub fn take(&mut self, reading: &str) {
        match reading.parse() {
            Ok(value) => self.add(value),
            Err(_) => self.restart(),
        }
    }

    fn add(&mut self, value: i32) {
        self.sum += value;
        self.count += 1;
    }

    fn restart(&mut self) {
        self.sum = 0;
        self.count = 0;
    }

    pub fn mean(&self) -> i32 {
        self.sum / self.count
    }
}
