//! What a text is written in: Markdown, a programming language, or nothing in particular.

use crate::resources::merge::Grain;

/// The language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Plain text.
    Plain,
    /// Markdown.
    Markdown,
    /// Source code in a language that the outline knows.
    Code(Language),
    /// Source code or data in another one.
    Other,
}

macro_rules! languages {
    ($($name:ident $word:literal [$($extension:literal)*])*) => {
        /// A programming language whose items the outline finds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Language { $(#[doc = $word] $name),* }
        impl Language {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
            /// Its word in a media type.
            pub fn word(self) -> &'static str { match self { $(Self::$name => $word),* } }
            /// The extensions of its files.
            pub fn extensions(self) -> &'static [&'static str] { match self { $(Self::$name => &[$($extension),*]),* } }
        }
    };
}

languages! {
    Rust "rust" ["rs"]
    Python "python" ["py" "pyi"]
    JavaScript "javascript" ["js" "jsx" "mjs" "cjs" "ts" "tsx" "mts"]
    Go "go" ["go"]
    C "c" ["c" "h" "cc" "cpp" "cxx" "hpp" "hh"]
    Java "java" ["java" "kt" "kts" "cs" "scala"]
    Swift "swift" ["swift"]
    Ruby "ruby" ["rb"]
    Php "php" ["php"]
    Shell "shell" ["sh" "bash" "zsh"]
    Lua "lua" ["lua"]
    Sql "sql" ["sql"]
    Sections "sections" ["toml" "ini" "cfg" "conf"]
}

const OTHER: &[&str] = &[
    "json", "jsonl", "yaml", "yml", "xml", "html", "htm", "css", "scss", "tex", "csv", "tsv", "diff", "patch", "vue",
    "svelte", "dart", "ex", "exs", "erl", "hs", "ml", "clj", "el", "lisp", "r", "jl", "pl", "nix", "zig", "proto",
    "graphql", "scad",
];

impl Syntax {
    /// What a file of this name is written in.
    pub fn of_name(name: &str) -> Self {
        let file = name.rsplit('/').next().unwrap_or(name);
        let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        let extension = extension.as_str();
        if matches!(extension, "md" | "markdown" | "mdx") {
            return Self::Markdown;
        }
        if let Some(language) = Language::ALL.iter().find(|language| language.extensions().contains(&extension)) {
            return Self::Code(*language);
        }
        let known = OTHER.contains(&extension) || matches!(file, "Makefile" | "Dockerfile" | "CMakeLists.txt");
        if known { Self::Other } else { Self::Plain }
    }

    /// What a part of this media type is written in.
    pub fn of_media_type(media_type: &str) -> Self {
        match media_type {
            "text/markdown" => Self::Markdown,
            "text/x-source" => Self::Other,
            other => other
                .strip_prefix("text/x-")
                .and_then(|word| Language::ALL.iter().find(|language| language.word() == word))
                .map_or(Self::Plain, |language| Self::Code(*language)),
        }
    }

    /// The media type of a part written in this.
    pub fn media_type(self) -> String {
        match self {
            Self::Plain => "text/plain".into(),
            Self::Markdown => "text/markdown".into(),
            Self::Code(language) => format!("text/x-{}", language.word()),
            Self::Other => "text/x-source".into(),
        }
    }

    /// How finely it is merged: prose by words, all else by lines.
    pub fn grain(self) -> Grain {
        match self {
            Self::Plain | Self::Markdown => Grain::Words,
            Self::Code(_) | Self::Other => Grain::Lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_tells_its_language_and_the_media_type_keeps_it() {
        for (name, syntax) in [
            ("docs/README.md", Syntax::Markdown),
            ("a.RS", Syntax::Code(Language::Rust)),
            ("Cargo.toml", Syntax::Code(Language::Sections)),
            ("x.json", Syntax::Other),
            ("notes", Syntax::Plain),
            ("dir.md/notes", Syntax::Plain),
        ] {
            assert_eq!(Syntax::of_name(name), syntax, "{name}");
            assert_eq!(Syntax::of_media_type(&syntax.media_type()), syntax, "{name}");
        }
    }
}
