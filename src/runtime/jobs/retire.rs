//! Taking away Jobs that ended long ago, as was configured. It is looked for when a host begins and
//! whenever a Job ends; nothing ticks for it.

use super::super::Coordinator;
use crate::domain::*;

const DAY_MS: i64 = 86_400_000;

/// Takes away what has been kept for long enough. Those of a Task that is not over stay.
pub(super) async fn retire(coordinator: &Coordinator) {
    let days = i64::from(coordinator.settings().jobs.keep_days);
    if days == 0 {
        return;
    }
    let before = super::super::now().saturating_sub(days * DAY_MS);
    let old = match coordinator.read(move |store| store.jobs_ended_before(before)).await {
        Ok(old) => old,
        Err(rejection) => {
            tracing::warn!(%rejection, "can't look which Jobs ended long ago");
            return;
        }
    };
    for job in old {
        tracing::info!(%job, days, "a Job that ended long ago is taken away, with its log");
        let command = UserCommand::Job { deed: JobDeed::Remove { job: job.clone() } };
        if let Err(rejection) = coordinator.insist(None, Actor::system(), command.into()).await {
            tracing::debug!(%job, %rejection, "it was taken away before");
        }
    }
}
