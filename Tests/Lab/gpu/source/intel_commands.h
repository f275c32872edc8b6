/* Commands and registers of Intel's command streamer and video engines, in the parts that encoding needs. Numbers: the
 * kernel's drivers/gpu/drm/i915/gt/intel_gpu_commands.h (MI_*), the Programmer's Reference Manuals for Skylake and Ice
 * Lake, volume 2a "Command Reference: Instructions" and volume 2c "Command Reference: Registers", and for the dwords
 * of MFX, VDENC, HCP and HuC commands also the drivers' mhw_vdbox_*_hwcmd_*.h (intel/media-driver). */
#ifndef INTEL_COMMANDS_H
#define INTEL_COMMANDS_H

#include <stdint.h>

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

/* Bits 14:12 of MI_CONDITIONAL_BATCH_BUFFER_END, from Tiger Lake on; before, they are 0. What is in memory, compared
 * with the command's value: the batch goes on where that is so. */
enum mi_compare_operation {
    MEMORY_GREATER,
    MEMORY_GREATER_OR_EQUAL,
    MEMORY_LESS,
    MEMORY_LESS_OR_EQUAL,
    MEMORY_EQUAL,
    MEMORY_NOT_EQUAL,
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
    MFX_ERROR_FLAGS = 0x800,
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
    MFX_QM_STATE = 0x7007,
    MFX_PAK_INSERT_OBJECT = 0x7048,
    VDENC_SRC_SURFACE_STATE = 0x7081,
    VDENC_PIPE_BUF_ADDR_STATE = 0x7084,
    VDENC_AVC_IMG_STATE = 0x7085,
    VDENC_WALKER_STATE = 0x7087,
    MFX_AVC_IMG_STATE = 0x7100,
    MFX_AVC_SLICE_STATE = 0x7103,
    MFD_AVC_BSD_OBJECT = 0x7128,
    MFC_AVC_PAK_OBJECT = 0x7149,
    MFX_JPEG_PIC_STATE = 0x7700,
    MFX_JPEG_HUFF_TABLE_STATE = 0x7702,
    MFD_JPEG_BSD_OBJECT = 0x7728,
    HCP_PIPE_MODE_SELECT = 0x7380,
    HCP_IND_OBJ_BASE_ADDR_STATE = 0x7383,
    HCP_PIC_STATE = 0x7390,
    HCP_SLICE_STATE = 0x7394,
    HCP_PAK_INSERT_OBJECT = 0x73a2,
    HUC_VIRTUAL_ADDR_STATE = 0x7584,
};

/* Media commands of the render engine, which has taken PIPELINE_SELECT. */
enum shader_command {
    MEDIA_OBJECT = 0x7100,
    MEDIA_OBJECT_WALKER = 0x7103,
    GPGPU_WALKER = 0x7105,
};

/* Media commands of the video enhancement engine, and dwords of theirs (mhw_vebox_hwcmd_g11_X.h). */
enum vebox_command {
    VEBOX_SURFACE_STATE = 0x7400,
    VEBOX_STATE = 0x7402,
    VEBOX_DI_IECP = 0x7403,
};

enum { VEBOX_OPCODE = 4 }; /* bits 26:24 of theirs */

enum vebox_dwords {
    VEBOX_COLOURS = 4, /* of VEBOX_STATE: the address of VEBOX_IECP_STATE */
    VEBOX_CHROMA = 18,
    VEBOX_INPUT = 2, /* of VEB_DI_IECP: addresses */
    VEBOX_OUTPUT = 12,
};

/* DW1 of MFX_PIPE_MODE_SELECT: the standard in bits 3:0, bit 4 for encoding. Of HCP_PIPE_MODE_SELECT: bit 0 for
 * encoding, the standard in bits 7:5. */
enum pipe_mode {
    MFX_STANDARD_MASK = 0xf,
    MFX_STANDARD_AVC = 2,
    MFX_STANDARD_JPEG = 3,
    MFX_ENCODES = 1 << 4,
    MFX_POST_DEBLOCKING = 1 << 9, /* else the picture goes out before deblocking */
    HCP_ENCODES = 1,
    HCP_STANDARD_MASK = 7 << 5,
    HCP_STANDARD_HEVC = 0,
};

/* Bits of a command: which dword they are in, the lowest one, and how many. */
struct command_field {
    unsigned char dword, bit, width;
};

#define FIELD(dword, high, low) ((struct command_field){(dword), (low), (high) - (low) + 1})

static inline uint32_t get(const uint32_t *words, struct command_field field)
{
    return words[field.dword] >> field.bit & (uint32_t)((1ULL << field.width) - 1);
}

/* The same as a number with a sign. */
static inline int32_t get_signed(const uint32_t *words, struct command_field field)
{
    return (int32_t)(get(words, field) << (32 - field.width)) >> (32 - field.width);
}

/* MFX_SURFACE_STATE and VDENC_SRC_SURFACE_STATE, which are alike; sizes and the pitch less one. */
#define MFX_SURFACE_ID FIELD(1, 3, 0)
#define SURFACE_WIDTH FIELD(2, 17, 4)
#define SURFACE_HEIGHT FIELD(2, 31, 18)
#define SURFACE_PITCH FIELD(3, 19, 3)
#define SURFACE_TILED_Y FIELD(3, 1, 1)
#define SURFACE_HALF_PITCH_FOR_CHROMA FIELD(3, 2, 2)
#define SURFACE_CHROMA_ROW FIELD(4, 14, 0)
#define SURFACE_CR_ROW FIELD(5, 15, 0)

/* VEBOX_SURFACE_STATE, where it is not like MFX_SURFACE_STATE. */
#define VEBOX_INTERLEAVED_CHROMA FIELD(3, 20, 20)
#define VEBOX_FORMAT FIELD(3, 31, 27)
/* Of the dword VEBOX_CHROMA. */
#define VEBOX_CHROMA_ROW_OFFSET FIELD(0, 9, 7)
/* VEBOX_IECP_STATE: what changes colours. */
#define VEBOX_STD_ENABLE FIELD(0, 0, 0)
#define VEBOX_STE_ENABLE FIELD(0, 1, 1)
#define VEBOX_ACE_ENABLE FIELD(29, 0, 0)
#define VEBOX_TCC_ENABLE FIELD(42, 7, 7)
#define VEBOX_PROCAMP_ENABLE FIELD(53, 0, 0)
#define VEBOX_CSC_ENABLE FIELD(55, 31, 31)
#define VEBOX_CCM_ENABLE FIELD(70, 31, 31)
#define VEBOX_FRONT_END_CSC_ENABLE FIELD(85, 31, 31)

enum vebox_fields {
    VEBOX_IS_OUTPUT = 1,              /* DW1 of VEBOX_SURFACE_STATE */
    VEBOX_YUYV = 0,                   /* VEBOX_FORMAT */
    VEBOX_UYVY = 3,
    VEBOX_PLANAR_420 = 4,
    VEBOX_IECP = 1 << 2,              /* DW1 of VEBOX_STATE */
    VEBOX_OTHER_FEATURES = 0x213c1b, /* there: gamut, noise, deinterlacing, raw pictures, alpha, LACE, gamma */
};

#define VEBOX_3D_LUT (1U << 31) /* of the dword VEBOX_CHROMA */

/* MFX_AVC_IMG_STATE: sizes in macroblocks, less one. From dword 13 on it is for decoders that read slice headers. */
#define MFX_AVC_IMG_WIDTH FIELD(2, 7, 0)
#define MFX_AVC_IMG_HEIGHT FIELD(2, 23, 16)
#define MFX_AVC_IMG_STRUCTURE FIELD(3, 9, 8) /* 0: a frame */
#define MFX_AVC_IMG_WEIGHTED_BIPRED_IDC FIELD(3, 11, 10)
#define MFX_AVC_IMG_WEIGHTED_PRED FIELD(3, 12, 12)
#define MFX_AVC_IMG_CB_QP_OFFSET FIELD(3, 20, 16)
#define MFX_AVC_IMG_CR_QP_OFFSET FIELD(3, 28, 24)
#define MFX_AVC_IMG_MBAFF FIELD(4, 1, 1)
#define MFX_AVC_IMG_FRAME_MBS_ONLY FIELD(4, 2, 2)
#define MFX_AVC_IMG_TRANSFORM_8X8 FIELD(4, 3, 3)
#define MFX_AVC_IMG_DIRECT_8X8_INFERENCE FIELD(4, 4, 4)
#define MFX_AVC_IMG_CONSTRAINED_INTRA FIELD(4, 5, 5)
#define MFX_AVC_IMG_ENTROPY_CODING FIELD(4, 7, 7)
#define MFX_AVC_IMG_CHROMA_FORMAT FIELD(4, 11, 10)
#define MFX_AVC_IMG_INITIAL_QP FIELD(13, 7, 0)
#define MFX_AVC_IMG_REFERENCE_FRAMES FIELD(13, 28, 24) /* of this picture */
#define MFX_AVC_IMG_PIC_ORDER_PRESENT FIELD(14, 0, 0)
#define MFX_AVC_IMG_DELTA_PIC_ORDER_ALWAYS_ZERO FIELD(14, 1, 1)
#define MFX_AVC_IMG_PIC_ORDER_CNT_TYPE FIELD(14, 3, 2)
#define MFX_AVC_IMG_REDUNDANT_PIC_CNT FIELD(14, 11, 11)
#define MFX_AVC_IMG_DEBLOCKING_CONTROL FIELD(14, 15, 15)
#define MFX_AVC_IMG_LOG2_MAX_FRAME_NUM FIELD(14, 23, 16)
#define MFX_AVC_IMG_LOG2_MAX_PIC_ORDER_CNT FIELD(14, 31, 24)

/* MFX_QM_STATE: which matrix; of H.264 three of 4x4 or one of 8x8, of JPEG one. */
#define MFX_QM_TYPE FIELD(1, 1, 0)

/* MFD_AVC_BSD_OBJECT and MFD_JPEG_BSD_OBJECT: bytes from the base address on. */
#define MFD_DATA_LENGTH FIELD(1, 31, 0)
#define MFD_DATA_START FIELD(2, 28, 0)
#define MFD_AVC_LAST_SLICE FIELD(4, 3, 3)
#define MFD_JPEG_SCAN_COMPONENTS FIELD(4, 29, 27)
#define MFD_JPEG_RESTART_INTERVAL FIELD(5, 15, 0)

/* MFX_JPEG_PIC_STATE: sizes in blocks of 8x8, less one. */
#define MFX_JPEG_INPUT_FORMAT FIELD(1, 2, 0)
#define MFX_JPEG_ROTATION FIELD(1, 5, 4)
#define MFX_JPEG_OUTPUT_FORMAT FIELD(1, 11, 8)
#define MFX_JPEG_AVERAGE_SAMPLING FIELD(1, 16, 16)
#define MFX_JPEG_VERTICAL_DOWN_SAMPLING FIELD(1, 17, 17)
#define MFX_JPEG_HORIZONTAL_DOWN_SAMPLING FIELD(1, 18, 18)
#define MFX_JPEG_VERTICAL_UP_SAMPLING FIELD(1, 20, 20)
#define MFX_JPEG_WIDTH FIELD(2, 12, 0)
#define MFX_JPEG_HEIGHT FIELD(2, 28, 16)
#define MFX_JPEG_HUFFMAN_TABLE FIELD(1, 0, 0)

/* MFX_AVC_SLICE_STATE: positions in macroblocks, of this slice and of the next. */
#define MFX_AVC_SLICE_TYPE FIELD(1, 3, 0)
#define MFX_AVC_SLICE_REFERENCES_0 FIELD(2, 21, 16)
#define MFX_AVC_SLICE_REFERENCES_1 FIELD(2, 29, 24)
#define MFX_AVC_SLICE_QP FIELD(3, 21, 16)
#define MFX_AVC_SLICE_CABAC_INIT_IDC FIELD(3, 25, 24)
#define MFX_AVC_SLICE_COLUMN FIELD(4, 23, 16)
#define MFX_AVC_SLICE_ROW FIELD(4, 31, 24)
#define MFX_AVC_SLICE_NEXT_COLUMN FIELD(5, 7, 0)
#define MFX_AVC_SLICE_NEXT_ROW FIELD(5, 26, 16)
#define MFX_AVC_SLICE_IS_LAST FIELD(6, 19, 19)

/* VDENC_AVC_IMG_STATE: in macroblocks, less one. */
#define VDENC_AVC_FRAME_HEIGHT FIELD(5, 15, 0)
#define VDENC_AVC_SLICE_HEIGHT FIELD(6, 15, 0)

/* HCP_PIC_STATE: in coding blocks of the least size, less one; that size by its logarithm, less 3. */
#define HCP_PIC_WIDTH FIELD(1, 10, 0)
#define HCP_PIC_HEIGHT FIELD(1, 26, 16)
#define HCP_PIC_MIN_CODING_BLOCK FIELD(2, 1, 0)

/* HCP_SLICE_STATE: positions in coding tree blocks, of this slice and of the next. */
#define HCP_SLICE_COLUMN FIELD(1, 9, 0)
#define HCP_SLICE_ROW FIELD(1, 25, 16)
#define HCP_SLICE_NEXT_COLUMN FIELD(2, 9, 0)
#define HCP_SLICE_NEXT_ROW FIELD(2, 25, 16)
#define HCP_SLICE_TYPE FIELD(3, 1, 0)
#define HCP_SLICE_IS_LAST FIELD(3, 2, 2)
#define HCP_SLICE_QP FIELD(3, 11, 6)
#define HCP_SLICE_SAO_CHROMA FIELD(4, 10, 10)
#define HCP_SLICE_SAO_LUMA FIELD(4, 11, 11)
#define HCP_SLICE_CABAC_INIT FIELD(4, 21, 21)

/* MFX_PAK_INSERT_OBJECT and HCP_PAK_INSERT_OBJECT, which are alike. */
#define INSERT_PLAIN_BYTES FIELD(1, 7, 4)
#define INSERT_BITS_IN_LAST_DWORD FIELD(1, 13, 8)

/* Where commands have addresses, each of two dwords and in most one of attributes; and what lengths tell the forms of
 * Ivy Bridge, whose addresses are one dword, from the later ones. */
enum media_addresses {
    MFX_PIPE_BUF_PRE_DEBLOCKING = 1, /* the decoded picture */
    MFX_PIPE_BUF_POST_DEBLOCKING = 4,
    MFX_IND_OBJ_BITSTREAM = 1, /* what is decoded */
    MFX_PIPE_BUF_ORIGINAL = 7, /* the third: the input picture */
    MFX_PIPE_BUF_ORIGINAL_SHORT = 3,
    MFX_PIPE_BUF_SHORT_FORM = 30,
    VDENC_PIPE_BUF_ORIGINAL = 10,
    MFX_IND_OBJ_PAK_BSE = 21, /* the coded buffer */
    MFX_IND_OBJ_PAK_BSE_END = 24,
    MFX_IND_OBJ_PAK_BSE_SHORT = 9,
    MFX_IND_OBJ_PAK_BSE_END_SHORT = 10,
    HCP_IND_OBJ_PAK_BSE = 9,
    HCP_IND_OBJ_PAK_BSE_END = 12,
    HUC_FIRST_REGION = 1,
    HUC_REGION_DWORDS = 3,
    INSERT_FIRST_DATA = 2,
    MFX_QM_FIRST = 2,
    MFX_JPEG_DC_COUNTS = 2, /* bytes, in whole dwords */
    MFX_JPEG_DC_VALUES = 5,
    MFX_JPEG_AC_COUNTS = 8,
    MFX_JPEG_AC_VALUES = 12,
};

/* MFX_JPEG_INPUT_FORMAT: the samples of a unit, in blocks of luma and of chroma. */
enum jpeg_input_format {
    JPEG_GREY,
    JPEG_420,
    JPEG_422H_2Y,
    JPEG_444,
    JPEG_411,
    JPEG_422V_2Y,
    JPEG_422H_4Y,
    JPEG_422V_4Y,
};

enum jpeg_output_format { JPEG_PLANAR, JPEG_NV12, JPEG_UYVY, JPEG_YUY2 };

/* MFX_QM_TYPE for H.264 */
enum avc_matrices { AVC_INTRA_4X4, AVC_INTER_4X4, AVC_INTRA_8X8, AVC_INTER_8X8 };

enum media_fields {
    MEDIA_PIPELINE = 2,                   /* bits 28:27: MFX, VDENC, HCP and HuC */
    MEDIA_FIRST_BYTE = 0x70 >> 3,         /* bits 31:27 of each such command */
    SURFACE_OF_SOURCE = 4,                /* MFX_SURFACE_ID */
    INSERT_EMULATION_PREVENTION = 1 << 3, /* in DW1 of PAK_INSERT_OBJECT */
    INSERT_SLICE_HEADER = 1 << 14,        /* the same: SliceHeaderIndicator */
    SKYLAKE_WALKER_DWORDS = 2,            /* VDENC_WALKER_STATE there; later ones say where the slice ends */
    HUC_REGION_COUNT = 16,
    HUC_SLICES_REGION = 12, /* the driver's batch of an H.265 picture's slices, on Ice Lake */
    HUC_INPUT_REGION = 3,  /* of the bit rate control's firmware for H.265: the driver's batch, */
    HUC_OUTPUT_REGION = 5, /* and the one that is made of it */
    SLICE_TYPE_I = 2,      /* of MFX_AVC_SLICE_STATE and HCP_SLICE_STATE; MFX: 0 P, 1 B; HCP: 0 B, 1 P */
};

#endif
