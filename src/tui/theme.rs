//! Colours by role. Views name a role, never a colour.
//!
//! Taste: the terminal's own foreground for text, dim for what is secondary, bold for headings,
//! one accent.

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

/// The themes that come with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// For dark backgrounds.
    Dark,
    /// For light backgrounds.
    Light,
    /// Without colours.
    None,
}

impl BuiltIn {
    /// Chooses by what the environment says: `NO_COLOR`, `TERM`, `COLORFGBG`.
    pub fn from_environment(read: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name| read(name).is_some_and(|value| !value.is_empty());
        if set("NO_COLOR") || read("TERM").is_some_and(|term| term == "dumb" || term.starts_with("vt1")) {
            return Self::None;
        }
        let background = read("COLORFGBG").and_then(|both| both.rsplit(';').next()?.parse::<u8>().ok());
        match background {
            Some(7 | 15) => Self::Light,
            _ => Self::Dark,
        }
    }

    fn source(self) -> &'static str {
        match self {
            Self::Dark => include_str!("../../themes/dark.toml"),
            Self::Light => include_str!("../../themes/light.toml"),
            Self::None => include_str!("../../themes/none.toml"),
        }
    }

    /// Loads the theme.
    pub fn load(self) -> Theme {
        // The files are part of the program, and a test reads each of them.
        toml::from_str(self.source()).unwrap_or_else(|_| Theme::bare())
    }
}

impl Theme {
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
    fn every_theme_that_comes_with_the_program_loads() {
        for theme in [BuiltIn::Dark, BuiltIn::Light, BuiltIn::None] {
            let loaded = toml::from_str::<Theme>(theme.source());
            assert!(loaded.is_ok(), "{theme:?}: {loaded:?}");
        }
    }

    #[test]
    fn without_colour_nothing_is_coloured() {
        let theme = BuiltIn::None.load();
        for role in [theme.text, theme.dim, theme.accent, theme.person, theme.border, theme.ok, theme.error] {
            assert_eq!((Style::from(role).fg, Style::from(role).bg), (None, None));
        }
    }

    #[test]
    fn the_environment_chooses() {
        let with = |name: &'static str, value: &'static str| {
            BuiltIn::from_environment(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(with("NO_COLOR", "1"), BuiltIn::None);
        assert_eq!(with("TERM", "dumb"), BuiltIn::None);
        assert_eq!(with("COLORFGBG", "0;15"), BuiltIn::Light);
        assert_eq!(with("COLORFGBG", "15;0"), BuiltIn::Dark);
        assert_eq!(with("TERM", "xterm"), BuiltIn::Dark);
    }

    #[test]
    fn a_wrong_colour_is_named() {
        let error = toml::from_str::<Role>("fg = \"mauve-ish\"").expect_err("no colour");
        assert!(error.to_string().contains("mauve-ish"));
    }
}
