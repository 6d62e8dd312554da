//! The time of each step of a lane, for a time line.
//!
//! A recorder stamps some steps only. Between two stamps of a lane the steps share the time evenly. Without any stamp a
//! step takes a microsecond, and the order of all steps is their time.

use xhist_history::recording::{RecordedLane, Recording, StepId};

/// Nanoseconds of a step where no time is recorded.
const STEP: u64 = 1_000;

/// Whether steps have times.
pub fn has_times(recording: &Recording) -> bool {
    !recording.times.is_empty()
}

/// The time of each step of a lane in nanoseconds, in the order of [`RecordedLane::steps`]. It never goes back.
pub fn of_lane(recording: &Recording, lane: &RecordedLane) -> Vec<u64> {
    if !has_times(recording) {
        return lane.steps.iter().map(|step| u64::from(step.0) * STEP).collect();
    }
    let stamps: Vec<(usize, u64)> = stamps(recording, &lane.steps);
    let mut times = Vec::with_capacity(lane.steps.len());
    // Before its first stamp a lane has the time that was newest in all lanes.
    let first = lane.steps.first().and_then(|step| recording.time(*step));
    let mut from = (0, first.or(recording.times.first().map(|(_, time)| *time)).unwrap_or_default());
    for (index, time) in stamps {
        let time = time.max(from.1);
        share(&mut times, from, (index, time));
        from = (index, time);
    }
    let rest = lane.steps.len().saturating_sub(from.0) as u64;
    share(&mut times, from, (lane.steps.len(), from.1.saturating_add(rest)));
    times
}

/// The stamped steps of a lane: position and time.
fn stamps(recording: &Recording, steps: &[StepId]) -> Vec<(usize, u64)> {
    let find = |step: &StepId| recording.times.binary_search_by_key(step, |(other, _)| *other);
    let stamped = steps.iter().enumerate().filter_map(|(index, step)| Some((index, find(step).ok()?)));
    stamped.map(|(index, found)| (index, recording.times[found].1)).collect()
}

/// Adds the times from one position to the next, without that of the next.
fn share(times: &mut Vec<u64>, (from, start): (usize, u64), (to, end): (usize, u64)) {
    let count = to.saturating_sub(from) as u128;
    for index in 0..count {
        let part = u128::from(end - start) * index / count;
        times.push(start.saturating_add(u64::try_from(part).unwrap_or(u64::MAX)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::recording::RecordingSample;

    #[test]
    fn steps_between_stamps_share_the_time() {
        let mut sample = RecordingSample::calls();
        let recording = &mut sample.recording;
        recording.times = vec![(StepId(1), 100), (StepId(5), 180), (StepId(6), 170)];
        assert_eq!(of_lane(recording, &recording.lanes[0]), [100, 100, 120, 140, 160, 180, 180]);
    }

    #[test]
    fn without_stamps_the_order_is_the_time() {
        let sample = RecordingSample::calls();
        let times = of_lane(&sample.recording, &sample.recording.lanes[0]);
        assert_eq!(times, [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000]);
    }
}
