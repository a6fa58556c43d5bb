//! Which Jobs the pane shows, and in what order.

use crate::domain::JobView;
use std::cmp::Reverse;

/// An order of Jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Newest first.
    #[default]
    Newest,
    /// Those of one Task together.
    Task,
    /// Those that use the processor most first.
    Processor,
    /// Those that have most memory first.
    Memory,
    /// Those that printed last first.
    Output,
}

impl Order {
    /// The order after this one.
    pub fn next(self) -> Self {
        match self {
            Self::Newest => Self::Task,
            Self::Task => Self::Processor,
            Self::Processor => Self::Memory,
            Self::Memory => Self::Output,
            Self::Output => Self::Newest,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest first",
            Self::Task => "by Task",
            Self::Processor => "by processor",
            Self::Memory => "by memory",
            Self::Output => "by last output",
        }
    }

    /// Puts Jobs, newest first, into this order; equal ones stay as they are.
    fn sort(self, views: &mut [JobView]) {
        match self {
            Self::Newest => {}
            Self::Task => {
                views.sort_by_key(|view| view.job.task.clone().map_or((1, String::new()), |task| (0, task.0)))
            }
            Self::Processor => views.sort_by_key(|view| Reverse(view.seen.cpu_percent.map(|cpu| (cpu * 10.0) as u64))),
            Self::Memory => views.sort_by_key(|view| Reverse(view.seen.rss_bytes)),
            Self::Output => views.sort_by_key(|view| Reverse(view.seen.last_output_at)),
        }
    }
}

/// Picks those that hold every word, in name, command, Task or state, and puts them in order.
pub fn pick(all: &[JobView], words: &str, order: Order) -> Vec<JobView> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let holds = |view: &&JobView| {
        let job = &view.job;
        let task = job.task.as_ref().map_or("", |task| task.as_str());
        let text = format!("{} {} {} {task} {}", job.id, job.definition.name, job.definition.command, job.told());
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let mut picked: Vec<JobView> = all.iter().filter(holds).cloned().collect();
    order.sort(&mut picked);
    picked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::fixtures;

    fn names(views: &[JobView]) -> Vec<&str> {
        views.iter().map(|view| view.job.definition.name.as_str()).collect()
    }

    #[test]
    fn jobs_are_found_by_any_of_their_words_and_put_in_the_order_that_is_wanted() {
        let mut all = [
            fixtures::running_job("web server", Some("t_b")),
            fixtures::running_job("build", Some("t_a")),
            fixtures::running_job("train", None),
        ];
        all[0].seen.rss_bytes = Some(10);
        all[1].seen.cpu_percent = Some(99.0);
        all[2].seen.rss_bytes = Some(20);
        assert_eq!(names(&pick(&all, "", Order::Newest)), ["web server", "build", "train"]);
        assert_eq!(names(&pick(&all, "SERV web", Order::Newest)), ["web server"]);
        assert_eq!(names(&pick(&all, "t_a", Order::Newest)), ["build"]);
        assert_eq!(names(&pick(&all, "nothing", Order::Newest)), Vec::<&str>::new());
        assert_eq!(names(&pick(&all, "", Order::Task)), ["build", "web server", "train"]);
        assert_eq!(names(&pick(&all, "", Order::Processor)), ["build", "web server", "train"]);
        assert_eq!(names(&pick(&all, "", Order::Memory)), ["train", "web server", "build"]);
        let mut order = Order::default();
        for _ in 0..5 {
            order = order.next();
        }
        assert_eq!(order, Order::Newest, "one comes round");
    }
}
