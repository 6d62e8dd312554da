//! The rows of each pane.

mod calls;
mod findings;
mod history;
mod scene;
mod source;
mod syntax;
mod threads;
mod values;

pub use calls::looked_at;
pub use scene::{Scene, end_of};
pub use threads::step_of;

use super::row::PaneRows;
use super::state::PaneId;

/// The rows of a pane of this width.
pub fn rows<'s>(scene: &Scene<'s>, pane: PaneId, width: usize) -> PaneRows<'s> {
    let rows = match pane {
        PaneId::Source => source::rows(scene),
        PaneId::History => history::rows(scene, width),
        PaneId::Calls => calls::rows(scene),
        PaneId::Values => values::rows(scene),
        PaneId::Threads => threads::rows(scene, width),
        PaneId::Findings => findings::rows(scene),
    };
    scene.state.selecting(pane, rows)
}
