//! Limits on the raw bytes of a connection, below TLS: how many may arrive without a request, and how long a write may
//! stall.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::bounds::TURN_BYTES;
use super::connections::ConnectionSlot;
use crate::metrics::Metrics;

/// A TCP stream that fails when its client floods it or does not read.
pub(super) struct Wire {
    stream: TcpStream,
    place: ConnectionSlot,
    metrics: Arc<Metrics>,
    write_timeout: Duration,
    /// Bytes read since other connections had their turn.
    turn: usize,
    /// Runs while a write is blocked.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Wire {
    pub(super) fn new(
        stream: TcpStream,
        place: ConnectionSlot,
        metrics: Arc<Metrics>,
        write_timeout: Duration,
    ) -> Self {
        Self {
            stream,
            place,
            metrics,
            write_timeout,
            turn: 0,
            stalled: None,
        }
    }

    fn fail<T>(&self, reason: &str, kind: io::ErrorKind) -> Poll<io::Result<T>> {
        let errors = &self.metrics.connection_errors;
        errors.with_label_values(&[reason]).inc();
        Poll::Ready(Err(io::Error::new(kind, reason)))
    }

    fn wrote<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let timeout = self.write_timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(timeout)));
        ready!(stalled.as_mut().poll(cx));
        self.fail("unread", io::ErrorKind::TimedOut)
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.turn >= TURN_BYTES {
            self.turn = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let came = buf.filled().len() - before;
        self.turn += came;
        if self.place.received(came as u64) {
            Poll::Ready(Ok(()))
        } else {
            self.fail("flood", io::ErrorKind::QuotaExceeded)
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.wrote(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.wrote(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
