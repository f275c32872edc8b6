/* The render nodes and their entries in sysfs, which are on no disk: a program that is killed leaves nothing behind. */
#ifndef VIRTUAL_FILES_H
#define VIRTUAL_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct device;

enum virtual_kind { VIRTUAL_NOTHING, VIRTUAL_DIRECTORY, VIRTUAL_TEXT, VIRTUAL_LINK, VIRTUAL_NODE };

enum { VIRTUAL_TEXT_SIZE = 256, VIRTUAL_NAME_SIZE = 32, VIRTUAL_ENTRY_LIMIT = 16 };

struct virtual_file {
    enum virtual_kind kind;
    struct device *device;
    char text[VIRTUAL_TEXT_SIZE]; /* of a text, or the target of a link */
};

/* Whether `path` is beneath /dev/dri or the sysfs folder of a DRM device: there the file system is not asked. */
bool virtual_path(const char *path);
struct virtual_file virtual_find(const char *path);
void virtual_status(const struct virtual_file *file, struct stat *status);
/* A descriptor of a text's contents or of a node; -1 with errno. */
int virtual_open(const struct virtual_file *file, int flags);

/* A folder's entries, sorted: how many. */
size_t virtual_list(const char *path, struct dirent entries[VIRTUAL_ENTRY_LIMIT]);

/* While the process forks. */
void virtual_files_lock(void);
void virtual_files_unlock(void);

/* A DIR of such a folder. */
DIR *virtual_opendir(const char *path);
bool virtual_is_directory(DIR *directory);
struct dirent *virtual_readdir(DIR *directory);
long virtual_telldir(DIR *directory);
void virtual_seekdir(DIR *directory, long position);
void virtual_closedir(DIR *directory);

#endif
