//! Does `xhist-report send` understand a real target, whose addresses have 64 bits and whose statements it may silence?

use xhist_tests::{Case, Done, Run, Started, Tree, cargo, free_port, report};

pub const CASES: &[Case] = &[
    Case::new("every_kind_of_query_is_answered_at_the_target_s_sizes", queries),
    Case::new("a_filter_that_stops_statements_is_warned_of", filters),
];

/// The fixture for unit tests, which answers every kind of command.
fn fixture() -> Tree {
    let fixture = Tree::with_recorder("tests/fixtures/qutest");
    cargo(fixture.path()).args("build --quiet").succeed();
    fixture
}

/// A session that reads the fixture, and its port for front-ends.
fn session(tree: &Tree) -> (Started, Started, u16) {
    let (port, front) = (free_port(), free_port());
    let mut host =
        report(tree.path()).args(&format!("qspy -u {front} tcp-listen://127.0.0.1:{port}")).start();
    host.wait_for_stderr("front-ends: listening");
    let target =
        Run::new(tree.join("target/debug/qutest-fixture"), tree.path()).arg(format!("127.0.0.1:{port}"));
    let target = target.start();
    host.wait_for("Trg-RST");
    (host, target, front)
}

fn send(tree: &Tree, link: &str, what: &str) -> Done {
    report(tree.path()).args(&format!("send {link} {what}")).done()
}

fn queries() {
    let tree = fixture();
    let (_host, _target, front) = session(&tree);
    let link = format!("qspy://127.0.0.1:{front}");
    for (kind, answer) in [
        ("sm", "Query-SM Obj=buffer,State=read_sensor"),
        ("ao", "Query-AO Obj=buffer,State=read_sensor"),
        ("mp", "Query-MP Obj=buffer,Free=7,Min=3"),
        ("eq", "Query-EQ Obj=buffer,Que<Free=6,Min=2>"),
        ("te", "Query-TE Obj=buffer,Rate=1,Sig=ALARM_SIG,Tim=300,Int=400,Flags=0x80"),
        ("ap", "Query-AP Obj=buffer"),
    ] {
        send(&tree, &link, &format!("current {kind} buffer")).expect(0);
        let done = send(&tree, &link, &format!("query {kind}")).expect(0);
        done.check(done.stdout.contains(answer) && !done.stdout.contains("ERROR"), answer);
    }
    let peek = send(&tree, &link, "peek 0 4 2").expect(0);
    peek.check(peek.stdout.contains("Trg-Peek Offs=0,Size=4,Num=2,Data=<00000000,00000000>"), "memory");

    // Over a link of its own as well.
    let port = free_port();
    let direct = format!("tcp-listen://127.0.0.1:{port}");
    let sending = report(tree.path()).args(&format!("send {direct} query ap")).start();
    let program = tree.join("target/debug/qutest-fixture");
    let _target = loop {
        let mut target = Run::new(&program, tree.path()).arg(format!("127.0.0.1:{port}")).start();
        std::thread::sleep(std::time::Duration::from_millis(300));
        if target.stderr_so_far().is_empty() {
            break target;
        }
    };
    let done = sending.done();
    done.check(!done.stdout.contains("ERROR"), "no error of sizes");
}

fn filters() {
    let tree = Tree::empty("send");
    // There is no listener: the warning comes before anything is sent.
    let link = format!("tcp://127.0.0.1:{} --timeout 0.1", free_port());
    let warned = send(&tree, &link, "filter global sm,ao").expect(1);
    warned.check(warned.stderr.contains("filter global sm,ao,u4` keeps it"), "a warning");
    for quiet in ["filter global sm,ao,u4", "filter global sm,-u4", "filter local ao"] {
        let done = send(&tree, &link, quiet).expect(1);
        done.check(!done.stderr.contains("their history stops"), "no warning");
    }
}
