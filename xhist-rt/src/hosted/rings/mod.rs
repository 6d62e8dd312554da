//! The rings of the process: their slots, which thread has which ring, forked children, and triggers, which act on
//! all rings.

#[allow(unsafe_code)]
pub(crate) mod acquire;
pub(crate) mod clear;
pub(crate) mod foreign;
pub(crate) mod fork;
pub(crate) mod late_file;
pub(crate) mod layout;
#[allow(unsafe_code)]
pub(crate) mod slots;
#[allow(unsafe_code)]
pub(crate) mod spare;
#[allow(unsafe_code)]
pub(crate) mod spectra;
#[allow(unsafe_code)]
pub(crate) mod threads;
pub(crate) mod trigger;
