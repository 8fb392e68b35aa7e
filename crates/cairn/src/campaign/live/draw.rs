//! A picture of a campaign.

use super::model::{Find, Found, Model, Phase};
use crate::{
    duration,
    printable::{grouped, one_line},
};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    symbols::Marker,
    text::{Line, Span},
    widgets::{Axis, Block, Chart, Dataset, GraphType, Paragraph, Sparkline},
};
use std::{collections::BTreeMap, time::Duration};

/// Below these there is no room for charts.
const CHART_HEIGHT: u16 = 20;
const CHART_WIDTH: u16 = 50;

/// Below this workers and warnings have a line each instead of a box.
const BOX_HEIGHT: u16 = 18;

/// Lines of workers and warnings in their boxes.
const BOX_LINES: u16 = 3;

/// Whether colours are welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// They are.
    Welcome,
    /// Only weight tells things apart.
    None,
}

/// Draws a model as it is at `now` on the campaign's clock, as much of it as there is room for.
pub fn draw(frame: &mut Frame<'_>, model: &Model, now: Duration, colours: Colours) {
    let area = frame.area();
    let painter = Painter { model, now, colours };
    let figures = wrap(&painter.figures(), area.width);
    let n_figures = figures.len().min(3) as u16;
    let has_charts = area.height >= CHART_HEIGHT && area.width >= CHART_WIDTH;
    let below = match area.height {
        BOX_HEIGHT.. => BOX_LINES + 2,
        8.. => 1 + u16::from(!model.warnings.is_empty()),
        _ => 0,
    };
    let [title, figures_area, charts, finds, below, footer] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(n_figures),
        Constraint::Length(if has_charts { (area.height * 2 / 5).clamp(8, 16) } else { 0 }),
        Constraint::Fill(1),
        Constraint::Length(below),
        Constraint::Length(u16::from(area.height > 5)),
    ])
    .areas(area);
    painter.title(frame, title);
    frame.render_widget(Paragraph::new(figures), figures_area);
    if has_charts {
        let [curve, rates] = Layout::horizontal([Constraint::Fill(3), Constraint::Fill(2)]).areas(charts);
        painter.curve(frame, curve);
        painter.rates(frame, rates);
    }
    painter.finds(frame, finds);
    painter.below(frame, below);
    painter.footer(frame, footer);
}

struct Painter<'a> {
    model: &'a Model,
    now: Duration,
    colours: Colours,
}

impl Painter<'_> {
    fn title(&self, frame: &mut Frame<'_>, area: Rect) {
        let state = match self.model.phase {
            Phase::Starting => "starting".to_string(),
            Phase::Working => self.time(),
            Phase::Ending => format!("ending, {}", duration::show(self.now)),
        };
        let state_width = state.chars().count() as u16 + 1;
        let [left, right] =
            Layout::horizontal([Constraint::Fill(1), Constraint::Length(state_width)]).areas(area);
        let name = Span::styled(" cairn ", self.style(Color::Cyan).add_modifier(Modifier::REVERSED));
        let target = one_line(&self.model.title.target);
        let line = Line::from(vec![name, Span::styled(format!(" {target}"), Modifier::BOLD)]);
        frame.render_widget(Paragraph::new(line), left);
        frame.render_widget(Paragraph::new(state).right_aligned(), right);
    }

    /// Time, and the limit that is nearest to what people watch.
    fn time(&self) -> String {
        let elapsed = duration::show(self.now);
        let budget = &self.model.title.budget;
        let of = |limit: u64, what: &str| format!("{elapsed}, up to {} {what}", grouped(limit));
        match (budget.wall, budget.cpu, budget.inputs, budget.target_runs, budget.new_paths) {
            (Some(limit), ..) => format!("{elapsed} of {}", duration::show(limit)),
            (_, Some(limit), ..) => format!("{elapsed}, up to {} of processor time", duration::show(limit)),
            (.., Some(limit), _, _) => of(limit, "inputs"),
            (.., Some(limit), _) => of(limit, "runs"),
            (.., Some(limit)) => of(limit, "paths"),
            _ => elapsed,
        }
    }

    fn figures(&self) -> Vec<Vec<Span<'static>>> {
        let model = self.model;
        let reached = format!("{} / {}", grouped(model.n_reached as u64), grouped(model.n_branches as u64));
        let percent = match model.n_branches {
            0 => String::new(),
            all => format!(" {:.1}%", model.n_reached as f64 * 100.0 / all as f64),
        };
        let failures = match model.n_failures {
            0 => Style::new().add_modifier(Modifier::BOLD),
            _ => self.style(Color::Red).add_modifier(Modifier::BOLD),
        };
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let killed = format!("{} / {}", grouped(model.n_killed as u64), grouped(model.n_mutants as u64));
        let rate = model.rates.back().copied().unwrap_or(0);
        [
            ("branches ", format!("{reached}{percent}"), self.style(Color::Green).patch(bold)),
            ("corpus ", grouped(model.n_entries as u64), bold),
            ("failures ", grouped(model.n_failures as u64), failures),
            ("tried ", grouped(model.n_inputs), bold),
            ("a second ", grouped(rate), bold),
            ("killed ", killed, self.style(Color::Green).patch(bold)),
        ]
        .into_iter()
        .filter(|(label, ..)| *label != "killed " || model.n_mutants > 0)
        .map(|(label, figure, style)| vec![Span::raw(label), Span::styled(figure, style)])
        .collect()
    }

    fn curve(&self, frame: &mut Frame<'_>, area: Rect) {
        let mut points = self.model.curve.clone();
        let now = self.now.as_secs_f64();
        if let Some((_, last)) = points.last().copied() {
            points.push((now, last));
        }
        let start = points.first().map_or(0.0, |(time, _)| *time);
        let end = now.max(start + 1.0);
        // A little air above the curve, up to what there is.
        let most = (self.model.n_reached as f64 * 1.15).ceil().min(self.model.n_branches as f64).max(1.0);
        let dataset = Dataset::default()
            .marker(Marker::Braille)
            .graph_type(GraphType::Line)
            .style(self.style(Color::Green))
            .data(&points);
        let label = |seconds: f64| duration::show(Duration::from_secs_f64(seconds));
        let chart = Chart::new(vec![dataset])
            .block(Block::bordered().title(" branches reached "))
            .x_axis(Axis::default().bounds([start, end]).labels([label(start), label(end)]))
            .y_axis(Axis::default().bounds([0.0, most]).labels(["0".into(), format!("{most}")]));
        frame.render_widget(chart, area);
    }

    fn rates(&self, frame: &mut Frame<'_>, area: Rect) {
        let rates = &self.model.rates;
        let most = rates.iter().max().copied().unwrap_or(0);
        let title = format!(" inputs a second, at most {} ", grouped(most));
        let width = usize::from(area.width.saturating_sub(2));
        let shown: Vec<u64> = rates.iter().skip(rates.len().saturating_sub(width)).copied().collect();
        let sparkline = Sparkline::default()
            .block(Block::bordered().title(title))
            .style(self.style(Color::Cyan))
            .max(most.max(1))
            .data(&shown);
        frame.render_widget(sparkline, area);
    }

    fn finds(&self, frame: &mut Frame<'_>, area: Rect) {
        let lines: Vec<Line<'_>> = match self.model.finds.is_empty() {
            true => vec![Line::from("nothing yet")],
            false => self.model.finds.iter().map(|find| self.find(find)).collect(),
        };
        let block = Block::bordered().title(" found, and why it is kept ");
        // A box around a single line is more box than line.
        match area.height {
            3.. => frame.render_widget(Paragraph::new(lines).block(block), area),
            _ => frame.render_widget(Paragraph::new(lines), area),
        }
    }

    fn find(&self, find: &Find) -> Line<'static> {
        let when = Span::raw(format!("{:>10}  ", duration::show(find.after)));
        match &find.what {
            Found::Input { entry, made_by, kept_for } => Line::from(vec![
                when,
                Span::styled(format!("#{entry} "), Modifier::BOLD),
                Span::raw(one_line(kept_for)),
                Span::styled(format!("  ({})", one_line(made_by)), Modifier::DIM),
            ]),
            Found::Kills { entry, kills, n_kills } => {
                let more = match n_kills - kills.len().min(1) {
                    0 => String::new(),
                    n => format!(" and {n} more"),
                };
                let first = kills.first().map_or("", String::as_str);
                Line::from(vec![
                    when,
                    Span::styled(format!("#{entry} "), Modifier::BOLD),
                    Span::styled(format!("kills {}{more}", one_line(first)), self.style(Color::Green)),
                ])
            }
            Found::Failure { what, strategy, is_smaller } => {
                let before = if *is_smaller { "a smaller input for " } else { "the program fails: " };
                Line::from(vec![
                    when,
                    Span::styled(format!("{before}{}", one_line(what)), self.style(Color::Red)),
                    Span::styled(format!("  ({strategy})"), Modifier::DIM),
                ])
            }
        }
    }

    fn below(&self, frame: &mut Frame<'_>, area: Rect) {
        let warnings = self.model.warnings.iter().map(|text| one_line(text));
        if area.height <= 2 {
            let mut lines = vec![Line::from(format!("workers  {}", self.states().join(", ")))];
            let painted = |text| Line::styled(format!("warning: {text}"), self.style(Color::Yellow));
            lines.extend(warnings.take(1).map(painted));
            frame.render_widget(Paragraph::new(lines), area);
            return;
        }
        let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(2)]).areas(area);
        let workers: Vec<Line<'_>> = match self.model.workers.len() <= usize::from(BOX_LINES) {
            true => {
                let name = |(number, at): (usize, &String)| Line::from(format!("{number}  {}", one_line(at)));
                self.model.workers.iter().enumerate().map(name).collect()
            }
            false => self.states().into_iter().map(Line::from).collect(),
        };
        frame.render_widget(Paragraph::new(workers).block(Block::bordered().title(" workers ")), left);
        let warnings: Vec<Line<'_>> =
            warnings.map(|text| Line::styled(text, self.style(Color::Yellow))).collect();
        frame.render_widget(Paragraph::new(warnings).block(Block::bordered().title(" warnings ")), right);
    }

    /// How many workers are at what.
    fn states(&self) -> Vec<String> {
        let mut states: BTreeMap<String, usize> = BTreeMap::new();
        for at in &self.model.workers {
            *states.entry(one_line(at)).or_default() += 1;
        }
        states.into_iter().map(|(at, n)| format!("{n} × {at}")).collect()
    }

    fn footer(&self, frame: &mut Frame<'_>, area: Rect) {
        let key = Span::styled(" q ", Modifier::REVERSED);
        let folder = Span::styled(one_line(&self.model.title.folder), self.style(Color::Cyan));
        let line = match self.model.phase {
            Phase::Ending => Line::from("ending: what was found is kept"),
            _ => Line::from(vec![key, Span::raw(" ends; everything is in "), folder]),
        };
        frame.render_widget(Paragraph::new(line), area);
    }

    fn style(&self, colour: Color) -> Style {
        match self.colours {
            Colours::Welcome => Style::new().fg(colour),
            Colours::None => Style::new(),
        }
    }
}

/// Groups into lines of at most `width`, a group never torn apart.
fn wrap(groups: &[Vec<Span<'static>>], width: u16) -> Vec<Line<'static>> {
    const BETWEEN: &str = "   ";
    let mut lines: Vec<Line<'static>> = Vec::new();
    for group in groups {
        let group_width: usize = group.iter().map(Span::width).sum();
        match lines.last_mut() {
            Some(line) if line.width() + BETWEEN.len() + group_width <= usize::from(width) => {
                line.spans.push(Span::raw(BETWEEN));
                line.spans.extend(group.iter().cloned());
            }
            _ => lines.push(Line::from(group.clone())),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{super::model::tests::moment, *};
    use crate::campaign::live::Title;
    use cairn_campaign::{Event, EventKind};
    use cairn_model::Budget;
    use expect_test::{Expect, expect};
    use ratatui::{Terminal, backend::TestBackend};

    /// A campaign that has found a few inputs and a way to fail.
    fn model() -> Model {
        let mut model = Model::new(Title {
            target: "./calc @@".into(),
            folder: "cairn-campaign".into(),
            budget: Budget::of_wall(Duration::from_secs(600)),
        });
        let mut tell = |after_ms, kind| model.observe(&Event { after_ms, kind });
        tell(0, EventKind::Began { is_resumed: false, seed: 1, workers: 2, n_branches: 42, n_mutants: 0 });
        for (entry, kept_for) in
            ["calc.c:24:7 `*at == '-'` is false", "calc.c:28:7 `*at == '('` is true"].into_iter().enumerate()
        {
            let kind = EventKind::Kept {
                entry: entry as u32,
                address: "ab".into(),
                strategy: "fuzz".into(),
                parent: None,
                made_by: "splice, bit flip".into(),
                kept_for: kept_for.into(),
                n_branches: 20 + entry,
            };
            tell(1_200 + entry as u64 * 3_000, kind);
        }
        let kind = EventKind::Failed {
            signature: "s".into(),
            kind: "SIGFPE".into(),
            address: "cd".into(),
            strategy: "fuzz".into(),
            stack: vec!["product at calc.c:53".into()],
            is_smaller: false,
        };
        tell(5_000, kind);
        tell(5_500, EventKind::Warned { text: "2 counters\x1b[2J differ\n\nhint: look".into() });
        for second in 6..60 {
            model.observe(&moment(second * 1000, 20 + second as usize / 4, 1000.0 + second as f64 * 10.0));
        }
        model
    }

    fn picture(model: &Model, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, model, Duration::from_secs(60), Colours::None)).unwrap();
        let buffer = terminal.backend().buffer();
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_string();
        (0..height).map(row).collect::<Vec<_>>().join("\n") + "\n"
    }

    #[track_caller]
    fn check(width: u16, height: u16, expected: Expect) {
        expected.assert_eq(&picture(&model(), width, height));
    }

    #[test]
    fn there_is_room_for_everything() {
        check(
            100,
            30,
            expect![[r#"
                 cairn  ./calc @@                                                            1 min 0 s of 10 min 0 s
                branches 34 / 42 81.0%   corpus 12   failures 1   tried 34 567   a second 1 590
                ┌ branches reached ────────────────────────────────────────┐┌ inputs a second, at most 1 590 ──────┐
                │40  │                                                     ││                        ▁▁▂▂▃▃▄▄▅▅▆▆▇█│
                │    │                                      ⣀⣀⣀⣀⠤⠤⠤⠔⠒⠒⠒⠒⠒⠒⠒││        ▁▁▂▂▃▃▄▄▅▅▆▆▇▇████████████████│
                │    │                    ⢀⣀⣀⣀⠤⠤⠤⠔⠒⠒⠒⠒⠒⠒⠊⠉⠉⠉               ││▅▅▆▆▇▇████████████████████████████████│
                │    │ ⢀⣀⣀⣀⣀⠤⠤⠤⠔⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠁                                ││██████████████████████████████████████│
                │    │⠉⠁                                                   ││██████████████████████████████████████│
                │    │                                                     ││██████████████████████████████████████│
                │    │                                                     ││██████████████████████████████████████│
                │0   │                                                     ││██████████████████████████████████████│
                │    └─────────────────────────────────────────────────────││██████████████████████████████████████│
                │1.2 s                                            1 min 0 s││██████████████████████████████████████│
                └──────────────────────────────────────────────────────────┘└──────────────────────────────────────┘
                ┌ found, and why it is kept ───────────────────────────────────────────────────────────────────────┐
                │     5.0 s  the program fails: SIGFPE in product at calc.c:53  (fuzz)                             │
                │     4.2 s  #1 calc.c:28:7 `*at == '('` is true  (fuzz: splice, bit flip)                         │
                │     1.2 s  #0 calc.c:24:7 `*at == '-'` is false  (fuzz: splice, bit flip)                        │
                │                                                                                                  │
                │                                                                                                  │
                │                                                                                                  │
                │                                                                                                  │
                │                                                                                                  │
                └──────────────────────────────────────────────────────────────────────────────────────────────────┘
                ┌ workers ──────────────────────┐┌ warnings ───────────────────────────────────────────────────────┐
                │0  fuzz                        ││2 counters\u{1b}[2J differ; hint: look                           │
                │1  fuzz                        ││                                                                 │
                │                               ││                                                                 │
                └───────────────────────────────┘└─────────────────────────────────────────────────────────────────┘
                 q  ends; everything is in cairn-campaign
            "#]],
        );
    }

    #[test]
    fn a_small_terminal_has_figures_finds_workers_and_the_last_warning() {
        check(
            60,
            15,
            expect![[r#"
                 cairn  ./calc @@                    1 min 0 s of 10 min 0 s
                branches 34 / 42 81.0%   corpus 12   failures 1
                tried 34 567   a second 1 590
                ┌ found, and why it is kept ───────────────────────────────┐
                │     5.0 s  the program fails: SIGFPE in product at calc.c│
                │     4.2 s  #1 calc.c:28:7 `*at == '('` is true  (fuzz: sp│
                │     1.2 s  #0 calc.c:24:7 `*at == '-'` is false  (fuzz: s│
                │                                                          │
                │                                                          │
                │                                                          │
                │                                                          │
                └──────────────────────────────────────────────────────────┘
                workers  2 × fuzz
                warning: 2 counters\u{1b}[2J differ; hint: look
                 q  ends; everything is in cairn-campaign
            "#]],
        );
    }

    #[test]
    fn a_tiny_one_has_figures() {
        check(
            30,
            5,
            expect![[r#"
                 cairn 1 min 0 s of 10 min 0 s
                branches 34 / 42 81.0%
                corpus 12   failures 1
                tried 34 567   a second 1 590
                     5.0 s  the program fails:
            "#]],
        );
    }

    #[test]
    fn no_size_is_too_small_or_too_large_and_nothing_need_have_happened() {
        for model in [Model::default(), model()] {
            for (width, height) in [(1, 1), (2, 40), (200, 2), (21, 9), (49, 20), (300, 100)] {
                let drawn = picture(&model, width, height);
                assert_eq!(drawn.lines().count(), usize::from(height));
            }
        }
    }

    #[test]
    fn failures_are_red_where_colours_are_welcome_and_nothing_is_where_they_are_not() {
        for (colours, is_coloured) in [(Colours::Welcome, true), (Colours::None, false)] {
            let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
            terminal.draw(|frame| draw(frame, &model(), Duration::from_secs(60), colours)).unwrap();
            let cells = &terminal.backend().buffer().content;
            assert_eq!(cells.iter().any(|cell| cell.fg == Color::Red), is_coloured);
            assert_eq!(cells.iter().any(|cell| cell.fg != Color::Reset), is_coloured);
        }
    }

    #[test]
    fn an_end_that_was_asked_for_is_seen() {
        let mut model = model();
        model.phase = Phase::Ending;
        assert!(picture(&model, 80, 24).contains("ending: what was found is kept"));
    }
}
