import { ErrorDetail } from '../../proto/gen/ahs/common/v1/common.ts';
import { ERRORS, isErrorCode, type Refusal, refuse } from '../errors.ts';

/** The trailer in which a refusal travels, as an encoded ahs.common.v1.ErrorDetail. */
export const ERROR_TRAILER = 'ahs-error-bin';

/** HTTP/2 takes 64 KiB of trailers, in base64; one that is longer would end the call without any. */
const DETAILS_BYTES = 24 * 1024;
const MESSAGE_CHARACTERS = 4_000;

/** What does not fit into a trailer is left out: the end of a long message, and the last details. */
export function encodeRefusal(refusal: Refusal): Uint8Array {
  let room = DETAILS_BYTES;
  const fitting = refusal.details.filter(({ pointer, message }) => {
    room -= Buffer.byteLength(pointer) + Buffer.byteLength(message);
    return room >= 0;
  });
  return ErrorDetail.encode({
    code: refusal.code,
    message: refusal.message.slice(0, MESSAGE_CHARACTERS),
    details: fitting,
    retryAfterSeconds: refusal.retryAfterSeconds,
  }).finish();
}

/** A code that this release does not know comes from a newer one: it becomes INTERNAL and keeps no text. */
export function decodeRefusal(bytes: Uint8Array): Refusal {
  const detail = ErrorDetail.decode(bytes);
  if (!isErrorCode(detail.code)) return unexpected();
  return refuse(detail.code, detail.message, {
    details: detail.details,
    ...(detail.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: detail.retryAfterSeconds }),
  });
}

/** What an error of no known kind looks like to everybody but the log. */
export function unexpected(cause?: unknown): Refusal {
  return refuse('INTERNAL', 'An unexpected failure. The request id finds its log line.', { cause });
}

/** The gRPC status (https://grpc.io/docs/guides/status-codes/) that goes with a refusal, for tools that only know gRPC. */
export function grpcStatus(refusal: Refusal): number {
  return GRPC_STATUS[ERRORS[refusal.code].status] ?? 13;
}

const GRPC_STATUS: Record<number, number> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  408: 4,
  409: 9,
  412: 10,
  413: 11,
  414: 3,
  415: 3,
  429: 8,
  431: 3,
  499: 1,
  500: 13,
  503: 14,
  504: 4,
  507: 8,
};
