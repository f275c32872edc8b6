#include "CTLS.h"

#include <dlfcn.h>
#include <errno.h>

const char *ctls_load(struct ctls_library *library) {
    // Its name since GnuTLS 3.4; the functions are as in its header.
    void *handle = dlopen("libgnutls.so.30", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return dlerror();
#define RESOLVE(member, function) \
    if (!(library->member = (__typeof__(library->member))dlsym(handle, #function))) return "libgnutls.so.30 has no " #function;
    RESOLVE(allocate_credentials, gnutls_certificate_allocate_credentials)
    RESOLVE(free_credentials, gnutls_certificate_free_credentials)
    RESOLVE(trust_system, gnutls_certificate_set_x509_system_trust)
    RESOLVE(trust_bytes, gnutls_certificate_set_x509_trust_mem)
    RESOLVE(init, gnutls_init)
    RESOLVE(deinit, gnutls_deinit)
    RESOLVE(append_priority, gnutls_set_default_priority_append)
    RESOLVE(set_credentials, gnutls_credentials_set)
    RESOLVE(set_server_name, gnutls_server_name_set)
    RESOLVE(verify_server, gnutls_session_set_verify_cert2)
    RESOLVE(verification, gnutls_session_get_verify_cert_status)
    RESOLVE(set_descriptors, gnutls_transport_set_int2)
    RESOLVE(handshake, gnutls_handshake)
    RESOLVE(direction, gnutls_record_get_direction)
    RESOLVE(send, gnutls_record_send)
    RESOLVE(receive, gnutls_record_recv)
    RESOLVE(bye, gnutls_bye)
    RESOLVE(describe, gnutls_strerror)
    RESOLVE(is_fatal, gnutls_error_is_fatal)
#undef RESOLVE
    return NULL;
}

int ctls_init(const struct ctls_library *library, gnutls_session_t *session) {
    return library->init(session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL);
}

// GnuTLS leaves the socket's own error in errno; other errors are the protocol's.
void ctls_verify_server(const struct ctls_library *library, gnutls_session_t session, struct ctls_identity *identity, const char *name) {
    // GnuTLS only reads them.
    identity->parts[0] = (gnutls_typed_vdata_st){.type = GNUTLS_DT_DNS_HOSTNAME, .data = (unsigned char *)name};
    identity->parts[1] = (gnutls_typed_vdata_st){.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)GNUTLS_KP_TLS_WWW_SERVER};
    library->verify_server(session, identity->parts, 2, 0);
}

static ssize_t result_of(ssize_t result, int error) {
    switch (result) {
        case GNUTLS_E_AGAIN: return -EAGAIN;
        case GNUTLS_E_PUSH_ERROR:
        case GNUTLS_E_PULL_ERROR: return error ? -error : -ECONNRESET;
        case GNUTLS_E_PREMATURE_TERMINATION: return -ECONNRESET;
        default: return result < 0 ? -EPROTO : result;
    }
}

ssize_t ctls_send(const struct ctls_library *library, gnutls_session_t session, const void *bytes, size_t count) {
    ssize_t result;
    do {
        errno = 0;
        result = library->send(session, bytes, count);
    } while (result == GNUTLS_E_INTERRUPTED);
    return result_of(result, errno);
}

ssize_t ctls_receive(const struct ctls_library *library, gnutls_session_t session, void *bytes, size_t count) {
    // What is not fatal is a warning, or the wish to negotiate again, which a client may ignore (RFC 5246, 7.4.1.1).
    for (int tries = 0; tries < 16; tries++) {
        errno = 0;
        const ssize_t result = library->receive(session, bytes, count);
        if (result >= 0 || result == GNUTLS_E_AGAIN || library->is_fatal((int)result)) return result_of(result, errno);
    }
    return -EAGAIN;
}
