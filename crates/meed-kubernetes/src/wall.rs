//! The wall clock of a term: that of this machine, unless the API server's is another.
//!
//! Between leaders the ledger goes by wall time, for downtime counts. A machine whose clock is an
//! hour off would charge all that runs for an hour too much, or too little; and kubelets stamp the
//! ends of containers by theirs. So a leader asks the API server for its time, once, and goes by
//! that where the two differ by more than the server's answer is exact.

use std::time::Duration;

use k8s_openapi::jiff::fmt::rfc2822;
use kube::Client;
use kube::client::Body;
use tokio::time::timeout;

use crate::clock::unix_micros;
use crate::log;

/// The server tells whole seconds, and the answer takes a while: so much is no difference.
const EXACT: i64 = 2_000_000;
/// The middle of a second that is told.
const HALF: i64 = 500_000;
/// Without an answer in this time the machine's clock counts.
const PATIENCE: Duration = Duration::from_secs(5);

/// Now, in microseconds since 1970.
pub(crate) async fn wall(client: &Client) -> i64 {
    let before = unix_micros();
    let date = timeout(PATIENCE, date(client)).await.ok().flatten();
    let own = unix_micros();
    let Some(server) = date else { return own };
    let off = server.saturating_sub(before.midpoint(own));
    if off.saturating_abs() <= EXACT {
        return own;
    }
    let seconds = off / 1_000_000;
    log::line(&format!(
        "the API server's clock is {seconds} s from this machine's: the server's counts"
    ));
    own.saturating_add(off)
}

/// What the server says of the time, in any answer.
async fn date(client: &Client) -> Option<i64> {
    let request = http::Request::get("/version").body(Body::empty()).ok()?;
    let answer = client.send(request).await.ok()?;
    read(answer.headers().get(http::header::DATE)?.to_str().ok()?)
}

fn read(date: &str) -> Option<i64> {
    let at = rfc2822::parse(date).ok()?;
    at.timestamp().as_microsecond().checked_add(HALF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_as_the_middle_of_its_second() {
        assert_eq!(read("Thu, 01 Jan 1970 00:00:05 GMT"), Some(5_500_000));
        assert_eq!(read("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777_500_000));
        assert_eq!(read("yesterday"), None);
    }
}
