/* What the program says of itself, on standard error. */
#ifndef MESSAGE_H
#define MESSAGE_H

void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says what failed, with errno's cause, and ends the program. */
_Noreturn void die(const char *what);

#endif
