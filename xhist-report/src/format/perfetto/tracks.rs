//! The tracks of a Perfetto trace: processes, threads, interrupts and async tasks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use super::messages::{ProcessDescriptor, ThreadDescriptor, TrackDescriptor};
use super::times::has_times;
use super::writer::PacketWriter;
use xhist_history::recording::{RecordedLane, Recording, TaskSpan};

/// Tracks by what they show. The numbers of tracks rise from 1.
pub struct Tracks {
    lanes: Vec<u64>,
    /// By process and number of the task.
    tasks: HashMap<(u32, u32), u64>,
    pids: Vec<u32>,
}

impl Tracks {
    /// Writes a track for each process, lane and task.
    pub fn write(recording: &Recording, writer: &mut PacketWriter<'_>) -> io::Result<Tracks> {
        let mut next = 1;
        let mut new = || {
            let uuid = next;
            next += 1;
            uuid
        };
        let mut processes: BTreeMap<u32, u64> = BTreeMap::new();
        for lane in &recording.lanes {
            if processes.contains_key(&lane.pid) {
                continue;
            }
            let uuid = new();
            processes.insert(lane.pid, uuid);
            writer.track(process(recording, lane, uuid))?;
        }
        let mut tracks = Tracks { lanes: Vec::new(), tasks: HashMap::new(), pids: Vec::new() };
        // A thread id may be used again when a thread has ended.
        let mut seen: HashSet<(u32, u32)> = HashSet::new();
        for lane in &recording.lanes {
            let uuid = new();
            let parent = processes[&lane.pid];
            let is_thread =
                lane.interrupt == 0 && lane.tid != 0 && lane.pid != 0 && seen.insert((lane.pid, lane.tid));
            let mut track = TrackDescriptor { uuid: Some(uuid), ..TrackDescriptor::default() };
            if is_thread {
                track.thread = Some(ThreadDescriptor {
                    pid: i32::try_from(lane.pid).ok(),
                    tid: i32::try_from(lane.tid).ok(),
                    thread_name: Some(lane.name.clone()),
                });
            } else {
                (track.name, track.parent_uuid) = (Some(lane.name.clone()), Some(parent));
            }
            track.description = Some(format!("ring {}, {}", lane.ring, lane.status));
            writer.track(track)?;
            tracks.lanes.push(uuid);
            tracks.pids.push(lane.pid);
        }
        // What a task waits for is in sight with the name of its track.
        let parked: HashMap<(u32, u32), String> = recording
            .parked_tasks()
            .iter()
            .filter_map(|task| Some(((task.pid, task.number), task.at.as_ref()?.text())))
            .collect();
        for span in &recording.task_spans {
            let pid = tracks.pids.get(span.lane.0 as usize).copied().unwrap_or_default();
            if tracks.tasks.contains_key(&(pid, span.task)) {
                continue;
            }
            let function = recording.strings.get(span.function);
            let parked =
                parked.get(&(pid, span.task)).map_or_else(String::new, |at| format!(", parked at {at}"));
            let uuid = new();
            tracks.tasks.insert((pid, span.task), uuid);
            writer.track(TrackDescriptor {
                uuid: Some(uuid),
                name: Some(format!("{}{parked}", format!("task {} {function}", span.task).trim_end())),
                parent_uuid: processes.get(&pid).copied(),
                ..TrackDescriptor::default()
            })?;
        }
        Ok(tracks)
    }

    /// The track of a lane, by its place among the lanes.
    pub fn lane(&self, index: usize) -> u64 {
        self.lanes.get(index).copied().unwrap_or_default()
    }

    /// The track of a task.
    pub fn task(&self, span: &TaskSpan) -> Option<u64> {
        let pid = self.pids.get(span.lane.0 as usize)?;
        self.tasks.get(&(*pid, span.task)).copied()
    }
}

/// The track of a lane's process. Its name says what its times are.
fn process(recording: &Recording, lane: &RecordedLane, uuid: u64) -> TrackDescriptor {
    let of = if recording.origin.is_empty() { "xhist" } else { &recording.origin };
    let name = if has_times(recording) { of.to_owned() } else { format!("{of} (step order, not time)") };
    let mut track = TrackDescriptor { uuid: Some(uuid), ..TrackDescriptor::default() };
    match i32::try_from(lane.pid) {
        Ok(pid) if pid > 0 => {
            track.process = Some(ProcessDescriptor { pid: Some(pid), process_name: Some(name) });
        }
        _ => track.name = Some(name),
    }
    track
}
