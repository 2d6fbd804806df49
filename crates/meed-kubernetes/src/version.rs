//! Which Kubernetes a cluster is: kube-scheduler counts resizes by its version, and is taken to be
//! as new as the API server.

use kube::Client;
use meed_pods::Resizes;

use crate::error::KubernetesError;
use crate::log;

/// How kube-scheduler of this cluster counts a resize; as the newest does, where the version cannot
/// be read.
pub(crate) async fn resizes(client: &Client) -> Result<Resizes, KubernetesError> {
    let told = client.apiserver_version().await;
    let told =
        told.map_err(|why| KubernetesError::api("ask for the version of Kubernetes", why))?;
    Ok(minor(&told.minor).map_or_else(
        || {
            log::line(&format!("Kubernetes {}.{}: counted as the newest", told.major, told.minor));
            Resizes::default()
        },
        Resizes::of_minor,
    ))
}

/// `37`, or `37+` as some who offer clusters write it.
fn minor(text: &str) -> Option<u32> {
    text.trim_end_matches(|letter: char| !letter.is_ascii_digit()).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minor_version_may_have_more_behind_it() {
        let all = ["36", "37+", "", "x"].map(minor);
        assert_eq!(all, [Some(36), Some(37), None, None]);
    }
}
