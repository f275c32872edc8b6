#include "message.h"

#include "settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE_SIZE = 512 };

/* One write, so that lines of several threads and programs stay whole. */
__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list arguments)
{
    char line[LINE_SIZE] = "fakegpu: ";
    size_t start = sizeof "fakegpu: " - 1;
    int length = vsnprintf(line + start, sizeof line - start - 1, format, arguments);
    size_t end;

    if (length < 0)
        return;
    end = start + (size_t)length;
    if (end > sizeof line - 2)
        end = sizeof line - 2;
    line[end++] = '\n';
    if (write(STDERR_FILENO, line, end) < 0)
        return; /* nobody listens */
}

void message(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void debug(const char *format, ...)
{
    va_list arguments;

    if (!settings()->debug)
        return;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}
