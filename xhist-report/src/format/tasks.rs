//! Async tasks as text: those that have not ended, tasks at the same `.await` together, with what is around them and how
//! they came there; and those that were cancelled.

use std::io::{self, Write};
use std::time::Duration;

use anstyle::Style;

use xhist_history::model::{CancelledTasks, LiveTask, TaskLink, TaskPlace, TaskSummary};

/// Groups of tasks that are listed one by one.
const SHOWN: usize = 20;
/// The same in a brief list.
const SHOWN_BRIEFLY: usize = 6;
/// Numbers of tasks that are listed in a group.
const NUMBERS: usize = 8;

/// Writes the tasks that no other one awaits; those that await them follow them. Then the cancelled ones.
pub fn write(tasks: &TaskSummary, heading: Style, dim: Style, out: &mut dyn Write) -> io::Result<()> {
    write_live(tasks, heading, dim, out)?;
    match (tasks.live.len(), tasks.unlisted) {
        (_, 0) => {}
        (0, unlisted) => write_unlisted(unlisted, "", out)?,
        (_, unlisted) => write_unlisted(unlisted, " more", out)?,
    }
    match tasks.ended {
        0 => {}
        1 => writeln!(out, "1 of these tasks has ended: its end is overwritten in the ring")?,
        ended => writeln!(out, "{ended} of these tasks have ended: their ends are overwritten in the rings")?,
    }
    match tasks.is_brief || tasks.cancelled.is_empty() {
        true => Ok(()),
        false => write_cancelled(&tasks.cancelled, heading, dim, out),
    }
}

fn write_live(tasks: &TaskSummary, heading: Style, dim: Style, out: &mut dyn Write) -> io::Result<()> {
    let live = &tasks.live;
    if live.is_empty() {
        return Ok(());
    }
    let parked = live.iter().filter(|task| task.parked).count();
    let verb = if live.len() == 1 { "task has" } else { "tasks have" };
    writeln!(
        out,
        "{heading}-- {} async {verb} not ended, {parked} parked at an .await --{heading:#}",
        live.len()
    )?;
    let groups = groups(live);
    let shown = if tasks.is_brief { SHOWN_BRIEFLY } else { SHOWN };
    for group in groups.iter().take(shown) {
        write_group(group, heading, dim, out)?;
    }
    let all = if tasks.is_brief { "`tasks`" } else { "--format json" };
    match groups.len().saturating_sub(shown) {
        0 => Ok(()),
        1 => writeln!(out, "and tasks at 1 more place; {all} shows all"),
        more => writeln!(out, "and tasks at {more} more places; {all} shows all"),
    }
}

fn write_unlisted(unlisted: u64, more: &str, out: &mut dyn Write) -> io::Result<()> {
    let tasks = if unlisted == 1 { "task has" } else { "tasks have" };
    writeln!(
        out,
        "{unlisted}{more} async {tasks} not ended: the history holds none of their statements (XHIST_SIZE makes rings larger)"
    )
}

fn write_cancelled(
    cancelled: &[CancelledTasks],
    heading: Style,
    dim: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let all: u64 = cancelled.iter().map(|place| place.count).sum();
    let verb = if all == 1 { "task was" } else { "tasks were" };
    writeln!(out, "{heading}-- {all} async {verb} cancelled: dropped while parked --{heading:#}")?;
    for CancelledTasks { at, count } in cancelled.iter().take(SHOWN) {
        writeln!(out, "{count} cancelled at {}", place(at))?;
        write_source(Some(at), dim, out)?;
    }
    match cancelled.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        1 => writeln!(out, "and tasks at 1 more place; --format json shows all"),
        more => writeln!(out, "and tasks at {more} more places; --format json shows all"),
    }
}

/// Tasks that are at the same place and in the same interrupt, for the same tasks around them, in the order of the first of each
/// group.
fn groups(tasks: &[LiveTask]) -> Vec<Vec<&LiveTask>> {
    let mut groups: Vec<Vec<&LiveTask>> = Vec::new();
    let places = |task: &LiveTask| -> Vec<Option<(Option<String>, u32)>> {
        let around = task.around.iter().map(|around| &around.at);
        [&task.at]
            .into_iter()
            .chain(around)
            .map(|at| at.as_ref().map(|at| (at.path.clone(), at.line)))
            .collect()
    };
    for task in tasks.iter().filter(|task| task.is_leaf) {
        let is_same = |group: &&mut Vec<&LiveTask>| {
            let is_like =
                |first: &&LiveTask| (first.parked, &first.interrupt) == (task.parked, &task.interrupt);
            group.first().is_some_and(|first| is_like(first) && places(first) == places(task))
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(task),
            None => groups.push(vec![task]),
        }
    }
    groups
}

fn write_group(group: &[&LiveTask], heading: Style, dim: Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = group.first() else { return Ok(()) };
    let numbers: Vec<String> = group.iter().take(NUMBERS).map(|task| task.number.to_string()).collect();
    let more = if group.len() > NUMBERS { ", ..." } else { "" };
    let (what, verb) = match (group.len(), first.parked) {
        (1, true) => (format!("task {}", numbers.join(", ")), "parked at"),
        (1, false) => (format!("task {}", numbers.join(", ")), "running at"),
        (len, true) => (format!("{len} tasks ({}{more})", numbers.join(", ")), "parked at"),
        (len, false) => (format!("{len} tasks ({}{more})", numbers.join(", ")), "running at"),
    };
    let least = group.iter().filter_map(|task| task.for_at_least).min();
    // Nothing ran since, so its wait is not known.
    let least = least.filter(|time| *time >= Duration::from_millis(1));
    let time = least.map_or_else(String::new, |time| match first.until {
        None => format!(", for {} or longer", seconds(time)),
        Some(until) => format!(", for {} up to {until}", seconds(time)),
    });
    let at = first.at.as_ref().map_or_else(|| "a statement that is overwritten".to_owned(), place);
    let interrupt = first.interrupt.as_ref().map_or_else(String::new, |name| format!(", in {name}"));
    writeln!(out, "{heading}{what} {verb} {at}{heading:#}{interrupt}{time}")?;
    write_source(first.at.as_ref(), dim, out)?;
    if let Some(head) = &first.or_parked_at {
        writeln!(out, "  or parked at {}, where its loop goes on", place(head))?;
        write_source(Some(head), dim, out)?;
    }
    for around in &first.around {
        let number = if group.len() == 1 { format!(" (task {})", around.number) } else { String::new() };
        match (around.link, &around.at) {
            // That task has gone on since: its place is not where the block is.
            (TaskLink::Created, Some(at)) => {
                let by = if at.function.is_empty() { "a task" } else { &at.function };
                writeln!(out, "  created by {by}{number}, which is at {}", short(at))?;
            }
            (_, at) => {
                let at = at.as_ref().map_or_else(|| "?".to_owned(), place);
                writeln!(out, "  {} at {at}{number}", around.link.name())?;
            }
        }
        write_source(around.at.as_ref(), dim, out)?;
    }
    let before = &first.before[..first.before.len().saturating_sub(1)];
    if !before.is_empty() {
        let before: Vec<String> = before.iter().map(short).collect();
        writeln!(out, "  {dim}it came by {}{dim:#}", before.join(", "))?;
    }
    Ok(())
}

fn write_source(at: Option<&TaskPlace>, dim: Style, out: &mut dyn Write) -> io::Result<()> {
    match at.and_then(|at| at.source.as_deref()) {
        Some(source) => writeln!(out, "      {dim}{source}{dim:#}"),
        None => Ok(()),
    }
}

fn short(at: &TaskPlace) -> String {
    format!("{}:{}", at.path.as_deref().unwrap_or("?"), at.line)
}

fn place(at: &TaskPlace) -> String {
    match at.function.is_empty() {
        true => short(at),
        false => format!("{} in {}", short(at), at.function),
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::model::TaskAround;

    fn at(line: u32, source: &str) -> TaskPlace {
        let (path, function) = (Some("src/a.rs".to_owned()), "f".to_owned());
        TaskPlace { path, line, function, source: Some(source.to_owned()) }
    }

    fn task(number: u32, around: u32) -> LiveTask {
        let outer = at(5, "let x = f().await;");
        LiveTask {
            number,
            pid: 7,
            parked: true,
            or_parked_at: None,
            at: Some(at(9, "b.lock().await;")),
            thread: "main".to_owned(),
            interrupt: None,
            for_at_least: Some(Duration::from_millis(1500)),
            until: None,
            around: vec![TaskAround { number: around, link: TaskLink::Awaits, at: Some(outer) }],
            is_leaf: true,
            before: vec![at(8, ""), at(9, "")],
        }
    }

    fn text(live: &[LiveTask]) -> String {
        text_of(&TaskSummary { live: live.to_vec(), ..TaskSummary::default() })
    }

    fn text_of(tasks: &TaskSummary) -> String {
        let mut out = Vec::new();
        write(tasks, Style::new(), Style::new(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn tasks_that_are_only_counted_are_named_as_such() {
        let counted = TaskSummary { unlisted: 3, ended: 1, ..TaskSummary::default() };
        assert_eq!(
            text_of(&counted),
            "3 async tasks have not ended: the history holds none of their statements (XHIST_SIZE makes rings larger)\n\
             1 of these tasks has ended: its end is overwritten in the ring\n"
        );
        let beside = text_of(&TaskSummary { live: vec![task(2, 1)], ..counted });
        assert!(beside.contains("\n3 more async tasks have not ended: "), "{beside}");
    }

    #[test]
    fn a_brief_list_has_the_first_places_and_no_cancelled_tasks() {
        let place = |line: u32| LiveTask { at: Some(at(line, "")), ..task(line, 0) };
        let cancelled = vec![CancelledTasks { at: at(7, "c().await;"), count: 2 }];
        let all = TaskSummary { live: (1..=8).map(place).collect(), cancelled, ..TaskSummary::default() };
        let whole = text_of(&all);
        let end = "\n-- 2 async tasks were cancelled: dropped while parked --\n2 cancelled at src/a.rs:7 in f\n      c().await;\n";
        assert!(whole.ends_with(end), "{whole}");
        let brief = text_of(&TaskSummary { is_brief: true, ..all });
        assert!(brief.ends_with("\nand tasks at 2 more places; `tasks` shows all\n"), "{brief}");
    }

    #[test]
    fn tasks_at_the_same_place_are_one_group() {
        let outer = LiveTask { is_leaf: false, ..task(1, 0) };
        assert_eq!(
            text(&[outer, task(2, 1), task(4, 3)]),
            "-- 3 async tasks have not ended, 3 parked at an .await --\n\
             2 tasks (2, 4) parked at src/a.rs:9 in f, for 1.500 s or longer\n      b.lock().await;\n  \
             awaited at src/a.rs:5 in f\n      let x = f().await;\n  it came by src/a.rs:8\n"
        );
    }

    /// The task that created another one has gone on, so its place says nothing of that.
    #[test]
    fn who_created_a_task_is_named_with_where_it_is_now() {
        let mut spawned = task(2, 1);
        spawned.around[0].link = TaskLink::Created;
        spawned.before.clear();
        let created = "\n  created by f (task 1), which is at src/a.rs:5\n      let x = f().await;\n";
        assert!(text(&[spawned]).ends_with(created));
    }

    /// Each executor has a priority of its own, so its tasks are apart.
    #[test]
    fn tasks_of_an_executor_in_an_interrupt_name_it() {
        let task_in = |number: u32, interrupt: &str| LiveTask {
            interrupt: Some(interrupt.to_owned()),
            for_at_least: None,
            around: Vec::new(),
            before: Vec::new(),
            ..task(number, 0)
        };
        let [low, high] = ["interrupt 23 SSI0", "interrupt 29 QEI0"];
        assert_eq!(
            text(&[task_in(1, low), task_in(2, high), task_in(3, low)]),
            "-- 3 async tasks have not ended, 3 parked at an .await --\n\
             2 tasks (1, 3) parked at src/a.rs:9 in f, in interrupt 23 SSI0\n      b.lock().await;\n\
             task 2 parked at src/a.rs:9 in f, in interrupt 29 QEI0\n      b.lock().await;\n"
        );
    }

    #[test]
    fn a_task_without_statements_or_times_is_named() {
        let lone = LiveTask {
            at: None,
            for_at_least: None,
            around: Vec::new(),
            before: Vec::new(),
            parked: false,
            ..task(2, 1)
        };
        assert_eq!(
            text(&[lone]),
            "-- 1 async task has not ended, 0 parked at an .await --\ntask 2 running at a statement that is overwritten\n"
        );
        assert_eq!(text(&[]), "");
    }
}
