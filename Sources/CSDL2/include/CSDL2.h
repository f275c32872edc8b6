// SDL 2, loaded when a window is opened.
//
// If it were linked like the others, it would bring X11, Wayland and sound libraries into every start of camplay, even
// if no window is wanted or possible. Its functions therefore come from dlopen; structures are read as the header lays
// them out, which SDL 2 keeps stable.
#ifndef CSDL2_H
#define CSDL2_H

#define SDL_MAIN_HANDLED
#include <SDL2/SDL.h>
#include <stdbool.h>
#include <stddef.h>

// The functions of SDL that camplay uses, named without SDL_.
struct csdl2_library {
    __typeof__(&SDL_SetHint) SetHint;
    __typeof__(&SDL_Init) Init;
    __typeof__(&SDL_Quit) Quit;
    __typeof__(&SDL_GetError) GetError;
    __typeof__(&SDL_CreateWindow) CreateWindow;
    __typeof__(&SDL_DestroyWindow) DestroyWindow;
    __typeof__(&SDL_SetWindowSize) SetWindowSize;
    __typeof__(&SDL_SetWindowPosition) SetWindowPosition;
    __typeof__(&SDL_SetWindowFullscreen) SetWindowFullscreen;
    __typeof__(&SDL_GetDisplayUsableBounds) GetDisplayUsableBounds;
    __typeof__(&SDL_CreateRenderer) CreateRenderer;
    __typeof__(&SDL_DestroyRenderer) DestroyRenderer;
    __typeof__(&SDL_GetRendererOutputSize) GetRendererOutputSize;
    __typeof__(&SDL_SetYUVConversionMode) SetYUVConversionMode;
    __typeof__(&SDL_CreateTexture) CreateTexture;
    __typeof__(&SDL_DestroyTexture) DestroyTexture;
    __typeof__(&SDL_UpdateTexture) UpdateTexture;
    __typeof__(&SDL_UpdateYUVTexture) UpdateYUVTexture;
    __typeof__(&SDL_UpdateNVTexture) UpdateNVTexture;
    __typeof__(&SDL_SetRenderDrawColor) SetRenderDrawColor;
    __typeof__(&SDL_RenderClear) RenderClear;
    __typeof__(&SDL_RenderCopy) RenderCopy;
    __typeof__(&SDL_RenderFillRect) RenderFillRect;
    __typeof__(&SDL_RenderFillRects) RenderFillRects;
    __typeof__(&SDL_RenderPresent) RenderPresent;
    __typeof__(&SDL_WaitEvent) WaitEvent;
    __typeof__(&SDL_WaitEventTimeout) WaitEventTimeout;
    __typeof__(&SDL_PushEvent) PushEvent;
    __typeof__(&SDL_InitSubSystem) InitSubSystem;
    __typeof__(&SDL_QuitSubSystem) QuitSubSystem;
    __typeof__(&SDL_OpenAudioDevice) OpenAudioDevice;
    __typeof__(&SDL_CloseAudioDevice) CloseAudioDevice;
    __typeof__(&SDL_PauseAudioDevice) PauseAudioDevice;
    __typeof__(&SDL_QueueAudio) QueueAudio;
    __typeof__(&SDL_GetQueuedAudioSize) GetQueuedAudioSize;
    __typeof__(&SDL_ClearQueuedAudio) ClearQueuedAudio;
};

// Macros as constants.
static const Uint32 csdl2_init_video = SDL_INIT_VIDEO;
static const Uint32 csdl2_init_audio = SDL_INIT_AUDIO;
static const SDL_AudioFormat csdl2_samples = AUDIO_S16SYS;
static const int csdl2_anywhere = SDL_WINDOWPOS_UNDEFINED;
static const int csdl2_centered = SDL_WINDOWPOS_CENTERED;
static const char *const csdl2_no_signal_handlers = SDL_HINT_NO_SIGNAL_HANDLERS;
static const char *const csdl2_video_driver = SDL_HINT_VIDEODRIVER;
static const char *const csdl2_scale_quality = SDL_HINT_RENDER_SCALE_QUALITY;

// Loads the library and fills the table. False if there is none or it lacks a function; `reason`, of `size`
// bytes, then says why. The library stays loaded for the life of the process.
bool csdl2_load(struct csdl2_library *library, char *reason, size_t size);

#endif
