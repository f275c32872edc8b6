/* Does to a render node by itself what drivers do not, on an AMD or an Intel GPU:
 *   ioctls pointers     structures that are short, and pointers to nothing
 *   ioctls unaligned    commands that begin in the middle of a dword
 *   ioctls impossible   a picture of 184x134217728 with rows of no bytes (AMD)
 *   ioctls limits       what a kernel refuses: files as DMA-BUFs, a TiB, syncobjs without a fence, mappings' offsets
 *   ioctls folders      lists /dev/dri in each way that there is
 *   ioctls vfork        a child closes the node, its parent goes on; so with fork from a second thread
 *   ioctls child        a forked child opens and closes a node of its own, its parent leaves a buffer
 *   ioctls closed       leaves a buffer on a node that is closed by close_range
 *   ioctls unknown      an ioctl that no kernel has
 * 0 if all went as it does on a kernel; else 1, and what did not on standard error. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm.h>
#include <amdgpu_drm.h>
#include <i915_drm.h>

enum { PAGE = 4096, BUFFER = 1 << 20, FORKS = 5, GUARD = 64, GUARD_BYTE = 0x55 };

#define NODE "/dev/dri/renderD128"
#define NOTHING 0x10000ULL /* an address where nothing is mapped */
#define GPU_ADDRESS 0x10000000ULL

static int node;
static bool amd;
static int failures;

static void expect(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    failures++;
}

static void refused(int error, unsigned long request, void *argument, const char *what)
{
    errno = 0;
    expect(ioctl(node, request, argument) == -1 && errno == error, what);
}

static uint32_t create(uint64_t size)
{
    union drm_amdgpu_gem_create of_amd = {.in = {.bo_size = size, .domains = AMDGPU_GEM_DOMAIN_GTT}};
    struct drm_i915_gem_create of_intel = {.size = size};

    if (amd)
        return ioctl(node, DRM_IOCTL_AMDGPU_GEM_CREATE, &of_amd) ? 0 : of_amd.out.handle;
    return ioctl(node, DRM_IOCTL_I915_GEM_CREATE, &of_intel) ? 0 : of_intel.handle;
}

static uint64_t map_offset(uint32_t handle)
{
    union drm_amdgpu_gem_mmap of_amd = {.in = {.handle = handle}};
    struct drm_i915_gem_mmap_offset of_intel = {.handle = handle, .flags = I915_MMAP_OFFSET_WB};

    if (amd)
        return ioctl(node, DRM_IOCTL_AMDGPU_GEM_MMAP, &of_amd) ? 0 : of_amd.out.addr_ptr;
    return ioctl(node, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &of_intel) ? 0 : of_intel.offset;
}

static void *map(uint32_t handle, size_t size, uint64_t offset)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, node, (off_t)(map_offset(handle) + offset));
}

/* A buffer at GPU_ADDRESS, in our memory (AMD). */
static uint32_t *create_at_address(void)
{
    uint32_t handle = create(BUFFER);
    struct drm_amdgpu_gem_va va = {
        .handle = handle, .operation = AMDGPU_VA_OP_MAP, .va_address = GPU_ADDRESS, .map_size = BUFFER};

    expect(ioctl(node, DRM_IOCTL_AMDGPU_GEM_VA, &va) == 0, "a buffer is given an address");
    return map(handle, BUFFER, 0);
}

static int submit_amd(uint64_t address, uint32_t size)
{
    struct drm_amdgpu_cs_chunk_ib ib = {.ip_type = AMDGPU_HW_IP_VCN_ENC, .va_start = address, .ib_bytes = size};
    struct drm_amdgpu_cs_chunk chunk = {AMDGPU_CHUNK_ID_IB, sizeof ib / 4, (uintptr_t)&ib};
    uint64_t chunks = (uintptr_t)&chunk;
    union drm_amdgpu_cs submission = {.in = {.num_chunks = 1, .chunks = (uintptr_t)&chunks}};

    return ioctl(node, DRM_IOCTL_AMDGPU_CS, &submission);
}

static void pointers_of_amd(void)
{
    uint64_t chunk = NOTHING;
    union drm_amdgpu_cs lost = {.in = {.num_chunks = 1, .chunks = NOTHING}};
    union drm_amdgpu_cs lost_chunk = {.in = {.num_chunks = 1, .chunks = (uintptr_t)&chunk}};
    union drm_amdgpu_bo_list list = {.in = {.bo_number = 1, .bo_info_size = 8, .bo_info_ptr = NOTHING}};
    struct drm_amdgpu_info info = {.return_pointer = NOTHING, .return_size = 8, .query = AMDGPU_INFO_MEMORY};
    struct drm_amdgpu_gem_userptr user = {.addr = NOTHING, .size = PAGE};
    struct drm_amdgpu_gem_op operation = {
        .handle = create(PAGE), .op = AMDGPU_GEM_OP_GET_GEM_CREATE_INFO, .value = NOTHING};

    refused(EFAULT, DRM_IOCTL_AMDGPU_CS, &lost, "chunks that are nowhere");
    refused(EFAULT, DRM_IOCTL_AMDGPU_CS, &lost_chunk, "a chunk that is nowhere");
    refused(EFAULT, DRM_IOCTL_AMDGPU_BO_LIST, &list, "a list that is nowhere");
    refused(EFAULT, DRM_IOCTL_AMDGPU_INFO, &info, "an answer to nowhere");
    refused(EFAULT, DRM_IOCTL_AMDGPU_GEM_USERPTR, &user, "memory that is nowhere");
    refused(EFAULT, DRM_IOCTL_AMDGPU_GEM_OP, &operation, "a buffer's properties to nowhere");
}

static void pointers_of_intel(void)
{
    struct drm_i915_getparam parameter = {.param = I915_PARAM_CHIPSET_ID};
    struct drm_i915_gem_userptr user = {.user_ptr = NOTHING, .user_size = PAGE};
    struct drm_i915_gem_execbuffer2 submission = {.buffers_ptr = NOTHING, .buffer_count = 1};
    struct drm_i915_query query = {.num_items = 1, .items_ptr = NOTHING};
    struct drm_i915_gem_pwrite transfer = {.handle = create(PAGE), .size = PAGE, .data_ptr = NOTHING};

    refused(EFAULT, DRM_IOCTL_I915_GETPARAM, &parameter, "a parameter to nowhere");
    refused(EFAULT, DRM_IOCTL_I915_GEM_USERPTR, &user, "memory that is nowhere");
    refused(EFAULT, DRM_IOCTL_I915_GEM_EXECBUFFER2, &submission, "buffers that are nowhere");
    refused(EFAULT, DRM_IOCTL_I915_QUERY, &query, "questions that are nowhere");
    refused(EFAULT, DRM_IOCTL_I915_GEM_PWRITE, &transfer, "bytes that are nowhere");
}

static void pointers(void)
{
    struct {
        uint64_t capability;
        uint8_t guard[GUARD];
    } shorter = {.capability = DRM_CAP_PRIME};
    struct drm_version version = {.name = (char *)(uintptr_t)NOTHING, .name_len = 8};

    memset(shorter.guard, GUARD_BYTE, sizeof shorter.guard);
    expect(ioctl(node, _IOWR('d', _IOC_NR(DRM_IOCTL_GET_CAP), uint64_t), &shorter) == 0, "a structure that is short");
    for (size_t i = 0; i < sizeof shorter.guard; i++)
        expect(shorter.guard[i] == GUARD_BYTE, "what is behind a short structure");
    refused(EFAULT, DRM_IOCTL_VERSION, NULL, "no structure");
    refused(EFAULT, DRM_IOCTL_VERSION, &version, "a name to nowhere");
    if (amd)
        pointers_of_amd();
    else
        pointers_of_intel();
}

static void unaligned(void)
{
    if (amd) {
        create_at_address();
        errno = 0;
        expect(submit_amd(GPU_ADDRESS + 2, 64) == -1 && errno == EINVAL, "commands at half a dword");
        expect(submit_amd(GPU_ADDRESS, 63) == -1 && errno == EINVAL, "commands that end in a dword");
    } else {
        struct drm_i915_gem_exec_object2 object = {.handle = create(PAGE)};
        struct drm_i915_gem_execbuffer2 submission = {
            .buffers_ptr = (uintptr_t)&object, .buffer_count = 1, .batch_start_offset = 2, .batch_len = 64};

        refused(EINVAL, DRM_IOCTL_I915_GEM_EXECBUFFER2, &submission, "a batch at half a dword");
        submission.batch_start_offset = 0;
        object.flags = EXEC_OBJECT_PINNED;
        object.offset = GPU_ADDRESS + 1;
        refused(EINVAL, DRM_IOCTL_I915_GEM_EXECBUFFER2, &submission, "a buffer that is pinned within a page");
    }
}

/* Packets of the encode ring: the size in bytes, the command, the fields. See source/vcn_packets.h. */
static void impossible(void)
{
    enum { OUTPUT = BUFFER / 2 };
    /* clang-format off */
    static const uint32_t packets[] = {
        5 * 4, 0x01, 0, 0, 1,                            /* session info: an address of its own */
        7 * 4, 0x03, 1, 184, 134217728, 1, 77,           /* session init: H.264, the size, its padding */
        3 * 4, 0x0b, 0,                                  /* slice header */
        11 * 4, 0x0f, 2, 0, 0, GPU_ADDRESS, 0, GPU_ADDRESS, 0, 0, 0, /* encode: I, the planes, pitches of 0 */
        7 * 4, 0x12, 0, 0, GPU_ADDRESS + OUTPUT, OUTPUT, 0, /* bitstream buffer */
        7 * 4, 0x15, 0, 0, GPU_ADDRESS + OUTPUT, 64, 0,     /* feedback buffer */
        2 * 4, 0x01000003,                                  /* encode */
    };
    /* clang-format on */

    if (!amd)
        return;
    memcpy(create_at_address(), packets, sizeof packets);
    expect(submit_amd(GPU_ADDRESS, sizeof packets) == 0, "a picture that is impossible");
}

static void limits(void)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct drm_prime_handle of_file = {.fd = file}, of_node = {.fd = node};
    struct drm_syncobj_create syncobj = {0};
    struct drm_syncobj_wait wait = {.handles = (uintptr_t)&syncobj.handle, .count_handles = 1};
    uint32_t handle = create(2 * PAGE);
    char *whole = map(handle, 2 * PAGE, 0), *second = map(handle, PAGE, PAGE);

    refused(EINVAL, DRM_IOCTL_PRIME_FD_TO_HANDLE, &of_file, "a file as a DMA-BUF");
    refused(EINVAL, DRM_IOCTL_PRIME_FD_TO_HANDLE, &of_node, "a node as a DMA-BUF");
    expect(create(1ULL << 40) == 0, "a buffer of a TiB");
    expect(ioctl(node, DRM_IOCTL_SYNCOBJ_CREATE, &syncobj) == 0, "a syncobj");
    refused(EINVAL, DRM_IOCTL_SYNCOBJ_WAIT, &wait, "a wait for a syncobj without a fence");
    if (amd) {
        whole[PAGE] = GUARD_BYTE;
        expect(second != MAP_FAILED && second[0] == GUARD_BYTE, "a mapping from the second page on");
    } else {
        expect(second == MAP_FAILED, "a mapping from the second page on");
    }
}

static void folders(void)
{
    glob_t found = {0};
    struct dirent **list;
    DIR *directory = opendir("/dev/dri");

    expect(glob("/dev/dri/renderD*", 0, NULL, &found) == 0 && found.gl_pathc == 1, "glob");
    expect(scandir("/dev/dri", &list, NULL, alphasort) == 1, "scandir");
    expect(directory && readdir(directory) && !readdir(directory), "readdir");
    rewinddir(directory);
    expect(telldir(directory) == 0 && readdir(directory), "rewinddir");
    expect(dirfd(directory) == -1 && errno == ENOTSUP, "dirfd");
    closedir(directory);
}

static void *allocate(void *unused)
{
    for (;;) {
        struct drm_gem_close handle = {.handle = create(BUFFER)};

        ioctl(node, DRM_IOCTL_GEM_CLOSE, &handle);
    }
    return unused;
}

static void leave_by(pid_t (*start)(void))
{
    pid_t child = start();

    if (!child) {
        close(node);
        _exit(0);
    }
    expect(waitpid(child, NULL, 0) == child && create(PAGE), "the parent goes on when a child has closed the node");
}

static void children(void)
{
    pthread_t thread;

    leave_by(vfork);
    expect(pthread_create(&thread, NULL, allocate, NULL) == 0, "a thread");
    for (int i = 0; i < FORKS; i++)
        leave_by(fork);
}

static void child(void)
{
    pid_t process;

    create(BUFFER);
    process = fork();
    if (!process) {
        close(open(NODE, O_RDWR | O_CLOEXEC));
        exit(0);
    }
    expect(waitpid(process, NULL, 0) == process, "a child");
}

static void closed(void)
{
    create(BUFFER);
    expect(close_range((unsigned)node, (unsigned)node, 0) == 0, "close_range");
}

static void unknown(void)
{
    uint64_t structure = 0;

    refused(EINVAL, _IOWR('d', 0xff, uint64_t), &structure, "an ioctl that no kernel has");
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"pointers", pointers}, {"unaligned", unaligned}, {"impossible", impossible},
    {"limits", limits},     {"folders", folders},     {"vfork", children},
    {"child", child},       {"closed", closed},       {"unknown", unknown},
};

int main(int count, char **words)
{
    char name[8] = "";
    struct drm_version version = {.name = name, .name_len = sizeof name - 1};

    node = open(NODE, O_RDWR | O_CLOEXEC);
    expect(ioctl(node, DRM_IOCTL_VERSION, &version) == 0, NODE);
    amd = strcmp(name, "amdgpu") == 0;
    for (size_t i = 0; count == 2 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(words[1], modes[i].name) == 0)
            modes[i].run();
    return failures != 0;
}
