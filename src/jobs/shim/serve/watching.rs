//! What clients see: the screen is followed, drawn, and brought to whoever takes it.

use super::Serve;
use super::requests::LARGEST_INPUT;
use crate::jobs::protocol::FromShim;

impl Serve {
    pub(super) fn watchers(&self) -> usize {
        self.clients.iter().filter(|client| client.sees_screen()).count()
    }

    /// Follows what was printed a little further; says whether there is more.
    pub(super) fn follow(&mut self) -> bool {
        let followed = self.screen.follow(self.watchers());
        // A question whose answer has no room left is one that nobody waits for.
        if self.input.is_some() && self.unread.len() + followed.answers.len() <= LARGEST_INPUT {
            self.unread.extend(followed.answers);
        }
        followed.is_behind
    }

    pub(super) fn draw_if_due(&mut self) {
        if self.watchers() > 0
            && let Some(changes) = self.screen.draw_if_due()
        {
            self.show(changes);
        }
        self.catch_up();
    }

    pub(super) fn draw(&mut self) {
        if let Some(changes) = self.screen.draw() {
            self.show(changes);
        }
    }

    /// Shows everybody what has changed; who is still busy with what came before waits for the whole.
    pub(super) fn show(&mut self, changes: Vec<u8>) {
        let update = FromShim::Update(changes);
        for client in self.clients.iter_mut().filter(|client| client.sees_screen()) {
            if client.is_waited_for() || client.is_behind {
                client.is_behind = true;
            } else {
                client.say(0, &update);
            }
        }
    }

    pub(super) fn catch_up(&mut self) {
        for at in 0..self.clients.len() {
            if self.clients[at].is_behind && !self.clients[at].is_waited_for() {
                self.show_whole(at);
            }
        }
    }
}
