//! How a campaign is seen: a live screen, lines, or JSON.

use super::{
    lines::Lines,
    live::{Asked, Colours, Model, Phase, Terminal, Title, terminal::DRAWER},
    start::Told,
};
use crate::{printable::one_line, screen::Screen, signals::Signals};
use cairn_campaign::Event;
use cairn_strategy::Stop;
use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, Scope},
    time::{Duration, Instant},
};

/// How long a key, a signal or the end may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// How often the picture is drawn, whether anything happened or not: time goes on.
const PICTURE: Duration = Duration::from_millis(250);

/// Warnings that outlive the screen.
const LAST_WARNINGS: usize = 5;

/// What people see of a campaign. Events are told by whoever carries it out, keys are heard by another thread.
pub struct Face<'a> {
    screen: &'a Screen,
    way: Mutex<Way>,
    is_done: AtomicBool,
    /// Nobody reads what is told any more.
    is_alone: AtomicBool,
}

/// How events are told.
enum Way {
    Json,
    Lines(Lines),
    /// Drawn; with when the last event came.
    Live(Box<Model>, Instant),
}

/// Ends the attendance when dropped, also by a panic.
pub struct Attendance<'a>(&'a AtomicBool);

impl<'a> Face<'a> {
    /// A live screen where there is a terminal, unless programs are to read.
    pub fn new(told: Told, screen: &'a Screen, title: Title) -> Self {
        let way = match told {
            Told::Json => Way::Json,
            Told::Lines if Terminal::is_there() => Way::Live(Box::new(Model::new(title)), Instant::now()),
            Told::Lines => Way::Lines(Lines::default()),
        };
        let [is_done, is_alone] = [false; 2].map(AtomicBool::new);
        Self { screen, way: Mutex::new(way), is_done, is_alone }
    }

    /// Tells an event.
    pub fn tell(&self, event: &Event) {
        match &mut *self.lock() {
            Way::Json => {
                let text = serde_json::to_string(event).expect("an event is always JSON");
                if !self.screen.offer(&text) {
                    self.is_alone.store(true, Ordering::Relaxed);
                }
            }
            Way::Lines(lines) => {
                if let Some(line) = lines.line(event) {
                    self.screen.note(&line);
                }
            }
            Way::Live(model, heard) => {
                model.observe(event);
                *heard = Instant::now();
            }
        }
    }

    /// From now on keys and signals ask the campaign to stop, until what is returned is dropped; the terminal is given back
    /// before the scope ends.
    pub fn attend<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        stop: &'scope Stop,
        signals: &'scope Signals,
    ) -> io::Result<Attendance<'scope>> {
        let attend = move || {
            let is_live = matches!(*self.lock(), Way::Live(..));
            if is_live {
                let drawn = catch_unwind(AssertUnwindSafe(|| self.draw(stop, signals)));
                self.go_on_in_lines(drawn.unwrap_or_else(|_| Err(io::Error::other("drawing panicked"))));
            }
            while !self.is_done.load(Ordering::Relaxed) {
                if signals.has_caught() || self.is_alone.load(Ordering::Relaxed) {
                    stop.ask();
                }
                thread::sleep(PATIENCE);
            }
        };
        thread::Builder::new().name(DRAWER.into()).spawn_scoped(scope, attend)?;
        Ok(Attendance(&self.is_done))
    }

    /// Says what a screen that is gone said last, once the attendance has ended.
    pub fn leave(&self) {
        let Way::Live(model, _) = &*self.lock() else { return };
        let mut last: Vec<&String> = Vec::new();
        for text in &model.warnings {
            if !last.contains(&text) {
                last.push(text);
            }
        }
        for text in last.into_iter().take(LAST_WARNINGS).rev() {
            self.screen.warn(&one_line(text));
        }
    }

    /// Draws until the campaign is done.
    fn draw(&self, stop: &Stop, signals: &Signals) -> io::Result<()> {
        let colours = if self.screen.has_colour() { Colours::Welcome } else { Colours::None };
        let mut terminal = Terminal::open(colours)?;
        let mut drawn: Option<Instant> = None;
        while !self.is_done.load(Ordering::Relaxed) {
            let asked = terminal.wait(PATIENCE)?;
            if asked == Asked::End || signals.has_caught() {
                stop.ask();
            }
            if asked != Asked::End && drawn.is_some_and(|drawn| drawn.elapsed() < PICTURE) {
                continue;
            }
            drawn = Some(Instant::now());
            let (mut model, heard) = match &*self.lock() {
                Way::Live(model, heard) => (model.clone(), *heard),
                Way::Json | Way::Lines(_) => return Ok(()),
            };
            if stop.is_asked() {
                model.phase = Phase::Ending;
            }
            let since = if model.phase == Phase::Starting { Duration::ZERO } else { heard.elapsed() };
            terminal.draw(&model, model.heard + since)?;
        }
        Ok(())
    }

    /// A terminal that fails, perhaps because its window was closed, is no reason to end a campaign.
    fn go_on_in_lines(&self, drawn: io::Result<()>) {
        let Err(error) = drawn else { return };
        *self.lock() = Way::Lines(Lines::default());
        self.screen.warn(&format!("the screen cannot be drawn, going on in lines: {error}"));
    }

    fn lock(&self) -> MutexGuard<'_, Way> {
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
