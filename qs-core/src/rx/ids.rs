//! Ids and names of commands.

/// Ids of packets.
#[allow(missing_docs, reason = "named as QS names them")]
pub mod id {
    pub const INFO: u8 = 0;
    pub const COMMAND: u8 = 1;
    pub const RESET: u8 = 2;
    pub const TICK: u8 = 3;
    pub const PEEK: u8 = 4;
    pub const POKE: u8 = 5;
    pub const FILL: u8 = 6;
    pub const TEST_SETUP: u8 = 7;
    pub const TEST_TEARDOWN: u8 = 8;
    pub const TEST_PROBE: u8 = 9;
    pub const GLOBAL_FILTER: u8 = 10;
    pub const LOCAL_FILTER: u8 = 11;
    pub const AO_FILTER: u8 = 12;
    pub const CURRENT_OBJECT: u8 = 13;
    pub const TEST_CONTINUE: u8 = 14;
    pub const QUERY_CURRENT: u8 = 15;
    pub const EVENT: u8 = 16;
}

/// Names of packets, by id.
pub static COMMANDS: [&str; 17] = [
    "QS_RX_INFO",
    "QS_RX_COMMAND",
    "QS_RX_RESET",
    "QS_RX_TICK",
    "QS_RX_PEEK",
    "QS_RX_POKE",
    "QS_RX_FILL",
    "QS_RX_TEST_SETUP",
    "QS_RX_TEST_TEARDOWN",
    "QS_RX_TEST_PROBE",
    "QS_RX_GLB_FILTER",
    "QS_RX_LOC_FILTER",
    "QS_RX_AO_FILTER",
    "QS_RX_CURR_OBJ",
    "QS_RX_TEST_CONTINUE",
    "QS_RX_QUERY_CURR",
    "QS_RX_EVENT",
];

/// Name of a packet.
pub fn name(id: u8) -> Option<&'static str> {
    COMMANDS.get(usize::from(id)).copied()
}
