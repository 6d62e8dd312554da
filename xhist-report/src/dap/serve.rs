//! Brings messages to a session and back: over standard input and output, over a socket, or from memory.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::Value;

use super::loading::{Loading, Opener};
use super::session::DapSession;
use super::wire::{WireError, read_message, write_message};
use xhist_history::recording::SharedRecording;

/// How often a session looks at a recording that grows.
const PERIOD: Duration = Duration::from_millis(20);
/// Messages that are read before the session has answered the ones before.
const AHEAD: usize = 64;
/// Requests that end a search through the history.
const INTERRUPTING: &[&str] = &["\"pause\"", "\"cancel\"", "\"disconnect\"", "\"terminate\""];

/// Serves one client until it leaves.
///
/// # Errors
/// The client breaks the protocol, or the output cannot be written.
pub fn serve(
    opener: &Opener,
    input: impl BufRead + Send + 'static,
    out: &mut dyn Write,
) -> Result<(), WireError> {
    let session = &mut DapSession::new(opener);
    let interrupted = session.interrupt();
    let (sender, messages) = sync_channel(AHEAD);
    std::thread::spawn(move || {
        let mut input = input;
        loop {
            let message = read_message(&mut input);
            let is_end = !matches!(message, Ok(Some(_)));
            if let Ok(Some(bytes)) = &message
                && is_interrupting(bytes)
            {
                interrupted.store(true, Ordering::Relaxed);
            }
            if sender.send(message).is_err() || is_end {
                return;
            }
        }
    });
    run(session, &messages, out)
}

/// Whether a message may be a request that ends a search; a wrong guess ends a search early, no more.
fn is_interrupting(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    text.len() < 1000 && INTERRUPTING.iter().any(|word| text.contains(word))
}

fn run(
    session: &mut DapSession,
    messages: &Receiver<Result<Option<Vec<u8>>, WireError>>,
    out: &mut dyn Write,
) -> Result<(), WireError> {
    while !session.is_over() {
        let next = match session.wants_ticks() {
            true => messages.recv_timeout(PERIOD),
            false => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let answers = match next {
            Ok(Ok(Some(bytes))) => session.handle(&bytes),
            Ok(Ok(None)) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Ok(Err(error)) => return Err(error),
            Err(RecvTimeoutError::Timeout) => session.tick(),
        };
        write(&answers, out).map_err(WireError::Read)?;
    }
    Ok(())
}

fn write(answers: &[Value], out: &mut dyn Write) -> io::Result<()> {
    for answer in answers {
        write_message(answer, out)?;
    }
    out.flush()
}

/// Serves one client after another at an address. `ready` gets the address that is listened at.
///
/// # Errors
/// The address cannot be used.
pub fn listen(
    opener: &Opener,
    address: &str,
    ready: &mut dyn FnMut(std::net::SocketAddr),
    broken: &mut dyn FnMut(WireError),
) -> io::Result<()> {
    let addresses: Vec<_> = address.to_socket_addrs()?.collect();
    let listener = TcpListener::bind(&addresses[..])?;
    ready(listener.local_addr()?);
    for client in listener.incoming() {
        if let Err(error) = client.map_err(WireError::Read).and_then(|client| serve_socket(opener, &client)) {
            broken(error);
        }
    }
    Ok(())
}

fn serve_socket(opener: &Opener, client: &TcpStream) -> Result<(), WireError> {
    let input = BufReader::new(client.try_clone().map_err(WireError::Read)?);
    let served = serve(opener, input, &mut io::BufWriter::new(client));
    // The reader ends with the socket.
    let _ = client.shutdown(std::net::Shutdown::Both);
    served
}

/// Answers a stream of messages from memory about a recording that is complete: what a client would get. A stream that
/// breaks the protocol ends there.
pub fn converse(recording: &SharedRecording, mut input: &[u8]) -> Vec<Value> {
    let recording = recording.clone();
    let opener: Opener = Rc::new(move |_| Ok(Loading::complete(recording.clone())));
    let session = &mut DapSession::new(&opener);
    let mut answers = Vec::new();
    while let (false, Ok(Some(bytes))) = (session.is_over(), read_message(&mut input)) {
        answers.extend(session.handle(&bytes));
        answers.extend(session.tick());
    }
    answers
}
