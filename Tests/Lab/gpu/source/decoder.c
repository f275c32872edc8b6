#include "decoder.h"

#include "message.h"
#include "real.h"
#include "transfer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PATH_SIZE = 4096,
    STACK_SIZE = 64 * 1024, /* of what starts the process */
    FIRST_KEPT = 3,         /* descriptors; see buffers.c */
    KEPT_VARIABLES = 256,
    KERNEL_SIGSET_SIZE = 8, /* bytes */
};

extern char **environ;

/* ---- Its process */

/* The program, beside this library; false where there is none. */
static bool find_program(char *path, size_t size)
{
    static const char name[] = "fakegpu-decode";
    Dl_info library = {0};
    const char *slash;

    snprintf(path, size, "%s", name);
    if (!dladdr(name, &library) || !library.dli_fname)
        return false;
    slash = strrchr(library.dli_fname, '/');
    snprintf(path, size, "%.*s%s", slash ? (int)(slash + 1 - library.dli_fname) : 0, library.dli_fname, name);
    return real()->access(path, X_OK) == 0;
}

struct start {
    char *path;
    int socket;
    sigset_t signals; /* that the program blocks */
    char *environment[KEPT_VARIABLES];
};

/* The program's, without the emulated GPU. */
static void copy_environment(char **copy)
{
    size_t count = 0;

    for (char **variable = environ; variable && *variable && count + 1 < KEPT_VARIABLES; variable++)
        if (strncmp(*variable, "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0)
            copy[count++] = *variable;
    copy[count] = NULL;
}

/* Runs in the memory of the parent, which waits: system calls alone. */
static int execute(void *argument)
{
    const struct start *start = argument;
    char *arguments[] = {start->path, NULL};
    int null = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);

    syscall(SYS_dup3, start->socket, STDIN_FILENO, 0);
    syscall(SYS_dup3, null, STDOUT_FILENO, 0);
    syscall(SYS_dup3, null, STDERR_FILENO, 0);
    syscall(SYS_close_range, FIRST_KEPT, ~0U, 0);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &start->signals, NULL, KERNEL_SIGSET_SIZE);
    execve(start->path, arguments, start->environment);
    _exit(EXIT_FAILURE);
}

static void *top_of(char *stack)
{
    return stack + STACK_SIZE;
}

/* A child that is nobody's: the program shall neither get its signal nor find it by wait(). */
static int start_grandchild(void *argument)
{
    static char stack[STACK_SIZE] __attribute__((aligned(16)));

    _exit(clone(execute, top_of(stack), CLONE_VM | CLONE_VFORK, argument) < 0);
}

static bool start_process(struct start *start)
{
    static char stack[STACK_SIZE] __attribute__((aligned(16)));
    sigset_t all;
    int status = EXIT_FAILURE;
    pid_t child;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &start->signals);
    /* Without a signal at its end, which the program could wait for. */
    child = clone(start_grandchild, top_of(stack), CLONE_VM | CLONE_VFORK, start);
    while (child > 0 && waitpid(child, &status, (int)__WCLONE) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &start->signals, NULL);
    return child > 0 && status == 0;
}

static uint64_t inode_of(int descriptor)
{
    struct stat status;

    return real()->fstat(descriptor, &status) ? 0 : status.st_ino;
}

/* Whether its socket is still its own. */
static bool is_open(const struct decoder *decoder)
{
    return decoder->socket > 0 && inode_of(decoder->socket) == decoder->inode;
}

static bool start_decoder(struct decoder *decoder)
{
    static const struct timeval patience = {.tv_sec = 30}; /* the program waits meanwhile */
    static bool is_missed;                                 /* said once */
    char path[PATH_SIZE];
    struct start start = {.path = path};
    int sockets[2], kept;
    bool started;

    if (!find_program(path, sizeof path)) {
        if (!is_missed)
            message("nothing can be decoded: there is no %s; run fetch", path);
        is_missed = true;
        return false;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
        return false;
    kept = real()->fcntl(sockets[0], F_DUPFD_CLOEXEC, FIRST_KEPT);
    real()->close(sockets[0]);
    start.socket = sockets[1];
    copy_environment(start.environment);
    started = kept >= 0 && start_process(&start);
    real()->close(sockets[1]);
    if (!started) {
        message("%s cannot be started: %s", path, strerror(errno));
        if (kept >= 0)
            real()->close(kept);
        return false;
    }
    setsockopt(kept, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(kept, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    *decoder = (struct decoder){.socket = kept, .owner = getpid(), .inode = inode_of(kept)};
    return true;
}

void decoder_close(struct decoder *decoder)
{
    if (is_open(decoder))
        real()->close(decoder->socket);
    *decoder = (struct decoder){0};
}

/* ---- Requests */

static bool receive_picture(int socket, const struct decoder_reply *reply, struct decoded *picture)
{
    size_t luma = (size_t)reply->width * reply->height;
    size_t chroma = reply->planes == 1 ? 0 : (size_t)reply->chroma_width * reply->chroma_height;
    uint8_t *bytes = malloc(luma + 2 * chroma);

    if (!bytes)
        return false;
    *picture = (struct decoded){
        .damaged = reply->status == DECODER_DAMAGED,
        .width = reply->width,
        .height = reply->height,
        .planes = reply->planes,
        .chroma_width = reply->chroma_width,
        .chroma_height = reply->chroma_height,
        .bytes = {bytes, bytes + luma, bytes + luma + chroma},
    };
    if (receive_all(socket, bytes, luma + 2 * chroma))
        return true;
    decoded_free(picture);
    return false;
}

bool decoder_decode(struct decoder *decoder, enum decoder_codec codec, const uint8_t *bytes, size_t size,
                    struct decoded *picture)
{
    struct decoder_request request = {.codec = codec, .size = (uint32_t)size};
    struct decoder_reply reply;

    if (decoder->socket > 0 && (decoder->owner != getpid() || !is_open(decoder)))
        decoder_close(decoder);
    if (size > DECODER_LARGEST_UNIT || (decoder->socket < 1 && !start_decoder(decoder)))
        return false;
    if (send_all(decoder->socket, &request, sizeof request) && send_all(decoder->socket, bytes, size) &&
        receive_all(decoder->socket, &reply, sizeof reply)) {
        if (reply.status == DECODER_NOTHING)
            return false;
        if (receive_picture(decoder->socket, &reply, picture))
            return true;
    }
    message("the decoder has ended");
    decoder_close(decoder);
    return false;
}

void decoded_free(struct decoded *picture)
{
    free(picture->bytes[0]);
    *picture = (struct decoded){0};
}
