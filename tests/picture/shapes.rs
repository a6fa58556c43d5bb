//! Lines and blocks as shapes: letters of a font leave gaps between rows, shapes join.

use super::svg::{CELL_HEIGHT, CELL_WIDTH};
use std::fmt::Write as _;

/// How far a line reaches into a cell from its middle: nothing, thin or thick.
#[derive(Clone, Copy, PartialEq)]
enum Arm {
    None,
    Thin,
    Thick,
}

/// Whether this is drawn as a shape.
pub fn is_shape(words: &str) -> bool {
    let mut characters = words.chars();
    matches!((characters.next(), characters.next()), (Some(one), None) if arms(one).is_some() || arc(one).is_some() || block(one).is_some())
}

/// The shape in a cell whose corner is at `x`, `y`.
pub fn shape(words: &str, x: f64, y: f64) -> Option<String> {
    if !is_shape(words) {
        return None;
    }
    let character = words.chars().next()?;
    let (middle_x, middle_y) = (x + CELL_WIDTH / 2.0, y + CELL_HEIGHT / 2.0);
    if let Some((left, top, width, height, opacity)) = block(character) {
        let (left, top) = (x + left * CELL_WIDTH, y + top * CELL_HEIGHT);
        let (width, height) = (width * CELL_WIDTH + 0.15, height * CELL_HEIGHT + 0.15);
        return Some(format!(
            r#"<rect x="{left:.2}" y="{top:.2}" width="{width:.2}" height="{height:.2}" stroke="none" fill-opacity="{opacity}"/>"#
        ));
    }
    if let Some((to_x, to_y)) = arc(character) {
        let (end_x, end_y) = (middle_x + to_x * CELL_WIDTH / 2.0, middle_y + to_y * CELL_HEIGHT / 2.0);
        return Some(format!(
            r#"<path fill="none" stroke-width="1" d="M{end_x:.2} {middle_y:.2}Q{middle_x:.2} {middle_y:.2} {middle_x:.2} {end_y:.2}"/>"#
        ));
    }
    let ends = [(x, middle_y), (x + CELL_WIDTH, middle_y), (middle_x, y), (middle_x, y + CELL_HEIGHT)];
    let mut out = String::new();
    for (arm, (to_x, to_y)) in arms(character)?.into_iter().zip(ends) {
        let width = match arm {
            Arm::None => continue,
            Arm::Thin => 1.0,
            Arm::Thick => 2.4,
        };
        let _ = write!(out, r#"<path stroke-width="{width}" d="M{middle_x:.2} {middle_y:.2}L{to_x:.2} {to_y:.2}"/>"#);
    }
    Some(out)
}

/// The arms of a line: left, right, up, down.
fn arms(character: char) -> Option<[Arm; 4]> {
    use Arm::{None as N, Thick as B, Thin as T};
    Some(match character {
        '─' | '╌' | '┄' => [T, T, N, N],
        '│' | '╎' | '┆' => [N, N, T, T],
        '┌' => [N, T, N, T],
        '┐' => [T, N, N, T],
        '└' => [N, T, T, N],
        '┘' => [T, N, T, N],
        '├' => [N, T, T, T],
        '┤' => [T, N, T, T],
        '┬' => [T, T, N, T],
        '┴' => [T, T, T, N],
        '┼' => [T, T, T, T],
        '╴' => [T, N, N, N],
        '╶' => [N, T, N, N],
        '╵' => [N, N, T, N],
        '╷' => [N, N, N, T],
        '━' => [B, B, N, N],
        '┃' => [N, N, B, B],
        '┏' => [N, B, N, B],
        '┓' => [B, N, N, B],
        '┗' => [N, B, B, N],
        '┛' => [B, N, B, N],
        '┣' => [N, B, B, B],
        '┫' => [B, N, B, B],
        '┳' => [B, B, N, B],
        '┻' => [B, B, B, N],
        '╋' => [B, B, B, B],
        _ => return None,
    })
}

/// The two ends of a rounded corner, seen from the middle.
fn arc(character: char) -> Option<(f64, f64)> {
    Some(match character {
        '╭' => (1.0, 1.0),
        '╮' => (-1.0, 1.0),
        '╯' => (-1.0, -1.0),
        '╰' => (1.0, -1.0),
        _ => return None,
    })
}

/// A block as parts of a cell: left, top, width, height, and how dense it is.
fn block(character: char) -> Option<(f64, f64, f64, f64, f64)> {
    Some(match character {
        '█' => (0.0, 0.0, 1.0, 1.0, 1.0),
        '▀' => (0.0, 0.0, 1.0, 0.5, 1.0),
        '▐' => (0.5, 0.0, 0.5, 1.0, 1.0),
        '░' => (0.0, 0.0, 1.0, 1.0, 0.25),
        '▒' => (0.0, 0.0, 1.0, 1.0, 0.5),
        '▓' => (0.0, 0.0, 1.0, 1.0, 0.75),
        '▔' => (0.0, 0.0, 1.0, 0.125, 1.0),
        '▕' => (0.875, 0.0, 0.125, 1.0, 1.0),
        // Eighths from below: ▁ ▂ ▃ ▄ ▅ ▆ ▇
        '▁'..='▇' => {
            let part = f64::from(character as u32 - 0x2580) / 8.0;
            (0.0, 1.0 - part, 1.0, part, 1.0)
        }
        // Eighths from the left: ▉ ▊ ▋ ▌ ▍ ▎ ▏
        '▉'..='▏' => (0.0, 0.0, 1.0 - f64::from(character as u32 - 0x2588) / 8.0, 1.0, 1.0),
        _ => return None,
    })
}
