//! The view at a terminal: reads keys, draws, and restores the terminal however it ends.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::cursor::{Hide, Show};
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use super::draw::draw;
use super::editor;
use super::index::ViewIndex;
use super::keys;
use super::panes::Scene;
use super::press::Effect;
use super::state::ViewState;
use crate::interrupt;
use xhist_history::notes::typed;
use xhist_history::recording::{Recording, SharedRecording};

/// Without a key, this is how often a recording that grows is drawn.
const PAUSE: Duration = Duration::from_millis(200);
/// The shortest wait: without any, the terminal is not read.
const AT_ONCE: Duration = Duration::from_millis(1);

/// Why there is no view.
#[derive(Debug)]
pub enum ScreenError {
    /// Standard input or output is not a terminal.
    NoTerminal(&'static str),
    /// The terminal cannot move its cursor.
    Dumb,
    /// The terminal cannot be used.
    Terminal(io::Error),
}

impl fmt::Display for ScreenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instead = format!(
            "`{}` prints one screen, `{}` lists every entry",
            typed::command("view --print"),
            typed::command("history --all")
        );
        match self {
            ScreenError::NoTerminal(stream) => {
                write!(f, "view needs a terminal, and {stream} is not one; {instead}")
            }
            ScreenError::Dumb => write!(f, "view cannot draw on the terminal of TERM=dumb; {instead}"),
            ScreenError::Terminal(error) => write!(f, "view cannot use the terminal: {error}; {instead}"),
        }
    }
}

impl From<io::Error> for ScreenError {
    fn from(error: io::Error) -> ScreenError {
        ScreenError::Terminal(error)
    }
}

/// Checks that there is a terminal that can be drawn on.
///
/// # Errors
/// What is missing.
pub fn check() -> Result<(), ScreenError> {
    if !io::stdin().is_terminal() {
        return Err(ScreenError::NoTerminal("standard input"));
    }
    if !io::stdout().is_terminal() {
        return Err(ScreenError::NoTerminal("standard output"));
    }
    match std::env::var_os("TERM") {
        Some(term) if term == "dumb" => Err(ScreenError::Dumb),
        _ => Ok(()),
    }
}

/// Shows a recording until the user quits. `is_growing`: the program may still record.
///
/// # Errors
/// Those of the terminal.
pub fn run(
    shared: &SharedRecording,
    keys: &[String],
    open: impl FnOnce(&Recording, (u16, u16)) -> ViewState,
    is_growing: &AtomicBool,
) -> Result<(), ScreenError> {
    check()?;
    let stop = interrupt::requested(restore);
    let screen = RawScreen::enter()?;
    let mut terminal = empty_screen()?;
    let size = terminal.size()?;
    let mut index = ViewIndex::default();
    let mut seen;
    let mut state = {
        let recording = shared.lock();
        index.extend(&recording);
        seen = recording.len();
        open(&recording, (size.width, size.height))
    };
    let has_colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut pressed: Vec<String> = keys.to_vec();
    let mut must_draw = true;
    // From here on no change of the window's size is missed: the first drawing takes the size of now.
    event::poll(Duration::ZERO)?;
    while !stop.load(Ordering::Relaxed) {
        {
            let recording = shared.lock();
            state.is_growing = is_growing.load(Ordering::Acquire);
            if recording.len() != seen {
                state.grew(seen, &recording);
                index.extend(&recording);
                seen = recording.len();
                must_draw = true;
            }
            for key in pressed.drain(..) {
                must_draw = true;
                match state.press(&key, &recording, &index) {
                    Effect::Draw => {}
                    Effect::Redraw => terminal = empty_screen()?,
                    Effect::Quit => return Ok(()),
                    Effect::Suspend => {
                        screen.outside(suspend)?;
                        terminal = empty_screen()?;
                    }
                    Effect::Edit(file, line) => {
                        state.message = screen.outside(|| edit(&file, line))?;
                        terminal = empty_screen()?;
                    }
                }
            }
            if std::mem::take(&mut must_draw) {
                terminal.draw(|frame| {
                    let area = frame.area();
                    state.size = (area.width, area.height);
                    let scene = Scene { recording: &recording, index: &index, state: &state };
                    draw(&scene, has_colour, frame.buffer_mut());
                })?;
            }
        }
        // Keys that came while it drew are carried out before it draws again.
        let mut wait = PAUSE;
        while event::poll(wait)? {
            wait = AT_ONCE;
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => pressed.extend(name(key)),
                Event::Resize(..) => must_draw = true,
                _ => {}
            }
        }
    }
    Ok(())
}

/// A terminal on which nothing is drawn yet. To clear one, ratatui would ask it for its cursor, which not every one answers.
fn empty_screen() -> io::Result<Terminal<CrosstermBackend<io::Stdout>>> {
    execute!(io::stdout(), Clear(ClearType::All))?;
    Terminal::new(CrosstermBackend::new(io::stdout()))
}

/// The name of a key in the table; `None` for keys that have none.
fn name(key: KeyEvent) -> Option<String> {
    if let KeyCode::Char(char) = key.code {
        return Some(match (char, key.modifiers.contains(KeyModifiers::CONTROL)) {
            (char, true) => format!("Ctrl-{}", char.to_ascii_uppercase()),
            (' ', _) => "Space".to_owned(),
            (char, _) => char.to_string(),
        });
    }
    let name = match key.code {
        KeyCode::Down => "Down",
        KeyCode::Up => "Up",
        KeyCode::Left => "Left",
        KeyCode::Right => "Right",
        KeyCode::PageDown => "PgDn",
        KeyCode::PageUp => "PgUp",
        KeyCode::Home => "Home",
        KeyCode::End => "End",
        KeyCode::Enter => "Enter",
        KeyCode::Backspace => "Backspace",
        KeyCode::Esc => "Esc",
        KeyCode::Tab => "Tab",
        KeyCode::BackTab => "Shift-Tab",
        KeyCode::F(1) => "F1",
        _ => return None,
    };
    debug_assert!(name == "Backspace" || keys::action(name).is_some(), "{name}");
    Some(name.to_owned())
}

/// Runs the editor; the message says what went wrong.
fn edit(file: &Path, line: u32) -> String {
    let words = editor::command(&|name| std::env::var_os(name), file, line);
    match Command::new(&words[0]).args(&words[1..]).status() {
        Ok(status) if status.success() => String::new(),
        Ok(status) => format!("the editor {:?} ended with {status}", words[0]),
        Err(error) => format!("cannot start the editor {:?}: {error}; $EDITOR names another", words[0]),
    }
}

/// Stops this process, as Ctrl-Z does.
fn suspend() {
    #[cfg(unix)]
    let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
}

/// A terminal that is drawn on. Dropped, it is as before.
struct RawScreen(());

impl RawScreen {
    fn enter() -> io::Result<RawScreen> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            // The message of a panic is for the screen that the user comes back to.
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                before(panic);
            }));
        });
        let screen = RawScreen(());
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Does something on the terminal as it was before.
    fn outside<T>(&self, work: impl FnOnce() -> T) -> io::Result<T> {
        restore();
        let done = work();
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(done)
    }
}

impl Drop for RawScreen {
    fn drop(&mut self) {
        restore();
    }
}

/// Makes the terminal as it was before. There is nowhere to report that this fails.
fn restore() {
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = io::stdout().flush();
}
