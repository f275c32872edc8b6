#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("uvccam: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void die(const char *what)
{
    note("%s: %s", what, strerror(errno));
    exit(1);
}
