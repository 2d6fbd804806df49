/* One job of one task on a server, with a supervisor that outlives the server: submission, cancel,
   ends, crashes of the server, a restart of the machine. crates/meed-server/src.

   action here      stands for
   submit           World::plan (Request::Submit), then World::carry_on, ::commit_with: rows of the
                    books and records of the journal are written side by side
   starts           Live::commit, then World::act, launch.rs start: the journal first, the process
                    then
   cancel           submit.rs World::cancel: the row is durable before the driver is told
                    (World::turn, `precede`)
   tells_end        World::gone, ::has_ended: the journal, then the row
   recover          recover.rs: World::cut_off, ::reconcile, ::stop_strays, ::arrive_if_ready
   supervisor       supervise/: the task ends whatever the server does; its folder says how
   REBOOT           the machine starts anew: no process; what is on the disk stays

   Run: cargo xtask models. With WITHOUT_CUT_OFF recovery does not ask whether the row of a job that
   runs is over: the search must find a cancelled job whose process goes on. */

bool b_row, b_over;                  /* the books */
bool j_job, j_runs;                  /* the journal */
byte attempt = 1;
bool alive, has_end, rebooted;       /* the process, its folder, and a restart not yet seen */
bool acknowledged, wants_cancel, quiet;
byte begun[4], ended[4];
byte crashes = 2, reboots = 1;

/* The server ends; with it the machine, or not. */
#define REBOOT reboots--; alive = false; rebooted = true
#define CRASH if :: crashes > 0 -> crashes--; goto recover \
  :: atomic { reboots > 0 -> REBOOT }; goto recover :: skip fi

active proctype supervisor() {
end:
  do
  :: atomic { alive -> alive = false; has_end = true }
  od
}

inline begins() { atomic { alive = true; has_end = false; begun[attempt]++ } }
inline stops() { alive = false }

active proctype server() {
  /* submit: either write may be the only one. */
  if
  :: b_row = true; CRASH; atomic { j_job = true; j_runs = true }
  :: atomic { j_job = true; j_runs = true }; CRASH; b_row = true
  fi;
  CRASH;
  acknowledged = true;
  if
  :: j_runs -> begins()
  :: else -> skip
  fi;

serves:
  do
  :: b_row && !b_over && !wants_cancel ->
     wants_cancel = true; b_over = true; CRASH;
     atomic { j_job = false; j_runs = false }; CRASH;
     stops()
  :: j_runs && !b_over && has_end ->
     atomic { j_runs = false; j_job = false; ended[attempt]++ }; CRASH;
     b_over = true
  :: atomic { reboots > 0 -> REBOOT }; goto recover
  :: atomic { crashes > 0 -> crashes-- }; goto recover
  :: break
  od;
  goto rests;

recover:
  quiet = false;
  /* cut_off */
  if
#ifdef WITHOUT_CUT_OFF
  :: j_job && !b_row ->
#else
  :: j_job && (!b_row || b_over) ->
#endif
     atomic { j_job = false; j_runs = false }; CRASH
  :: else -> skip
  fi;
  /* reconcile */
  if
  :: atomic { j_runs && alive -> skip }
  :: atomic { j_runs && !alive && has_end ->
       j_runs = false; j_job = false; ended[attempt]++ }; CRASH; b_over = true
  :: atomic { j_runs && !alive && !has_end && rebooted -> attempt++; rebooted = false }; CRASH;
     begins()
  :: atomic { j_runs && !alive && !has_end && !rebooted -> skip }; begins()
  :: !j_runs -> skip
  fi;
  rebooted = false;
  /* stop_strays */
  if
  :: !j_runs && alive -> stops()
  :: else -> skip
  fi;
  /* The books follow the journal (catch_up); arrive_if_ready. */
  if
  :: atomic { b_row && !b_over && !j_job && ended[attempt] > 0 -> b_over = true }
  :: atomic { b_row && !b_over && !j_job && ended[attempt] == 0 -> j_job = true; j_runs = true };
     CRASH; begins()
  :: else -> skip
  fi;
  goto serves;

rests:
  quiet = true
}

/* Who is cancelled or has ended has no process, once the server has nothing left to do. */
ltl over { [] !(quiet && b_over && alive) }
/* What was acknowledged is kept; an attempt begins once and ends once. */
ltl kept { [] (!(quiet && acknowledged) || b_row) }
ltl once { [] (begun[1] <= 1 && begun[2] <= 1 && ended[1] <= 1 && ended[2] <= 1) }
