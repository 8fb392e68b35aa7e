//! Branches over time, drawn.

use crate::{cell::CellResult, comparison::Results, statistics::median};
use std::fmt::Write;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 240.0;
const MARGIN: f64 = 48.0;

/// Told apart also by those who see no difference between red and green.
const COLOURS: [&str; 6] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];

/// Moments for which a line has a value.
const N_STEPS: usize = 60;

/// One drawing for each target, all in one SVG: the median of each arm over time, and the range of its repetitions.
pub fn plot(results: &Results) -> String {
    let mut targets: Vec<&str> = results.iter().map(|(target, ..)| target).collect();
    targets.dedup();
    let height = (HEIGHT + 2.0 * MARGIN) * targets.len().max(1) as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{height}\" viewBox=\"0 0 {0} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        WIDTH + 2.0 * MARGIN + 120.0,
    );
    for (index, target) in targets.iter().enumerate() {
        let top = (HEIGHT + 2.0 * MARGIN) * index as f64 + MARGIN;
        let arms: Vec<(&str, &[CellResult])> =
            results.iter().filter(|(name, ..)| name == target).map(|(_, arm, cells)| (arm, cells)).collect();
        draw(&mut svg, target, top, &arms);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, target: &str, top: f64, arms: &[(&str, &[CellResult])]) {
    let cells = || arms.iter().flat_map(|(_, cells)| cells.iter());
    let most = cells().map(CellResult::reached).max().unwrap_or(1).max(1) as f64;
    let longest = cells().map(|cell| cell.wall_seconds).fold(1e-3, f64::max);
    let x = |seconds: f64| MARGIN + seconds / longest * WIDTH;
    let y = |reached: f64| top + HEIGHT - reached / most * HEIGHT;
    let _ = writeln!(svg, "<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{target}</text>", top - 12.0);
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (value, at) = (most * share, y(most * share));
        let _ = writeln!(
            svg,
            "<line x1=\"{MARGIN}\" x2=\"{}\" y1=\"{at}\" y2=\"{at}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{value:.0}</text>",
            MARGIN + WIDTH,
            MARGIN - 6.0,
            at + 4.0,
        );
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{:.0} s</text>",
            x(longest * share),
            top + HEIGHT + 18.0,
            longest * share,
        );
    }
    for (index, (arm, cells)) in arms.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let moments = (0..=N_STEPS).map(|step| longest * step as f64 / N_STEPS as f64);
        let mut lines = [const { Vec::new() }; 3];
        for seconds in moments {
            let reached: Vec<f64> = cells.iter().map(|cell| reached_by(cell, seconds)).collect();
            let ends = [
                reached.iter().copied().fold(f64::MAX, f64::min),
                reached.iter().copied().fold(0.0, f64::max),
            ];
            for (line, value) in lines.iter_mut().zip([median(&reached), ends[0], ends[1]]) {
                line.push(format!("{:.1},{:.1}", x(seconds), y(value)));
            }
        }
        let [middle, low, high] = lines;
        let band: Vec<String> = low.into_iter().chain(high.into_iter().rev()).collect();
        let _ = writeln!(
            svg,
            "<polygon points=\"{}\" fill=\"{colour}\" opacity=\"0.15\"/>\n\
             <polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n\
             <text x=\"{}\" y=\"{}\" fill=\"{colour}\">{arm}</text>",
            band.join(" "),
            middle.join(" "),
            MARGIN + WIDTH + 8.0,
            top + 14.0 + 16.0 * index as f64,
        );
    }
}

/// What a run had reached after so many seconds.
fn reached_by(cell: &CellResult, seconds: f64) -> f64 {
    let before = cell.checkpoints.iter().take_while(|checkpoint| checkpoint.seconds <= seconds);
    before.last().map_or(0.0, |checkpoint| checkpoint.reached as f64)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_arm_has_a_line() {
        let svg = super::plot(&crate::report::tests::sample());
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    }
}
