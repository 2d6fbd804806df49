//! The terminal that `meed top` fills, and its keys. What it was before is there again at the end,
//! however that comes.

use std::io::{self, Write};
use std::time::Duration;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
use crossterm::style::Print;
use crossterm::terminal::{
    Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode, size,
};
use crossterm::{execute, queue};

use super::{Seen, Source, frame};

const KEYS: &str = "q leaves  down/up j/k, page down/up, home move through the jobs";

/// The terminal while it is ours.
struct Screen;

impl Screen {
    fn take() -> io::Result<Screen> {
        enable_raw_mode()?;
        // Given back from here on, also when the next fails.
        let screen = Screen;
        // Letters that take two columns would make a line longer than was counted.
        execute!(io::stdout(), EnterAlternateScreen, DisableLineWrap, Hide)?;
        Ok(screen)
    }

    fn draw(&self, lines: &[String], last: &str) -> io::Result<()> {
        let (width, height) = size()?;
        let mut out = io::stdout().lock();
        for (row, line) in (0..height.saturating_sub(1)).zip(lines) {
            queue!(out, MoveTo(0, row), Print(line), Clear(ClearType::UntilNewLine))?;
        }
        queue!(out, Clear(ClearType::FromCursorDown))?;
        let last: String = last.chars().take(usize::from(width)).collect();
        queue!(out, MoveTo(0, height.saturating_sub(1)), Print(last))?;
        queue!(out, Clear(ClearType::UntilNewLine))?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = execute!(io::stdout(), EnableLineWrap, Show, LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }
}

/// Until a key ends it.
pub(super) fn run(mut source: Source<'_>, mut seen: Seen, every: Duration) -> io::Result<()> {
    let screen = Screen::take()?;
    let (mut answers, mut first) = (true, 0);
    loop {
        let (width, height) = size()?;
        let last = seen.jobs.len().saturating_sub(1);
        first = first.min(last);
        let lines = frame(&seen, width.into(), height.saturating_sub(1).into(), first);
        let words = match answers {
            true => KEYS,
            false => "the server does not answer; this is what it said last",
        };
        screen.draw(&lines, words)?;
        if poll(every)? {
            let page = usize::from(height / 2);
            first = match pressed(&read()?) {
                Pressed::Leave => return Ok(()),
                Pressed::Top => 0,
                Pressed::Line(true) => first.saturating_add(1),
                Pressed::Line(false) => first.saturating_sub(1),
                Pressed::Page(true) => first.saturating_add(page),
                Pressed::Page(false) => first.saturating_sub(page),
                Pressed::Nothing => first,
            };
        }
        match source.ask() {
            Ok(found) => (seen, answers) = (found, true),
            Err(_) => answers = false,
        }
    }
}

/// What a key asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pressed {
    Leave,
    Top,
    /// One line down, or up.
    Line(bool),
    /// Half a screen down, or up.
    Page(bool),
    Nothing,
}

fn pressed(event: &Event) -> Pressed {
    let Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press, .. }) = event else {
        return Pressed::Nothing;
    };
    match code {
        KeyCode::Char('c' | 'd') if modifiers.contains(KeyModifiers::CONTROL) => Pressed::Leave,
        KeyCode::Char('q') | KeyCode::Esc => Pressed::Leave,
        KeyCode::Char('j') | KeyCode::Down => Pressed::Line(true),
        KeyCode::Char('k') | KeyCode::Up => Pressed::Line(false),
        KeyCode::Char(' ') | KeyCode::PageDown => Pressed::Page(true),
        KeyCode::PageUp => Pressed::Page(false),
        KeyCode::Char('g') | KeyCode::Home => Pressed::Top,
        _ => Pressed::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_do_what_the_last_line_says() {
        let plain = KeyModifiers::NONE;
        let rows = [
            (KeyCode::Char('q'), plain, Pressed::Leave),
            (KeyCode::Char('c'), KeyModifiers::CONTROL, Pressed::Leave),
            (KeyCode::Char('c'), plain, Pressed::Nothing),
            (KeyCode::Char('j'), plain, Pressed::Line(true)),
            (KeyCode::Up, plain, Pressed::Line(false)),
            (KeyCode::PageDown, plain, Pressed::Page(true)),
            (KeyCode::Home, plain, Pressed::Top),
        ];
        for (code, modifiers, expected) in rows {
            let key = Event::Key(KeyEvent::new(code, modifiers));
            assert_eq!(pressed(&key), expected, "{code:?}");
        }
        assert_eq!(pressed(&Event::Resize(1, 1)), Pressed::Nothing);
    }
}
