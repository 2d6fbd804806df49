//! What the kernel bounds for tasks here: each wall is there, or it is known why not.

use std::collections::BTreeMap;

/// Something of a task that the kernel can bound.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wall {
    /// Its memory.
    Memory,
    /// Its time of processors.
    Processors,
    /// On which processors it runs.
    OwnProcessors,
    /// How many processes and threads it has.
    Processes,
    /// Which GPUs it can open.
    Gpus,
}

impl Wall {
    /// All of them.
    pub const ALL: [Wall; 5] =
        [Wall::Memory, Wall::Processors, Wall::OwnProcessors, Wall::Processes, Wall::Gpus];

    /// The kernel's controller; GPUs have none in version 2 but a filter of devices.
    pub(super) fn controller(self) -> Option<&'static str> {
        match self {
            Wall::Memory => Some("memory"),
            Wall::Processors => Some("cpu"),
            Wall::OwnProcessors => Some("cpuset"),
            Wall::Processes => Some("pids"),
            Wall::Gpus => None,
        }
    }

    /// What is enforced where it is there.
    fn words(self) -> &'static str {
        match self {
            Wall::Memory => "memory",
            Wall::Processors => "time of processors",
            Wall::OwnProcessors => "own processors",
            Wall::Processes => "number of processes",
            Wall::Gpus => "access to GPUs",
        }
    }
}

/// What the kernel bounds for tasks, and why it does not bound the rest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Walls {
    lacks: BTreeMap<Wall, String>,
}

impl Walls {
    /// None of them, for that reason.
    pub(super) fn none(why: &str) -> Walls {
        Walls { lacks: Wall::ALL.into_iter().map(|wall| (wall, why.to_owned())).collect() }
    }

    /// Those for which `found` is well.
    pub(super) fn found(found: impl Fn(Wall) -> Result<(), String>) -> Walls {
        let lacks = |wall: Wall| Some((wall, found(wall).err()?));
        Walls { lacks: Wall::ALL.into_iter().filter_map(lacks).collect() }
    }

    /// Whether it is there.
    pub fn has(&self, wall: Wall) -> bool {
        !self.lacks.contains_key(&wall)
    }

    /// Why it is not there.
    pub fn why_not(&self, wall: Wall) -> Option<&str> {
        self.lacks.get(&wall).map(String::as_str)
    }

    /// `memory and number of processes are enforced`, for the operator; `None`: there is none.
    /// `gpus`: whether there are GPUs that it is worth a word for.
    pub(super) fn words(&self, gpus: bool) -> Option<String> {
        let there = Wall::ALL.into_iter().filter(|&wall| self.has(wall));
        let there = there.filter(|&wall| gpus || wall != Wall::Gpus);
        let there: Vec<&str> = there.map(Wall::words).collect();
        match there.split_last()? {
            (one, []) => Some(format!("{one} is enforced")),
            (last, rest) => Some(format!("{} and {last} are enforced", rest.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walls_that_are_there_are_named() {
        assert_eq!(Walls::none("why").words(true), None);
        let memory = Walls::found(|wall| match wall {
            Wall::Memory => Ok(()),
            _ => Err("not here".to_owned()),
        });
        assert_eq!(memory.words(true).unwrap(), "memory is enforced");
        assert!(memory.has(Wall::Memory) && !memory.has(Wall::Gpus));
        assert_eq!(memory.why_not(Wall::Gpus), Some("not here"));
        let all = Walls::found(|_| Ok(())).words(true).unwrap();
        assert!(all.starts_with("memory, time of processors, "), "{all}");
        assert!(all.ends_with("number of processes and access to GPUs are enforced"), "{all}");
        let all = Walls::found(|_| Ok(())).words(false).unwrap();
        assert!(all.ends_with("own processors and number of processes are enforced"), "{all}");
    }
}
