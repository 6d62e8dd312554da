//! Counters of a Perfetto trace: numbers in QS records and trace events, and recorded values that are numbers.

use std::collections::HashMap;
use std::io;

use super::messages::{CounterDescriptor, CounterValue, TrackDescriptor};
use super::writer::PacketWriter;
use xhist_history::model::FieldValue;
use xhist_history::recording::{EventKind, RecordedStep, Recording, StepId};

/// Counters that a trace shows: those with the most values.
const MAX_COUNTERS: usize = 100;
/// Tracks of counters are numbered from here on.
const FIRST_TRACK: u64 = 1 << 32;

/// Numbers by name, each with its step.
#[derive(Default)]
pub struct Counters(HashMap<String, Vec<(StepId, CounterValue)>>);

impl Counters {
    /// The numbers of a recording.
    pub fn of(recording: &Recording) -> Counters {
        let mut counters = Counters::default();
        for (index, step) in recording.steps().enumerate() {
            let RecordedStep::Event(event) = step else { continue };
            let Some(event) = recording.events.get(event as usize) else { continue };
            if !matches!(event.kind, EventKind::Trace | EventKind::Record) {
                continue;
            }
            for (name, value) in &event.fields {
                let Some(value) = number(value) else { continue };
                let (record, field) = (recording.strings.get(event.name), recording.strings.get(*name));
                counters.add(format!("{record}.{field}"), StepId(index as u32), value);
            }
        }
        for value in &recording.values {
            let text = recording.strings.get(value.text);
            let Some(number) = text.parse().map(CounterValue::Whole).ok().or_else(|| {
                text.parse().ok().filter(|value: &f64| value.is_finite()).map(CounterValue::Double)
            }) else {
                continue;
            };
            let (function, name) = (recording.strings.get(value.function), recording.strings.get(value.name));
            let separator = if function.is_empty() { "" } else { "::" };
            counters.add(format!("{function}{separator}{name}"), value.step, number);
        }
        counters
    }

    fn add(&mut self, name: String, step: StepId, value: CounterValue) {
        self.0.entry(name).or_default().push((step, value));
    }

    /// Writes the counters that change. `lanes` has the times of each lane's steps.
    pub fn write(
        self,
        (recording, lanes): (&Recording, &[Vec<u64>]),
        writer: &mut PacketWriter<'_>,
    ) -> io::Result<()> {
        let changes =
            |values: &[(StepId, CounterValue)]| values.windows(2).any(|pair| pair[0].1 != pair[1].1);
        let mut counters: Vec<_> = self.0.into_iter().filter(|(_, values)| changes(values)).collect();
        counters.sort_by(|(one, values), (other, others)| {
            others.len().cmp(&values.len()).then_with(|| one.cmp(other))
        });
        for (index, (name, values)) in counters.into_iter().take(MAX_COUNTERS).enumerate() {
            let uuid = FIRST_TRACK + index as u64;
            writer.track(TrackDescriptor {
                uuid: Some(uuid),
                name: Some(name),
                counter: Some(CounterDescriptor {}),
                ..TrackDescriptor::default()
            })?;
            let mut timed: Vec<(u64, CounterValue)> = Vec::with_capacity(values.len());
            for (step, value) in values {
                let lane = recording.lane_of(step);
                let position = recording.lane(lane).and_then(|lane| lane.position(step));
                let time = position.and_then(|position| lanes.get(lane.0 as usize)?.get(position).copied());
                timed.push((time.unwrap_or_default(), value));
            }
            timed.sort_by_key(|(time, _)| *time);
            for (time, value) in timed {
                writer.counter(time, uuid, value)?;
            }
        }
        Ok(())
    }
}

fn number(value: &FieldValue) -> Option<CounterValue> {
    match value {
        FieldValue::Uint(value) => i64::try_from(*value).ok().map(CounterValue::Whole),
        FieldValue::Int(value) => Some(CounterValue::Whole(*value)),
        FieldValue::Float(value) => Some(CounterValue::Double(*value)).filter(|_| value.is_finite()),
        FieldValue::Text(_) | FieldValue::Bytes(_) => None,
    }
}
