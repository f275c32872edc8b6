/* Names from the specifications.
 *
 * "UVC" is "USB Device Class Definition for Video Devices", revision 1.1; "MJPEG" and "Uncompressed" are its payload
 * documents, same revision; "UAC" is "USB Device Class Definition for Audio Devices", release 1.0, and "Formats" its
 * document on data formats; "USB" is the USB 2.0 specification. The same short forms are used in the other files. */
#ifndef UVC_H
#define UVC_H

enum { /* USB 9.4, table 9-4 */
    GET_STATUS = 0,
    CLEAR_FEATURE = 1,
    SET_FEATURE = 3,
    GET_DESCRIPTOR = 6,
    GET_CONFIGURATION = 8,
    SET_CONFIGURATION = 9,
    GET_INTERFACE = 10,
    SET_INTERFACE = 11,
};
enum { DT_DEVICE = 1, DT_CONFIG, DT_STRING, DT_INTERFACE, DT_ENDPOINT, DT_INTERFACE_ASSOCIATION = 11 };
enum { FEATURE_ENDPOINT_HALT = 0 }; /* USB table 9-6 */
enum { CC_VIDEO = 0x0e, SC_VIDEOCONTROL = 1, SC_VIDEOSTREAMING, SC_VIDEO_INTERFACE_COLLECTION }; /* UVC A.1, A.2 */
enum { CS_INTERFACE = 0x24 };                                                                    /* UVC A.4 */
enum { VC_HEADER = 1, VC_INPUT_TERMINAL, VC_OUTPUT_TERMINAL, VC_PROCESSING_UNIT = 5 };           /* UVC A.5 */
enum {                                                                                           /* UVC A.6 */
    VS_INPUT_HEADER = 1,
    VS_FORMAT_UNCOMPRESSED = 4,
    VS_FRAME_UNCOMPRESSED = 5,
    VS_FORMAT_MJPEG = 6,
    VS_FRAME_MJPEG = 7,
    VS_COLORFORMAT = 13,
};
enum { SET_CUR = 0x01, GET_CUR = 0x81, GET_MIN, GET_MAX, GET_RES, GET_LEN, GET_INFO, GET_DEF };      /* UVC A.8 */
enum { VC_REQUEST_ERROR_CODE_CONTROL = 2 };                                                          /* UVC A.9.1 */
enum { PU_BRIGHTNESS_CONTROL = 2 };                                                                  /* UVC A.9.5 */
enum { VS_PROBE_CONTROL = 1, VS_COMMIT_CONTROL, VS_STREAM_ERROR_CODE_CONTROL = 6 };                  /* UVC A.9.7 */
enum { ITT_CAMERA = 0x0201, TT_STREAMING = 0x0101 };                                                 /* UVC B.1, B.2 */
enum { BFH_FID = 1, BFH_EOF = 2, BFH_PTS = 4, BFH_SCR = 8, BFH_ERR = 64, BFH_EOH = 128 };            /* UVC 2.4.3.3 */
enum {                                                                                               /* UVC 4.2.1.2 */
    REQ_ERR_OUT_OF_RANGE = 4,
    REQ_ERR_INVALID_UNIT,
    REQ_ERR_INVALID_CONTROL,
    REQ_ERR_INVALID_REQUEST,
};
enum { CC_AUDIO = 1, SC_AUDIOCONTROL = 1, SC_AUDIOSTREAMING };                              /* UAC A.1, A.2 */
enum { CS_ENDPOINT = 0x25 };                                                                 /* UAC A.4 */
enum { AC_HEADER = 1, AC_INPUT_TERMINAL, AC_OUTPUT_TERMINAL };                               /* UAC A.5 */
enum { AS_GENERAL = 1, AS_FORMAT_TYPE };                                                     /* UAC A.6 */
enum { EP_GENERAL = 1 };                                                                     /* UAC A.8 */
enum { FORMAT_TYPE_I = 1, FORMAT_PCM = 1, AUDIO_MICROPHONE = 0x0201, AUDIO_STREAMING = 0x0101 }; /* Formats A.1, A.2 */
enum { STREAM_ERR_NONE = 0, STREAM_ERR_DATA_DISCONTINUITY = 3 }; /* UVC 4.3.1.7 */

#endif
