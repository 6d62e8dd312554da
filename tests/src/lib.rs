//! What stands here.
