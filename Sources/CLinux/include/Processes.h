// Child processes. Functions that can fail return -errno then.
#ifndef CLINUX_PROCESSES_H
#define CLINUX_PROCESSES_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

// How to start a program.
struct processes_program {
    // Looked for in the folders of PATH unless it has a slash.
    const char *file;
    char *const *arguments, *const *environment;
    // Become its standard input and output; -1 for this process's.
    int input, output;
    // Whether it begins a session of its own, without a terminal.
    bool begins_session;
    // Its limit of descriptors; NULL for this process's.
    const struct rlimit *descriptors;
};

// Starts a program as posix_spawnp(3) does, which has no way to set a limit. The child has no other descriptors than the
// standard ones, and no signal is blocked, caught or ignored. Returns 0.
int processes_start(const struct processes_program *program, pid_t *child);

// RLIMIT_NOFILE. Return 0.
int processes_get_descriptor_limit(struct rlimit *limit);
int processes_set_descriptor_limit(const struct rlimit *limit);

#endif
