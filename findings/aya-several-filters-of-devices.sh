#!/usr/bin/env bash
# aya 0.14.0, which loads eBPF programs from Rust; needs root, cargo, and control groups of version 2.
#
# Guess: a program for devices is attached to a control group with `CgroupAttachMode::AllowMultiple`
# where groups above may have one of their own, and with `Single` where nobody else has one.
# Seen: from Linux 5.7 on `AllowMultiple` fails with EINVAL, whatever the group, for the kernel's call
# (bpf_link_create) takes no flags. `Single` works, also twice in one group, and all programs hold.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$mount/finding-$$
mkdir "$group"
trap 'rmdir "$group"; rm -rf "$folder"' EXIT
mkdir -p "$folder/src"
cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "finding"
version = "0.0.0"
edition = "2024"
[dependencies]
aya = "=0.14.0"
object = { version = "=0.39.1", default-features = false, features = ["elf", "write_std"] }
TOML
cat >"$folder/src/main.rs" <<'RUST'
use aya::EbpfLoader;
use aya::programs::{CgroupAttachMode, CgroupDevice};
use object::write::{Object, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SectionKind};
use object::{SymbolFlags, SymbolKind, SymbolScope};

fn main() {
    // r0 = 1; exit: every device may be opened.
    let code = [0xb7, 0, 0, 0, 1, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0];
    let mut file = Object::new(BinaryFormat::Elf, Architecture::Bpf, Endianness::Little);
    let section = file.add_section(vec![], b"cgroup/dev".to_vec(), SectionKind::Text);
    file.append_section_data(section, &code, 8);
    file.add_symbol(Symbol {
        name: b"filter".to_vec(),
        value: 0,
        size: 16,
        kind: SymbolKind::Text,
        scope: SymbolScope::Linkage,
        weak: false,
        section: SymbolSection::Section(section),
        flags: SymbolFlags::None,
    });
    let file = file.write().unwrap();
    let group = std::fs::File::open(std::env::args().nth(1).unwrap()).unwrap();
    let mut kept = Vec::new();
    for (name, mode) in [
        ("AllowMultiple", CgroupAttachMode::AllowMultiple),
        ("Single", CgroupAttachMode::Single),
        ("Single again", CgroupAttachMode::Single),
    ] {
        let mut loaded = EbpfLoader::new().load(&file).unwrap();
        let program: &mut CgroupDevice = loaded.program_mut("filter").unwrap().try_into().unwrap();
        program.load().unwrap();
        let attached = program.attach(&group, mode).is_ok();
        println!("{name}: {}", if attached { "attached" } else { "refused" });
        kept.push(loaded);
    }
}
RUST
seen=$(cd "$folder" && cargo run --quiet -- "$group")
compare 'AllowMultiple: refused
Single: attached
Single again: attached' "$seen"
