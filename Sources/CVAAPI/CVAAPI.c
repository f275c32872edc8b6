#define _GNU_SOURCE // dladdr
#include "CVAAPI.h"

#include <dlfcn.h>

const char *cvaapi_library_path(void) {
    Dl_info info;
    return dladdr((const void *)vaInitialize, &info) ? info.dli_fname : NULL;
}
