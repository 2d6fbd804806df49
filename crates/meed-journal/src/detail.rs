//! What a world adds to a record.

/// What a world adds of its own: passed on as it is, read by nobody else.
pub type Detail = Option<Box<serde_json::Value>>;
