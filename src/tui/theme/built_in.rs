//! The themes that come with the program, and which of them suits a terminal.

use super::Theme;

/// The themes that come with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// For dark backgrounds.
    Dark,
    /// For light backgrounds.
    Light,
    /// Weight and shape instead of shades.
    HighContrast,
    /// For eyes that tell red and green badly apart.
    ColourSafe,
    /// The sixteen colours of the terminal's own palette.
    Sixteen,
    /// Without colours.
    None,
}

/// The names of terminals that know sixteen colours and no more.
const SIXTEEN: [&str; 5] = ["linux", "ansi", "cygwin", "screen", "rxvt"];

impl BuiltIn {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Dark, Self::Light, Self::HighContrast, Self::ColourSafe, Self::Sixteen, Self::None];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::HighContrast => "high-contrast",
            Self::ColourSafe => "colour-safe",
            Self::Sixteen => "sixteen",
            Self::None => "none",
        }
    }

    /// What it is for.
    pub fn says(self) -> &'static str {
        match self {
            Self::Dark => "for dark backgrounds",
            Self::Light => "for light backgrounds",
            Self::HighContrast => "weight and shape instead of shades",
            Self::ColourSafe => "no meaning in red against green",
            Self::Sixteen => "the terminal's own sixteen colours",
            Self::None => "no colours at all",
        }
    }

    /// Finds one by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.name() == name)
    }

    /// Whether the environment wants no colours, or knows none: that holds whatever is configured.
    pub fn wants_none(read: impl Fn(&str) -> Option<String>) -> bool {
        let set = |name| read(name).is_some_and(|value| !value.is_empty());
        set("NO_COLOR") || read("TERM").is_some_and(|term| term == "dumb" || term.starts_with("vt1"))
    }

    /// Chooses by what the environment says: `NO_COLOR`, `TERM`, `COLORTERM`, `COLORFGBG`.
    pub fn from_environment(read: impl Fn(&str) -> Option<String>) -> Self {
        if Self::wants_none(&read) {
            return Self::None;
        }
        let term = read("TERM").unwrap_or_default();
        if read("COLORTERM").is_none_or(|value| value.is_empty())
            && (SIXTEEN.contains(&term.as_str()) || term.ends_with("-16color"))
        {
            return Self::Sixteen;
        }
        let background = read("COLORFGBG").and_then(|both| both.rsplit(';').next()?.parse::<u8>().ok());
        match background {
            Some(7 | 15) => Self::Light,
            _ => Self::Dark,
        }
    }

    /// The one for a background, which the terminal told; the choice of another kind stays.
    pub fn on(self, background: (u8, u8, u8)) -> Self {
        let (red, green, blue) = (f64::from(background.0), f64::from(background.1), f64::from(background.2));
        let bright = 0.299 * red + 0.587 * green + 0.114 * blue > 127.5;
        match self {
            Self::Dark | Self::Light if bright => Self::Light,
            Self::Dark | Self::Light => Self::Dark,
            Self::HighContrast | Self::ColourSafe | Self::Sixteen | Self::None => self,
        }
    }

    pub(super) fn source(self) -> &'static str {
        match self {
            Self::Dark => include_str!("../../../themes/dark.toml"),
            Self::Light => include_str!("../../../themes/light.toml"),
            Self::HighContrast => include_str!("../../../themes/high-contrast.toml"),
            Self::ColourSafe => include_str!("../../../themes/colour-safe.toml"),
            Self::Sixteen => include_str!("../../../themes/sixteen.toml"),
            Self::None => include_str!("../../../themes/none.toml"),
        }
    }

    /// The names of the roles.
    pub fn roles() -> Vec<String> {
        Self::None.source().parse::<toml::Table>().map(|table| table.keys().cloned().collect()).unwrap_or_default()
    }

    /// Loads the theme.
    pub fn load(self) -> Theme {
        // The files are part of the program, and a test reads each of them.
        toml::from_str(self.source()).unwrap_or_else(|_| Theme::bare())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::{Color, Style};

    #[test]
    fn every_theme_that_comes_with_the_program_loads_and_is_found_by_its_name() {
        for theme in BuiltIn::ALL {
            let loaded = toml::from_str::<Theme>(theme.source());
            assert!(loaded.is_ok(), "{theme:?}: {loaded:?}");
            assert_eq!(BuiltIn::named(theme.name()), Some(theme));
        }
        assert!(BuiltIn::roles().contains(&"accent".to_owned()));
    }

    #[test]
    fn without_colour_nothing_is_coloured_and_with_sixteen_no_more_than_those() {
        let colours = |theme: BuiltIn| -> Vec<Option<Color>> {
            let theme = theme.load();
            let roles = [theme.text, theme.dim, theme.accent, theme.person, theme.border, theme.ok, theme.warn];
            let all = roles.into_iter().chain([theme.error, theme.select, theme.focus, theme.strong]).map(Style::from);
            all.flat_map(|style| [style.fg, style.bg]).collect()
        };
        for theme in [BuiltIn::None, BuiltIn::HighContrast] {
            assert!(colours(theme).iter().all(Option::is_none), "{theme:?}");
        }
        let beyond = |colour: &Option<Color>| matches!(colour, Some(Color::Indexed(_) | Color::Rgb(..)));
        assert!(!colours(BuiltIn::Sixteen).iter().any(beyond));
    }

    #[test]
    fn good_and_wrong_differ_by_more_than_red_and_green_where_that_is_asked_for() {
        let theme = BuiltIn::ColourSafe.load();
        assert_ne!(Style::from(theme.ok).fg, Style::from(theme.error).fg);
        assert_ne!(Style::from(theme.ok).add_modifier, Style::from(theme.error).add_modifier);
    }

    #[test]
    fn the_environment_chooses() {
        let with = |name: &'static str, value: &'static str| {
            BuiltIn::from_environment(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(with("NO_COLOR", "1"), BuiltIn::None);
        assert_eq!(with("TERM", "dumb"), BuiltIn::None);
        assert_eq!(with("TERM", "linux"), BuiltIn::Sixteen);
        assert_eq!(with("TERM", "xterm-16color"), BuiltIn::Sixteen);
        assert_eq!(with("COLORFGBG", "0;15"), BuiltIn::Light);
        assert_eq!(with("COLORFGBG", "15;0"), BuiltIn::Dark);
        assert_eq!(with("TERM", "xterm"), BuiltIn::Dark);
    }

    #[test]
    fn the_background_that_the_terminal_told_chooses_between_dark_and_light() {
        assert_eq!(BuiltIn::Dark.on((0xff, 0xfd, 0xf0)), BuiltIn::Light);
        assert_eq!(BuiltIn::Light.on((0x1e, 0x1e, 0x2e)), BuiltIn::Dark);
        assert_eq!(BuiltIn::Sixteen.on((0xff, 0xff, 0xff)), BuiltIn::Sixteen);
    }
}
