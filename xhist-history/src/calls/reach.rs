//! Which statements can follow a statement in the same activation.

use super::structure::{Jump, NONE, StatementId, Structure};

impl Structure {
    /// Whether one activation can run `to` later, when `from` is its newest statement and no statement between them is
    /// needed to get there.
    pub fn reaches(&self, from: StatementId, to: StatementId) -> bool {
        let (one, other) = (self.info(from), self.info(to));
        if one.body != other.body {
            return false;
        }
        let mut left_by = None;
        for jump in self.jumps_around(from, to) {
            match self.info(jump).jump {
                Some(Jump::Return | Jump::Panic) => return false,
                // The innermost loop is left first.
                _ => left_by = left_by.or(Some(jump)),
            }
        }
        let innermost = one.in_loop;
        // A `break` leaves the innermost loop around it; a `continue` skips the rest of its body.
        let (mut around, left) = match left_by.map(|jump| self.info(jump)) {
            Some(jump) if jump.in_loop == NONE => (innermost, None),
            Some(jump) => {
                let left = &self.loops[jump.in_loop as usize];
                match jump.jump {
                    Some(Jump::Break) => (left.parent, Some(&left.statements)),
                    Some(Jump::Continue) => (jump.in_loop, Some(&left.statements)),
                    _ => (innermost, None),
                }
            }
            None => (innermost, None),
        };
        while around != NONE {
            let a_loop = &self.loops[around as usize];
            if a_loop.statements.contains(&to.0) {
                return true;
            }
            around = a_loop.parent;
        }
        if to <= from || left.is_some_and(|left| left.contains(&to.0)) {
            return false;
        }
        let mut branch = one.in_branch;
        while branch != NONE {
            let known = &self.branches[branch as usize];
            if known.excluded.contains(&to.0) {
                return false;
            }
            branch = known.parent;
        }
        true
    }

    /// The jumps that an activation makes on its way from a statement to another of its body: it is such a jump or part of its
    /// value, as in `return match x { .. }`, and the other one is not in that value. The innermost is first.
    fn jumps_around(
        &self,
        from: StatementId,
        to: StatementId,
    ) -> impl Iterator<Item = StatementId> + use<'_> {
        std::iter::successors(Some(from), |inner| self.around(*inner))
            .take_while(move |jump| to == *jump || !self.is_within(to, *jump))
            .filter(|jump| self.info(*jump).jump.is_some())
    }

    /// Whether each activation runs the statement first, and once.
    pub fn is_entry(&self, statement: StatementId) -> bool {
        let info = self.info(statement);
        // A loop around a closure or an async block is not a loop of its activations.
        let is_repeated =
            info.in_loop != NONE && self.loops[info.in_loop as usize].statements.start >= statement.0;
        self.body(info.body).entry == Some(statement) && !is_repeated
    }

    /// Whether the activation may end without another statement, when this is its newest one.
    pub fn may_end(&self, statement: StatementId) -> bool {
        self.info(statement).may_end
    }

    /// Whether another statement of its body follows in all cases, unless the body is dropped.
    pub fn must_go_on(&self, statement: StatementId) -> bool {
        let info = self.info(statement);
        !info.may_end && !info.may_leave
    }

    /// Whether no statement of the same activation can follow.
    pub fn is_terminal(&self, statement: StatementId) -> bool {
        self.info(statement).is_terminal
    }

    /// Whether `outer` is the statement or one around it, in the same body.
    pub fn is_within(&self, statement: StatementId, outer: StatementId) -> bool {
        std::iter::successors(Some(statement), |inner| self.around(*inner)).any(|inner| inner == outer)
    }

    /// The statement around a statement in the same body.
    pub fn around(&self, statement: StatementId) -> Option<StatementId> {
        let parent = self.info(statement).parent;
        (parent != NONE).then_some(StatementId(parent))
    }

    /// Works out which statements end their activation.
    pub(super) fn find_ends(&mut self) {
        for id in 0..self.statements.len() as u32 {
            let is_terminal = self.follower(id).is_none();
            self.statements[id as usize].is_terminal = is_terminal;
        }
        let siblings = self.next_siblings();
        for id in 0..self.statements.len() as u32 {
            let may_end = self.ends_without(id, &siblings);
            self.statements[id as usize].may_end = may_end;
        }
    }

    /// The first statement that can follow in the same activation.
    fn follower(&self, id: u32) -> Option<u32> {
        if let Some(inside) = self.first_inside(id) {
            return Some(inside);
        }
        let mut next = self.follower_by(id);
        // The value of a jump is complete.
        let mut jump = self.around(StatementId(id));
        while let Some(around) = jump {
            if next.is_some_and(|next| self.is_within(StatementId(next), around)) {
                break;
            }
            if self.info(around).jump.is_some() {
                next = self.follower_by(around.0);
            }
            jump = self.around(around);
        }
        next
    }

    /// The first statement in the value of a jump.
    fn first_inside(&self, id: u32) -> Option<u32> {
        let info = self.info(StatementId(id));
        let last = self.bodies[info.body.0 as usize].last?;
        info.jump?;
        let mut next = id + 1;
        while next <= last.0 && self.statements[next as usize].body != info.body {
            next = self.after_body(next);
        }
        (next <= last.0 && self.is_within(StatementId(next), StatementId(id))).then_some(next)
    }

    /// The first statement that can follow behind a statement and what is inside it, if it is a jump.
    fn follower_by(&self, id: u32) -> Option<u32> {
        let info = self.info(StatementId(id));
        let last = self.bodies[info.body.0 as usize].last?;
        if matches!(info.jump, Some(Jump::Return | Jump::Panic)) {
            return None;
        }
        let skipped = match info.jump {
            Some(Jump::Break) if info.in_loop != NONE => {
                let innermost = &self.loops[info.in_loop as usize];
                if innermost.parent != NONE {
                    return Some(self.loops[innermost.parent as usize].statements.start);
                }
                innermost.statements.end
            }
            _ if info.in_loop != NONE => return Some(self.loops[info.in_loop as usize].statements.start),
            _ => id + 1,
        };
        let mut next = skipped.max(id + 1);
        while next <= last.0 {
            let mut branch = info.in_branch;
            let mut excluded = None;
            while branch != NONE {
                let known = &self.branches[branch as usize];
                if known.excluded.contains(&next) {
                    excluded = Some(known.excluded.end);
                }
                branch = known.parent;
            }
            match excluded {
                Some(end) => next = end,
                None if self.statements[next as usize].body == info.body => return Some(next),
                None => next = self.after_body(next),
            }
        }
        None
    }

    /// The first statement behind the body of this one.
    fn after_body(&self, id: u32) -> u32 {
        let body = self.statements[id as usize].body;
        self.bodies[body.0 as usize].last.map_or(id, |last| last.0.max(id)) + 1
    }

    /// The next statement of the same block list, for each statement.
    fn next_siblings(&self) -> Vec<u32> {
        let mut next = vec![NONE; self.statements.len()];
        // The newest child of each parent, and of each body.
        let mut newest = vec![NONE; self.statements.len()];
        let mut newest_of_body = vec![NONE; self.bodies.len()];
        for (id, info) in self.statements.iter().enumerate() {
            let slot = match info.parent {
                NONE => &mut newest_of_body[info.body.0 as usize],
                parent => &mut newest[parent as usize],
            };
            if *slot != NONE {
                next[*slot as usize] = id as u32;
            }
            *slot = id as u32;
        }
        next
    }

    fn ends_without(&self, id: u32, siblings: &[u32]) -> bool {
        let mut at = id;
        if self.statements[id as usize].jump.is_some() {
            return true;
        }
        loop {
            let info = &self.statements[at as usize];
            if info.may_leave {
                return true;
            }
            let mut next = siblings[at as usize];
            while next != NONE && self.excludes(at, next) {
                next = siblings[next as usize];
            }
            // A sibling in another branch may not run.
            if next != NONE && self.statements[next as usize].in_branch == info.in_branch {
                return false;
            }
            // The value of a jump is complete.
            if info.parent == NONE || self.statements[info.parent as usize].jump.is_some() {
                return true;
            }
            at = info.parent;
        }
    }

    fn excludes(&self, from: u32, to: u32) -> bool {
        let mut branch = self.statements[from as usize].in_branch;
        while branch != NONE {
            let known = &self.branches[branch as usize];
            if known.excluded.contains(&to) {
                return true;
            }
            branch = known.parent;
        }
        false
    }
}
