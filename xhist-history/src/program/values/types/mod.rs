//! Types of recorded values: from the program's file to layouts, and from bytes and a layout to text.
//!
//! The section `.xhist_types` names the type of each place, debug information its layout. Both may lie: what does not fit is
//! shown as bytes.

mod dies;
mod dwarf;
mod layout;
mod names;
mod program;
mod render;
mod rows;
mod sections;
mod type_names;

pub use layout::{TargetLayout, TypeLayout};
pub use program::{OtherBuild, Program, RowType, TypeAnswer};
pub use render::{Memory, NoMemory, Target, hex, render, render_target};
pub use sections::plain_section;
