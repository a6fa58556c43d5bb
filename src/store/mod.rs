//! The SQLite file: schema, one writer, snapshots to decide on, projections, queries.
