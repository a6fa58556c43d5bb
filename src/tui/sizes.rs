//! How large the panes are where a person moved their borders, and which are hidden: kept per
//! terminal, in one line of text.

use super::action::Pane;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The name under which the host keeps it for this terminal.
pub const KEPT_AS: &str = "layout";

/// The fewest columns and rows that a pane is left with.
pub const FEWEST: (u16, u16) = (30, 3);

/// The borders that can be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Border {
    /// Between the chat and what stands beside it.
    Beside,
    /// Under a pane of a column.
    Under(Pane),
}

/// What a person chose of the arrangement; what they did not choose follows the size of the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sizes {
    /// Thousandths of the width that stand beside the chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<u16>,
    /// Rows of panes in a column, frames included.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rows: BTreeMap<Pane, u16>,
    /// Panes taken off the screen.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub hidden: BTreeSet<Pane>,
}

impl Sizes {
    /// The line that is kept.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a line that was kept; one of another version counts as nothing chosen.
    pub fn of_text(text: &str) -> Self {
        let mut read: Self = serde_json::from_str(text).unwrap_or_default();
        read.hidden.remove(&Pane::Chat);
        read
    }

    /// How many columns stand beside the chat, of `width`; `usual` where nobody chose.
    pub fn columns_beside(&self, width: u16, usual: u16) -> u16 {
        let chosen = self.beside.map(|share| (u32::from(width) * u32::from(share) / 1000) as u16);
        let most = width.saturating_sub(2 * FEWEST.0).max(FEWEST.0);
        chosen.unwrap_or(usual).clamp(FEWEST.0, most)
    }

    /// Gives the panes beside the chat so many columns.
    pub fn set_beside(&mut self, columns: u16, width: u16) {
        let share = u32::from(columns) * 1000 / u32::from(width.max(1));
        // Rounded up, so that the same columns come out again.
        self.beside = Some((share + 1).min(1000) as u16);
    }

    /// Shares `height` among the panes of a column: each has what it was given or its `usual`, and
    /// `grows` has what is left.
    pub fn share(&self, panes: &[Pane], grows: Pane, height: u16, usual: impl Fn(&Pane) -> u16) -> Vec<u16> {
        let least = FEWEST.1;
        let wanted = |pane: &Pane| {
            if *pane == grows { least } else { self.rows.get(pane).copied().unwrap_or_else(|| usual(pane)).max(least) }
        };
        let mut rows: Vec<u16> = panes.iter().map(wanted).collect();
        let used = |rows: &[u16]| rows.iter().map(|row| u32::from(*row)).sum::<u32>();
        while used(&rows) > u32::from(height) {
            match rows.iter_mut().max() {
                Some(largest) if *largest > 0 => *largest -= 1,
                Some(_) | None => break,
            }
        }
        let left = u32::from(height).saturating_sub(used(&rows)) as u16;
        if let Some(at) = panes.iter().position(|pane| *pane == grows) {
            rows[at] += left;
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_chosen_is_read_again_and_nonsense_is_nothing_chosen() {
        let mut sizes = Sizes::default();
        sizes.set_beside(60, 200);
        sizes.rows.insert(Pane::Jobs, 12);
        sizes.hidden.insert(Pane::Editor);
        assert_eq!(Sizes::of_text(&sizes.to_text()), sizes);
        assert_eq!(Sizes::of_text("nonsense"), Sizes::default());
        assert_eq!(Sizes::of_text("{\"hidden\":[\"Chat\"]}"), Sizes::default());
    }

    #[test]
    fn the_same_columns_come_out_again_and_no_pane_is_squeezed_away() {
        for width in [120, 133, 200, 300] {
            for columns in [30, 41, 60] {
                let mut sizes = Sizes::default();
                sizes.set_beside(columns, width);
                assert_eq!(sizes.columns_beside(width, 40), columns, "{columns} of {width}");
            }
        }
        let mut sizes = Sizes::default();
        sizes.set_beside(119, 120);
        assert_eq!(sizes.columns_beside(120, 40), 60);
    }

    #[test]
    fn a_column_is_always_full_and_never_more() {
        let panes = [Pane::Subagents, Pane::Inbox, Pane::Jobs];
        let mut sizes = Sizes::default();
        sizes.rows.insert(Pane::Jobs, 20);
        for height in 0..60 {
            let rows = sizes.share(&panes, Pane::Inbox, height, |_| 5);
            assert_eq!(rows.iter().sum::<u16>(), height, "{rows:?}");
        }
        assert_eq!(sizes.share(&panes, Pane::Inbox, 40, |_| 5), [5, 15, 20]);
    }
}
