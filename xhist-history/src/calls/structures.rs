//! The structures of several programs, each made once.

use std::collections::HashMap;
use std::sync::Arc;

use super::structure::Structure;
use crate::model::Names;

/// Structures by the number of their map.
#[derive(Debug, Default)]
pub struct Structures(HashMap<usize, Arc<Structure>>);

impl Structures {
    /// The structure of a map. The number identifies the map.
    pub fn of(&mut self, (map, names): (usize, &Names)) -> Arc<Structure> {
        Arc::clone(self.0.entry(map).or_insert_with(|| Arc::new(Structure::of(names))))
    }

    /// Keeps only structures of maps with a number below `maps`.
    pub fn keep(&mut self, maps: usize) {
        self.0.retain(|map, _| *map < maps);
    }
}
