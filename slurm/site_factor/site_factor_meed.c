/*
 * Slurm's plug-in site_factor/meed: a new job has its place in Meed's order as soon as it is
 * submitted. Without it, it waits for the next round of `meed slurm run`.
 *
 * PrioritySiteFactorParameters names the file that the program leaves with each order:
 * a first line `meed-places 1 SECOND`, then a line `FACTOR ACCOUNT USER` for each user. The plug-in
 * reads it when it has changed, sets the factor of jobs that have none, and does nothing else: a
 * file that is missing, too old or of another form leaves jobs as they are without the plug-in.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "src/common/slurm_xlator.h"
#include "src/common/log.h"
#include "src/common/read_config.h"
#include "src/common/uid.h"
#include "src/common/xmalloc.h"
#include "src/slurmctld/slurmctld.h"

#define FORM "meed-places 1"
/* The program leaves the file each minute at least, so an older one is of none that runs. */
#define STALE_SECONDS 300
#define NAME_BYTES 256

const char plugin_name[] = "Meed's place of new jobs";
const char plugin_type[] = "site_factor/meed";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

struct place {
	long factor;
	char account[NAME_BYTES];
	char user[NAME_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct place *places;
static size_t count;
static long long told_at;
static struct stat seen;

static void forget(void)
{
	free(places);
	places = NULL;
	count = 0;
	told_at = 0;
}

static void read_places(FILE *file)
{
	struct place row;
	size_t room = 0;

	if (fscanf(file, FORM " %lld", &told_at) != 1)
		return;
	while (fscanf(file, "%ld %255s %255s", &row.factor, row.account, row.user) == 3) {
		if (count == room) {
			struct place *more;

			room = room ? 2 * room : 256;
			more = realloc(places, room * sizeof(row));
			if (!more)
				return;
			places = more;
		}
		places[count++] = row;
	}
}

/* Reads the file where it is another one than was read last. */
static void refresh(void)
{
	struct stat now;
	const char *path = slurm_conf.site_factor_params;
	FILE *file;

	if (!path || stat(path, &now)) {
		forget();
		memset(&seen, 0, sizeof(seen));
		return;
	}
	if (now.st_ino == seen.st_ino && now.st_size == seen.st_size &&
	    now.st_mtim.tv_sec == seen.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec)
		return;
	forget();
	seen = now;
	file = fopen(path, "r");
	if (!file)
		return;
	read_places(file);
	fclose(file);
}

extern int init(void)
{
	if (!slurm_conf.site_factor_params)
		error("%s: PrioritySiteFactorParameters names no file; new jobs have factor 0",
		      plugin_type);
	return SLURM_SUCCESS;
}

extern int fini(void)
{
	forget();
	return SLURM_SUCCESS;
}

extern void site_factor_p_reconfig(void)
{
}

extern void site_factor_p_set(job_record_t *job)
{
	char *user;
	size_t at;

	/* A job that has a factor keeps it: the program sets it. */
	if (job->site_factor != NICE_OFFSET || !job->account)
		return;
	user = uid_to_string(job->user_id);
	pthread_mutex_lock(&lock);
	refresh();
	for (at = 0; at < count && time(NULL) - told_at <= STALE_SECONDS; at++) {
		if (strcmp(places[at].account, job->account) || strcmp(places[at].user, user))
			continue;
		job->site_factor = NICE_OFFSET + places[at].factor;
		break;
	}
	pthread_mutex_unlock(&lock);
	xfree(user);
}

/* At each PriorityCalcPeriod: factors are the program's. */
extern void site_factor_p_update(void)
{
}
