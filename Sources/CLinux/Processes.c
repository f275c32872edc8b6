#define _GNU_SOURCE
#include "Processes.h"

int processes_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int processes_begin_session(posix_spawnattr_t *attributes) {
    short flags = 0;
    const int problem = posix_spawnattr_getflags(attributes, &flags);
    return problem ? problem : posix_spawnattr_setflags(attributes, (short)(flags | POSIX_SPAWN_SETSID));
}
