// System calls on files that Swift cannot import itself. Those that can fail return -errno then.
#ifndef CLINUX_FILES_H
#define CLINUX_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// What a file is, without following links.
struct files_facts {
    mode_t mode;
    int64_t size;
    uint64_t inode;
    // Nanoseconds since 1970. `birth` is 0 if the file system does not know it.
    int64_t birth, modification;
};

// Returns 0. An empty name means the descriptor's own file.
int files_read_facts(int folder, const char *name, struct files_facts *facts);

// Opens a path without opening what is there (O_PATH), with further flags of openat(2). Returns a descriptor.
int files_open_path(int folder, const char *name, int flags);

// Creates a file without a name in an open folder (O_TMPFILE), for reading and writing. Returns a descriptor.
int files_open_unnamed(int folder, mode_t mode);

// Renames a file within an open folder unless something has the new name (RENAME_NOREPLACE). Returns 0.
int files_rename_new(int folder, const char *from, const char *to);

// Locks a file that is open for writing until that descriptor is closed (F_OFD_SETLK). Returns false if another
// writer holds the lock; true otherwise, even if the file system does not support locks.
bool files_lock_for_writing(int descriptor);

// Whether a writer holds that lock on an open file.
bool files_is_locked_for_writing(int descriptor);

// Whether an open folder belongs to procfs.
bool files_is_process_folder(int folder);

// The type of an open file's file system (statfs(2)), 0 if it is unknown.
uint32_t files_system_type(int descriptor);

#endif
