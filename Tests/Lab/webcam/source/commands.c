#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "device.h"
#include "message.h"
#include "stream.h"

static void print_status(const struct camera *camera, int reply)
{
    struct size size = camera_stream_size(camera);
    dprintf(reply,
            "plugged=%d set=%c streaming=%d format=%s size=%dx%d interval=%u frames=%u late=%u brightness=%d "
            "frozen=%d halted=%d\n",
            camera->usb >= 0, 'A' + camera->set, camera->streaming,
            camera->commit.format == FORMAT_MJPEG ? "MJPEG" : "YUYV", size.width, size.height, camera->commit.interval,
            camera->frame_number, camera->late, camera->brightness, camera->frozen, camera->halted);
}

/* The count of frames that a fault's command is for; null where there is no such fault. */
static int *fault_named(struct camera *camera, const char *word)
{
    if (!strcmp(word, "error"))
        return &camera->error_frames;
    if (!strcmp(word, "short"))
        return &camera->short_frames;
    return !strcmp(word, "corrupt") ? &camera->corrupt_frames : NULL;
}

/* A command that needs a camera that is plugged in. NULL or what is wrong. */
static const char *command_of_plugged(struct camera *camera, const char *word, const char *argument)
{
    int *fault = fault_named(camera, word);

    if (!strcmp(word, "unplug"))
        device_unplug(camera, "command");
    else if (!strcmp(word, "freeze") || !strcmp(word, "thaw"))
        camera->frozen = *word == 'f';
    else if (!strcmp(word, "stall"))
        camera->halted = camera->streaming;
    else if (fault)
        *fault = *argument ? atoi(argument) : 1;
    else
        return "no such command";
    return NULL;
}

/* NULL or what is wrong. */
static const char *run_command(struct camera *camera, const char *word, const char *argument)
{
    if (!strcmp(word, "quit"))
        exit(0);
    if (!strcmp(word, "plug"))
        return camera->usb >= 0 ? "already plugged" : device_plug(camera) < 0 ? "cannot attach" : NULL;
    if (!strcmp(word, "format")) {
        if (strcmp(argument, "A") && strcmp(argument, "B"))
            return "format A or format B?";
        camera->next_set = *argument - 'A';
        return NULL;
    }
    return camera->usb < 0 ? "not plugged, or no such command" : command_of_plugged(camera, word, argument);
}

void commands_serve(struct camera *camera, int listener)
{
    char line[64];
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0)
        return;
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 1}, sizeof(struct timeval));
    ssize_t length = read(client, line, sizeof line - 1);
    line[length > 0 ? length : 0] = 0;

    char word[16] = "", argument[16] = "";
    sscanf(line, "%15s %15s", word, argument);
    if (!strcmp(word, "status")) {
        print_status(camera, client);
    } else {
        const char *problem = run_command(camera, word, argument);
        if (problem)
            dprintf(client, "failed: %s\n", problem);
        else
            dprintf(client, "ok\n");
        stream_pump(camera);
    }
    close(client);
}

static int open_socket(const char *path, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%s", path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        die(path);
    return descriptor;
}

int commands_listen(const char *path)
{
    struct sockaddr_un address;
    int listener = open_socket(path, &address);
    unlink(path);
    if (bind(listener, (void *)&address, sizeof address) < 0 || listen(listener, 4) < 0)
        die(path);
    return listener;
}

int commands_send(const char *path, char *const *words)
{
    struct sockaddr_un address;
    char line[512] = "";
    int server = open_socket(path, &address);
    if (connect(server, (void *)&address, sizeof address) < 0)
        die(path);

    size_t used = 0;
    for (; *words && used < sizeof line; words++)
        used += (size_t)snprintf(line + used, sizeof line - used, "%s ", *words);
    if (write(server, line, strlen(line)) < 0)
        die(path);
    ssize_t length = read(server, line, sizeof line - 1);
    if (length < 0)
        die(path);
    line[length] = 0;
    fputs(line, stdout);
    return strncmp(line, "failed", 6) == 0;
}
