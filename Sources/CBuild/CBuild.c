#include "CBuild.h"

// Package.swift passes the environment's CAMREC_COMMIT on. Asking git instead would build again at every commit, and
// could not answer in a tarball.
#ifndef CAMREC_COMMIT
#define CAMREC_COMMIT ""
#endif
static const char given[] = CAMREC_COMMIT;

// 'git archive' replaces this (.gitattributes).
static const char archived[] = "$Format:%H$";

const char *cbuild_commit(void) {
    if (given[0]) return given;
    return archived[0] == '$' ? "" : archived;
}
