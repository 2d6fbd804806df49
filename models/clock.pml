/* Wall clocks that step, leaders that follow one another, one pod: what time the ledger has, and
   what is charged. crates/meed-kubernetes/src/clock.rs, wall.rs, world/recover.rs.

   action here   stands for
   passes        time passes, for everybody alike (the monotonic clocks)
   steps         the wall clock of a leader's machine is put forward or back
   take          Begin::read: wall::wall, then LedgerClock::at, LedgerClock::not_before the last
                 instant of the checkpoint
   starts        Writer::write: the start is the leader's instant (LedgerClock::unix)
   ends          a kubelet's stamp, by the clock of the cluster
   hear          World::pod_seen: charged from stamp to stamp; by the next leader, recover.rs
   save          World::checkpoint, LedgerStore::save: the instant is in it

   The clocks of the API server and of the nodes are right here, and so is each answer of the API
   server: wall.rs takes its own clock where both are a second apart at most.
   Run: cargo xtask models. With WITHOUT_SERVER a leader believes its own clock, with
   WITHOUT_MONOTONIC it reads that clock each time: the search must find an hour that is charged. */

#define LAST 12
#define HOUR 5

byte t = HOUR;                      /* the time; it begins so that a clock may be put back */
short off;                          /* of the leader's wall clock */
byte steps = 2, terms = 2;
short base, since, saved;           /* the clock of the ledger, and that of its checkpoint */
short seen;                         /* what the ledger has had last */
bool leads, went_back;

short started, ended, charge;
bool runs, over, is_charged;
byte truly_started, truly_ended;

#ifdef WITHOUT_MONOTONIC
#define LEDGER (t + off)
#else
#define LEDGER (base + t - since)
#endif

inline looks() {
  went_back = went_back || LEDGER < seen;
  seen = LEDGER
}

active proctype all() {
  do
  :: atomic { t < LAST -> t++ }
  :: atomic { steps > 0 -> steps--;
       if
       :: off = HOUR
       :: off = 0
       :: off = -HOUR
       fi }
  :: atomic { !leads && terms > 0 -> terms--; leads = true;
#ifdef WITHOUT_SERVER
       base = t + off;
#else
       base = t;
#endif
       if
       :: base < saved -> base = saved
       :: else -> skip
       fi;
       since = t; seen = saved; looks() }
  :: atomic { leads && !runs && !over -> looks(); runs = true; started = LEDGER;
       truly_started = t }
  :: atomic { runs -> runs = false; over = true; ended = t; truly_ended = t }
  :: atomic { leads && over && !is_charged -> looks(); is_charged = true;
       charge = (ended > started -> ended - started : 0) }
  :: atomic { leads -> looks(); saved = LEDGER }
  :: atomic { leads -> leads = false }
  :: t == LAST -> break
  od
}

/* What is charged is the time it ran, whatever steps. */
ltl charged { [] (!is_charged || charge == truly_ended - truly_started) }
/* The ledger's time never goes back, within a term or from one to the next. */
ltl forward { [] !went_back }
