//! Who may do what: two axes, standing rules, and one pure judgement.
//!
//! The first axis is what is possible ([`Reach`]), the second when a person is asked ([`Ask`]).
//! They are separate on purpose: asking more often never makes more possible.

use super::records::{Rule, words};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

words! {
    /// What is possible at all.
    Reach {
        /// Reading only.
        ReadOnly = "read_only",
        /// Writing inside the Task's folder and its own working area.
        Workspace = "workspace",
        /// Everything the user can do.
        Full = "full" }
    /// When a person is asked.
    Ask {
        /// Before anything that changes something or reaches the network.
        Always = "ask",
        /// Before anything that goes beyond what is possible without asking.
        Escalation = "on_escalation",
        /// Never; what would have to be asked is refused.
        Never = "never" }
    /// What a tool does to the world.
    Access { Read = "read", Write = "write", Execute = "execute", Network = "network", Human = "human" }
}

/// The two axes of one Task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// What is possible.
    pub reach: Reach,
    /// When a person is asked.
    pub ask: Ask,
}

impl Policy {
    /// The four names of `--approve`, with what each stands for.
    pub const NAMES: [(&'static str, Policy); 4] = [
        ("read", Policy { reach: Reach::ReadOnly, ask: Ask::Always }),
        ("ask", Policy { reach: Reach::Workspace, ask: Ask::Always }),
        ("workspace", Policy { reach: Reach::Workspace, ask: Ask::Escalation }),
        ("full", Policy { reach: Reach::Full, ask: Ask::Never }),
    ];
    /// Finds a policy by its name.
    pub fn named(name: &str) -> Option<Policy> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy)
    }
    /// The narrower of two on each axis.
    pub fn narrowed_by(self, other: Policy) -> Policy {
        Policy { reach: self.reach.min(other.reach), ask: self.ask.min(other.ask) }
    }
    /// The name of this pair, where it has one.
    pub fn name(&self) -> &'static str {
        Self::NAMES.iter().find(|(_, policy)| policy == self).map_or("custom", |(name, _)| name)
    }
}

/// What a tool call would do, decoded: this is what a person is shown and what the hash covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The tool.
    pub tool: String,
    /// What it does to the world.
    pub access: Access,
    /// The command as it will run, the resolved path, or the address: whole.
    pub subject: String,
    /// Where it happens.
    pub cwd: String,
    /// What else is to be seen before saying yes, such as a diff.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Whether it stays inside the Task's folder, as far as can be told before it runs.
    pub inside: bool,
    /// Whether it stays in the agent's own working area.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// What goes beyond the folder, in words; empty when nothing does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub beyond: String,
    /// What a standing rule for this would cover: the exact command, the path or the host.
    pub rule_subject: String,
}

impl Action {
    /// SHA-256 in hex over everything that is shown.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for field in [self.tool.as_str(), self.access.as_str(), &self.subject, &self.cwd, &self.detail, &self.beyond] {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field.as_bytes());
        }
        hash.update([u8::from(self.inside) + 2 * u8::from(self.own)]);
        hex(&hash.finalize())
    }
}

/// Writes bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// The answer to "may this run?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It runs.
    Allow,
    /// A person is asked; the text says why.
    Ask(String),
    /// It does not run; the text says why, for the model.
    Refuse(String),
}

/// Judges one action under a policy and the standing rules of its folder.
///
/// A rule that says no wins over one that says yes; a rule that says yes never reaches beyond
/// what is possible in a read-only Task.
pub fn judge(policy: Policy, rules: &[Rule], action: &Action) -> Judgement {
    if matches!(action.access, Access::Human) || (action.access == Access::Read && action.inside) {
        return Judgement::Allow;
    }
    let matching = |allow: bool| {
        rules.iter().any(|rule| {
            rule.allow == allow
                && rule.cwd == action.cwd
                && rule.tool == action.tool
                && rule.subject == action.rule_subject
        })
    };
    if matching(false) {
        return Judgement::Refuse(format!("a standing rule of the user says never: {}", action.rule_subject));
    }
    let changes = !matches!(action.access, Access::Read);
    let possible = match policy.reach {
        Reach::Full => true,
        Reach::Workspace => action.inside,
        Reach::ReadOnly => !changes && action.inside,
    };
    if policy.reach == Reach::ReadOnly && changes && policy.ask == Ask::Never {
        return Judgement::Refuse("this Task may only read".into());
    }
    if matching(true) {
        return Judgement::Allow;
    }
    let why = if possible {
        String::new()
    } else if !action.beyond.is_empty() {
        action.beyond.clone()
    } else if policy.reach == Reach::ReadOnly {
        "this Task may only read".into()
    } else {
        "it goes beyond the Task's folder".into()
    };
    match (policy.ask, possible) {
        (Ask::Never, true) | (Ask::Escalation, true) => Judgement::Allow,
        (Ask::Never, false) => Judgement::Refuse(why),
        (Ask::Escalation, false) => Judgement::Ask(why),
        (Ask::Always, true) if !changes => Judgement::Allow,
        (Ask::Always, true) => Judgement::Ask(
            match action.access {
                Access::Execute => "it runs a command",
                Access::Network => "it reaches the network",
                Access::Write => "it changes files",
                Access::Read | Access::Human => "it reads",
            }
            .into(),
        ),
        (Ask::Always, false) => Judgement::Ask(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(access: Access, inside: bool) -> Action {
        Action {
            tool: "shell".into(),
            access,
            subject: "ls".into(),
            cwd: "/w".into(),
            detail: String::new(),
            inside,
            own: false,
            beyond: String::new(),
            rule_subject: "ls".into(),
        }
    }

    fn rule(allow: bool, cwd: &str) -> Rule {
        Rule {
            id: "y_1".into(),
            cwd: cwd.into(),
            allow,
            tool: "shell".into(),
            subject: "ls".into(),
            approval: "p_1".into(),
            actor: super::super::Actor::person(),
            created_at: 0,
        }
    }

    #[test]
    fn each_name_of_approve_judges_as_the_contract_says() {
        let table = [
            ("read", Access::Read, true, "allow"),
            ("read", Access::Read, false, "ask"),
            ("read", Access::Write, true, "ask"),
            ("read", Access::Execute, true, "ask"),
            ("ask", Access::Read, true, "allow"),
            ("ask", Access::Write, true, "ask"),
            ("ask", Access::Execute, true, "ask"),
            ("ask", Access::Network, false, "ask"),
            ("workspace", Access::Write, true, "allow"),
            ("workspace", Access::Execute, true, "allow"),
            ("workspace", Access::Write, false, "ask"),
            ("workspace", Access::Network, false, "ask"),
            ("full", Access::Write, false, "allow"),
            ("full", Access::Network, false, "allow"),
        ];
        for (name, access, inside, want) in table {
            let policy = Policy::named(name).expect("a name of the contract");
            let got = match judge(policy, &[], &action(access, inside)) {
                Judgement::Allow => "allow",
                Judgement::Ask(_) => "ask",
                Judgement::Refuse(_) => "refuse",
            };
            assert_eq!(got, want, "{name} {access} inside={inside}");
        }
    }

    #[test]
    fn a_rule_holds_only_in_its_folder_and_no_wins_over_yes() {
        let ask = Policy::named("ask").expect("known");
        let run = action(Access::Execute, true);
        assert_eq!(judge(ask, &[rule(true, "/w")], &run), Judgement::Allow);
        assert!(matches!(judge(ask, &[rule(true, "/elsewhere")], &run), Judgement::Ask(_)));
        assert!(matches!(judge(ask, &[rule(true, "/w"), rule(false, "/w")], &run), Judgement::Refuse(_)));
    }

    #[test]
    fn the_hash_covers_everything_that_is_shown() {
        let shown = action(Access::Execute, true);
        let mut other = shown.clone();
        other.subject.push_str(" -la");
        assert_ne!(shown.hash(), other.hash());
        let mut moved = shown.clone();
        moved.cwd = "/w2".into();
        assert_ne!(shown.hash(), moved.hash());
    }
}
