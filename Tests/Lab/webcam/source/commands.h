/* Commands to a camera that runs, by a Unix socket (../README.md lists them). */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "camera.h"

/* A socket that listens at `path`; ends the program where it cannot. */
int commands_listen(const char *path);

/* Sends a command from the words of a command line, and prints the answer; the exit status. */
int commands_send(const char *path, char *const *words);

/* Takes one command from the socket that listens. */
void commands_serve(struct camera *camera, int listener);

#endif
