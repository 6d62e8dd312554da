//! What every step of a report needs: the options, the maps, and where entries and notes go.

use std::io::Write;

use crate::calls::Structures;
use crate::model::Ring;
use crate::notes::Notes;
use crate::options::ReadOptions;
use crate::program::map::Maps;

/// What sources and reports share.
pub struct Context<'c, 'n> {
    /// What the user asked for.
    pub options: &'c ReadOptions,
    /// Names of files and statements.
    pub maps: &'c mut Maps,
    /// The structure of each program.
    pub structures: &'c mut Structures,
    /// Where entries go.
    pub out: &'c mut dyn Write,
    /// Where notes and losses go.
    pub notes: &'c mut Notes<'n>,
}

impl Context<'_, '_> {
    /// Loads the map of a ring, unless that was done before.
    pub fn need_map(&mut self, ring: &Ring) {
        if self.maps.add(ring, self.options, self.notes) {
            self.check_map(ring);
        }
    }

    /// The target of a ring names a file.
    pub fn name_file(&mut self, ring: &Ring, file: u16, path: &str) {
        self.maps.add_path(ring, file, path);
        self.check_map(ring);
    }

    /// Reports a map that contradicts the names that a target sends.
    fn check_map(&mut self, ring: &Ring) {
        if let Some((file, path)) = self.maps.distrust(ring) {
            self.notes.incomplete();
            self.notes.error(format_args!(
                "the map is of another build: the target calls file {file} {path}; its own names are shown, without the map"
            ));
        }
    }
}
