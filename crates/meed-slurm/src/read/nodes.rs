//! What nodes hold: `scontrol show node --oneliner`.

use meed::Resources;

use crate::tres::parse_tres;

/// A node of the cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SlurmNode {
    /// Its name.
    pub name: String,
    /// What it holds (`CfgTRES`).
    pub capacity: Resources,
    /// Jobs run or may run there.
    pub is_up: bool,
}

/// Flags of `State` with which a node takes no jobs. A node that power saving has switched off
/// (`POWERED_DOWN`) is not among them: Slurm switches the node on for a job.
const AWAY: [&str; 7] =
    ["DOWN", "DRAIN", "FAIL", "FUTURE", "NOT_RESPONDING", "REBOOT_ISSUED", "UNKNOWN"];

/// Reads one line for each node.
///
/// # Errors
///
/// The first line that names no node or no state, in a sentence.
pub(crate) fn parse_nodes(text: &str) -> Result<Vec<SlurmNode>, String> {
    text.lines().filter(|line| !line.trim().is_empty()).map(node).collect()
}

fn node(line: &str) -> Result<SlurmNode, String> {
    let field = |name: &str| {
        line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    let (Some(name), Some(state)) = (field("NodeName"), field("State")) else {
        return Err(format!("scontrol show node printed a line without name or state: `{line}`"));
    };
    let state = state.trim_end_matches(['*', '~', '#', '!', '%', '$', '@', '^', '-']);
    let is_away = state.split('+').any(is_away);
    let capacity = parse_tres(field("CfgTRES").unwrap_or_default());
    let capacity = capacity.map_err(|why| format!("node {name}: {why}"))?;
    Ok(SlurmNode { name: name.to_owned(), capacity, is_up: !is_away })
}

/// With this flag of its state a node takes no jobs.
pub(super) fn is_away(flag: &str) -> bool {
    AWAY.contains(&flag)
}

/// What the nodes that take jobs hold together.
pub(crate) fn pool_of(nodes: &[SlurmNode]) -> Resources {
    let mut pool = Resources::zero(4);
    for node in nodes.iter().filter(|node| node.is_up) {
        for (sum, more) in pool.as_mut_slice().iter_mut().zip(node.capacity.as_slice()) {
            *sum = sum.saturating_add(*more).min(meed::MAX_AMOUNT);
        }
    }
    pool
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_take_no_jobs_are_no_part_of_the_pool() {
        let text = "\
NodeName=n1 Arch=x86_64 CPUTot=8 State=MIXED+PLANNED CfgTRES=cpu=8,mem=8000M,billing=8 X=1
NodeName=n2 CPUTot=8 State=IDLE+DRAIN CfgTRES=cpu=8,mem=8000M,billing=8
NodeName=n3 CPUTot=8 State=DOWN* CfgTRES=cpu=8,mem=8000M,billing=8
NodeName=n4 CPUTot=4 State=IDLE CfgTRES=cpu=4,mem=1G,billing=4,gres/gpu=2
NodeName=n5 CPUTot=4 State=IDLE+CLOUD+POWERED_DOWN CfgTRES=cpu=4,mem=1G,billing=4
";
        let nodes = parse_nodes(text).unwrap();
        assert_eq!(nodes.iter().filter(|node| node.is_up).count(), 3);
        let memory = (8000 << 20) + (2 << 30);
        assert_eq!(pool_of(&nodes), Resources::new(&[16_000, memory, 2000, 16_000]));
        assert!(parse_nodes("State=IDLE").unwrap_err().contains("without name"));
    }
}
