/* Commands and registers of Intel's command streamer and video engines, in the parts that encoding needs. Numbers: the
 * kernel's drivers/gpu/drm/i915/gt/intel_gpu_commands.h (MI_*), the Programmer's Reference Manuals for Skylake and Ice
 * Lake, volume 2a "Command Reference: Instructions" and volume 2c "Command Reference: Registers", and for the dwords
 * of MFX, VDENC, HCP and HuC commands also the drivers' mhw_vdbox_*_hwcmd_*.h (intel/media-driver). */
#ifndef INTEL_COMMANDS_H
#define INTEL_COMMANDS_H

/* Bits 31:29 of the first dword */
enum command_type { COMMAND_MI = 0, COMMAND_2D = 2, COMMAND_RENDER_OR_MEDIA = 3 };

/* MI_…: bits 28:23 */
enum mi_opcode {
    MI_NOOP = 0x00,
    MI_BATCH_BUFFER_END = 0x0a,
    MI_MATH = 0x1a,
    MI_STORE_DATA_IMM = 0x20,
    MI_LOAD_REGISTER_IMM = 0x22,
    MI_STORE_REGISTER_MEM = 0x24,
    MI_FLUSH_DW = 0x26,
    MI_LOAD_REGISTER_MEM = 0x29,
    MI_LOAD_REGISTER_REG = 0x2a,
    MI_COPY_MEM_MEM = 0x2e,
    MI_ATOMIC = 0x2f,
    MI_BATCH_BUFFER_START = 0x31,
    MI_CONDITIONAL_BATCH_BUFFER_END = 0x36,
};

enum mi_fields {
    MI_OPCODE_SHIFT = 23,
    MI_FIRST_LONG_OPCODE = 0x10, /* commands before it are one dword */
    MI_SECOND_LEVEL_BATCH = 1 << 22,
    MI_FLUSH_POST_SYNC_WRITE = 1, /* bits 15:14 of MI_FLUSH_DW: write immediate data */
    MI_REGISTER_MASK = 0x3fffff,
    MI_COMPARE_SEMAPHORE = 1 << 21, /* of MI_CONDITIONAL_BATCH_BUFFER_END */
    MI_COMPARE_MASK = 1 << 19,
};

/* Bits 15:8 of MI_ATOMIC. Operands are in the general purpose registers 0 and 4. */
enum mi_atomic_operation {
    ATOMIC_AND = 1,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_MOVE,
    ATOMIC_INCREMENT,
    ATOMIC_DECREMENT,
    ATOMIC_ADD,
    ATOMIC_SUBTRACT,
    ATOMIC_COMPARE_AND_WRITE = 14,
    ATOMIC_8_BYTES = 0x20, /* the same on 64 bits */
    ATOMIC_FIRST_OPERAND = 0,
    ATOMIC_SECOND_OPERAND = 4,
};

/* An instruction of MI_MATH: opcode in bits 31:20, operands in 19:10 and 9:0 */
enum mi_math_opcode {
    MI_MATH_LOAD = 0x080,
    MI_MATH_LOADINV = 0x480,
    MI_MATH_LOAD0 = 0x081,
    MI_MATH_LOAD1 = 0x481,
    MI_MATH_ADD = 0x100,
    MI_MATH_SUB = 0x101,
    MI_MATH_AND = 0x102,
    MI_MATH_OR = 0x103,
    MI_MATH_XOR = 0x104,
    MI_MATH_STORE = 0x180,
    MI_MATH_STOREINV = 0x580,
};

enum mi_math_operand {
    MI_MATH_REG_COUNT = 16,
    MI_MATH_SRCA = 0x20,
    MI_MATH_ACCU = 0x31,
    MI_MATH_ZF = 0x32,
    MI_MATH_CF = 0x33,
};

/* Registers, by their offset in the 4 KiB page that each engine has. */
enum engine_register {
    HUC_STATUS2 = 0x3b0,
    CS_GPR = 0x600, /* sixteen of 64 bits */
    CS_GPR_END = 0x680,
    MFC_BITSTREAM_BYTECOUNT_FRAME = 0x8a0,
    HCP_BITSTREAM_BYTECOUNT_FRAME = 0x9a0,
    ENGINE_REGISTER_MASK = 0xfff,
    HUC_FIRMWARE_LOADED = 0x40, /* in HUC_STATUS2 */
};

/* The upper 16 bits of render and media commands that have no length, or that have an effect here. */
enum media_command {
    MFX_WAIT = 0x6800,
    PIPELINE_SELECT = 0x6904,
    MFX_PIPE_MODE_SELECT = 0x7000,
    MFX_SURFACE_STATE = 0x7001,
    MFX_PIPE_BUF_ADDR_STATE = 0x7002,
    MFX_IND_OBJ_BASE_ADDR_STATE = 0x7003,
    MFX_PAK_INSERT_OBJECT = 0x7048,
    VDENC_SRC_SURFACE_STATE = 0x7081,
    VDENC_PIPE_BUF_ADDR_STATE = 0x7084,
    VDENC_AVC_IMG_STATE = 0x7085,
    VDENC_WALKER_STATE = 0x7087,
    MFX_AVC_IMG_STATE = 0x7100,
    MFX_AVC_SLICE_STATE = 0x7103,
    MFC_AVC_PAK_OBJECT = 0x7149,
    HCP_PIPE_MODE_SELECT = 0x7380,
    HCP_IND_OBJ_BASE_ADDR_STATE = 0x7383,
    HCP_PIC_STATE = 0x7390,
    HCP_SLICE_STATE = 0x7394,
    HCP_PAK_INSERT_OBJECT = 0x73a2,
    HUC_VIRTUAL_ADDR_STATE = 0x7584,
};

enum media_fields {
    MEDIA_PIPELINE = 2,                   /* bits 28:27: MFX, VDENC, HCP and HuC */
    MEDIA_FIRST_BYTE = 0x70 >> 3,         /* bits 31:27 of each such command */
    SURFACE_OF_SOURCE = 4,                /* bits 3:0 of MFX_SURFACE_STATE's DW1 */
    SURFACE_TILED = 1 << 1,               /* in DW3 of both surface states */
    INSERT_EMULATION_PREVENTION = 1 << 3, /* in DW1 of PAK_INSERT_OBJECT */
    INSERT_SLICE_HEADER = 1 << 14,        /* the same: SliceHeaderIndicator */
    SKYLAKE_WALKER_DWORDS = 2,            /* VDENC_WALKER_STATE there; later ones say where the slice ends */
    HUC_REGION_COUNT = 16,
    SLICE_TYPE_I = 2, /* of MFX_AVC_SLICE_STATE and HCP_SLICE_STATE; MFX: 0 P, 1 B; HCP: 0 B, 1 P */
};

#endif
