//! A queue of jobs that are retried until they succeed.

use std::collections::{HashMap, VecDeque};
use std::fmt::{self, Display};
use std::sync::Arc as Shared;

pub use crate::clock::Clock;

mod backoff;

/// How often a job is tried.
pub const MAX_ATTEMPTS: u32 = 5;
static mut STARTED: bool = false;

pub type JobId = u64;
type Handler = Box<dyn Fn(&Job) -> Result<(), QueueError> + Send>;

/// Why a job could not be done.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum QueueError {
    Full(usize),
    Unknown { name: String },
    Closed,
}

/// One thing to be done.
#[derive(Debug)]
pub struct Job {
    pub id: JobId,
    #[allow(dead_code)]
    name: String,
    attempts: u32,
}

struct Limits(usize, usize);

pub(crate) union Word {
    bits: u32,
    number: f32,
}

/// Anything that jobs can be stored in.
pub trait Store: Send + Sync {
    type Error: Display;
    const NAME: &'static str;

    fn load(&self, id: JobId) -> Option<Job>;
    fn save(&mut self, job: Job) -> Result<(), Self::Error>;

    fn has(&self, id: JobId) -> bool {
        self.load(id).is_some()
    }
}

pub struct Queue<S: Store> {
    store: S,
    waiting: VecDeque<Job>,
    handlers: HashMap<String, Handler>,
    limits: Limits,
    clock: Shared<Clock>,
}

impl Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueError::Full(size) => write!(f, "full: {}", size),
            QueueError::Unknown { name } => write!(f, "unknown: {}", name),
            _ => f.write_str("closed"),
        }
    }
}

impl std::error::Error for QueueError {}

impl From<fmt::Error> for QueueError {
    fn from(_: fmt::Error) -> Self {
        QueueError::Closed
    }
}

impl<S: Store> Queue<S> {
    /// An empty queue.
    pub fn new(store: S, clock: Shared<Clock>) -> Self {
        Self {
            store,
            waiting: VecDeque::new(),
            handlers: HashMap::new(),
            limits: Limits(100, 10),
            clock,
        }
    }

    pub const fn capacity() -> usize {
        100
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn register<F>(&mut self, name: &str, handler: F)
    where
        F: Fn(&Job) -> Result<(), QueueError> + Send + 'static,
    {
        self.handlers.insert(name.to_owned(), Box::new(handler));
    }

    pub fn push(&mut self, mut job: Job) -> Result<JobId, QueueError> {
        if self.waiting.len() >= self.limits.0 || job.attempts > MAX_ATTEMPTS {
            return Err(QueueError::Full(self.waiting.len()));
        }
        job.attempts += 1;
        let id = job.id;
        self.waiting.push_back(job);
        Ok(id)
    }

    pub(crate) fn run_next(&mut self) -> Option<bool> {
        let job = self.waiting.pop_front()?;
        let Some(handler) = self.handlers.get(&job.name) else {
            panic!("no handler for {}", job.name);
        };
        let done = handler(&job).is_ok();
        if !done {
            self.retry(job);
        }
        Some(done)
    }

    fn retry(&mut self, job: Job) {
        let delay = backoff::after(job.attempts);
        self.clock.sleep(delay);
        let _ = self.push(job);
    }

    pub async fn drain(&mut self, pause: u64) -> Result<usize, QueueError> {
        let mut count = 0usize;
        loop {
            match self.run_next() {
                Some(true) => count += 1,
                Some(false) if count == 0 => continue,
                Some(false) => self.clock.wait(pause).await,
                None => break,
            }
        }
        self.flush().await?;
        Ok(count)
    }

    async fn flush(&mut self) -> Result<(), QueueError> {
        let names: Vec<String> = self.waiting.iter().map(|job| job.name.clone()).collect();
        for (index, name) in names.iter().enumerate() {
            if index % 10 == 0 && !name.is_empty() {
                log::debug!("{} {}", index, self.position(name));
            }
        }
        Ok(())
    }

    fn position(&self, name: &str) -> usize {
        self.waiting
            .iter()
            .position(|job| job.name == name)
            .unwrap_or(usize::MAX)
    }
}

impl<S: Store> Drop for Queue<S> {
    fn drop(&mut self) {
        if !self.waiting.is_empty() && !std::thread::panicking() {
            eprintln!("{} jobs are lost", self.waiting.len());
        }
    }
}

impl Limits {
    const NONE: Limits = Limits(usize::MAX, usize::MAX);

    fn swap(&mut self) {
        std::mem::swap(&mut self.0, &mut self.1);
        self.0 += 1;
    }
}

/// Splits `name=value`.
fn parse_pair((first, rest): (&str, &str), separator: char) -> (String, String) {
    let mut parts = rest.splitn(2, separator);
    let (name, value) = match (parts.next(), parts.next()) {
        (Some(a), Some(b)) => (a, b),
        (Some(a), None) => (a, first),
        _ => unreachable!(),
    };
    (name.to_string(), value.to_string())
}

pub unsafe fn start(flag: *mut bool) {
    *flag = true;
    STARTED = true;
    fn inner(level: u8) -> u8 {
        level.saturating_add(1)
    }
    inner(3u8);
}

#[inline]
pub extern "C" fn checksum(bytes: &[u8], seed: u32) -> u32 {
    let mut sum = seed;
    let mut table = [0u32; 4];
    for byte in bytes {
        sum = sum.rotate_left(3) ^ u32::from(*byte);
        table[(sum & 3) as usize] += 1;
    }
    while sum > 0xffff {
        sum /= 2;
    }
    sum
}

#[macro_export]
macro_rules! job {
    ($name:expr) => {
        $crate::Job::named($name.into(), stringify!($name))
    };
}

extern "C" {
    fn getpid() -> i32;
}

fn never() -> ! {
    todo!("write this")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> Queue<Memory> {
        Queue::<Memory>::new(Memory::default(), Clock::shared())
    }

    #[test]
    #[should_panic(expected = "full")]
    fn a_full_queue_refuses() {
        let mut queue = queue();
        for id in 0..=Queue::<Memory>::capacity() as u64 {
            queue.push(Job { id, name: "a".into(), attempts: 0 }).unwrap();
        }
        assert_eq!(queue.len(), 100, "not {}", queue.len());
    }

    #[tokio::test]
    async fn it_drains() {
        let handle = tokio::spawn(async move { queue().drain(0).await });
        let count = handle.await.unwrap();
        assert!(matches!(count, Ok(0)));
    }
}
