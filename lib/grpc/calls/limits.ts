/**
 * Longer requests use a call of their own, and longer responses are sent in parts of this size, so that they do not delay
 * others.
 */
export const MAX_FRAME_BYTES = 64 * 1024;
/** Open calls of one stream. Further calls are refused as retryable. */
export const MAX_OPEN_CALLS = 10_000;
/** Bytes of frames that wait because the other process does not read. */
export const MAX_QUEUED_BYTES = 64 * 1024 * 1024;
/**
 * Bytes of responses that wait on the side of the service, and of parts of responses that wait for their end on the side
 * of the caller. The call of a further response fails as retryable.
 */
export const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
/** An estimate of the bytes of a frame besides its message. Without it, short messages could wait in any number. */
export const FRAME_BYTES = 512;
