//! Branches and speed over time, as pictures.

use super::page::Page;
use crate::{campaign::history::History, duration, printable::grouped};
use cairn_store::Moment;
use std::time::Duration;

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 984.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 230.0;
const RATE_TOP: f64 = 282.0;
const RATE_BOTTOM: f64 = 340.0;
const HEIGHT: f64 = 350.0;

/// Points of a curve: as many as can be told apart.
const POINTS: usize = 460;

/// Bars of the speed.
const BARS: usize = 230;

/// Branches reached over time with the ways to fail on it, and below it how many inputs were tried a second.
pub fn reached(page: &mut Page, history: &History<'_>) {
    page.markup("<h2>Branches over time</h2>\n");
    let end = history.spent().wall.max(history.curve.last().map_or(Duration::ZERO, |(after, _)| *after));
    if history.curve.is_empty() {
        page.markup("<p class=\"note\">Nothing was reached yet.</p>\n");
        return;
    }
    let all = 2 * history.map.conditions.len();
    let axes = Axes::new(end, history.n_reached(), all);
    page.markup("<svg id=\"curve\" role=\"img\" viewBox=\"0 0 ")
        .value(WIDTH)
        .markup(" ")
        .value(HEIGHT)
        .markup("\">\n<title>")
        .text(&format!("{} of {all} branches reached in {}", history.n_reached(), duration::show(end)))
        .markup("</title>\n");
    axes.grid(page, all);
    curve(page, &axes, &thinned(&history.curve));
    for failing in &history.failures {
        let after = failing.failure.provenance.found_after;
        page.markup("<circle class=\"fail\" r=\"5\" cx=\"")
            .coordinate(axes.x(after.as_secs_f64()))
            .markup("\" cy=\"")
            .coordinate(axes.y(reached_at(&history.curve, after)))
            .markup("\"><title>")
            .text(&format!("{} after {}", failing.failure.kind, duration::show(after)))
            .markup("</title></circle>\n");
    }
    speed(page, &axes, &history.moments);
    page.markup("</svg>\n");
    if !history.failures.is_empty() {
        page.markup("<p class=\"note\">A red dot is a way to fail, when it was found.</p>\n");
    }
}

struct Axes {
    end: f64,
    /// What the upper end stands for.
    most: f64,
    /// Branches between two lines.
    step: f64,
}

impl Axes {
    /// Up to all branches, unless that would press the curve to the ground.
    fn new(end: Duration, n_reached: usize, all: usize) -> Self {
        let most = if 2 * n_reached >= all { all as f64 } else { scale_end(n_reached as f64) }.max(1.0);
        Self { end: end.as_secs_f64().max(1e-3), most, step: scale_end(most) / 4.0 }
    }

    fn x(&self, seconds: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (seconds / self.end).clamp(0.0, 1.0)
    }

    fn y(&self, branches: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * (branches / self.most).clamp(0.0, 1.0)
    }

    fn grid(&self, page: &mut Page, all: usize) {
        let mut level = |branches: f64, class| {
            line(page, class, (LEFT, self.y(branches)), (RIGHT, self.y(branches)));
            label(page, (LEFT - 8.0, self.y(branches) + 4.0), "end", &grouped(branches.round() as u64));
        };
        let is_all = self.most == all as f64;
        for part in 0..=4 {
            let branches = self.step * f64::from(part);
            // Not where its number would stand in that of all branches.
            if branches <= self.most && !(is_all && branches > self.most - self.step / 2.0) {
                level(branches, "grid");
            }
        }
        if is_all {
            level(self.most, "all");
        }
        for (part, anchor) in ["start", "middle", "middle", "middle", "end"].into_iter().enumerate() {
            let seconds = self.end * part as f64 / 4.0;
            let text = duration::show(Duration::from_secs_f64(seconds));
            label(page, (self.x(seconds), BOTTOM + 18.0), anchor, &text);
        }
    }
}

/// Steps, and level to the end.
fn curve(page: &mut Page, axes: &Axes, points: &[(Duration, usize)]) {
    for (class, closes) in [("area", true), ("curve", false)] {
        page.markup("<path class=\"").text(class).markup("\" d=\"M").coordinate(axes.x(0.0)).markup(" ");
        page.coordinate(axes.y(0.0));
        for (after, n_reached) in points {
            page.markup("H").coordinate(axes.x(after.as_secs_f64()));
            page.markup("V").coordinate(axes.y(*n_reached as f64));
        }
        page.markup("H").coordinate(RIGHT);
        if closes {
            page.markup("V").coordinate(BOTTOM).markup("Z");
        }
        page.markup("\"/>\n");
    }
}

/// Inputs tried a second, in stretches of equal length.
fn speed(page: &mut Page, axes: &Axes, moments: &[Moment]) {
    let n_bars = moments.len().clamp(1, BARS);
    let stretch = axes.end / n_bars as f64;
    let tried: Vec<f64> = (0..=n_bars).map(|bar| tried_at(moments, stretch * bar as f64)).collect();
    let rates: Vec<f64> =
        tried.windows(2).map(|ends| (ends[1] - ends[0]).max(0.0) / stretch.max(1e-3)).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    label(
        page,
        (LEFT, RATE_TOP - 8.0),
        "start",
        &format!("inputs a second, at most {}", grouped(most as u64)),
    );
    page.markup("<path class=\"rate\" d=\"");
    for (bar, rate) in rates.iter().enumerate() {
        let (left, right) = (axes.x(stretch * bar as f64), axes.x(stretch * (bar + 1) as f64));
        let top = RATE_BOTTOM - (RATE_BOTTOM - RATE_TOP) * rate / most;
        page.markup("M").coordinate(left).markup(" ").coordinate(RATE_BOTTOM);
        page.markup("V").coordinate(top).markup("H").coordinate(right).markup("V").coordinate(RATE_BOTTOM);
        page.markup("Z");
    }
    page.markup("\"/>\n");
    line(page, "grid", (LEFT, RATE_BOTTOM), (RIGHT, RATE_BOTTOM));
}

/// Of many points the first, the last, and some in between.
fn thinned(points: &[(Duration, usize)]) -> Vec<(Duration, usize)> {
    let step = points.len().div_ceil(POINTS).max(1);
    let mut thinned: Vec<_> = points.iter().step_by(step).copied().collect();
    thinned.extend(points.last().filter(|last| thinned.last() != Some(last)));
    thinned
}

fn reached_at(points: &[(Duration, usize)], after: Duration) -> f64 {
    points
        .iter()
        .take_while(|(then, _)| *then <= after)
        .last()
        .map_or(0.0, |(_, n_reached)| *n_reached as f64)
}

/// Inputs tried by then, evenly between two moments.
fn tried_at(moments: &[Moment], seconds: f64) -> f64 {
    let index = moments.partition_point(|moment| moment.after.as_secs_f64() < seconds);
    let (before, after) = match (index.checked_sub(1).map(|index| moments[index]), moments.get(index)) {
        (before, Some(after)) => (before.unwrap_or_default(), *after),
        (Some(before), None) => return before.n_inputs as f64,
        (None, None) => return 0.0,
    };
    let length = (after.after.saturating_sub(before.after)).as_secs_f64().max(1e-9);
    let part = (seconds - before.after.as_secs_f64()) / length;
    before.n_inputs as f64 + (after.n_inputs as f64 - before.n_inputs as f64) * part
}

/// The end of a scale that begins with 0 and has four equal parts in whole numbers: at least `most`.
fn scale_end(most: f64) -> f64 {
    let most = most.max(1.0);
    let power = 10f64.powf((most / 4.0).log10().floor());
    let steps = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0].map(|step| step * power * 4.0);
    steps.into_iter().find(|end| *end >= most && end % 4.0 == 0.0).unwrap_or((most / 4.0).ceil() * 4.0)
}

fn line(page: &mut Page, class: &'static str, from: (f64, f64), to: (f64, f64)) {
    page.markup("<line class=\"").markup(class).markup("\" x1=\"").coordinate(from.0);
    page.markup("\" y1=\"").coordinate(from.1).markup("\" x2=\"").coordinate(to.0);
    page.markup("\" y2=\"").coordinate(to.1).markup("\"/>\n");
}

fn label(page: &mut Page, at: (f64, f64), anchor: &'static str, text: &str) {
    page.markup("<text x=\"").coordinate(at.0).markup("\" y=\"").coordinate(at.1);
    page.markup("\" text-anchor=\"").markup(anchor).markup("\">").text(text).markup("</text>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(n: u64) -> Vec<Moment> {
        let moment = |second| Moment {
            after: Duration::from_secs(second),
            n_inputs: 100 * second,
            ..Moment::default()
        };
        (1..=n).map(moment).collect()
    }

    #[test]
    fn a_long_curve_has_few_points_and_keeps_its_end() {
        let points: Vec<_> =
            (0..86_400).map(|second| (Duration::from_secs(second), second as usize)).collect();
        let thinned = thinned(&points);
        assert!(thinned.len() <= POINTS + 1);
        assert_eq!(thinned.last(), points.last());
    }

    #[test]
    fn inputs_between_moments_are_spread_evenly() {
        assert_eq!([0.0, 0.5, 2.5, 9.0].map(|at| tried_at(&moments(4), at)), [0.0, 50.0, 250.0, 400.0]);
    }

    #[test]
    fn the_upper_end_is_all_branches_unless_most_are_far_away() {
        let most = |n_reached, all| Axes::new(Duration::from_secs(9), n_reached, all).most;
        assert_eq!((most(33, 42), most(33, 1000), most(0, 0), most(0, 9)), (42.0, 40.0, 1.0, 4.0));
    }

    #[test]
    fn scales_end_at_round_figures() {
        assert_eq!([1.0, 7.0, 38.0, 371.0, 1001.0].map(scale_end), [4.0, 8.0, 40.0, 400.0, 1200.0]);
    }
}
