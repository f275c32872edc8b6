// Child processes.
#ifndef CLINUX_PROCESSES_H
#define CLINUX_PROCESSES_H

#include <spawn.h>

// Closes a child's descriptors from `first` on (glibc 2.34; the importer does not see it). Returns 0 or an error.
int processes_close_from(posix_spawn_file_actions_t *actions, int first);

// Has a child begin a session of its own, without a terminal (glibc 2.26; the importer does not see it). Returns 0 or an
// error.
int processes_begin_session(posix_spawnattr_t *attributes);

#endif
