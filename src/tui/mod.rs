//! One attached terminal: keys to actions to effects; a projection folded from the host's feed;
//! panes drawn from the projection.
