#include "mi.h"

#include "device.h"
#include "intel_commands.h"
#include "message.h"
#include "mfx.h"
#include "report.h"
#include "settings.h"
#include "vebox.h"

#include <drm.h>
#include <i915_drm.h>

#include <stdio.h>
#include <string.h>

enum {
    DEEPEST_BATCH = 4,
    PRINTED_DWORDS = 8,
    HUC_BATCH_SIZE = 4096,
    HUC_OUTPUT_SIZE = 64 * 1024, /* no picture's batch is longer */
    ADDRESS_HIGH_MASK = 0xffff, /* of 48 bits */
    DWORD_ADDRESS_MASK = 3,
};

struct command {
    uint32_t header;
    const uint32_t *words; /* with the header */
    size_t count;
};

void *batch_bytes(const struct batch *batch, uint64_t address, uint64_t size)
{
    address &= GPU_ADDRESS_MASK;
    for (uint32_t i = 0; i < batch->object_count; i++) {
        uint64_t start = batch->objects[i].offset & GPU_ADDRESS_MASK;
        const struct buffer *buffer = buffer_of(&batch->file->handles, batch->objects[i].handle);

        if (buffer && address >= start && buffer_bytes(buffer, address - start, size ? size : 1))
            return buffer_bytes(buffer, address - start, size);
    }
    return NULL;
}

size_t batch_available(const struct batch *batch, uint64_t address)
{
    address &= GPU_ADDRESS_MASK;
    for (uint32_t i = 0; i < batch->object_count; i++) {
        uint64_t start = batch->objects[i].offset & GPU_ADDRESS_MASK;
        const struct buffer *buffer = buffer_of(&batch->file->handles, batch->objects[i].handle);

        if (buffer && address >= start && address - start < buffer->size)
            return buffer->size - (address - start);
    }
    return 0;
}

uint64_t batch_address(const struct batch *batch, const uint32_t *words)
{
    return batch->wide_addresses ? (uint64_t)(words[1] & ADDRESS_HIGH_MASK) << 32 | words[0] : words[0];
}

/* ---- Memory and registers */

static uint32_t *memory_dword(const struct batch *batch, uint64_t address)
{
    uint32_t *dword = batch_bytes(batch, address & ~(uint64_t)DWORD_ADDRESS_MASK, sizeof *dword);

    if (!dword)
        debug("a command of the batch reaches for %llx, which is in none of its buffers", (unsigned long long)address);
    return dword;
}

static void store(const struct batch *batch, uint64_t address, uint32_t value)
{
    uint32_t *dword = memory_dword(batch, address);

    if (dword)
        *dword = value;
}

static uint32_t load(const struct batch *batch, uint64_t address)
{
    const uint32_t *dword = memory_dword(batch, address);

    return dword ? *dword : 0;
}

/* Half of a general purpose register; null for other registers. */
static uint32_t *general_register(struct batch *batch, uint32_t offset)
{
    offset &= ENGINE_REGISTER_MASK;
    if (offset < CS_GPR || offset >= CS_GPR_END)
        return NULL;
    return mfx_registers(batch->mfx) + (offset - CS_GPR) / sizeof(uint32_t);
}

static uint32_t read_register(struct batch *batch, uint32_t offset)
{
    const uint32_t *general = general_register(batch, offset);

    if (general)
        return *general;
    switch (offset & ENGINE_REGISTER_MASK) {
    case MFC_BITSTREAM_BYTECOUNT_FRAME:
    case HCP_BITSTREAM_BYTECOUNT_FRAME:
        return mfx_coded_bytes(batch->mfx);
    case MFX_ERROR_FLAGS:
        return mfx_error_flags(batch->mfx);
    case HUC_STATUS2:
        return HUC_FIRMWARE_LOADED;
    default:
        return 0;
    }
}

static void write_register(struct batch *batch, uint32_t offset, uint32_t value)
{
    uint32_t *general = general_register(batch, offset);

    if (general)
        *general = value;
}

/* ---- MI_MATH */

struct alu {
    uint64_t a, b, accumulator;
    bool carry;
};

static uint64_t *alu_register(struct batch *batch, uint32_t number)
{
    return number < MI_MATH_REG_COUNT ? (uint64_t *)(void *)mfx_registers(batch->mfx) + number : NULL;
}

static void alu_load(struct alu *alu, uint32_t destination, uint64_t value)
{
    *(destination == MI_MATH_SRCA ? &alu->a : &alu->b) = value;
}

static uint64_t alu_result(const struct alu *alu, uint32_t source)
{
    switch (source) {
    case MI_MATH_ACCU:
        return alu->accumulator;
    case MI_MATH_ZF:
        return alu->accumulator ? 0 : UINT64_MAX;
    case MI_MATH_CF:
        return alu->carry ? UINT64_MAX : 0;
    default:
        return 0;
    }
}

static void alu_instruction(struct batch *batch, struct alu *alu, uint32_t instruction)
{
    uint32_t opcode = instruction >> 20, first = instruction >> 10 & 0x3ff, second = instruction & 0x3ff;
    const uint64_t *source = alu_register(batch, second);
    uint64_t *destination = alu_register(batch, first), value = source ? *source : 0;

    switch (opcode) {
    case MI_MATH_LOAD:
        alu_load(alu, first, value);
        break;
    case MI_MATH_LOADINV:
        alu_load(alu, first, ~value);
        break;
    case MI_MATH_LOAD0:
        alu_load(alu, first, 0);
        break;
    case MI_MATH_LOAD1:
        alu_load(alu, first, UINT64_MAX);
        break;
    case MI_MATH_ADD:
        alu->accumulator = alu->a + alu->b;
        alu->carry = alu->accumulator < alu->a;
        break;
    case MI_MATH_SUB:
        alu->accumulator = alu->a - alu->b;
        alu->carry = alu->a < alu->b;
        break;
    case MI_MATH_AND:
        alu->accumulator = alu->a & alu->b;
        break;
    case MI_MATH_OR:
        alu->accumulator = alu->a | alu->b;
        break;
    case MI_MATH_XOR:
        alu->accumulator = alu->a ^ alu->b;
        break;
    case MI_MATH_STORE:
        if (destination)
            *destination = alu_result(alu, second);
        break;
    case MI_MATH_STOREINV:
        if (destination)
            *destination = ~alu_result(alu, second);
        break;
    default:
        report_unmodelled(batch->file->device, "the MI_MATH opcode", opcode);
    }
}

static void math(struct batch *batch, const struct command *command)
{
    struct alu alu = {0};

    for (size_t i = 1; i < command->count; i++)
        alu_instruction(batch, &alu, command->words[i]);
}

/* ---- Commands */

/* New_DST of MI_ATOMIC */
static uint64_t atomic_result(struct batch *batch, unsigned operation, uint64_t old, uint64_t first, uint64_t second)
{
    switch (operation & ~(unsigned)ATOMIC_8_BYTES) {
    case ATOMIC_AND:
        return old & first;
    case ATOMIC_OR:
        return old | first;
    case ATOMIC_XOR:
        return old ^ first;
    case ATOMIC_MOVE:
        return first;
    case ATOMIC_INCREMENT:
        return old + 1;
    case ATOMIC_DECREMENT:
        return old - 1;
    case ATOMIC_ADD:
        return old + first;
    case ATOMIC_SUBTRACT:
        return old - first;
    case ATOMIC_COMPARE_AND_WRITE:
        return old == first ? second : old;
    default:
        report_unmodelled(batch->file->device, "the MI_ATOMIC operation", operation);
        return old;
    }
}

static void atomic(struct batch *batch, const struct command *command)
{
    unsigned operation = command->header >> 8 & 0xff;
    size_t size = operation & ATOMIC_8_BYTES ? sizeof(uint64_t) : sizeof(uint32_t);
    void *place = batch_bytes(batch, batch_address(batch, command->words + 1) & ~(uint64_t)(size - 1), size);
    uint64_t first = 0, second = 0, old = 0;

    if (!place)
        return;
    memcpy(&first, alu_register(batch, ATOMIC_FIRST_OPERAND), size); /* little-endian */
    memcpy(&second, alu_register(batch, ATOMIC_SECOND_OPERAND), size);
    memcpy(&old, place, size);
    old = atomic_result(batch, operation, old, first, second);
    memcpy(place, &old, size);
}

static bool compare(unsigned operation, uint32_t memory, uint32_t value)
{
    switch (operation) {
    case MEMORY_GREATER_OR_EQUAL:
        return memory >= value;
    case MEMORY_LESS:
        return memory < value;
    case MEMORY_LESS_OR_EQUAL:
        return memory <= value;
    case MEMORY_EQUAL:
        return memory == value;
    case MEMORY_NOT_EQUAL:
        return memory != value;
    case MEMORY_GREATER:
    default:
        return memory > value;
    }
}

/* Whether the batch goes on behind MI_CONDITIONAL_BATCH_BUFFER_END: so drivers ask what the firmware wants. */
static bool goes_on(const struct batch *batch, const struct command *command)
{
    uint64_t address = batch_address(batch, command->words + 2);
    uint32_t memory = load(batch, address);

    if (!(command->header & MI_COMPARE_SEMAPHORE))
        return true;
    if (command->header & MI_COMPARE_MASK)
        memory &= load(batch, address + sizeof memory);
    return compare(command->header >> 12 & 7, memory, command->words[1]);
}

static void load_registers(struct batch *batch, const struct command *command)
{
    for (size_t i = 1; i + 1 < command->count; i += 2)
        write_register(batch, command->words[i], command->words[i + 1]);
}

static void flush(struct batch *batch, const struct command *command)
{
    static const uint32_t qword = ~7U;
    const uint32_t *words = command->words;

    if ((command->header >> 14 & 3) != MI_FLUSH_POST_SYNC_WRITE)
        return;
    if (!batch->wide_addresses) {
        store(batch, words[1] & qword, words[2]);
    } else if (command->count > 3) {
        uint32_t address[2] = {words[1] & qword, words[2]};

        store(batch, batch_address(batch, address), words[3]);
    }
}

/* What is neither MI's nor a video engine's: nothing happens, but pictures that depend on it will not be right. */
static void pass_over(const struct batch *batch, uint32_t command)
{
    if (command == MEDIA_OBJECT || command == MEDIA_OBJECT_WALKER || command == GPGPU_WALKER)
        report_undone(batch->file->device, "a shader");
}

static void execute_media(struct batch *batch, const struct command *command)
{
    uint32_t name = command->header >> 16;

    if (name == PIPELINE_SELECT)
        batch->shaders = true;
    if ((command->header >> 27 & 3) != MEDIA_PIPELINE)
        return;
    if (batch->shaders)
        pass_over(batch, name);
    else if ((command->header >> 24 & 7) == VEBOX_OPCODE)
        vebox_execute(batch, mfx_vebox(batch->mfx), command->words, command->count);
    else
        mfx_execute(batch, command->words, command->count);
}

/* 0 if the dword is not a command. */
static size_t command_length(uint32_t header)
{
    unsigned opcode = header >> MI_OPCODE_SHIFT & 0x3f;

    switch (header >> 29) {
    case COMMAND_MI:
        if (opcode < MI_FIRST_LONG_OPCODE)
            return 1;
        return (header & (opcode == MI_FLUSH_DW ? 0x3f : 0xff)) + 2;
    case COMMAND_2D:
        return (header & 0xff) + 2;
    case COMMAND_RENDER_OR_MEDIA:
        if (header >> 16 == PIPELINE_SELECT || header >> 16 == MFX_WAIT)
            return 1;
        return (header & ((header >> 27 & 3) == MEDIA_PIPELINE ? 0xfff : 0xff)) + 2;
    default:
        return 0;
    }
}

static bool has_commands(struct batch *batch, unsigned region)
{
    uint64_t address = mfx_huc_region(batch->mfx, region);
    const uint32_t *words = address ? batch_bytes(batch, address, HUC_BATCH_SIZE) : NULL;

    return words && words[0] >> 27 == MEDIA_FIRST_BYTE;
}

/* The commands of a batch that the HuC firmware would have made: the driver's own, which it would have started from. They
 * are looked for where they usually are first: elsewhere there may be an earlier session's, whose memory is reused. */
static uint64_t huc_batch(struct batch *batch)
{
    unsigned usual = mfx_is_hevc(batch->mfx) ? HUC_SLICES_REGION : HUC_INPUT_REGION;

    if (has_commands(batch, usual))
        return mfx_huc_region(batch->mfx, usual);
    for (unsigned region = 0; region < HUC_REGION_COUNT; region++)
        if (has_commands(batch, region))
            return mfx_huc_region(batch->mfx, region);
    return 0;
}

/* For H.265 HuC writes a batch like the driver's of HUC_INPUT_REGION: the same commands at the same place. */
static uint64_t hevc_batch_like(struct batch *batch, uint64_t address)
{
    uint64_t input = mfx_huc_region(batch->mfx, HUC_INPUT_REGION);
    uint64_t offset = address - mfx_huc_region(batch->mfx, HUC_OUTPUT_REGION);
    const uint32_t *words = input ? batch_bytes(batch, input + offset, sizeof *words) : NULL;

    return words && words[0] ? input + offset : 0;
}

/* The commands that stand for a batch of HuC's; 0 if there are none. For H.264 there is one a picture, with its
 * image state. For H.265 there are the picture's and one a slice; on Ice Lake the slices' are one after another in
 * a region of their own. */
static uint64_t next_huc_batch(struct batch *batch, uint64_t address)
{
    unsigned started = mfx_huc_batches(batch->mfx);
    bool hevc = mfx_is_hevc(batch->mfx);
    uint64_t like = hevc ? hevc_batch_like(batch, address) : 0;

    if (like)
        return like;
    if (hevc ? started == 0 : started > 0)
        return 0;
    return started > 1 ? mfx_next_huc_batch(batch->mfx) : huc_batch(batch);
}

/* Where the batch after that one's end begins; 0 if nothing is. */
static uint64_t batch_behind(struct batch *batch, uint64_t address)
{
    size_t count = batch_available(batch, address) / sizeof(uint32_t), position = 0;
    const uint32_t *words = batch_bytes(batch, address, sizeof *words);

    while (words && position < count && words[position] != MI_BATCH_BUFFER_END << MI_OPCODE_SHIFT)
        position += command_length(words[position]) ? command_length(words[position]) : count;
    for (position++; words && position < count; position++)
        if (words[position] != MI_NOOP)
            return address + position * sizeof *words;
    return 0;
}

/* Whether HuC would have written that batch: what stands there is of an earlier session, whose memory the driver reuses. */
static bool is_made_by_huc(struct batch *batch, uint64_t address)
{
    uint64_t output = mfx_is_hevc(batch->mfx) ? mfx_huc_region(batch->mfx, HUC_OUTPUT_REGION) : 0;

    return output && address >= output && address - output < HUC_OUTPUT_SIZE;
}

static void start_huc_batch(struct batch *batch, uint64_t address)
{
    uint64_t made = next_huc_batch(batch, address);
    const uint32_t *words = made ? batch_bytes(batch, made, sizeof *words) : NULL;

    mfx_took_huc_batch(batch->mfx, words ? batch_behind(batch, made) : 0);
    if (words)
        mi_execute(batch, words, batch_available(batch, made) / sizeof *words);
}

static void start_batch(struct batch *batch, uint64_t address)
{
    const uint32_t *words;
    size_t count;

    address &= ~(uint64_t)DWORD_ADDRESS_MASK;
    words = memory_dword(batch, address);
    count = batch_available(batch, address) / sizeof *words;

    if (batch->depth == DEEPEST_BATCH)
        report_undone(batch->file->device, "a batch that is started by as many others");
    if (!words || batch->depth == DEEPEST_BATCH)
        return;
    batch->depth++;
    if (is_made_by_huc(batch, address) || (count > 1 && !words[0] && !words[1]))
        start_huc_batch(batch, address);
    else
        mi_execute(batch, words, count);
    batch->depth--;
}

/* False if the batch ends. */
static bool execute_mi(struct batch *batch, const struct command *command)
{
    const uint32_t *words = command->words;
    unsigned address_size = batch->wide_addresses ? 2 : 1; /* in dwords */

    switch (command->header >> MI_OPCODE_SHIFT & 0x3f) {
    case MI_BATCH_BUFFER_END:
        return false;
    case MI_MATH:
        math(batch, command);
        break;
    case MI_STORE_DATA_IMM:
        if (command->count > 3)
            store(batch, batch_address(batch, words + 3 - address_size), words[3]);
        break;
    case MI_LOAD_REGISTER_IMM:
        load_registers(batch, command);
        break;
    case MI_STORE_REGISTER_MEM:
        if (command->count > 1 + address_size)
            store(batch, batch_address(batch, words + 2), read_register(batch, words[1] & MI_REGISTER_MASK));
        break;
    case MI_FLUSH_DW:
        if (command->count > 2)
            flush(batch, command);
        break;
    case MI_LOAD_REGISTER_MEM:
        if (command->count > 1 + address_size)
            write_register(batch, words[1], load(batch, batch_address(batch, words + 2)));
        break;
    case MI_LOAD_REGISTER_REG:
        if (command->count > 2)
            write_register(batch, words[2], read_register(batch, words[1]));
        break;
    case MI_COPY_MEM_MEM:
        if (command->count > 4)
            store(batch, batch_address(batch, words + 1), load(batch, batch_address(batch, words + 3)));
        break;
    case MI_ATOMIC:
        if (command->count > 2)
            atomic(batch, command);
        break;
    case MI_CONDITIONAL_BATCH_BUFFER_END:
        return command->count <= 1 + address_size || goes_on(batch, command);
    case MI_BATCH_BUFFER_START:
        if (command->count > address_size)
            start_batch(batch, batch_address(batch, words + 1));
        return command->header & MI_SECOND_LEVEL_BATCH;
    default:
        break; /* what waits, flushes or reports has nothing to do here */
    }
    return true;
}

static void print(const struct batch *batch, const struct command *command)
{
    char text[PRINTED_DWORDS * sizeof "ffffffff"] = "";
    size_t length = 0;

    for (size_t i = 1; i < command->count && i < PRINTED_DWORDS; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, " %x", command->words[i]);
    debug("%*s%08x, %zu dwords:%s", (int)batch->depth * 2, "", command->header, command->count, text);
}

void mi_execute(struct batch *batch, const uint32_t *words, size_t count)
{
    for (size_t position = 0; position < count;) {
        struct command command = {words[position], words + position, command_length(words[position])};

        if (!command.count || command.count > count - position) {
            message("%08x at dword %zu of %zu is no command, or one that is longer than its batch", command.header,
                    position, count);
            return;
        }
        if (command.header && settings()->debug)
            print(batch, &command);
        if (command.header >> 29 == COMMAND_MI && !execute_mi(batch, &command))
            return;
        if (command.header >> 29 == COMMAND_RENDER_OR_MEDIA)
            execute_media(batch, &command);
        position += command.count;
    }
}
