#include "CSDL2.h"

#include <dlfcn.h>
#include <stdio.h>

static const char *const library_name = "libSDL2-2.0.so.0";

bool csdl2_load(struct csdl2_library *library, char *reason, size_t size) {
    // Its libraries run threads and exit handlers, so nothing is ever unloaded.
    void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        snprintf(reason, size, "%s", dlerror());
        return false;
    }
#define RESOLVE(name)                                                              \
    if (!(library->name = (__typeof__(library->name))dlsym(handle, "SDL_" #name))) { \
        snprintf(reason, size, "%s has no SDL_" #name, library_name);               \
        return false;                                                               \
    }
    RESOLVE(SetHint)
    RESOLVE(Init)
    RESOLVE(Quit)
    RESOLVE(GetError)
    RESOLVE(CreateWindow)
    RESOLVE(DestroyWindow)
    RESOLVE(SetWindowSize)
    RESOLVE(SetWindowPosition)
    RESOLVE(SetWindowFullscreen)
    RESOLVE(GetDisplayUsableBounds)
    RESOLVE(CreateRenderer)
    RESOLVE(DestroyRenderer)
    RESOLVE(GetRendererOutputSize)
    RESOLVE(SetYUVConversionMode)
    RESOLVE(CreateTexture)
    RESOLVE(DestroyTexture)
    RESOLVE(UpdateTexture)
    RESOLVE(UpdateYUVTexture)
    RESOLVE(UpdateNVTexture)
    RESOLVE(SetRenderDrawColor)
    RESOLVE(RenderClear)
    RESOLVE(RenderCopy)
    RESOLVE(RenderFillRect)
    RESOLVE(RenderFillRects)
    RESOLVE(RenderPresent)
    RESOLVE(WaitEvent)
    RESOLVE(WaitEventTimeout)
    RESOLVE(PushEvent)
    RESOLVE(InitSubSystem)
    RESOLVE(QuitSubSystem)
    RESOLVE(OpenAudioDevice)
    RESOLVE(CloseAudioDevice)
    RESOLVE(PauseAudioDevice)
    RESOLVE(QueueAudio)
    RESOLVE(GetQueuedAudioSize)
    RESOLVE(ClearQueuedAudio)
#undef RESOLVE
    return true;
}
