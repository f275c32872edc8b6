#define _GNU_SOURCE // close_range, vfork
#include "Processes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int processes_get_descriptor_limit(struct rlimit *limit) { return getrlimit(RLIMIT_NOFILE, limit) == 0 ? 0 : -errno; }

int processes_set_descriptor_limit(const struct rlimit *limit) { return setrlimit(RLIMIT_NOFILE, limit) == 0 ? 0 : -errno; }

// Runs the program in the first folder of PATH that has it. Returns an error.
static int run(const struct processes_program *program) {
    if (strchr(program->file, '/')) {
        execve(program->file, program->arguments, program->environment);
        return errno;
    }
    const char *folders = getenv("PATH");
    int problem = ENOENT;
    for (const char *start = folders ? folders : "/usr/bin:/bin"; *start;) {
        const size_t length = strcspn(start, ":"), name = strlen(program->file);
        char path[PATH_MAX];
        if (length > 0 && length + 1 + name < sizeof path) {
            memcpy(path, start, length);
            path[length] = '/';
            memcpy(path + length + 1, program->file, name + 1);
            execve(path, program->arguments, program->environment);
            if (errno == EACCES) problem = EACCES;
            else if (errno != ENOENT && errno != ENOTDIR) return errno;
        }
        start += length + (start[length] == ':');
    }
    return problem;
}

// What the child does until it runs the program, in its parent's memory (vfork(2)): system calls alone.
static int become(const struct processes_program *program) {
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    for (int signal = 1; signal < NSIG; signal++) sigaction(signal, &usual, NULL);
    if (program->begins_session) setsid();
    const int sources[] = {program->input, program->output};
    for (int target = 0; target < 2; target++) {
        if (sources[target] < 0) continue;
        const int result = sources[target] == target ? fcntl(target, F_SETFD, 0) : dup2(sources[target], target);
        if (result < 0) return errno;
    }
    if (close_range(STDERR_FILENO + 1, ~0U, 0) != 0) closefrom(STDERR_FILENO + 1);
    if (program->descriptors && setrlimit(RLIMIT_NOFILE, program->descriptors) != 0) return errno;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    return run(program);
}

int processes_start(const struct processes_program *program, pid_t *child) {
    sigset_t all, former;
    sigfillset(&all);
    // No handler may run in the child.
    pthread_sigmask(SIG_SETMASK, &all, &former);
    volatile int problem = 0;
    const pid_t id = vfork();
    if (id == 0) {
        problem = become(program);
        _exit(127);
    }
    if (id < 0) problem = errno;
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    if (id > 0 && problem != 0) while (waitpid(id, NULL, 0) < 0 && errno == EINTR) continue;
    *child = id;
    return -problem;
}
