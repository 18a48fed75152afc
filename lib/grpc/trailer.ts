import { ErrorDetail } from '../../proto/gen/ahs/common/v1/common.ts';
import { ERRORS, isErrorCode, type Refusal, refuse } from '../errors.ts';

/** The trailer that carries a refusal as an encoded ahs.common.v1.ErrorDetail. */
export const ERROR_TRAILER = 'ahs-error-bin';

/** HTTP/2 allows 64 KiB of trailers in base64. With a longer trailer, the call would end without any. */
const MAX_DETAILS_BYTES = 24 * 1024;
const MAX_MESSAGE_CHARACTERS = 4_000;

/** Encodes a refusal for the trailer. */
export function encodeRefusal(refusal: Refusal): Uint8Array {
  return ErrorDetail.encode(errorDetail(refusal)).finish();
}

/** Returns the message for a refusal. Truncates a long text and drops the details that exceed the trailer limit. */
export function errorDetail({ code, message, details, retryAfterSeconds }: Refusal): ErrorDetail {
  let remainingBytes = MAX_DETAILS_BYTES;
  const fitting = details.filter((problem) => {
    remainingBytes -= Buffer.byteLength(problem.pointer) + Buffer.byteLength(problem.message);
    return remainingBytes >= 0;
  });
  return { code, message: message.slice(0, MAX_MESSAGE_CHARACTERS), details: fitting, retryAfterSeconds };
}

export function decodeRefusal(bytes: Uint8Array): Refusal {
  return refusalOf(ErrorDetail.decode(bytes));
}

/** Returns the refusal of a message. An unknown code comes from a newer release and becomes INTERNAL without its text. */
export function refusalOf({ code, message, details, retryAfterSeconds }: ErrorDetail): Refusal {
  if (!isErrorCode(code)) return internalError();
  return refuse(code, message, {
    details,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** Returns the INTERNAL refusal for an unexpected error. Only the log sees the cause. */
export function internalError(cause?: unknown): Refusal {
  return refuse('INTERNAL', 'An unexpected failure. Use the request id to find its log line.', { cause });
}

/** Returns the gRPC status (https://grpc.io/docs/guides/status-codes/) of a refusal, for generic gRPC tools. */
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
  501: 12,
  503: 14,
  504: 4,
  505: 12,
  507: 8,
};
