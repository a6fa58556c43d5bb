//! Draws a terminal's screen as SVG: crisp at any size, aligned in any viewer.
//!
//! Text goes out in runs of one style whose width is pinned, lines and blocks as shapes so that
//! they join, a wide glyph by itself.

use super::shapes;
use std::fmt::Write as _;

/// The size of the letters, and the cell that DejaVu Sans Mono fills at that size.
const FONT: f64 = 14.0;
pub const CELL_WIDTH: f64 = 8.43;
pub const CELL_HEIGHT: f64 = 17.0;
/// From a cell's top to the line the letters stand on.
const BASELINE: f64 = 13.0;
const MARGIN: f64 = 14.0;
const BAR: f64 = 30.0;
const FAMILIES: &str = "'DejaVu Sans Mono','Noto Sans Mono CJK SC','Menlo','Consolas',monospace";

/// What the terminal itself looks like.
pub struct Theme {
    pub foreground: &'static str,
    pub background: &'static str,
    /// The sixteen named colours.
    pub named: [&'static str; 16],
}

/// A dark terminal.
pub const DARK: Theme = Theme {
    foreground: "#d6d9de",
    background: "#16181d",
    named: [
        "#23262e", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4", "#6b7280", "#ef8a92",
        "#b1d494", "#f0d399", "#87c5f5", "#d698e8", "#7dcdd6", "#ffffff",
    ],
};

/// A light terminal.
pub const LIGHT: Theme = Theme {
    foreground: "#2b2f37",
    background: "#fbfbf9",
    named: [
        "#2b2f37", "#c0392f", "#3f7d2c", "#9a6700", "#1f66b5", "#8a3ea8", "#17727d", "#8b919b", "#6b7280", "#d5544a",
        "#559640", "#b98517", "#3d84d3", "#a65ac4", "#2f929e", "#16181d",
    ],
};

/// How a run of cells is drawn.
#[derive(Debug, Clone, PartialEq)]
struct Style {
    foreground: String,
    background: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
}

/// Draws the screen with a window around it.
pub fn draw(screen: &vt100::Screen, theme: &Theme, title: &str) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let width = f64::from(columns) * CELL_WIDTH + 2.0 * MARGIN;
    let height = f64::from(rows) * CELL_HEIGHT + BAR + MARGIN;
    let mut out = String::new();
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1} {height:.1}" width="{width:.0}" height="{height:.0}" font-family="{FAMILIES}" font-size="{FONT}">"#
    );
    let _ = writeln!(
        out,
        r#"<rect width="100%" height="100%" rx="9" fill="{}" stroke="{}" stroke-opacity="0.35"/>"#,
        theme.background, theme.named[8]
    );
    for (at, colour) in ["#ff5f57", "#febc2e", "#28c840"].into_iter().enumerate() {
        let _ = writeln!(out, r#"<circle cx="{}" cy="15" r="5.5" fill="{colour}"/>"#, 19 + at * 18);
    }
    let _ = writeln!(
        out,
        r#"<text x="{:.1}" y="19" text-anchor="middle" font-size="12" fill="{}">{}</text>"#,
        width / 2.0,
        theme.named[8],
        escaped(title)
    );
    for row in 0..rows {
        draw_row(&mut out, screen, theme, row, columns);
    }
    if !screen.hide_cursor() {
        let (row, column) = screen.cursor_position();
        let (x, y) = corner(row, column);
        let _ = writeln!(
            out,
            r#"<rect x="{x:.2}" y="{y:.2}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}" fill="{}" fill-opacity="0.55"/>"#,
            theme.foreground
        );
    }
    out.push_str("</svg>\n");
    out
}

fn draw_row(out: &mut String, screen: &vt100::Screen, theme: &Theme, row: u16, columns: u16) {
    let mut column = 0;
    while column < columns {
        let Some(cell) = screen.cell(row, column) else { return };
        let style = style(cell, theme);
        let start = column;
        let mut words = String::new();
        if cell.is_wide() {
            words.push_str(cell.contents());
            column += 2;
        } else if shapes::is_shape(cell.contents()) {
            words.push_str(cell.contents());
            column += 1;
        } else {
            while let Some(next) = screen.cell(row, column).filter(|_| column < columns) {
                let goes_on =
                    !next.is_wide() && !shapes::is_shape(next.contents()) && self::style(next, theme) == style;
                if !goes_on {
                    break;
                }
                words.push_str(if next.has_contents() { next.contents() } else { " " });
                column += 1;
            }
        }
        draw_run(out, &style, row, start, column - start, &words);
    }
}

fn draw_run(out: &mut String, style: &Style, row: u16, column: u16, cells: u16, words: &str) {
    let (x, y) = corner(row, column);
    let width = f64::from(cells) * CELL_WIDTH;
    if let Some(background) = &style.background {
        // A hair wider than it is, so that neighbours leave no seam.
        let _ = writeln!(
            out,
            r#"<rect x="{x:.2}" y="{y:.2}" width="{:.2}" height="{:.2}" fill="{background}"/>"#,
            width + 0.3,
            CELL_HEIGHT + 0.3
        );
    }
    let opacity = if style.dim { r#" opacity="0.62""# } else { "" };
    if let Some(shape) = shapes::shape(words, x, y) {
        let _ = writeln!(out, r#"<g fill="{0}" stroke="{0}"{opacity}>{shape}</g>"#, style.foreground);
        return;
    }
    let drawn = words.trim_matches(' ');
    if drawn.is_empty() {
        return;
    }
    // Blanks are a cell each; what is left may have more characters than cells, or fewer.
    let lead = words.len() - words.trim_start_matches(' ').len();
    let tail = words.len() - words.trim_end_matches(' ').len();
    let x = x + lead as f64 * CELL_WIDTH;
    let length = (usize::from(cells) - lead - tail) as f64 * CELL_WIDTH;
    let mut attributes = String::new();
    if style.bold {
        attributes.push_str(r#" font-weight="bold""#);
    }
    if style.italic {
        attributes.push_str(r#" font-style="italic""#);
    }
    if style.underline {
        attributes.push_str(r#" text-decoration="underline""#);
    }
    let _ = writeln!(
        out,
        r#"<text x="{x:.2}" y="{:.2}" fill="{}" textLength="{length:.2}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"{attributes}{opacity}>{}</text>"#,
        y + BASELINE,
        style.foreground,
        escaped(drawn)
    );
}

fn corner(row: u16, column: u16) -> (f64, f64) {
    (MARGIN + f64::from(column) * CELL_WIDTH, BAR + f64::from(row) * CELL_HEIGHT)
}

fn style(cell: &vt100::Cell, theme: &Theme) -> Style {
    let mut foreground = colour(cell.fgcolor(), theme);
    let mut background = colour(cell.bgcolor(), theme);
    if cell.inverse() {
        let under = background.unwrap_or_else(|| theme.background.to_owned());
        background = Some(foreground.unwrap_or_else(|| theme.foreground.to_owned()));
        foreground = Some(under);
    }
    Style {
        foreground: foreground.unwrap_or_else(|| theme.foreground.to_owned()),
        background,
        bold: cell.bold(),
        dim: cell.dim(),
        italic: cell.italic(),
        underline: cell.underline(),
    }
}

/// A colour of the screen; the terminal's own is none.
fn colour(colour: vt100::Color, theme: &Theme) -> Option<String> {
    match colour {
        vt100::Color::Default => None,
        vt100::Color::Idx(named @ 0..=15) => Some(theme.named[usize::from(named)].to_owned()),
        vt100::Color::Idx(cube @ 16..=231) => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
            let cube = cube - 16;
            Some(format!("#{:02x}{:02x}{:02x}", level(cube / 36), level(cube / 6 % 6), level(cube % 6)))
        }
        vt100::Color::Idx(grey) => {
            let level = 8 + (grey - 232) * 10;
            Some(format!("#{level:02x}{level:02x}{level:02x}"))
        }
        vt100::Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
