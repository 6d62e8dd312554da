//! What embedded developers have beside the core: a debug probe with RTT, an async executor, a clock, storage that outlives a reset.

mod c;
mod embassy;
mod field;
mod rtt;

use xhist_tests::{Case, Need};

const NEEDS: &[Need] = &[Need::Firmware];
const LONG: &[Need] = &[Need::Long, Need::Firmware, Need::Registry];

pub const CASES: &[Case] = &[
    Case::needing("rtt_carries_the_stream_to_a_host_and_its_commands_back", NEEDS, rtt::over_tcp),
    Case::needing("cargo_embed_sends_the_stream_to_a_host", NEEDS, rtt::by_cargo_embed),
    Case::needing("embassys_tasks_show_where_they_wait", LONG, embassy::lost_wake_up),
    Case::new("a_c_program_is_a_target", c::program),
    Case::needing("a_c_program_on_bare_metal_is_a_target", LONG, c::firmware),
    Case::needing("the_run_before_a_reset_leaves_without_a_probe", NEEDS, field::earlier_run),
    Case::needing("a_region_of_a_coredump_has_the_run_before_a_reset", NEEDS, field::coredump),
    Case::needing("behind_embassy_boot_it_is_kept_before_the_update_is_good", LONG, field::embassy_boot),
    Case::needing("behind_mcuboot_it_is_kept_before_the_update_is_good", NEEDS, field::mcuboot),
    Case::needing("statements_have_the_cores_own_time", &[Need::FirmwareRiscV], field::cycles),
];
