/* Intel's video engines: H.264 by MFX and VDENC, H.265 by HCP and VDENC. */
#ifndef MFX_H
#define MFX_H

#include "batch.h"

/* What an engine keeps from command to command, for a context of the driver's; made at the first use. Null: no memory.
 */
struct mfx_context *mfx_context(struct file *file, uint32_t id);
void mfx_free_context(struct file *file, uint32_t id);
void mfx_free_contexts(struct file *file);

/* A command of the media pipeline, with its header. */
void mfx_execute(struct batch *batch, const uint32_t *words, size_t count);

/* The general purpose registers: sixteen of 64 bits, in halves. */
uint32_t *mfx_registers(struct mfx_context *context);
/* What the bytecount registers say: of the picture so far. */
uint32_t mfx_coded_bytes(const struct mfx_context *context);

/* What the register of decoding errors says; 0: none. */
uint32_t mfx_error_flags(const struct mfx_context *context);

/* A region of HUC_VIRTUAL_ADDR_STATE; 0 if there is none. */
uint64_t mfx_huc_region(const struct mfx_context *context, unsigned region);
/* How many batches of HuC's were started for this picture, and where the commands for the next one are: 0 not known. */
unsigned mfx_huc_batches(const struct mfx_context *context);
uint64_t mfx_next_huc_batch(const struct mfx_context *context);
void mfx_took_huc_batch(struct mfx_context *context, uint64_t next);
bool mfx_is_hevc(const struct mfx_context *context);

/* The video enhancement engine's. */
struct vebox *mfx_vebox(struct mfx_context *context);

#endif
