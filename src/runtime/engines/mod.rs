//! The engines that kinds of Resources ask: a request as data goes in, an outcome as data comes out.
//!
//! Nothing here knows revisions. Whoever asks has recorded the edit that needs it before and holds the
//! outcome against the revision that stands afterwards (`runtime/resources/engine.rs`); who only looks,
//! such as an export of the command line, asks at once. An engine runs as a child process of its own,
//! with what it needs in a folder of its own, and ends with whoever asked.

mod convert;
pub(in crate::runtime) mod program;

use crate::resources::{Content, EngineFailure, EngineRequest, Evaluated, Refusal};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;

/// A program that evaluates what a kind can't do by itself.
pub trait Engine: Send + Sync {
    /// The word by which requests name it.
    fn name(&self) -> &'static str;

    /// Does what the request says with the parts it names. Dropped, it ends its processes.
    fn evaluate<'a>(
        &'a self,
        request: &'a EngineRequest,
        parts: &'a Content,
    ) -> BoxFuture<'a, Result<Evaluated, EngineFailure>>;
}

/// The engines there are.
#[derive(Clone)]
pub struct Engines {
    engines: Vec<Arc<dyn Engine>>,
}

impl Default for Engines {
    /// The engines of the kinds this program brings.
    fn default() -> Self {
        Self::new(vec![Arc::new(convert::Converter)])
    }
}

impl Engines {
    /// Registers engines, each under its name.
    pub fn new(engines: Vec<Arc<dyn Engine>>) -> Self {
        Self { engines }
    }

    /// Asks the engine that a request names, without a limit of time.
    pub(in crate::runtime) async fn evaluate(
        &self,
        request: &EngineRequest,
        parts: &Content,
    ) -> Result<Evaluated, EngineFailure> {
        match self.engines.iter().find(|engine| engine.name() == request.engine) {
            Some(engine) => engine.evaluate(request, parts).await,
            None => {
                let refusal = Refusal::NoEngine { engine: request.engine.clone() };
                Err(EngineFailure::Refused { message: refusal.to_string() })
            }
        }
    }

    /// Asks the engine that a request names, for as long as the request allows.
    pub async fn ask(&self, request: &EngineRequest, parts: &Content) -> Result<Evaluated, EngineFailure> {
        let limit = Duration::from_millis(request.limit_ms);
        match tokio::time::timeout(limit, self.evaluate(request, parts)).await {
            Ok(answer) => answer,
            Err(_) => Err(EngineFailure::TimedOut { limit_ms: request.limit_ms }),
        }
    }
}
