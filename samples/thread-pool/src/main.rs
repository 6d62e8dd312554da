//! Three workers take jobs from a queue, as in Figure 2 of the Xhist paper. One job is malformed.

mod pool;

use pool::{Job, Pool};

fn main() {
    let pool = Pool::start(3);
    for number in 0..12 {
        let text = if number == 7 { "from" } else { "from Ada to Bob: hello" };
        pool.submit(Job { number, text });
    }
    let failed = pool.finish();
    println!("{failed} of 3 workers failed");
}
