//! The rows of an agent's context as far as they are needed: the first one, and the newest ones that
//! fit into the model's window. Nothing else is kept in memory, however long a Task is; what is left
//! out here stays stored.

use super::port::Port;
use super::tools;
use super::turn::window;
use crate::domain::*;
use std::collections::BTreeMap;

/// How many rows are read at first; four times as many each time that was not enough.
const PAGE: u64 = 256;

/// Rows of one context. The first row may be followed by a gap; after it, every row up to the newest
/// is there.
#[derive(Default)]
pub(super) struct Held {
    rows: Vec<Row>,
    /// Rows that were told of with the commands that made them.
    heard: BTreeMap<u64, Row>,
    /// How much room there was when rows were left out.
    cut_for: Option<u64>,
    speaks_of_jobs: bool,
}

impl Held {
    /// The rows, oldest first.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Whether a Job was started here or has told something, as far as was read.
    pub fn speaks_of_jobs(&self) -> bool {
        self.speaks_of_jobs
    }

    /// Takes the rows that a command made.
    pub fn hear(&mut self, after: &Snapshot, agent: &AgentId) {
        let of_agent = after.rows.iter().filter(|((of, _), _)| of == agent);
        self.heard.extend(of_agent.map(|((_, seq), row)| (*seq, row.clone())));
    }

    /// Brings the rows up to what stands, as far as they fit into so much room.
    pub async fn read(
        &mut self,
        port: &dyn Port,
        snapshot: &Snapshot,
        agent: &AgentId,
        room: u64,
    ) -> Result<(), Rejection> {
        let Some(agent) = snapshot.agents.get(agent) else { return Ok(()) };
        let (first, next) = (agent.tail_from_seq, agent.next_seq);
        let begins_elsewhere = self.rows.first().is_none_or(|row| row.seq < first);
        if begins_elsewhere || self.cut_for.is_some_and(|cut| room / 5 > cut / 4) {
            self.heard.clear();
            self.cut_for = None;
            self.rows = read_back(port, first..next, room).await?;
            self.speaks_of_jobs |= self.rows.iter().any(is_of_jobs);
        } else {
            let known = self.rows.len();
            while let Some(row) = self.heard.remove(&self.next()) {
                self.rows.push(row);
            }
            self.heard.clear();
            if self.next() < next {
                self.rows.extend(port.rows(self.next()..next).await?);
            }
            self.speaks_of_jobs |= self.rows[known..].iter().any(is_of_jobs);
        }
        if window::shorten(&mut self.rows, first, room) {
            self.cut_for = Some(room);
        }
        Ok(())
    }

    /// The newest row that stands.
    pub async fn newest(
        &self,
        port: &dyn Port,
        snapshot: &Snapshot,
        agent: &AgentId,
    ) -> Result<Option<Row>, Rejection> {
        let next = snapshot.agents.get(agent).map_or(0, |agent| agent.next_seq);
        let Some(newest) = next.checked_sub(1) else { return Ok(None) };
        let held = self.heard.get(&newest).or_else(|| self.rows.last().filter(|row| row.seq == newest));
        match held {
            Some(row) => Ok(Some(row.clone())),
            None => Ok(port.rows(newest..next).await?.pop()),
        }
    }

    /// The number of the next row.
    fn next(&self) -> u64 {
        self.rows.last().map_or(0, |row| row.seq + 1)
    }
}

fn is_of_jobs(row: &Row) -> bool {
    let starts_one = |part: &Part| matches!(part, Part::Call { name, .. } if name == tools::JOB);
    row.parts.iter().any(starts_one) || row.text().lines().next().is_some_and(|line| line.ends_with(decide::FROM_A_JOB))
}

/// Reads the first row and, from the newest one backwards, more than fits into so much room.
async fn read_back(port: &dyn Port, seqs: std::ops::Range<u64>, room: u64) -> Result<Vec<Row>, Rejection> {
    let (mut from, mut page) = (seqs.end, PAGE);
    let mut rows: Vec<Row> = Vec::new();
    while from > seqs.start && window::size(&rows) <= room {
        let until = from;
        from = seqs.start.max(until.saturating_sub(page));
        page *= 4;
        let mut more = port.rows(from..until).await?;
        more.append(&mut rows);
        rows = more;
    }
    if from > seqs.start {
        let mut with_first = port.rows(seqs.start..seqs.start + 1).await?;
        with_first.append(&mut rows);
        rows = with_first;
    }
    Ok(rows)
}
