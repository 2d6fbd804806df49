//! The items, a file for each idea, and the table of all of them.

mod beyond;
mod drfh;
mod hierarchy;
mod jas;
mod lie;
mod macro_figures;
mod tables;
mod worked;

use super::Item;

/// Long runs that several items read, each made once.
#[derive(Clone, Default, Debug)]
pub(super) struct Shared {
    drfh: drfh::Shared,
    jas: jas::Shared,
}

/// Items that run only when they are named: they cost more than all others that are like them.
pub(super) const ONLY_BY_NAME: [&str; 1] = ["jas-ablation"];

/// Everything that can be reproduced, in the order in which it is shown.
pub const ITEMS: &[Item] = &[
    Item {
        id: "ics-table1",
        title: "Two users, memoryless, long-term and with a discount",
        source: "ICS'14 Table 1, TSC'18 Table 1",
        run: tables::ics,
    },
    Item {
        id: "cloudcom-fig1",
        title: "Under memoryless sharing a lie pays",
        source: "CloudCom'14 Fig. 1",
        run: lie::item,
    },
    Item {
        id: "cloudcom-table1",
        title: "Two users on 200 resources",
        source: "CloudCom'14 Table I",
        run: tables::cloudcom,
    },
    Item {
        id: "cloudcom-fig4",
        title: "DRF for two users of 40 CPUs and 40 GB",
        source: "CloudCom'14 Fig. 4",
        run: drfh::economic_fig_4,
    },
    Item {
        id: "tsc-fig2",
        title: "The naive walk starves a user",
        source: "TSC'18 Fig. 2",
        run: hierarchy::naive_walk,
    },
    Item {
        id: "tsc-choice",
        title: "The worked choice: G2, then C",
        source: "TSC'18 Sec. 5.2.1",
        run: hierarchy::worked_choice,
    },
    Item {
        id: "tsc-theorem1",
        title: "The guard lies between one level and the naive walk",
        source: "TSC'18 Theorem 1",
        run: hierarchy::theorem_1,
    },
    Item {
        id: "tsc-fig6",
        title: "Allocation flow of long-term fairness",
        source: "TSC'18 Fig. 6, ICS'14 Fig. 4",
        run: macro_figures::tsc_fig6,
    },
    Item {
        id: "tsc-fig7",
        title: "Sharing benefit and loss over time",
        source: "TSC'18 Fig. 7, ICS'14 Fig. 5",
        run: macro_figures::tsc_fig7,
    },
    Item {
        id: "tsc-fig8",
        title: "Speed-up over the static partition",
        source: "TSC'18 Fig. 8, ICS'14 Fig. 6",
        run: macro_figures::tsc_fig8,
    },
    Item {
        id: "tsc-fig10",
        title: "Starvation under the naive walk, and the guard",
        source: "TSC'18 Fig. 10",
        run: macro_figures::tsc_fig10,
    },
    Item {
        id: "tsc-fig11",
        title: "Running tasks of a starved workload",
        source: "TSC'18 Fig. 11, Eq. 7",
        run: macro_figures::tsc_fig11,
    },
    Item {
        id: "ics-fig7",
        title: "Fixed and adaptive task quantum",
        source: "ICS'14 Fig. 7",
        run: macro_figures::ics_fig7,
    },
    Item {
        id: "drfh-fig1",
        title: "DRF of one system, and servers on which it cannot be placed",
        source: "TPDS'15 Sec. 2, Fig. 1",
        run: drfh::section_2,
    },
    Item {
        id: "drfh-fig4",
        title: "DRF on each server, and over the pool",
        source: "TPDS'15 Fig. 2 to 4",
        run: drfh::figures_2_to_4,
    },
    Item {
        id: "drfh-prop4",
        title: "Strong sharing incentive fails",
        source: "TPDS'15 Prop. 4",
        run: drfh::proposition_4,
    },
    Item {
        id: "drfh-eq9",
        title: "Best fit: which server a task goes to",
        source: "TPDS'15 Sec. 5.2, Eq. 9",
        run: drfh::equation_9,
    },
    Item {
        id: "drfh-fig5",
        title: "Three users come and go on 100 servers",
        source: "TPDS'15 Fig. 5",
        run: drfh::figure_5,
    },
    Item {
        id: "drfh-table2",
        title: "Utilisation under slots of five sizes",
        source: "TPDS'15 Table 2",
        run: drfh::table_2,
    },
    Item {
        id: "drfh-fig6",
        title: "Utilisation over a day: best fit, first fit, slots",
        source: "TPDS'15 Fig. 6",
        run: drfh::figure_6,
    },
    Item {
        id: "drfh-fig7",
        title: "Job completion times by job size",
        source: "TPDS'15 Fig. 7",
        run: drfh::figure_7,
    },
    Item {
        id: "drfh-fig8",
        title: "Task completion ratio of each user",
        source: "TPDS'15 Fig. 8",
        run: drfh::figure_8,
    },
    Item {
        id: "drfh-fig9",
        title: "Sharing against a dedicated cloud for each user",
        source: "TPDS'15 Fig. 9",
        run: drfh::figure_9,
    },
    Item {
        id: "beyond-google",
        title: "Memoryless against long-term DRFH on Google's trace",
        source: "beyond the papers",
        run: beyond::google,
    },
    Item {
        id: "beyond-wagap",
        title: "Memoryless against long-term DRFH on wagap-2013",
        source: "beyond the papers",
        run: beyond::wagap,
    },
    Item {
        id: "beyond-gap",
        title: "How far greedy placement stays below the exact optimum",
        source: "beyond the papers",
        run: beyond::gap,
    },
    Item {
        id: "jas-fig3",
        title: "DMR gives unequal nodes equal slots",
        source: "JAS (TCC'18) Fig. 2, 3",
        run: jas::figure_3,
    },
    Item {
        id: "jas-fig4",
        title: "Slots from measured times",
        source: "JAS (TCC'18) Fig. 4, Eq. 2, 3",
        run: jas::figure_4,
    },
    Item {
        id: "jas-fig5",
        title: "JAS loses locality",
        source: "JAS (TCC'18) Fig. 5",
        run: jas::figure_5,
    },
    Item {
        id: "jas-fig6",
        title: "Each job type alone, 10 GB",
        source: "JAS (TCC'18) Fig. 6",
        run: jas::figure_6,
    },
    Item {
        id: "jas-fig7",
        title: "Twice the data, less than twice the time",
        source: "JAS (TCC'18) Fig. 7",
        run: jas::figure_7,
    },
    Item {
        id: "jas-fig8",
        title: "Time and locality: Hadoop, DMR, JAS, JASL, DJASL",
        source: "JAS (TCC'18) Fig. 8, 9, 11, 12",
        run: jas::figures_8_to_12,
    },
    Item {
        id: "jas-fig10",
        title: "When DJASL sets slots anew",
        source: "JAS (TCC'18) Fig. 10",
        run: jas::figure_10,
    },
    Item {
        id: "jas-study",
        title: "Which verdicts hang on our assumptions",
        source: "JAS (TCC'18) Sec. 4, varied",
        run: jas::study,
    },
    Item {
        id: "jas-hosts",
        title: "Machines that share seven blades and four partitions",
        source: "JAS (TCC'18) Sec. 4.1",
        run: jas::on_hosts,
    },
    Item {
        id: "jas-trace",
        title: "What binds when, and what a class-aware choice gains",
        source: "JAS (TCC'18) Sec. 4, traced",
        run: jas::trace,
    },
    Item {
        id: "jas-ablation",
        title: "Which single fact decides each claim",
        source: "JAS (TCC'18) Fig. 6 to 12, varied",
        run: jas::ablation,
    },
    Item {
        id: "jas-unequal",
        title: "Unequal disks and networks",
        source: "beyond JAS (TCC'18)",
        run: jas::unequal,
    },
    Item {
        id: "jas-slowdown",
        title: "Nodes that slow down half way",
        source: "beyond JAS (TCC'18)",
        run: jas::slow_down,
    },
    Item {
        id: "jas-stragglers",
        title: "A few slow nodes",
        source: "beyond JAS (TCC'18)",
        run: jas::stragglers,
    },
    Item {
        id: "jas-tenants",
        title: "Many tenants, by order and placement",
        source: "beyond JAS (TCC'18)",
        run: jas::tenants,
    },
    Item {
        id: "jas-fair",
        title: "Class-aware placement under long-term fairness",
        source: "beyond JAS (TCC'18)",
        run: jas::under_long_term,
    },
];
