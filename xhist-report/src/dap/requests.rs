//! The requests that are answered, one row each, and the capabilities that follow from them.

use serde_json::{Map, Value, json};

use super::message::{DapError, Reply};
use super::session::DapSession;
use xhist_history::recording::Recording;

/// How a request is carried out.
#[derive(Clone, Copy)]
pub enum RequestRun {
    /// At any time.
    Always(fn(&mut DapSession, Value) -> Result<Reply, DapError>),
    /// With a history that is open.
    OnHistory(fn(&mut DapSession, &Recording, Value) -> Result<Reply, DapError>),
}

/// A request.
pub struct RequestRow {
    /// Its name.
    pub name: &'static str,
    /// The capability that announces it.
    capability: Option<&'static str>,
    /// What it does.
    pub run: RequestRun,
}

const fn any(
    name: &'static str,
    capability: Option<&'static str>,
    run: fn(&mut DapSession, Value) -> Result<Reply, DapError>,
) -> RequestRow {
    RequestRow { name, capability, run: RequestRun::Always(run) }
}

const fn on(
    name: &'static str,
    capability: Option<&'static str>,
    run: fn(&mut DapSession, &Recording, Value) -> Result<Reply, DapError>,
) -> RequestRow {
    RequestRow { name, capability, run: RequestRun::OnHistory(run) }
}

/// Every request.
const REQUESTS: &[RequestRow] = &[
    any("initialize", None, DapSession::initialize),
    any("launch", None, DapSession::open),
    any("attach", None, DapSession::open),
    any("cancel", Some("supportsCancelRequest"), DapSession::cancel),
    any("disconnect", None, DapSession::disconnect),
    any("terminate", Some("supportsTerminateRequest"), DapSession::terminate),
    on("configurationDone", Some("supportsConfigurationDoneRequest"), DapSession::configuration_done),
    on("setBreakpoints", None, DapSession::set_breakpoints),
    on("setFunctionBreakpoints", Some("supportsFunctionBreakpoints"), DapSession::set_function_breakpoints),
    on("setExceptionBreakpoints", None, DapSession::set_exception_breakpoints),
    on("breakpointLocations", Some("supportsBreakpointLocationsRequest"), DapSession::breakpoint_locations),
    on("threads", None, DapSession::threads),
    on("stackTrace", Some("supportsDelayedStackTraceLoading"), DapSession::stack_trace),
    on("scopes", None, DapSession::scopes),
    on("variables", None, DapSession::variables),
    on("evaluate", Some("supportsEvaluateForHovers"), DapSession::evaluate),
    on("completions", Some("supportsCompletionsRequest"), DapSession::completions),
    on("exceptionInfo", Some("supportsExceptionInfoRequest"), DapSession::exception_info),
    on("loadedSources", Some("supportsLoadedSourcesRequest"), DapSession::loaded_sources),
    on("source", None, DapSession::source),
    on("next", None, DapSession::next),
    on("stepIn", None, DapSession::step_in),
    on("stepOut", None, DapSession::step_out),
    on("stepBack", Some("supportsStepBack"), DapSession::step_back),
    on("continue", None, DapSession::go_forward),
    on("reverseContinue", None, DapSession::go_back),
    on("pause", None, DapSession::pause),
    on("gotoTargets", Some("supportsGotoTargetsRequest"), DapSession::goto_targets),
    on("goto", None, DapSession::goto),
    on("restart", Some("supportsRestartRequest"), DapSession::restart),
    on("restartFrame", Some("supportsRestartFrame"), DapSession::restart_frame),
];

/// Capabilities that are about arguments of requests.
const OTHERS: &[&str] = &[
    "supportsConditionalBreakpoints",
    "supportsHitConditionalBreakpoints",
    "supportsLogPoints",
    "supportsSteppingGranularity",
];

/// The exceptions that a client can choose: the name, the title, what it is.
pub const FILTERS: &[(&str, &str, &str)] = &[
    ("panic", "Panics", "Stops where a thread panicked, also if the panic was caught."),
    ("signal", "Fatal signals", "Stops where a signal such as SIGSEGV arrived."),
];

/// The row of a request.
pub fn row(name: &str) -> Option<&'static RequestRow> {
    REQUESTS.iter().find(|row| row.name == name)
}

/// What this adapter can do.
pub fn capabilities() -> Value {
    let announced = REQUESTS.iter().filter_map(|row| row.capability).chain(OTHERS.iter().copied());
    let mut all: Map<String, Value> = announced.map(|name| (name.to_owned(), true.into())).collect();
    let filters = FILTERS.iter().map(|(filter, label, description)| {
        json!({"filter": filter, "label": label, "description": description, "default": true})
    });
    all.insert("exceptionBreakpointFilters".to_owned(), filters.collect());
    all.insert("completionTriggerCharacters".to_owned(), json!([]));
    Value::Object(all)
}
