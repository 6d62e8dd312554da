//! Stacks of small programs, written as outlines: a line is a statement, deeper lines are inside it.

use std::fmt::Write as _;
use std::sync::Arc;

use super::caller::MAX_DEBT;
use super::outline::{entry, map};
use super::{CallStack, EnteredBy, Exit, Handler, Reentries, Reentry, StatementId, Structure};
use crate::model::Names;

/// Writes a tree: `main(f(g) f)`. `?` is uncertain, `!` unwound, `~` parked, `x` cancelled, `^` entered before, `*` resumed.
struct Tree<'s> {
    structure: &'s Structure,
    text: String,
}

impl Tree<'_> {
    fn add(&mut self, stack: &CallStack) {
        let moves = stack.moves();
        for left in &moves.left {
            self.text.push(')');
            self.text.push_str(match left.exit {
                Exit::Unwound => "!",
                Exit::Parked => "~",
                Exit::Cancelled => "x",
                Exit::Unknown => "#",
                Exit::Returned => "",
            });
        }
        for activation in stack.entered() {
            if !self.text.is_empty() && !self.text.ends_with('(') {
                self.text.push(' ');
            }
            self.text.push_str(&self.structure.body(activation.body).name());
            let marks = [
                (activation.entered_before, '^'),
                (activation.is_resumed, '*'),
                (activation.is_uncertain, '?'),
                (activation.in_unwinding, '-'),
            ];
            self.text.extend(marks.iter().filter(|(is, _)| *is).map(|(_, mark)| mark));
            self.text.push('(');
        }
        if moves.is_uncertain && moves.entered == 0 {
            self.text.push('?');
        }
    }
}

/// The bodies of an outline, and a stack of no call.
fn stack_of(outline: &str) -> (Arc<Structure>, CallStack) {
    let structure = Arc::new(Structure::of(&map(outline)));
    let stack = CallStack::new(&structure);
    (structure, stack)
}

/// Takes entries outside handlers.
fn run(stack: &mut CallStack, words: &str) {
    words.split_whitespace().for_each(|word| _ = stack.take(Handler::default(), entry(word)));
}

/// The calls after these entries.
fn tree(outline: &str, stream: &str) -> String {
    let (structure, mut stack) = stack_of(outline);
    let mut tree = Tree { structure: &structure, text: String::new() };
    for word in stream.split_whitespace() {
        if let Some(dropped) = &stack.take(Handler::default(), entry(word)).cancelled {
            tree.text.push_str(&format!(" {}!", structure.body(dropped.body).path));
        }
        tree.add(&stack);
    }
    let open: Vec<usize> = stack.slots.iter().map(|slot| slot.frames).collect();
    assert!(open.is_sorted());
    let mut text = tree.text.replace("()", "");
    text.push_str(&")".repeat(stack.depth()));
    text.replace("()", "")
}

#[test]
fn a_call_is_a_child_of_the_statement_that_names_it() {
    let outline = "\
fn main
  s f
  s g
fn f
  s g
  s
fn g
  s";
    assert_eq!(tree(outline, "2 5 8 6 3 8"), "main(f(g) g)");
}

#[test]
fn a_method_that_a_macro_names_is_called_by_another_name() {
    let outline = "\
fn main
  s A::f
  s
fn A::f
  s .to_i32 .to_i64
  s
fn implement!::method
  s
fn B::to_i32
  s";
    // The rule has `fn $method`: what it is named in the call is not in the map.
    assert_eq!(tree(outline, "2 5 8 8 6 3"), "main(A::f(implement!::method? implement!::method?))");
    assert_eq!(tree(outline, "2 5 8 10 6 3"), "main(A::f(implement!::method? B::to_i32))");
    // No call is left there.
    assert_eq!(tree(outline, "2 5 6 8 3"), "main(A::f implement!::method?)");
}

/// `park(before, timed_out)` calls one closure, whose lock is released by an early `return`, and then the other.
#[test]
fn a_function_that_returned_early_calls_no_closure() {
    let outline = "\
fn main
  s
    fn main closure
      s .unlock
  s
    fn main closure
      s
  s park
  s
fn Mutex::unlock
  s .exchange .is_ok
    s jump return
  s .slow";
    let shown = tree(outline, "2 5 8 4 11 12 7 9");
    assert_eq!(shown, "main(main::{closure}?(Mutex::unlock) main::{closure}?)");
}

#[test]
fn a_method_that_always_calls_its_own_name_means_that_of_another_type() {
    let outline = "\
fn main
  s .len .len
fn A::len
  s
  s .len";
    assert_eq!(tree(outline, "2 4 5 4 5"), "main(A::len A::len?)");
    // What a closure may leave is not the method.
    let closure = "\
fn main
  s .len .len
fn A::len
  s
    fn A::len closure
      s
        s jump return
  s .len";
    assert_eq!(tree(closure, "2 4 8 4 8"), "main(A::len A::len?)");
    // Where it may end before, it may call itself.
    let jump = "\
fn main
  s .len .len
fn A::len
  s
    s jump return
  s .len";
    assert_eq!(tree(jump, "2 4 6 4 6"), "main(A::len(A::len))");
    let question = jump.replace("jump return", "?");
    assert_eq!(tree(&question, "2 4 6 4 6"), "main(A::len(A::len))");
    let branch = "\
fn Node::depth
  s
    branch
      s .depth
";
    assert_eq!(tree(branch, "2 4 2 4 2"), "Node::depth(Node::depth(Node::depth))");
}

#[test]
fn a_macro_may_repeat_the_statements_of_its_arguments() {
    let outline = "\
fn main
  s twice!
    s f
  s once!
fn f
  s";
    assert_eq!(tree(outline, "2 3 6 3 6 4"), "main(f f)");
    assert_eq!(tree("fn main\n  s once!", "2"), "main", "the last statement of all");
}

#[test]
fn a_call_of_what_ended_is_no_call_of_its_caller() {
    let outline = "\
fn main
  s f g
fn f
  s h
fn g
  s
fn h
  s";
    assert_eq!(tree(outline, "2 4 6 8"), "main(f g) h?");
}

#[test]
fn code_outside_the_program_may_take_items() {
    let outline = "\
fn main
  s f external
fn f
  s
fn Items::next of Iterator
  s";
    assert_eq!(tree(outline, "2 4 6"), "main(f Items::next)");
    assert_eq!(tree(&outline.replace(" external", ""), "2 4 6"), "main(f(Items::next?))");
}

#[test]
fn a_call_of_a_value_is_made_once() {
    let outline = "\
fn main
  s apply
    fn main closure
      s
fn apply
  s
    s ()";
    assert_eq!(tree(outline, "2 6 7 4 4"), "main(apply(main::{closure}) main::{closure})");
}

/// Searches that find nothing again and again are shorter.
#[test]
fn a_caller_deep_below_is_found_unless_too_many_searches_found_none() {
    let outline = "\
fn main
  s f g
fn f
  s f
fn g
  s";
    let depth = |debt: usize| {
        let (_, mut stack) = stack_of(outline);
        run(&mut stack, &format!("2 {}", "4 ".repeat(5000)));
        assert_eq!(stack.depth(), 5001);
        // A statement takes some of it back.
        stack.debt = debt + 64;
        run(&mut stack, "6");
        stack.depth()
    };
    assert_eq!(depth(MAX_DEBT), 2);
    assert_ne!(depth(MAX_DEBT + 1), 2);
}

#[test]
fn a_search_that_finds_no_caller_costs_the_activations_that_it_searched() {
    let outline = "\
fn main
  s f A::g
fn f
  s f h
fn h
  s outside::call
  s
fn A::g
  s
fn B::g
  s";
    let debt = |stream: &str| {
        let (_, mut stack) = stack_of(outline);
        run(&mut stack, &format!("2 {} {stream}", "4 ".repeat(5000)));
        (stack.depth(), stack.debt)
    };
    // No call of main means it.
    assert_eq!(debt("11").1, 5001);
    // `h` goes on behind it, so nothing below is searched.
    assert_eq!(debt("6 11"), (5003, 1));
}

#[test]
fn no_call_is_open_behind_what_is_overwritten() {
    let outline = "\
fn main
  s f
  s g
fn f
  s g
  s
fn g
  s";
    // A gap of a few entries leaves what the same call can go on with. Behind an overwritten part that may be another call.
    assert_eq!(tree(outline, "2 5 8 gap 6 3"), "main(f(g?))");
    assert_eq!(tree(outline, "2 5 8 overwritten 6 3"), "main(f(g#)#)# f^ main^");
    // A panic before it did not end the thread.
    assert_eq!(tree(outline, "2 5 p overwritten 6"), "main(f#)# f^");
}

#[test]
fn two_calls_in_one_expression() {
    let outline = "\
fn main
  s fib
fn fib
  s
    s jump return
  s fib fib";
    // fib(2), fib(1), fib(0), and one more level.
    assert_eq!(tree(outline, "2 4 6 4 5 4 5"), "main(fib(fib fib))");
    assert_eq!(tree(outline, "2 4 6 4 6 4 5 4 5 4 5"), "main(fib(fib(fib fib) fib))");
}

#[test]
fn recursion_in_a_loop_is_uncertain_where_it_is() {
    let outline = "\
fn walk
  s .visit
  loop .children
    s walk
fn T::visit
  s";
    // A leaf, and a child of it, look alike.
    let (stream, calls) = ("2 6 3 4 2 6 3 4 2 6 3", "walk(T::visit walk(T::visit? walk(T::visit)))");
    assert_eq!(tree(outline, stream), calls);
    // So they do deep inside of other calls.
    let deep = format!("{outline}\nfn deep\n  s deep last\n  s\nfn last\n  s walk\n  s");
    let around = format!("{}last({calls}){}", "deep(".repeat(20), ")".repeat(20));
    assert_eq!(tree(&deep, &format!("{} 11 {stream}", ["8"; 20].join(" "))), around);
}

#[test]
fn a_call_is_from_the_statement_that_has_it() {
    let outline = "\
fn main
  loop *again
    s
    s f
  s f
fn again
  s
fn f
  s";
    let from = |stream: &str| {
        let (structure, mut stack) = stack_of(outline);
        run(&mut stack, stream);
        let from = stack.stack().last().and_then(|newest| newest.called_from);
        from.map(|from| structure.info(from).span.line)
    };
    assert_eq!(from("2 7"), Some(2));
    // The condition of the loop runs again behind its last statement.
    assert_eq!(from("2 7 3 4 9 7"), Some(2));
    assert_eq!(from("2 7 3 4 9"), Some(4));
    assert_eq!(from("2 7 5 9"), Some(5));
}

#[test]
fn an_iterator_is_asked_by_what_takes_its_items() {
    let outline = "\
fn main
  s .items .find
    fn main closure
      s .expanded
fn Items::next of Iterator
  s
fn expanded
  s .map";
    let rounds =
        "main(Items::next main::{closure}(expanded?) Items::next main::{closure}(expanded?) Items::next)";
    assert_eq!(tree(outline, "2 6 4 8 6 4 8 6"), rounds);
}

#[test]
fn mutual_recursion() {
    let outline = "\
fn even
  s
    s jump return
  s odd
fn odd
  s
    s jump return
  s even
  s";
    assert_eq!(tree(outline, "2 4 6 8 2 4 6 7 9"), "even(odd(even(odd)))");
}

#[test]
fn closures_are_children_of_the_statement_around_them_or_of_a_function_that_calls_a_value() {
    let outline = "\
fn main
  s .iter .map .sum
    fn main closure
      s g
  s apply
    fn main closure
      s
fn g
  s
fn apply
  loop
    s ()
  s";
    assert_eq!(
        tree(outline, "2 4 9 4 9 5 11 12 7 12 7 13"),
        "main(main::{closure}(g) main::{closure}(g) apply(main::{closure} main::{closure}))"
    );
}

#[test]
fn a_method_of_another_type_is_not_meant() {
    let outline = "\
fn main
  s A::new
  s B::new .go
fn A::new
  s
fn B::new
  s helper
fn helper
  s
fn B::go of Go
  s Self::inner
fn B::inner
  s";
    assert_eq!(tree(outline, "2 5 3 7 9 11 13"), "main(A::new B::new(helper) B::go(B::inner))");
}

#[test]
fn a_call_may_name_a_type_parameter_or_a_type_that_has_the_method_from_its_trait() {
    let outline = "\
fn main
  s T::new Circle::draw
fn Circle::new
  s
fn Shape::draw of Shape
  s";
    assert_eq!(tree(outline, "2 4 6"), "main(Circle::new Shape::draw)");
}

#[test]
fn a_generic_function_calls_the_implementation_by_the_name_of_its_method() {
    let outline = "\
fn main
  s total
fn total
  s
  loop
    s .area
  s
fn Circle::area of Shape
  s
fn Square::area of Shape
  s";
    assert_eq!(tree(outline, "2 4 5 6 9 6 11 7"), "main(total(Circle::area Square::area))");
}

#[test]
fn a_panic_unwinds_up_to_what_catches_it() {
    let outline = "\
fn main
  s panic::catch_unwind
    fn main closure
      s f
  s
fn f
  s Guard
  s jump panic
fn Guard::drop of Drop
  s";
    assert_eq!(tree(outline, "2 4 7 8 p 10 5"), "main(main::{closure}(f(Guard::drop-)!)!)");
    let (structure, mut stack) = stack_of(outline);
    run(&mut stack, "2 4 7 8 p 10");
    let open: Vec<String> =
        stack.open(false).iter().map(|activation| structure.body(activation.body).name()).collect();
    assert_eq!(open, ["main", "main::{closure}", "f"]);
}

#[test]
fn an_allocator_that_runs_again_and_again_behind_a_panic_does_not_call_itself() {
    let outline = "\
fn main
  s
  s jump panic
fn count
  s .fetch_add";
    assert_eq!(tree(outline, "2 5 3 p 5 5 5 5"), "main(count? count?- count?- count?- count?-)");
}

/// What is known of panics after these lines: the number of each that is not caught, and what ran since. Of several, that which ended
/// the thread has a `!`.
fn open_panics(outline: &str, stream: &str) -> String {
    let (_, mut stack) = stack_of(outline);
    run(&mut stack, stream);
    let end = stack.ending_panic().filter(|_| stack.open_panics().len() > 1).map(|panic| panic.number);
    let mark = |number| if end == Some(number) { "!" } else { "" };
    let open = stack.open_panics().iter();
    let open = open.map(|panic| format!("{}{} {:?}", panic.number, mark(panic.number), panic.since));
    open.collect::<Vec<_>>().join(", ")
}

const CAUGHT: &str = "\
fn main
  s panic::catch_unwind
    fn main closure
      s f
  s g
  s resume_unwind
  s panic::set_hook
    fn main closure
      s
fn f
  s Guard
  s jump panic
fn Guard::drop of Drop
  s g
  s
fn g
  s
fn A::fmt of Debug
  s
fn job
  s f";

#[test]
fn destructors_hooks_and_messages_do_not_catch_a_panic() {
    for stream in ["2 4 11 12 p", "2 4 11 12 p 14 17 15", "2 4 11 12 p 9 19 14"] {
        assert_eq!(open_panics(CAUGHT, stream), "0 Unwinding", "{stream}");
    }
}

#[test]
fn a_destructor_that_runs_because_of_a_panic_is_not_unwound() {
    let outline = "\
fn main
  s Task
  s jump panic
fn Queue::drop of Drop
  s mem::drop
  s
fn Task::drop of Drop
  s";
    // The task that is dropped is that of the queue, though the main function made one, too.
    assert_eq!(tree(outline, "2 3 p 5 8 6"), "main(Queue::drop-(Task::drop?-))");
    assert_eq!(open_panics(outline, "2 3 p 5 8 6"), "0 Unwinding");
}

#[test]
fn a_destructor_that_seemed_to_have_ended_does_not_catch_a_panic() {
    let outline = "\
fn main
  s Task Queue
  s f
fn f
  s jump panic
fn Queue::drop of Drop
  s clear
fn clear
  loop
    s mem::drop
fn Task::drop of Drop
  s";
    // The queue may have ended, so the task seems to be one of the main function.
    assert_eq!(open_panics(outline, "2 3 5 p 7 9 10 12 10 12 10"), "0 Unwinding");
}

#[test]
fn a_panic_is_caught_if_what_was_open_goes_on() {
    for stream in ["2 4 11 12 p 5", "2 4 11 12 p 14 5", "2 4 11 12 p 14 17 15 5 17"] {
        assert_eq!(open_panics(CAUGHT, stream), "", "{stream}");
    }
    // In the same statement.
    let outline = "\
fn main
  s tolerant other
fn tolerant
  s catch_unwind risky
fn risky
  s jump panic
fn other
  s";
    assert_eq!(open_panics(outline, "2 4 6 p 8"), "");
}

#[test]
fn a_panic_that_is_passed_on_is_not_caught() {
    assert_eq!(open_panics(CAUGHT, "2 4 11 12 p 14 5 17 6"), "0 PassedOn");
    let twice = "\
fn main
  s catch_unwind inner
  s
fn inner
  s catch_unwind f
  s resume_unwind
fn f
  s jump panic";
    assert_eq!(open_panics(twice, "2 5 8 p 6"), "0 PassedOn");
    assert_eq!(open_panics(twice, "2 5 8 p 6 3"), "", "main catches it");
}

#[test]
fn a_panic_in_a_destructor_leaves_the_first_one_open() {
    let outline = "\
fn main
  s Guard
  s jump panic
fn Guard::drop of Drop
  s catch_unwind
    fn Guard::drop closure
      s jump panic
  s";
    assert_eq!(open_panics(outline, "2 3 p 5 7 p"), "0! Unwinding, 1 Unwinding");
    // It left the destructor, which is a panic of its own.
    assert_eq!(open_panics(outline, "2 3 p 5 7 p p"), "0 Unwinding, 1 Unwinding, 2! Unwinding");
    assert_eq!(open_panics(outline, "2 3 p 5 7 p 8"), "0 Unwinding");
}

#[test]
fn what_a_thread_pool_runs_next_leaves_a_panic_unclear() {
    assert_eq!(open_panics(CAUGHT, "21 11 12 p 14 17 15 21"), "0 Unclear");
    assert_eq!(open_panics(CAUGHT, "21 11 12 p 99"), "0 Unclear", "no map has it");
}

#[test]
fn recursion_that_catches_its_own_panic() {
    let outline = "\
fn f
  s
    s catch_unwind
      fn f closure
        s f
    s
  s jump panic";
    assert_eq!(tree(outline, "2 3 5 2 7 p 6 7"), "f(f::{closure}(f!)!)");
}

#[test]
fn a_destructor_belongs_to_the_function_that_made_the_value() {
    let outline = "\
fn main
  s Guard
  s work
fn work
  s
fn Guard::drop of Drop
  s";
    assert_eq!(tree(outline, "2 3 5 7"), "main(work Guard::drop?)");
}

#[test]
fn operators_and_formatting_run_without_being_named() {
    let outline = "\
fn main
  s
  s println!
fn V::add of Add
  s V
fn V::fmt of Display
  s write!
  s write!";
    assert_eq!(tree(outline, "2 5 3 7 8"), "main(V::add V::fmt)");
}

#[test]
fn the_value_of_a_jump_is_part_of_its_activation() {
    let outline = "\
fn main
  s f
  s
fn f
  loop
    s jump break
      s
      s g
    s
  s
    s jump return
      branch
        s
      branch
        s g
  s
fn g
  s jump return
    s
";
    assert_eq!(tree(outline, "2 5 6 7 8 18 19 10 11 15 18 19 3"), "main(f(g g))");
    let structure = Structure::of(&map(outline));
    let id = |line: u16| structure.statement(qs_core::record::Statement { file: 1, line }, None);
    // Behind the value the jump is made.
    for (from, to) in [(7, 9), (8, 9), (13, 16), (15, 16), (13, 15), (11, 16), (6, 9)] {
        assert!(!structure.reaches(id(from), id(to)), "{from} {to}");
    }
    for (from, to) in [(6, 7), (7, 8), (8, 10), (11, 13), (11, 15), (10, 16)] {
        assert!(structure.reaches(id(from), id(to)), "{from} {to}");
    }
    let ends = [13, 15, 16, 19].map(id);
    assert!(ends.iter().all(|end| structure.is_terminal(*end) && structure.may_end(*end)));
    assert!([6, 7, 8, 10, 11, 18].iter().all(|line| !structure.is_terminal(id(*line))));
}

#[test]
fn statements_of_one_line_are_recorded_one_after_the_other() {
    let statement =
        |col: u32| format!(r#"{{"stmt":1,"line":2,"col":{col},"end":"2:{col}","kind":"expr","fn":"f"}}"#);
    let map = [
        r#"{"xhist":"map","version":3,"hash":"0","root":"/","tool":""}"#,
        r#"{"file":1,"path":"a.rs","base":0}"#,
        r#"{"fn":1,"path":"f","at":"1:1","end":"3:2"}"#,
    ];
    let structure = Structure::of(&Names::parse(
        [map.join("\n"), statement(3), statement(6), statement(9)].join("\n").as_bytes(),
    ));
    let recorded = qs_core::record::Statement { file: 1, line: 2 };
    let next = |before: &StatementId| Some(structure.statement(recorded, Some(*before)));
    let all = std::iter::successors(Some(structure.statement(recorded, None)), next).take(4);
    assert_eq!(all.map(|id| structure.place(id).1.col).collect::<Vec<_>>(), [3, 6, 9, 3]);
}

#[test]
fn what_panics_and_what_passes_a_panic_on_is_known_of_each_statement() {
    let structure = Structure::of(&map("fn main\n  s .unwrap\n  s resume_unwind\n  s f"));
    let found = [2, 3, 4].map(|line| {
        let id = structure.statement(qs_core::record::Statement { file: 1, line }, None);
        let panics = structure.panic_calls(id);
        (panics.checks, panics.resumes)
    });
    assert_eq!(found, [(true, false), (false, true), (false, false)]);
}

#[test]
fn an_early_return_is_seen_by_the_next_statement() {
    let outline = "\
fn main
  s f
  s g
fn f
  s .h ?
  s
fn g
  s";
    assert_eq!(tree(outline, "2 5 3 8"), "main(f g)");
}

#[test]
fn an_async_body_is_parked_and_goes_on() {
    let outline = "\
fn main
  s block_on
    fn main async
      s join!
        s a b await
  s
fn a asyncfn
  s
  s sleep await
  s
fn b asyncfn
  s sleep await
  s";
    let found = tree(outline, "2 4 5 8 9 12 10 13 6");
    assert_eq!(found, "main(main::{async}(a~ b~ a* b*))");
}

#[test]
fn the_id_of_a_future_says_which_one_goes_on() {
    let outline = "\
fn worker asyncfn
  s sleep await
  s";
    assert_eq!(tree(outline, "t1 2 t2 2 t2 3 t1 3"), "worker~ worker worker*");
    assert_eq!(tree(outline, "2 2 3"), "worker~ worker(?)");
    // One that waits further down is not meant.
    let waits_twice = format!("{outline}\n  s sleep await");
    assert_eq!(tree(&waits_twice, "2 3 4 2 3"), "worker~ worker");
    // What the body calls comes between its entry and the mark that it goes on.
    let polled_by_hand = format!("fn main\n  s .poll\n  s\n{outline}\nfn sleep\n  s");
    let found = "main(worker(sleep)~ worker(sleep)~ sleep? worker*)";
    assert_eq!(tree(&polled_by_hand, "2 t1 5 8 t2 5 8 8 t1r 6"), found);
}

#[test]
fn a_future_that_is_dropped_at_an_await_is_cancelled() {
    let outline = "\
fn main
  s worker
  s
  s
fn worker asyncfn
  s sleep await
  s";
    // It ended: what it awaited was ready.
    assert_eq!(tree(outline, "2 t1 6 t1r 7 t1e 3"), "main(worker)");
    // Its future was dropped, while it was on the stack and later.
    assert_eq!(tree(outline, "2 t1 6 t1e 3"), "main(workerx)");
    assert_eq!(tree(outline, "2 t1 6 3 t1e 4"), "main(worker~ worker!)");
    // A future may return at its last `.await`, without another statement.
    let ends_there = outline.strip_suffix("\n  s").unwrap();
    assert_eq!(tree(ends_there, "2 t1 6 t1e 3"), "main(worker~)");
    assert_eq!(tree(ends_there, "2 t1 6 3 t1e 4"), "main(worker~)");
}

#[test]
fn a_ring_that_begins_in_the_middle_has_callers_that_were_entered_before() {
    let outline = "\
fn main
  s f
  s
fn f
  s g
  s
fn g
  s
  s";
    assert_eq!(tree(outline, "9 6 3"), "g^) f^) main^".replace(')', ""));
}

#[test]
fn what_the_map_does_not_know_is_uncertain_and_does_not_disturb() {
    let outline = "\
fn main
  s f
  s
fn f
  s";
    assert_eq!(tree(outline, "2 90 91 5 3"), "main((unknown)^? f)");
    assert_eq!(tree("fn main\n  s", "7 7"), "(unknown)^?");
}

#[test]
fn a_deep_stack_takes_linear_time() {
    let outline = "\
fn main
  s down
  s
fn down
  s
  s down";
    let (_, mut stack) = stack_of(outline);
    run(&mut stack, "2");
    for _ in 0..100_000 {
        run(&mut stack, "5 6");
    }
    run(&mut stack, "3");
    assert_eq!(stack.moves().left.len(), 100_000);
}

/// A statement of a random program: what it calls, statements inside it that may be skipped, and whether it returns.
#[derive(Clone, Debug)]
struct Random {
    calls: Vec<usize>,
    inside: Vec<Random>,
    is_loop: bool,
    returns: bool,
}

/// The outline of random functions, and the line of each statement in turn.
fn print(functions: &[Vec<Random>]) -> (String, Vec<Vec<Lines>>) {
    fn statement(random: &Random, depth: usize, from: usize, last: usize, text: &mut String) -> Lines {
        let names =
            random.calls.iter().filter_map(|call| callee(from, *call, last)).map(|call| format!("f{call}"));
        let calls: Vec<String> = names.collect();
        let word = if random.is_loop && !random.inside.is_empty() { "loop" } else { "s" };
        let jump = if random.returns { " jump return" } else { "" };
        writeln!(text, "{:depth$}{word} {}{jump}", "", calls.join(" ")).unwrap();
        let line = text.lines().count() as u16;
        let inside =
            random.inside.iter().map(|inside| statement(inside, depth + 2, from, last, text)).collect();
        Lines { line, inside }
    }
    let mut text = String::new();
    let mut lines = Vec::new();
    for (index, function) in functions.iter().enumerate() {
        writeln!(text, "fn f{index}").unwrap();
        let last = functions.len() - 1;
        lines.push(function.iter().map(|random| statement(random, 2, index, last, &mut text)).collect());
    }
    (text, lines)
}

#[derive(Clone, Debug)]
struct Lines {
    line: u16,
    inside: Vec<Lines>,
}

/// Functions call later ones only, so that every run ends.
fn callee(from: usize, call: usize, last: usize) -> Option<usize> {
    (from < last).then(|| from + 1 + call % (last - from))
}

/// One run of a random program.
struct Run<'r> {
    functions: &'r [Vec<Random>],
    lines: &'r [Vec<Lines>],
    /// Decides about loops and skipped statements.
    choices: u64,
    stream: Vec<u16>,
    /// The true tree.
    text: String,
}

impl Run<'_> {
    fn choose(&mut self) -> bool {
        self.choices =
            self.choices.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.choices >> 62 != 0
    }

    fn function(&mut self, index: usize) {
        if !self.text.is_empty() && !self.text.ends_with('(') {
            self.text.push(' ');
        }
        write!(self.text, "f{index}(").unwrap();
        let (functions, lines) = (self.functions, self.lines);
        self.block(index, &functions[index], &lines[index]);
        self.text.push(')');
    }

    /// Whether the function has returned.
    fn block(&mut self, index: usize, block: &[Random], lines: &[Lines]) -> bool {
        for (random, line) in block.iter().zip(lines) {
            if self.stream.len() > 2_000 {
                return true;
            }
            self.stream.push(line.line);
            for call in &random.calls {
                if let Some(callee) = callee(index, *call, self.functions.len() - 1) {
                    self.function(callee);
                }
            }
            let mut is_first = true;
            while !random.inside.is_empty() && (is_first || random.is_loop) && self.choose() {
                is_first = false;
                if self.block(index, &random.inside, &line.inside) {
                    return true;
                }
            }
            if random.returns {
                return true;
            }
        }
        false
    }
}

fn random_statement() -> impl proptest::strategy::Strategy<Value = Random> {
    use proptest::prelude::*;
    let leaf = (prop::collection::vec(0..9usize, 0..3), prop::bool::weighted(0.1))
        .prop_map(|(calls, returns)| Random { calls, inside: Vec::new(), is_loop: false, returns });
    leaf.prop_recursive(2, 6, 3, |inner| {
        let kind = prop_oneof![4 => Just((false, false)), 4 => Just((true, false)), 1 => Just((false, true))];
        (prop::collection::vec(0..9usize, 0..2), prop::collection::vec(inner, 1..3), kind)
            .prop_map(|(calls, inside, (is_loop, returns))| Random { calls, inside, is_loop, returns })
    })
}

proptest::proptest! {
    /// Programs whose calls are all named and always made: the tree is the true one, and nothing is uncertain.
    #[test]
    fn the_tree_of_a_random_program_is_that_of_its_calls(
        functions in proptest::collection::vec(proptest::collection::vec(random_statement(), 1..4), 1..6),
        choices: u64,
    ) {
        let (outline, lines) = print(&functions);
        let mut run =
            Run { functions: &functions, lines: &lines, choices, stream: Vec::new(), text: String::new() };
        run.function(0);
        proptest::prop_assume!(run.stream.len() <= 2_000);
        let stream: Vec<String> = run.stream.iter().map(u16::to_string).collect();
        proptest::prop_assert_eq!(tree(&outline, &stream.join(" ")), run.text.replace("()", ""), "{}", outline);
    }

    /// Any statements in any order end in a stack and a tree of the same depth.
    #[test]
    fn any_order_of_statements_is_taken(
        functions in proptest::collection::vec(proptest::collection::vec(random_statement(), 1..4), 1..6),
        stream: Vec<u8>,
    ) {
        let (outline, _) = print(&functions);
        let words = stream.iter().map(|byte| match byte {
            250.. => "p".to_owned(),
            245.. => "gap".to_owned(),
            240.. => "overwritten".to_owned(),
            byte => (byte % 40).to_string(),
        });
        tree(&outline, &words.collect::<Vec<_>>().join(" "));
    }
}

#[test]
fn a_loop_in_code_that_is_not_recorded_is_a_loop() {
    // `run` is called by `outside`, in a loop; what it calls last is outside as well.
    let code = "\
fn main
  s outside::rounds
  s
fn Score::run of Job
  s score
fn score
  s outside::clamp
";
    assert_eq!(
        tree(code, "2 5 7 5 7 5 7 3"),
        "main(Score::run?(score) Score::run?(score) Score::run?(score))"
    );
}

#[test]
fn a_visitor_that_goes_on_behind_the_walk_is_called_by_the_walk() {
    let code = "\
fn main
  s outside::walk
fn Tree::visit of Visit
  s outside::walk
  s
";
    assert_eq!(tree(code, "2 4 4 4 5 5 5"), "main(Tree::visit?(Tree::visit?(Tree::visit?)))");
}

#[test]
fn functions_without_a_caller_follow_each_other() {
    // The caller is a doctest, whose statements are not recorded. `.push` means that of `Vec`.
    let code = "\
fn Ring::push
  s .push
fn Ring::pop
  s .take
";
    assert_eq!(tree(code, "2 2 4 2 4"), "Ring::push Ring::push? Ring::pop? Ring::push? Ring::pop?");
}

/// A stack after `2 5`, then a handler of these lines, then the rest.
fn interrupted(handler: &str, rest: &str) -> String {
    let outline = "\
fn main
  s add
  s
fn add
  s outside::read
  s
fn on_timer
  s add
  s outside::last
";
    let (structure, mut stack) = stack_of(outline);
    let mut tree = Tree { structure: &structure, text: String::new() };
    for (signals, lines) in [(0, "2 5"), (1, handler), (0, rest)] {
        for line in lines.split_whitespace() {
            stack.take(Handler { signals, interrupt: 0 }, entry(line));
            tree.add(&stack);
        }
    }
    format!("{}{}", tree.text, ")".repeat(stack.depth())).replace("()", "")
}

#[test]
fn a_handler_is_above_what_it_interrupted_and_changes_nothing_of_it() {
    assert_eq!(interrupted("8 5 6 9", "6 3"), "main(add(on_timer(add)))");
    // A second one follows the first. The interrupted `add` goes on behind both.
    assert_eq!(interrupted("8 5 6 9 8 5 6 9", "6"), "main(add(on_timer(add) on_timer?(add)))");
}

#[test]
fn the_functions_of_a_handler_follow_each_other_also_above_a_deep_stack() {
    let (_, mut stack) = stack_of("fn main\n  s f\nfn f\n  s f\nfn tick\n  s\nfn count\n  s");
    run(&mut stack, &format!("2 {}", "4 ".repeat(200)));
    for line in ["6", "8"] {
        stack.take(Handler { signals: 1, interrupt: 0 }, entry(line));
        assert_eq!(stack.depth(), 202, "{line}");
    }
}

#[test]
fn a_handler_that_goes_on_behind_another_one_enters_nothing_again() {
    let outline = "\
fn main
  s add
  s
fn add
  s outside::read
  s
fn tick
  s outside::count
fn pend
  s add
";
    let found = |parts: &[(u16, &str)]| {
        let (structure, mut stack) = stack_of(outline);
        let mut reentries = Reentries::default();
        for (interrupt, lines) in parts {
            for line in lines.split_whitespace() {
                stack.take(Handler { signals: 0, interrupt: *interrupt }, entry(line));
                reentries.step(&stack, 0);
            }
        }
        let found = reentries.found();
        let named = |found: &Reentry| (structure.body(found.by.1).name(), found.next);
        let named =
            found.iter().map(named).map(|(name, next)| (name, structure.place(next.expect("next")).1.line));
        named.map(|(name, line)| format!("{name} {line}")).collect::<Vec<_>>()
    };
    assert_eq!(found(&[(0, "2 5"), (15, "8"), (14, "10 5"), (15, "8"), (14, "6"), (0, "6")]), ["pend 6"]);
    // The other one comes before it enters anything.
    let parts = [(0, "2 5"), (15, "8"), (14, "10"), (15, "8"), (14, "5"), (15, "8"), (14, "6"), (0, "6")];
    assert_eq!(found(&parts), ["pend 6"]);
}

/// The functions that callbacks entered again, as `FUNCTION by CALLBACK at LINE before LINE`.
fn called_back(outline: &str, lines: &str) -> Vec<String> {
    let (structure, mut stack) = stack_of(outline);
    let mut reentries = Reentries::default();
    for (now, line) in lines.split_whitespace().enumerate() {
        run(&mut stack, line);
        reentries.step(&stack, now as u64);
    }
    let line = |id| structure.place(id).1.line;
    let shown = reentries.found().into_iter().map(|found| {
        let next = found.next.map_or(String::new(), |next| format!(" before {}", line(next)));
        let (body, by) = (structure.body(found.body).name(), structure.body(found.by.1).name());
        let by = match found.by.0 {
            EnteredBy::Handler => panic!("no handler"),
            EnteredBy::Callback => by,
            EnteredBy::Method => format!("way of {by}"),
        };
        format!("{body} by {by} at {}{next} x {}", line(found.at), found.times)
    });
    shown.collect()
}

#[test]
fn a_function_that_a_callback_enters_again_is_named_and_no_recursion() {
    let bus = "\
fn main
  s .on
    fn main closure
      s emit
  s emit
fn emit
  s
  s ()
  s
";
    assert_eq!(called_back(bus, "2 5 7 8 4 7 8 9 9"), ["emit by main::{closure} at 8 before 9 x 1"]);
    let asks = bus.replace("s ()", "let ()");
    let once = called_back(&asks, "2 5 7 8 4 7 8 9 9");
    assert_eq!(
        once,
        ["emit by main::{closure} at 8 before 9 x 1"],
        "also where it takes what the callback gives"
    );
    assert!(called_back(&asks, "2 5 7 8 4 7 8 4 7 8 9 9 9").is_empty(), "a recursion");
    // The inner call is where it ends.
    assert_eq!(called_back(bus, "2 5 7 8 4 7"), ["emit by main::{closure} at 8 x 1"]);
    assert!(called_back(bus, "2 5 7 8 9 5 7 8 9").is_empty());
    // Closures of the function, and of one that it called: a recursion.
    let own = "\
fn visit
  s outside::each
    fn visit closure
      s visit
  s
";
    assert!(called_back(own, "2 4 2 4 2 5 5 5").is_empty());
    let parser = "\
fn expression
  s list
  s
fn list
  s outside::many
    fn list closure
      s expression
";
    assert!(called_back(parser, "2 5 7 2 3 3").is_empty());
    // The caller hands the closure over in the call.
    let scope = "\
fn main
  s scope
    fn main closure
      s scope
        fn main closure
          s
fn scope
  s ()
  s
";
    assert!(called_back(scope, "2 8 4 8 6 9 9").is_empty());
}

#[test]
fn a_function_behind_a_pointer_is_a_callback() {
    let bus = "\
fn main
  s .on &alarm
  s emit
fn emit
  s
  s ()
  s
fn alarm
  s emit
";
    assert_eq!(called_back(bus, "2 3 5 6 9 5 6 7 7"), ["emit by alarm at 6 before 7 x 1"]);
    // A destructor that ran in the sight of another.
    let tree = "\
fn Ast::drop of Drop
  s empty
  s ()
  s
fn empty
  s
";
    assert!(called_back(tree, "2 6 3 6 2 4 4").is_empty());
    // It handed itself over.
    let compiler = "\
fn compile
  s concat &compile
  s
fn concat
  s ()
  s
";
    assert!(called_back(compiler, "2 5 2 5 6 3 6").is_empty());
    // The caller hands the function over in the call.
    let own = "\
fn main
  s walk &visit
fn walk
  s
  s ()
  s
fn visit
  s walk &visit
";
    assert!(called_back(own, "2 4 5 8 4 5 6 6").is_empty());
    let by_name = "\
fn main
  s even
fn even
  s odd
  s
fn odd
  s even
  s
";
    assert!(called_back(by_name, "2 4 7 4 5 8 5").is_empty());
}

#[test]
fn a_method_of_a_trait_that_enters_a_function_again_is_shown_as_one() {
    let bus = "\
fn main
  s emit
fn emit
  s
  s .notify
  s
fn Audit::notify of Listener
  s emit
";
    assert_eq!(called_back(bus, "2 4 5 8 4 6 6"), ["emit by way of Audit::notify at 5 before 6 x 1"]);
    // It takes what the call gives: a recursion, as of combinators.
    for parse in ["let .notify", "s .notify ?", "s .notify\n    s"] {
        let lines = if parse.contains('\n') { "2 4 5 9 4 7 7" } else { "2 4 5 8 4 6 6" };
        assert!(called_back(&bus.replace("s .notify", parse), lines).is_empty(), "{parse}");
    }
    // It goes on: a recursion.
    assert!(called_back(bus, "2 4 5 8 4 5 8 4 5 8 4 6 6 6 6").is_empty());
    let tree = "\
fn Add::eval of Eval
  s .eval
  s
fn Mul::eval of Eval
  s .eval
  s
";
    assert!(called_back(tree, "2 5 2 3 6 3").is_empty());
}

#[test]
fn a_folded_recursion_has_its_depth() {
    let outline = "\
fn main
  s down
fn down
  s
  s down
fn even
  s odd
fn odd
  s even
fn looping
  s
  loop
    s down
";
    let after = |lines: &str, statements: usize| {
        let (_, mut stack) = stack_of(outline);
        run(&mut stack, &format!("{lines} {statements}x1000"));
        let calls = stack.moves().folded.map(|folded| folded.calls);
        (calls, stack.depth() as u64 + stack.folded_below(stack.depth()))
    };
    assert_eq!(after("2 4 5", 2), (Some(1_000), 1_002));
    // A round may begin anywhere in the function.
    assert_eq!(after("2 4 5 4", 2), (Some(1_000), 1_003));
    assert_eq!(after("7 9", 2), (Some(2_000), 2_002));
    // No recursion: the caller runs in each round.
    assert_eq!(after("11 12 13 4", 2), (None, 2));
}

/// The calls after these entries, and their depth with those of folded rounds.
fn depth(outline: &str, stream: &str) -> (String, u64) {
    let (_, mut stack) = stack_of(outline);
    run(&mut stack, stream);
    (tree(outline, stream), stack.depth() as u64 + stack.folded_below(stack.depth()))
}

#[test]
fn rounds_that_enter_no_open_call_are_no_recursion() {
    // `g` is called by `main` in the first round, and by `f` in those that follow.
    let outline = "\
fn main
  loop
    s f g
fn f
  s g
  s
fn g
  s";
    let (_, mut stack) = stack_of(outline);
    run(&mut stack, "2 3 8 3 5 3x5");
    assert_eq!((stack.depth(), stack.folded_below(9)), (2, 0));
    run(&mut stack, "8 6 3");
    assert_eq!(stack.depth(), 1);
}

#[test]
fn a_folded_recursion_returns_from_all_of_its_calls() {
    let one = "\
fn main
  s down
  s
fn down
  s
  s down
  s helper
fn helper
  s
  s
";
    let of = |stream: &str| depth(one, stream);
    let (down, up) = ("2 5 6 5 6 2x1000 5", "7 9 10 7 9 10");
    assert_eq!(of(down).1, 1_004);
    assert_eq!(of(&format!("{down} 7 9 10")).1, 1_005);
    // The round above takes the place of those that are folded.
    assert_eq!(of(&format!("{down} {up} {up} {up}")).1, 1_000);
    let calls = "main(down(down(down(helper) helper helper helper helper helper)))";
    assert_eq!(of(&format!("{down} {up} {up} {up}")).0, calls);
    // All but the outermost one: those on the stack are left, and the others are counted.
    let folded = format!("{down} {up} 3x1000");
    assert_eq!(of(&folded).1, 4);
    // The second `helper` is that of the last round.
    let calls = "main(down(down(down(helper) helper helper) helper))".to_owned();
    assert_eq!(of(&format!("{folded} 7 9 10 3")), (calls, 1));
    // Too many: what is not known to end is not left.
    assert_eq!(of(&format!("{down} {up} 3x5000 3")).1, 1);
}

#[test]
fn a_folded_recursion_of_two_functions_returns_from_all_of_its_calls() {
    let two = "\
fn main
  s even
  s
fn even
  s odd
  s
fn odd
  s even
  s
";
    let down = "2 5 8 5 8 2x1000 5";
    assert_eq!(depth(two, down).1, 2_006);
    assert_eq!(depth(two, &format!("{down} 6 9 6 9 6 9")).1, 2_001);
    let (calls, left) = depth(two, &format!("{down} 6 9 6 9 6 2x1002 3"));
    assert_eq!((calls.matches('#').count(), left), (0, 1), "{calls}");
}

#[test]
fn a_round_may_be_as_long_as_a_recorder_folds() {
    let lines: String = (0..6_000).map(|_| "  s\n").collect();
    let outline = format!("fn down\n{lines}  s down\n  s\n");
    let round = (2..=6_002).map(|line| line.to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(depth(&outline, &format!("{round} {round} 6001x50")).1, 52);
    assert_eq!(depth(&outline, &format!("{round} {round} 6001x50 6003 1x51")).1, 1);
}

/// A recursion of one or two functions: what each call runs before and after it calls the next.
const RECURSIONS: [[&str; 3]; 4] = [
    ["fn main\n  s f\n  s\nfn f\n  s\n  s f\n  s\n", "5 6", "7"],
    [
        "fn main\n  s f\n  s\nfn f\n  s\n  s g\n  s f\n  s g\n  s\nfn g\n  s\n  s\n",
        "5 6 11 12 7",
        "8 11 12 9",
    ],
    ["fn main\n  s f\n  s\nfn f\n  s h\n  s\nfn h\n  s\n  s f\n  s\n  s\n", "5|8 9", "6|10 11"],
    ["fn main\n  s f\n  s\nfn f\n  loop\n    s\n    s f\n    s\n  s\n", "5 6 7", "8 6 8 9"],
];

/// Replaces parts that repeat what is before them, as a recorder does, if `folds` says so for the position. Each entry has its
/// position.
fn folded(lines: &[&str], folds: &[bool]) -> Vec<(usize, String)> {
    let (mut at, mut entries) = (0, Vec::new());
    while at < lines.len() {
        let times = |length: usize| {
            let round = &lines[at - length..at];
            lines[at..].chunks(length).take_while(|chunk| *chunk == round).count()
        };
        let best = (1..=at.min(12)).map(|length| (times(length) * length, length)).max();
        let best = best.filter(|(all, _)| *all > 0 && folds[at % folds.len()]);
        let (all, entry) = match best {
            Some((all, length)) => (all, format!("{length}x{}", all / length)),
            None => (1, lines[at].to_owned()),
        };
        at += all;
        entries.push((at - 1, entry));
    }
    entries
}

proptest::proptest! {
    /// The depth is that of the same history without folds, behind every entry.
    #[test]
    fn a_fold_changes_no_depth(
        kind in 0..RECURSIONS.len(),
        depth in 1usize..40,
        folds in proptest::collection::vec(proptest::bool::ANY, 1..9),
    ) {
        let [outline, down, up] = RECURSIONS[kind];
        let (down, up): (Vec<&str>, Vec<&str>) = (down.split('|').collect(), up.split('|').collect());
        let mut lines = vec!["2"];
        (0..depth).for_each(|call| lines.extend(down[call % down.len()].split(' ')));
        // The innermost one calls nothing.
        (0..depth).rev().for_each(|call| lines.extend(up[call % up.len()].split(' ')));
        lines.push("3");
        let (structure, mut plain) = stack_of(outline);
        let depth = |stack: &CallStack| stack.depth() as u64 + stack.folded_below(stack.depth());
        let mut depths = Vec::new();
        for line in &lines {
            run(&mut plain, line);
            depths.push(depth(&plain));
        }
        let mut stack = CallStack::new(&structure);
        for (at, entry) in folded(&lines, &folds) {
            run(&mut stack, &entry);
            proptest::prop_assert_eq!(depth(&stack), depths[at], "behind {} of {:?}", at, folded(&lines, &folds));
        }
    }
}
