/* A pod ends while the leader's watch is silent, and the leader's checkpoint says that it runs:
   does the standby still know that it has ended? crates/meed-kubernetes/src/standby.rs, follow.rs.

   action here   stands for
   ends          a pod ends; the standby hears it at once (Picture::hear)
   leader_hears  Follow::watch of the leader, at most LATE later: SILENT (75 s), then two requests
                 without an answer (connect::SILENCE, 40 s)
   begin, write  World::checkpoint, then LedgerStore::save, at most WRITE later
                 (CHECKPOINT_PATIENCE, 20 s)
   look          standby::look and Looked::saw: of another checkpoint it is known that it was
                 written after the last look that showed the one before; then Picture::forget_before

   A unit is 30 s: LATE 4 (115 s), WRITE 1 (20 s), BEFORE 5 (150 s).
   Run: cargo xtask models. With SHORT the standby forgets after BEFORE = 2, as it did when the
   longest silence was not counted: the search must find an end that nobody knows. */

#define LATE 4
#define WRITE 1
#ifdef SHORT
#define BEFORE 2
#else
#define BEFORE 5
#endif
#define LAST 16

byte now, ended_at, begun_at, looked_at;
bool ended, leader_knows, forgotten;
bool writing, will_say_runs;
bool says_runs = true;             /* the checkpoint that the head names */
byte name = 1, seen = 0;           /* its number; the one that the standby saw last */

active proctype all() {
  do
  :: atomic { (now < LAST && !(ended && !leader_knows && now >= ended_at + LATE) &&
               !(writing && now >= begun_at + WRITE)) -> now++ }
  :: atomic { !ended -> ended = true; ended_at = now }
  :: atomic { ended && !leader_knows -> leader_knows = true }
  :: atomic { !writing && name < 6 ->
       writing = true; begun_at = now; will_say_runs = !leader_knows }
  :: atomic { writing -> writing = false; says_runs = will_say_runs; name++ }
  :: atomic { true ->
       if
       :: seen != 0 && seen != name && ended && ended_at + BEFORE < looked_at -> forgotten = true
       :: else -> skip
       fi;
       seen = name; looked_at = now }
  :: now == LAST -> break
  od
}

/* Whoever takes over from a checkpoint that says the pod runs knows that it has ended. */
ltl heard { [] !(ended && says_runs && forgotten) }
