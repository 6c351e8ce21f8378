//! The charts, drawn by plotters, in colours that are read on white and on black.

use std::error::Error;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::report::{Growth, Report, is_peer};
use crate::score::{Row, Unit};

type Drawn = Result<(), Box<dyn Error>>;

/// So many times as long as toolgate takes is shown.
const FARTHEST: f64 = 5000.0;

const INK: RGBColor = RGBColor(125, 133, 144);
const OURS: RGBColor = RGBColor(47, 129, 247);
const FLOOR: RGBColor = RGBColor(63, 185, 80);
const PEERS: [RGBColor; 6] = [
    RGBColor(219, 109, 40),
    RGBColor(188, 140, 255),
    RGBColor(248, 81, 73),
    RGBColor(210, 153, 34),
    RGBColor(219, 97, 162),
    RGBColor(139, 148, 158),
];

/// How many times as long as toolgate everybody takes, on a scale of powers of ten.
pub fn ratios(report: &Report, file: &Path) -> Drawn {
    let rows: Vec<&Row> = report.rows.iter().filter(|row| matches!(row.unit, Unit::Millis | Unit::PerSecond)).collect();
    let size = (900, 70 + 30 * u32::try_from(rows.len())? + 60);
    let area = SVGBackend::new(file, size).into_drawing_area();
    let names = peers_of(report);
    let bottom = rows.len() as f64;
    let mut chart = ChartBuilder::on(&area)
        .margin(10)
        .margin_top(62)
        .x_label_area_size(34)
        .y_label_area_size(285)
        .build_cartesian_2d((0.05_f64..FARTHEST).log_scale(), bottom..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .axis_style(INK)
        .bold_line_style(INK.mix(0.25))
        .light_line_style(TRANSPARENT)
        .label_style(text(13))
        .x_desc("times as long as toolgate (left of 1 is faster)")
        .x_labels(6)
        .x_label_formatter(&|x| crate::score::short(*x).trim_end_matches(".00").to_owned())
        .y_labels(0)
        .draw()?;
    for (n, row) in rows.iter().enumerate() {
        let middle = n as f64 + 0.5;
        let (_, y) = chart.backend_coord(&(1.0, middle));
        let label = text(13).pos(right());
        area.draw(&Text::new(row.title.clone(), (285, y), label))?;
        chart.draw_series(std::iter::once(PathElement::new([(0.05, middle), (FARTHEST, middle)], INK.mix(0.15))))?;
        for score in &row.scores {
            let ratio = if row.unit == Unit::PerSecond {
                row.ratio("toolgate", &score.who)
            } else {
                row.ratio(&score.who, "toolgate")
            };
            let (Some(ratio), Some(colour)) = (ratio, colour_of(&score.who, &names)) else {
                continue;
            };
            let at = (ratio.clamp(0.05, FARTHEST), middle);
            let radius = if score.who == "toolgate" { 6 } else { 5 };
            chart.draw_series(std::iter::once(Circle::new(at, radius, colour.filled())))?;
        }
    }
    legend(&area, &names)?;
    area.present()?;
    Ok(())
}

/// One panel for each kind of work: how long it takes by how much there is.
pub fn growth(report: &Report, file: &Path) -> Drawn {
    let rows = report.growth.len().div_ceil(2);
    let area = SVGBackend::new(file, (900, 62 + 240 * u32::try_from(rows)?)).into_drawing_area();
    let names = peers_of(report);
    legend(&area, &names)?;
    let (_, below) = area.split_vertically(62);
    for (panel, growth) in below.split_evenly((rows, 2)).iter().zip(&report.growth) {
        curve(panel, growth, &names)?;
    }
    area.present()?;
    Ok(())
}

fn curve<DB: DrawingBackend>(panel: &DrawingArea<DB, Shift>, growth: &Growth, names: &[String]) -> Drawn
where
    DB::ErrorType: 'static,
{
    let points = || growth.lines.iter().flat_map(|line| line.points.iter().copied());
    let range = |value: fn((f64, f64)) -> f64, by: f64| {
        let (least, most) =
            points().map(value).fold((f64::MAX, 0.0_f64), |(least, most), v| (least.min(v), most.max(v)));
        least / by..most * by
    };
    if points().next().is_none() {
        return Ok(());
    }
    let mut chart = ChartBuilder::on(panel)
        .margin(8)
        .caption(format!("{}, ms", growth.title), text(14))
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d(range(|point| point.0, 1.3).log_scale(), range(|point| point.1, 1.5).log_scale())?;
    let number = |value: &f64| {
        if *value >= 1000.0 {
            format!("{}k", value / 1000.0)
        } else {
            crate::score::short(*value).trim_end_matches(".00").to_owned()
        }
    };
    chart
        .configure_mesh()
        .axis_style(INK)
        .bold_line_style(INK.mix(0.2))
        .light_line_style(TRANSPARENT)
        .label_style(text(12))
        .x_desc(growth.unit.clone())
        .x_labels(4)
        .y_labels(5)
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .draw()?;
    for line in &growth.lines {
        let Some(colour) = colour_of(&line.who, names) else { continue };
        let width = if line.who == "toolgate" { 3 } else { 2 };
        chart.draw_series(LineSeries::new(line.points.clone(), colour.stroke_width(width)))?;
        chart.draw_series(line.points.iter().map(|point| Circle::new(*point, width + 1, colour.filled())))?;
    }
    Ok(())
}

fn legend<DB: DrawingBackend>(area: &DrawingArea<DB, Shift>, names: &[String]) -> Drawn
where
    DB::ErrorType: 'static,
{
    let mut all = vec![("toolgate", OURS), ("floor (rg, sed, find, ls, dd, a bare program)", FLOOR)];
    all.extend(names.iter().enumerate().map(|(n, name)| (name.as_str(), PEERS[n % PEERS.len()])));
    let (mut x, mut y) = (20, 18);
    for (name, colour) in all {
        let width = 26 + i32::try_from(name.len())? * 7;
        if x + width > 890 {
            (x, y) = (20, y + 20);
        }
        area.draw(&Circle::new((x, y), 5, colour.filled()))?;
        area.draw(&Text::new(name.to_owned(), (x + 10, y - 7), text(13)))?;
        x += width;
    }
    Ok(())
}

/// All peers that have a figure anywhere, in the order of the rows.
fn peers_of(report: &Report) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for score in report.rows.iter().flat_map(|row| &row.scores) {
        if is_peer(&score.who) && !names.contains(&score.who) {
            names.push(score.who.clone());
        }
    }
    names
}

fn colour_of(who: &str, names: &[String]) -> Option<RGBColor> {
    match who {
        "toolgate" => Some(OURS),
        who if who.starts_with("toolgate") => None,
        who => Some(names.iter().position(|name| name == who).map_or(FLOOR, |n| PEERS[n % PEERS.len()])),
    }
}

fn text(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

fn right() -> plotters::style::text_anchor::Pos {
    use plotters::style::text_anchor::{HPos, Pos, VPos};
    Pos::new(HPos::Right, VPos::Center)
}
