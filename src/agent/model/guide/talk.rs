//! What the guide says of itself and of models.

use super::show::{code, fenced, first_lines};

/// What it is.
pub(super) const WHO: &str = "I am the **guide**, built into Cowork. I am not an AI: there is no language model behind me. I am a \
deterministic program that recognises some shapes of request and does them with Cowork's real tools. The same words on \
the same files always give the same steps. I need no network and no key, and I understand nothing beyond those shapes.\n\n\
Say `help` to see what I can do, or `how do I connect a model?` to work with a real one.";

/// What it can do.
pub(super) const HELP: &str = "I am the built-in guide: no AI, but I do these with the real tools, on the files of this folder:\n\n\
- **look**: `what is here?` · `list src` · `read README.md` · `read src/main.rs lines 10-40` · `last 20 lines of log.txt`\n\
- **count**: `how many lines are in README.md?` · `count files by extension` · `how often does TODO occur in src?`\n\
- **find**: `search for \"fn main\" in src` · `find files named *.toml` · `where is Config defined?` · `list the TODOs` · `largest files`\n\
- **understand the shape of a file**: `outline src/main.rs` · `describe README.md` · `compare a.txt and b.txt`\n\
- **run**: `run cargo --version` · `!ls -la` · `run the tests`\n\
- **change**: `write notes.txt: buy milk` · `append \"buy bread\" to notes.txt` · `replace \"milk\" with \"oat milk\" in notes.txt`\n\
- **more**: `fetch https://example.com` · `ask me a question` · `how do I connect a model?` · `who are you?`\n\n\
Join wishes with *then*: `count lines in README.md, then outline it`. What changes files or runs commands asks you first, \
unless you allowed it. For anything else connect a model.";

/// How a model is connected.
pub(super) const CONNECT: &str = "Any server with OpenAI-compatible chat completions will do. Set three variables and start Cowork again:\n\n\
```sh\n\
export OPENAI_BASE_URL=https://api.openai.com/v1\n\
export OPENAI_API_KEY=sk-...\n\
export COWORK_MODEL=openai:MODEL-NAME\n\
```\n\n\
With **Ollama** on this machine there is no key:\n\n\
```sh\n\
export OPENAI_BASE_URL=http://127.0.0.1:11434/v1\n\
export COWORK_MODEL=openai:MODEL-NAME   # one of `ollama list`\n\
```\n\n\
vLLM, llama.cpp and LM Studio work the same way with their own address. To keep it, write it into \
`~/.config/cowork/config.toml` (`cowork config path` says where exactly):\n\n\
```toml\n\
model = \"local:MODEL-NAME\"\n\n\
[providers.local]\n\
kind = \"openai\"\n\
base_url = \"http://127.0.0.1:11434/v1\"\n\
# key_env = \"MY_KEY\"   # the variable that holds the key, where the server wants one\n\
```\n\n\
`cowork models` shows what is configured and whether it can be reached. Without a model I stay here.";

pub(super) const GREETING: &str = "Hello. I am the guide, a built-in helper without any AI. I can look around here, read, count, search, compare, run \
commands and edit files. Try `what is here?`, or `help` for everything I understand.";

pub(super) const THANKS: &str = "You are welcome.";

pub(super) const STOP: &str = "Stopped. Nothing more of that will be done.";

pub(super) const NOTHING: &str = "There is nothing for me to do. Say `help` to see what I understand.";

pub(super) const TOO_LONG: &str = "I have taken more steps for this than any of my shapes needs, so I stop here.";

/// Words that fit no shape.
pub(super) fn unknown(text: &str, like: Option<&str>) -> String {
    let words = first_lines(text.trim(), 3);
    let said = if words.chars().count() > 120 { words.chars().take(120).chain(['…']).collect() } else { words };
    let mut answer = format!(
        "I don't understand {}. I am the built-in guide, not an AI: I know some shapes of request, and this is none of them.",
        code(&said.replace('\n', " "))
    );
    if let Some(like) = like {
        answer.push_str(&format!(" Did you mean something like {}?", code(like)));
    }
    answer.push_str(
        "\n\nI can do, for example: `what is here?`, `read README.md lines 1-20`, `count lines in README.md`, \
         `search for TODO in src`, `run ls -la`, `write notes.txt: hello`. `help` shows all; \
         `how do I connect a model?` says how to work with a real one.",
    );
    answer
}

/// What the runtime told.
pub(super) fn notice(text: &str) -> String {
    let told = fenced("", &first_lines(text, 12));
    format!("I was told this, and can't do anything about it by myself:\n\n{told}\n\nSay what I should do.")
}

/// Where we are, as the standing instructions say it.
pub(super) fn folder(system: &str) -> Option<&str> {
    system.lines().find_map(|line| line.strip_prefix("Folder: ")).map(str::trim).filter(|folder| !folder.is_empty())
}
