//! Colours by role. Views name a role, never a colour.
//!
//! Taste: the terminal's own foreground for text, dim for what is secondary, bold for headings,
//! one accent.

mod built_in;

pub use built_in::BuiltIn;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

/// A style for each role.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Theme {
    /// What is read.
    pub text: Role,
    /// What is secondary.
    pub dim: Role,
    /// Headings.
    pub strong: Role,
    /// The one accent: what can be pressed, what is chosen.
    pub accent: Role,
    /// What a person said.
    pub person: Role,
    /// Frames and rules.
    pub border: Role,
    /// The frame that has the focus.
    pub focus: Role,
    /// What went well; added lines.
    pub ok: Role,
    /// What wants attention.
    pub warn: Role,
    /// What went wrong; removed lines.
    pub error: Role,
    /// The background of what is chosen in a list.
    pub select: Role,
}

/// The style of one role; it dereferences to what the drawing library takes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(try_from = "Written")]
pub struct Role(Style);

impl From<Role> for Style {
    fn from(role: Role) -> Self {
        role.0
    }
}

/// A role as it is written in a file.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Written {
    fg: Option<String>,
    bg: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    reverse: bool,
}

impl TryFrom<Written> for Role {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let colour = |name: Option<String>| {
            name.map(|name| name.parse::<Color>().map_err(|_| format!("`{name}` is no colour"))).transpose()
        };
        let mut style = Style::new();
        style.fg = colour(written.fg)?;
        style.bg = colour(written.bg)?;
        for (wanted, modifier) in [
            (written.bold, Modifier::BOLD),
            (written.dim, Modifier::DIM),
            (written.italic, Modifier::ITALIC),
            (written.underline, Modifier::UNDERLINED),
            (written.reverse, Modifier::REVERSED),
        ] {
            if wanted {
                style = style.add_modifier(modifier);
            }
        }
        Ok(Self(style))
    }
}

/// Says whether a colour can be written so.
pub fn is_colour(name: &str) -> bool {
    name.parse::<Color>().is_ok()
}

impl Theme {
    /// Lays the roles that a file names over another theme; the words say what is wrong with it.
    pub fn over(base: BuiltIn, roles: &str) -> Result<Self, String> {
        let read = |text: &str| text.parse::<toml::Table>().map_err(|error| error.message().to_owned());
        let mut table = read(base.source())?;
        table.extend(read(roles)?.into_iter().filter(|(key, _)| key != "base"));
        table.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
    }

    fn bare() -> Self {
        let plain = Role::default();
        Self {
            text: plain,
            dim: plain,
            strong: plain,
            accent: plain,
            person: plain,
            border: plain,
            focus: plain,
            ok: plain,
            warn: plain,
            error: plain,
            select: Role(Style::new().add_modifier(Modifier::REVERSED)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_person_changes_the_roles_it_names() {
        let theme =
            Theme::over(BuiltIn::Light, "base = \"light\"\naccent = { fg = \"#ff8800\", bold = true }").expect("read");
        assert_eq!(Style::from(theme.accent).fg, Some(Color::Rgb(0xff, 0x88, 0)));
        assert_eq!(theme.warn, BuiltIn::Light.load().warn);
        assert!(Theme::over(BuiltIn::Dark, "acent = {}").is_err());
    }

    #[test]
    fn a_wrong_colour_is_named() {
        let error = toml::from_str::<Role>("fg = \"mauve-ish\"").expect_err("no colour");
        assert!(error.to_string().contains("mauve-ish"));
    }
}
