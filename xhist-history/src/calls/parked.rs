//! Async bodies that wait at an `.await`, off the stack.

use std::collections::VecDeque;

use super::activation::Activation;
use super::structure::BodyId;

/// Chains that are kept. A future that is dropped while it waits never comes back, and nothing shows that.
const MAX_CHAINS: usize = 65_536;
/// Chains that are searched for a second reading.
const MAX_COMPARED: usize = 64;
/// Chains that are searched for a statement.
const MAX_SEARCHED: usize = 1_024;

/// A future and what it awaits, each polled by the one before.
#[derive(Clone, Debug)]
struct Chain {
    /// The activation that polled the first one.
    owner: Option<u64>,
    activations: Vec<Activation>,
    /// What polled it went on, so most likely it has ended.
    is_over: bool,
}

/// A chain that goes on.
#[derive(Debug)]
pub(super) struct Resumed {
    pub owner: Option<u64>,
    /// From the outermost to the one that was searched.
    pub activations: Vec<Activation>,
    /// Another chain may be meant.
    pub is_uncertain: bool,
}

/// All chains that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Parked(VecDeque<Chain>);

impl Parked {
    /// Parks a chain.
    pub fn add(&mut self, owner: Option<u64>, activations: Vec<Activation>, is_over: bool) {
        if self.0.len() == MAX_CHAINS {
            self.0.pop_front();
        }
        self.0.push_back(Chain { owner, activations, is_over });
    }

    /// The activations of all chains.
    pub fn activations(&self) -> impl Iterator<Item = &Activation> {
        self.0.iter().filter(|chain| !chain.is_over).flat_map(|chain| &chain.activations)
    }

    /// What the future with this id awaited is ready.
    pub fn goes_on(&mut self, task: u64) {
        let waiting = self.0.iter_mut().flat_map(|chain| &mut chain.activations);
        waiting
            .filter(|activation| activation.task == Some(task))
            .for_each(|activation| activation.has_resumed = true);
    }

    /// The future with this id has ended, so it waits no more.
    pub fn end(&mut self, task: u64) -> Option<Activation> {
        let is_it = |activation: &Activation| activation.task == Some(task);
        let (index, position) = self.0.iter().enumerate().rev().find_map(|(index, chain)| {
            chain.activations.iter().rposition(is_it).map(|position| (index, position))
        })?;
        let activation = self.0[index].activations.remove(position);
        if self.0[index].activations.is_empty() {
            self.0.remove(index);
        }
        Some(activation)
    }

    /// Whether a chain waits with such an activation.
    pub fn has(&self, can: impl Fn(&Activation) -> bool) -> bool {
        let waiting = self.0.iter().filter(|chain| !chain.is_over).take(MAX_COMPARED);
        waiting.flat_map(|chain| &chain.activations).any(can)
    }

    /// Takes the chain out that has waited longest among those with such an activation.
    pub fn take(&mut self, can: impl Fn(&Activation) -> bool) -> Option<Resumed> {
        let mut found = None;
        for (index, chain) in self.0.iter().enumerate().take(MAX_SEARCHED) {
            let Some(position) = chain.activations.iter().rposition(&can) else { continue };
            match found {
                Some((first, at, false)) if !chain.is_over => return Some(self.resumed(first, at, true)),
                Some((.., false)) => {}
                _ => found = Some((index, position, chain.is_over)),
            }
        }
        found.map(|(index, position, is_over)| self.resumed(index, position, is_over))
    }

    /// Takes the chain out that this activation polled, and that awaits such a body.
    pub fn take_awaiting(&mut self, owner: Option<u64>, body: BodyId) -> Option<Resumed> {
        let awaits = |chain: &Chain| {
            chain.owner == owner && chain.activations.last().is_some_and(|last| last.callee == Some(body))
        };
        let index = self.0.iter().take(MAX_SEARCHED).position(awaits)?;
        let last = self.0[index].activations.len().saturating_sub(1);
        Some(self.resumed(index, last, false))
    }

    fn resumed(&mut self, index: usize, position: usize, is_uncertain: bool) -> Resumed {
        let chain =
            self.0.remove(index).unwrap_or(Chain { owner: None, activations: Vec::new(), is_over: true });
        let mut activations = chain.activations;
        // What it awaited has ended.
        activations.truncate(position + 1);
        Resumed { owner: chain.owner, activations, is_uncertain }
    }
}
