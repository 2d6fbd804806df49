//! Devices that a control group may not open: a program of the kernel (eBPF, `BPF_CGROUP_DEVICE`)
//! that answers each `open` and `mknod` of a device in the group.
//!
//! It refuses the devices that it was made with, and nothing else: what a machine has besides GPUs
//! is the business of permissions. It holds for the group and all groups below it as long as the
//! [`DeviceFilter`] lives; a supervisor has it, and the group ends with its supervisor.
//!
//! The program is a comparison for each device, so it is written here, instruction by instruction;
//! aya loads and attaches it, which no safe call of std or rustix does. aya takes an ELF file,
//! which `object` writes.

use std::fs::File;
use std::io;
use std::path::Path;

use aya::programs::{CgroupAttachMode, CgroupDevice};
use aya::{Ebpf, EbpfLoader};
use object::write::{Object, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};

use super::device::Device;

/// What the kernel calls the program.
const NAME: &str = "meed_devices";
/// The section by which aya knows what kind of program it is.
const SECTION: &str = "cgroup/dev";
/// The program calls nothing of the kernel, so any licence does; this is one of Meed's.
const LICENCE: &[u8] = b"Dual MIT/GPL\0";
/// Most devices of one filter: the kernel's least bound is 4096 instructions.
const MOST: usize = 1000;

/// What keeps a control group from devices, as long as it is there.
pub struct DeviceFilter {
    /// It holds the program, and its place in the group.
    _program: Ebpf,
}

impl DeviceFilter {
    /// From now on no process of the group at `path` opens any of these devices.
    ///
    /// # Errors
    ///
    /// The kernel's: it has no such programs, or this process may load none.
    pub fn attach(path: &Path, closed: &[Device]) -> io::Result<DeviceFilter> {
        let wrong = |why: &dyn std::error::Error| io::Error::other(words(why));
        let group = File::open(path)?;
        let file = elf(&code(closed)?)?;
        let mut loaded = EbpfLoader::new().load(&file).map_err(|why| wrong(&why))?;
        let program = loaded.program_mut(NAME).ok_or_else(|| io::Error::other("no program"))?;
        let program: &mut CgroupDevice = program.try_into().map_err(|why| wrong(&why))?;
        program.load().map_err(|why| wrong(&why))?;
        // Filters of groups above hold as well. From Linux 5.7 on several in one group always do,
        // and the kernel refuses the word for it.
        let attached = program
            .attach(&group, CgroupAttachMode::Single)
            .or_else(|_| program.attach(&group, CgroupAttachMode::AllowMultiple));
        attached.map_err(|why| wrong(&why))?;
        Ok(DeviceFilter { _program: loaded })
    }
}

/// An error with its causes.
fn words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(why) = cause {
        let why_words = why.to_string();
        if !words.contains(&why_words) {
            words = format!("{words}: {why_words}");
        }
        cause = why.source();
    }
    words
}

/// An instruction: operation, registers (destination, source), jump, number.
type Instruction = (u8, u8, u8, i16, i32);

/// Operations: of `linux/bpf.h`.
const LOAD_WORD: u8 = 0x61;
const AND: u8 = 0x57;
const SET: u8 = 0xb7;
const JUMP_IF_EQUAL: u8 = 0x15;
const JUMP_UNLESS_EQUAL: u8 = 0x55;
const EXIT: u8 = 0x95;

/// Kinds of devices: characters (`BPF_DEVCG_DEV_CHAR`).
const CHARACTERS: i32 = 2;

/// The program. Register 1 points to what is asked: how and which kind (u32), major (u32), minor
/// (u32); register 0 is the answer, 1 for yes.
fn code(closed: &[Device]) -> io::Result<Vec<u8>> {
    if closed.len() > MOST {
        return Err(io::Error::other(format!("{} devices; at most {MOST}", closed.len())));
    }
    let yes: [Instruction; 2] = [(SET, 0, 0, 0, 1), (EXIT, 0, 0, 0, 0)];
    let mut all: Vec<Instruction> = vec![
        (LOAD_WORD, 2, 1, 0, 0),
        (LOAD_WORD, 3, 1, 4, 0),
        (LOAD_WORD, 4, 1, 8, 0),
        (AND, 2, 0, 0, 0xffff),
        // Over the answer for disks.
        (JUMP_IF_EQUAL, 2, 0, 2, CHARACTERS),
    ];
    all.extend(yes);
    for device in closed {
        let number = |number: u32| i32::try_from(number).map_err(io::Error::other);
        all.extend([
            (JUMP_UNLESS_EQUAL, 3, 0, 3, number(device.major)?),
            (JUMP_UNLESS_EQUAL, 4, 0, 2, number(device.minor)?),
            (SET, 0, 0, 0, 0),
            (EXIT, 0, 0, 0, 0),
        ]);
    }
    all.extend(yes);
    let bytes = |(operation, to, from, jump, number): Instruction| {
        let mut bytes = [0; 8];
        bytes[0] = operation;
        // Which half is which follows from the machine's order of bytes.
        bytes[1] = if cfg!(target_endian = "little") { from << 4 | to } else { to << 4 | from };
        bytes[2..4].copy_from_slice(&jump.to_ne_bytes());
        bytes[4..].copy_from_slice(&number.to_ne_bytes());
        bytes
    };
    Ok(all.into_iter().flat_map(bytes).collect())
}

/// As aya reads it.
fn elf(code: &[u8]) -> io::Result<Vec<u8>> {
    let order = if cfg!(target_endian = "little") { Endianness::Little } else { Endianness::Big };
    let mut file = Object::new(BinaryFormat::Elf, Architecture::Bpf, order);
    let licence = file.add_section(Vec::new(), b"license".to_vec(), SectionKind::Data);
    file.append_section_data(licence, LICENCE, 1);
    let section = file.add_section(Vec::new(), SECTION.as_bytes().to_vec(), SectionKind::Text);
    file.append_section_data(section, code, 8);
    file.add_symbol(Symbol {
        name: NAME.as_bytes().to_vec(),
        value: 0,
        size: code.len() as u64,
        kind: SymbolKind::Text,
        scope: SymbolScope::Linkage,
        weak: false,
        section: SymbolSection::Section(section),
        flags: SymbolFlags::None,
    });
    file.write().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program answers, run by hand.
    fn answer(code: &[u8], asked: [u32; 3]) -> i64 {
        let words = |at: usize| i32::from_ne_bytes(code[at + 4..at + 8].try_into().unwrap());
        let jump = |at: usize| i16::from_ne_bytes(code[at + 2..at + 4].try_into().unwrap());
        let mut registers = [0_i64; 11];
        let mut at = 0_usize;
        for _ in 0..10_000 {
            let place = at * 8;
            let to = usize::from(code[place + 1] & 15);
            let number = i64::from(words(place));
            at += 1;
            match code[place] {
                LOAD_WORD => {
                    registers[to] = i64::from(asked[usize::try_from(jump(place)).unwrap() / 4]);
                }
                AND => registers[to] &= number,
                SET => registers[to] = number,
                JUMP_IF_EQUAL if registers[to] != number => {}
                JUMP_UNLESS_EQUAL if registers[to] == number => {}
                JUMP_IF_EQUAL | JUMP_UNLESS_EQUAL => {
                    at += usize::try_from(jump(place)).unwrap();
                }
                EXIT => return registers[0],
                other => panic!("{other:#x}"),
            }
        }
        panic!("it does not end")
    }

    #[test]
    fn what_is_closed_is_refused_and_nothing_else() {
        let closed = [Device { major: 195, minor: 0 }, Device { major: 195, minor: 3 }];
        let code = code(&closed).unwrap();
        // Reading and writing, and making a node, of characters; and a disk of the same numbers.
        for (asked, yes) in [
            ([0x6_0002, 195, 0], 0),
            ([0x1_0002, 195, 3], 0),
            ([0x2_0002, 195, 1], 1),
            ([0x2_0002, 1, 3], 1),
            ([0x6_0001, 195, 0], 1),
        ] {
            assert_eq!(answer(&code, asked), yes, "{asked:x?}");
        }
        assert_eq!(answer(&super::code(&[]).unwrap(), [0x6_0002, 195, 0]), 1);
        assert!(super::code(&[closed[0]; MOST + 1]).is_err());
    }
}
