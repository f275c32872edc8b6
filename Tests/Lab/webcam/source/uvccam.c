/* uvccam: an emulated USB Video Class 1.1 webcam.
 *
 * The program is the device. It hands one end of a socket pair to the kernel's virtual host controller (vhci_hcd) and
 * answers USB requests on the other end, so that the ordinary uvcvideo driver binds to it. A Unix socket takes commands
 * (unplug, freeze, error, ...) while it runs. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "device.h"
#include "message.h"
#include "pictures.h"
#include "sound.h"
#include "stream.h"

enum { SERIAL_MAX = 100 };

_Noreturn static void usage(void)
{
    fputs("usage: uvccam [-f FRAMES_DIR] [-c SOCKET] [-p PORT] [-s SERIAL] [-F A|B] [-m] [-t] [-u] [-v]\n"
          "       uvccam [-c SOCKET] COMMAND [ARGUMENT]\n"
          "  -F  formats at the first plug   -m  with a microphone\n"
          "  -t  send SCR too   -u  start unplugged   -v  log requests\n"
          "commands: plug unplug freeze thaw stall error|short|corrupt [N] format A|B status quit\n",
          stderr);
    exit(2);
}

_Noreturn static void run(struct camera *camera, int listener)
{
    for (;;) {
        struct pollfd files[] = {{listener, POLLIN, 0},
                                 {camera->timer, POLLIN, 0},
                                 {camera->usb, POLLIN, 0},
                                 {camera->sound_timer, POLLIN, 0}};
        if (poll(files, 4, -1) < 0) {
            if (errno != EINTR)
                die("poll");
            continue;
        }
        if (files[2].revents)
            device_serve(camera);
        if (files[1].revents)
            stream_tick(camera);
        if (files[3].revents)
            sound_tick(camera);
        if (files[0].revents)
            commands_serve(camera, listener);
        if (camera->usb < 0 && camera->streaming) /* the host has let go on the way */
            stream_stop(camera);
        if (camera->usb < 0 && camera->listening)
            sound_stop(camera);
    }
}

int main(int argc, char **argv)
{
    static struct camera camera = {.serial = "EMU0001", .frames_folder = "frames", .usb = -1};
    const char *path = "/run/uvccam.sock";
    bool starts_unplugged = false;

    for (int option; (option = getopt(argc, argv, "f:c:p:s:F:mtuv")) != -1;) {
        switch (option) {
        case 'f':
            camera.frames_folder = optarg;
            break;
        case 'c':
            path = optarg;
            break;
        case 'p':
            camera.port = atoi(optarg);
            break;
        case 's':
            camera.serial = optarg;
            break;
        case 'F':
            camera.next_set = *optarg == 'B';
            break;
        case 'm':
            camera.has_microphone = true;
            break;
        case 't':
            camera.sends_source_clock = true;
            break;
        case 'u':
            starts_unplugged = true;
            break;
        case 'v':
            camera.verbose = true;
            break;
        default:
            usage();
        }
    }
    if (optind < argc)
        return commands_send(path, argv + optind);
    if (strlen(camera.serial) > SERIAL_MAX)
        usage();

    signal(SIGPIPE, SIG_IGN); /* a command's client may leave early */
    camera_reset(&camera);
    pictures_load(camera.frames_folder);
    stream_prepare(&camera);
    sound_prepare(&camera);
    int listener = commands_listen(path);
    if (!starts_unplugged && device_plug(&camera) < 0)
        return 1;
    run(&camera, listener);
}
