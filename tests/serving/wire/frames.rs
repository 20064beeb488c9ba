//! HTTP/2 frames by hand, for clients that no library would be.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use testing::client::{LONG, tls};

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

/// The frame with which the server announces the end of the connection.
const GOAWAY: u8 = 7;
/// The number of bytes sent at once.
const CHUNK: usize = 32 * 1024;

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// `POST /validate` with the required content type, as a header block.
pub(crate) fn post() -> Vec<u8> {
    let mut block = vec![0x83, 0x87];
    for (index, value) in [(0x04, "/validate"), (0x01, "x"), (0x0f, "application/json")] {
        // Not indexed, with a name from the static table; the index of the last name takes two bytes.
        block.push(index);
        if index == 0x0f {
            block.push(31 - 15);
        }
        block.push(u8::try_from(value.len()).unwrap());
        block.extend(value.as_bytes());
    }
    block
}

/// A connection after the preface.
pub(crate) async fn open(addr: SocketAddr, ca_pem: &str) -> TlsStream<TcpStream> {
    let mut stream = tls(addr, ca_pem, &["h2"]).await.unwrap();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let first = [preface, &*frame(SETTINGS, 0, 0, &[])].concat();
    stream.write_all(&first).await.unwrap();
    stream
}

/// The end of a flood.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// Bytes sent before the server closed the connection. `None` if it never did.
    pub(crate) after: Option<usize>,
    /// The error code of its GOAWAY frame.
    pub(crate) code: Option<u32>,
}

/// Sends frames as fast as the server takes them, up to `most` bytes; reads the answers if `reads` is set.
pub(crate) async fn flood(
    stream: TlsStream<TcpStream>,
    reads: bool,
    most: usize,
    mut next: impl FnMut() -> Vec<u8>,
) -> Ended {
    let (mut from, mut to) = tokio::io::split(stream);
    let writing = async {
        let mut sent = 0;
        while sent < most {
            let mut chunk = Vec::with_capacity(2 * CHUNK);
            while chunk.len() < CHUNK {
                chunk.extend(next());
            }
            let Ok(()) = to.write_all(&chunk).await else {
                return Some(sent);
            };
            sent += chunk.len();
        }
        let _ = to.flush().await;
        None
    };
    let reading = async {
        let mut came = Vec::new();
        let mut buffer = vec![0; CHUNK];
        let mut code = None;
        if !reads {
            std::future::pending::<()>().await;
        }
        while let Ok(read @ 1..) = from.read(&mut buffer).await {
            came.extend_from_slice(&buffer[..read]);
            while let Some((kind, payload)) = take(&mut came) {
                if kind == GOAWAY {
                    code = payload[4..8].try_into().ok().map(u32::from_be_bytes);
                }
            }
        }
        code
    };
    let both = async {
        tokio::pin!(writing, reading);
        let after = tokio::select! {
            after = &mut writing => after,
            // The end of the server's output; the next write fails.
            code = &mut reading => return Ended { after: writing.await, code },
        };
        let code = match after {
            Some(_) if reads => reading.await,
            _ => None,
        };
        Ended { after, code }
    };
    timeout(3 * LONG, both).await.expect("the flood ends")
}

/// Sends frames and waits for the answer to a ping, which proves that the server has read them. False if the server has
/// closed the connection.
pub(crate) async fn settle(stream: &mut TlsStream<TcpStream>, frames: &[u8]) -> bool {
    let all = [frames, &frame(PING, 0, 0, &[1; 8])].concat();
    let (mut came, mut buffer) = (Vec::new(), vec![0; CHUNK]);
    if stream.write_all(&all).await.is_err() {
        return false;
    }
    loop {
        while let Some((kind, payload)) = take(&mut came) {
            if kind == PING && payload == [1; 8] {
                return true;
            }
        }
        let read = timeout(LONG, stream.read(&mut buffer)).await;
        let Ok(read @ 1..) = read.expect("an answer") else {
            return false;
        };
        came.extend_from_slice(&buffer[..read]);
    }
}

/// Takes the first complete frame from the received bytes.
fn take(came: &mut Vec<u8>) -> Option<(u8, Vec<u8>)> {
    let length = u32::from_be_bytes([0, *came.first()?, *came.get(1)?, *came.get(2)?]);
    let end = 9 + usize::try_from(length).unwrap();
    if came.len() < end {
        return None;
    }
    let frame: Vec<u8> = came.drain(..end).collect();
    Some((frame[3], frame[9..].to_vec()))
}
