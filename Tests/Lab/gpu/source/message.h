/* What the emulated GPU says on standard error, one line each. */
#ifndef MESSAGE_H
#define MESSAGE_H

/* Something is wrong: a setting that cannot be read, a driver's bug, a command that is not modelled. */
__attribute__((format(printf, 1, 2))) void message(const char *format, ...);

/* Said with FAKEGPU_DEBUG alone. */
__attribute__((format(printf, 1, 2))) void debug(const char *format, ...);

#endif
