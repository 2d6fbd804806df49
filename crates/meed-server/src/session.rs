//! What an interactive task and its user say to each other (`meed run`, `meed attach`), over a
//! socket of the task's supervisor: frames of a kind, a length and content, in both directions.
//!
//! The server has no part in it: a session goes on while the server is started again.

use std::io;

use serde::{Deserialize, Serialize};

/// Most bytes of a frame's content.
pub const MAX_CONTENT: usize = 1 << 16;
/// Bytes before the content: the kind, and the length as four bytes, the least first.
const HEAD: usize = 5;

/// How a task is talked to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionWish {
    /// It has a terminal; else its input and outputs are pipes.
    pub terminal: bool,
    /// Lines of the terminal.
    #[serde(default)]
    pub rows: u16,
    /// Characters of a line.
    #[serde(default)]
    pub columns: u16,
}

/// What one side says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Frame {
    /// First of a client: whether the task ends with this connection.
    Hello {
        /// It does.
        is_owner: bool,
    },
    /// Of a client: what it types.
    Input(Vec<u8>),
    /// Of a client: nothing more is typed.
    InputEnds,
    /// Of a client: its window is as large as this now.
    Resize {
        /// Lines.
        rows: u16,
        /// Characters of a line.
        columns: u16,
    },
    /// Of a client: the task's first group gets this signal.
    Signal(u8),
    /// Of a task: standard output, or what its terminal shows.
    Output(Vec<u8>),
    /// Of a task: standard error.
    Errors(Vec<u8>),
    /// Of a task: it has ended, as a shell would tell it.
    Ended(u8),
}

impl Frame {
    fn parts(&self) -> (u8, Vec<u8>) {
        match self {
            Frame::Hello { is_owner } => (0, vec![u8::from(*is_owner)]),
            Frame::Input(bytes) => (1, bytes.clone()),
            Frame::InputEnds => (2, Vec::new()),
            Frame::Resize { rows, columns } => {
                (3, [rows.to_le_bytes(), columns.to_le_bytes()].concat())
            }
            Frame::Signal(signal) => (4, vec![*signal]),
            Frame::Output(bytes) => (5, bytes.clone()),
            Frame::Errors(bytes) => (6, bytes.clone()),
            Frame::Ended(status) => (7, vec![*status]),
        }
    }

    /// As it goes over the socket. Its content has at most [`MAX_CONTENT`] bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let (kind, content) = self.parts();
        let length = u32::try_from(content.len()).unwrap_or(u32::MAX).to_le_bytes();
        [&[kind], &length[..], &content].concat()
    }

    fn read(kind: u8, content: &[u8]) -> Option<Frame> {
        Some(match (kind, content) {
            (0, [is_owner]) => Frame::Hello { is_owner: *is_owner != 0 },
            (1, bytes) => Frame::Input(bytes.to_vec()),
            (2, []) => Frame::InputEnds,
            (3, [a, b, c, d]) => Frame::Resize {
                rows: u16::from_le_bytes([*a, *b]),
                columns: u16::from_le_bytes([*c, *d]),
            },
            (4, [signal]) => Frame::Signal(*signal),
            (5, bytes) => Frame::Output(bytes.to_vec()),
            (6, bytes) => Frame::Errors(bytes.to_vec()),
            (7, [status]) => Frame::Ended(*status),
            _ => return None,
        })
    }
}

/// Frames as they come in, in pieces.
#[derive(Default)]
pub struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    /// More of them.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next that is whole.
    ///
    /// # Errors
    ///
    /// What came is no frame.
    pub fn next_frame(&mut self) -> io::Result<Option<Frame>> {
        let Some((head, rest)) = self.bytes.split_at_checked(HEAD) else { return Ok(None) };
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if length > MAX_CONTENT {
            return Err(io::Error::other(format!("a frame of {length} bytes")));
        }
        let Some(content) = rest.get(..length) else { return Ok(None) };
        let frame = Frame::read(head[0], content);
        let frame = frame.ok_or_else(|| io::Error::other(format!("no frame: kind {}", head[0])))?;
        self.bytes.drain(..HEAD + length);
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_as_they_went_in_whatever_pieces() {
        let sent = [
            Frame::Hello { is_owner: true },
            Frame::Input(b"ls\r".to_vec()),
            Frame::InputEnds,
            Frame::Resize { rows: 24, columns: 300 },
            Frame::Signal(2),
            Frame::Output(vec![7; MAX_CONTENT]),
            Frame::Errors(Vec::new()),
            Frame::Ended(130),
        ];
        let bytes: Vec<u8> = sent.iter().flat_map(Frame::bytes).collect();
        for piece in [1, 7, 4096, bytes.len()] {
            let (mut frames, mut got) = (Frames::default(), Vec::new());
            for piece in bytes.chunks(piece) {
                frames.push(piece);
                while let Some(frame) = frames.next_frame().unwrap() {
                    got.push(frame);
                }
            }
            assert_eq!(got, sent);
        }
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        for bytes in [&[9, 0, 0, 0, 0][..], &[3, 1, 0, 0, 0, 0], &[1, 255, 255, 255, 255]] {
            let mut frames = Frames::default();
            frames.push(bytes);
            assert!(frames.next_frame().is_err(), "{bytes:?}");
        }
    }
}
