#define _GNU_SOURCE
#include "Processes.h"

int processes_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
