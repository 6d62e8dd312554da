//! A queue of jobs, and workers that wait for a job, handle it, and wait again.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

pub struct Job {
    pub number: u32,
    pub text: &'static str,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Pool {
    pub fn start(workers: usize) -> Pool {
        let shared = Arc::new(Shared::default());
        let start = |number| {
            let shared = Arc::clone(&shared);
            let name = format!("worker-{number}");
            Builder::new().name(name).spawn(move || worker_main(&shared)).expect("a thread")
        };
        let workers = (1..=workers).map(start).collect();
        Pool { shared, workers }
    }

    pub fn submit(&self, job: Job) {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.jobs.push_back(job);
        self.shared.changed.notify_one();
    }

    pub fn finish(self) -> usize {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.closed = true;
        drop(queue);
        self.shared.changed.notify_all();
        self.workers.into_iter().map(JoinHandle::join).filter(Result::is_err).count()
    }
}

fn worker_main(shared: &Shared) {
    loop {
        let mut queue = shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        while queue.jobs.is_empty() && !queue.closed {
            queue = shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        let Some(job) = queue.jobs.pop_front() else {
            return;
        };
        drop(queue);
        let message = build_message(&job);
        println!("{message}");
    }
}

fn build_message(job: &Job) -> String {
    let words: Vec<&str> = job.text.split(' ').collect();
    let sender = words[1];
    let receiver = words[3];
    format!("job {}: {sender} writes to {receiver}", job.number)
}
