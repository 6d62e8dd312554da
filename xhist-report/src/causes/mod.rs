//! What may have caused a failure: suspects among the statements, where two histories part, broken rules of order.

pub mod diff;
pub mod order;
pub mod suspects;
