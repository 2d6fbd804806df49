/* One pod's name, two pods of that name one after the other, two leaders: who lets go, and what is
   charged. Mode Gates; crates/meed-kubernetes/src.

   action here   stands for
   create, end, delete   a user and a kubelet
   ask           World::decide, then Writer::start and ::write: the pod's uid, start and epoch in
                 one PATCH, with the leader's own instant as the start
   deliver       the API server carries the PATCH out: precondition on the uid, policy meed-fence
   lose          the PATCH is lost; Writer::read finds the gate still there
   hear          World::pod_seen, ::pod_gone, ::end_placed: charged from the start that stands on
                 the pod to its end; by the next leader recover.rs, from Picture::into_listed
   save          LedgerStore::save
   crash         the leader ends; the next has the lease (epoch 2) and the last checkpoint

   Not in the model: a write that is carried out after its leader has read the pod again (15 s and
   more). An API server whose copy of the Lease is old is in fence.pml.
   Run: cargo xtask models. With WITHOUT_UID the PATCH names no uid: the search must find a pod that
   is charged from before it was made. */

bool exists, gate;
byte uid, started, ended;
byte now = 1, lease = 1;

byte created[3], was_started[3], was_ended[3], lets[3];
bool over[3];                       /* the pod is gone or has ended, and its last state was told */

bool in_flight;
byte w_uid, w_epoch, w_start;

bool done[3], saved[3];             /* the ledger, and its last checkpoint */
byte charge[3], saved_charge[3];

inline is_over(u) {
  over[u] = true; was_started[u] = started;
  was_ended[u] = (ended > 0 -> ended : now)
}

active proctype people() {
  do
  :: atomic { !exists && uid < 2 ->
       now++; uid++; exists = true; gate = true; started = 0; ended = 0; created[uid] = now }
  :: atomic { exists && started > 0 && ended == 0 -> now++; ended = now; is_over(uid) }
  :: atomic { exists -> now++; exists = false;
       if
       :: !over[uid] -> is_over(uid)
       :: else -> skip
       fi }
  :: uid == 2 && !exists -> break
  od
}

active proctype network() {
end:
  do
  :: atomic { in_flight ->
       in_flight = false;
       if
#ifdef WITHOUT_UID
       :: exists && w_epoch == lease ->
#else
       :: exists && w_epoch == lease && uid == w_uid ->
#endif
          gate = false; started = w_start; lets[uid]++
       :: else -> skip
       fi }
  :: atomic { in_flight -> in_flight = false }
  od
}

proctype leader(byte me) {
  byte u;
  do
  :: atomic { lease == me && exists && gate && !in_flight ->
       in_flight = true; w_uid = uid; w_epoch = me; w_start = now }
  :: atomic { lease == me -> select(u : 1 .. 2) };
     atomic {
       if
       :: lease == me && over[u] && was_started[u] > 0 && !done[u] ->
          done[u] = true; charge[u] = charge[u] + was_ended[u] - was_started[u]
       :: else -> skip
       fi; u = 0 }
  :: atomic { lease == me && me == 1 ->
       saved[1] = done[1]; saved[2] = done[2];
       saved_charge[1] = charge[1]; saved_charge[2] = charge[2] }
  :: atomic { me == 1 ->
       lease = 2; done[1] = saved[1]; done[2] = saved[2];
       charge[1] = saved_charge[1]; charge[2] = saved_charge[2]; run leader(2); break }
  :: me == 2 -> break
  od
}

init { run leader(1) }

/* A pod is let go once. */
ltl once { [] (lets[1] <= 1 && lets[2] <= 1) }
#define RIGHT(u) (!done[u] || (charge[u] == was_ended[u] - was_started[u] && \
  was_started[u] >= created[u]))
/* It is charged for the time it held, and no other. */
ltl charged { [] (RIGHT(1) && RIGHT(2)) }
