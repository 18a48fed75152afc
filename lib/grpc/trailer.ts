import { ErrorDetail } from '../../proto/gen/ahs/common/v1/common.ts';
import { ERRORS, isErrorCode } from '../error-codes.ts';
import { type FieldProblem, type Refusal, refuse } from '../errors.ts';

/** The trailer that carries a refusal as an encoded ahs.common.v1.ErrorDetail. */
export const ERROR_TRAILER = 'ahs-error-bin';

/**
 * HTTP/2 allows 64 KiB of trailers in base64, of which the trailer of status-details.ts needs up to 13 KiB. With longer
 * trailers, the call would end without any.
 */
const MAX_DETAILS_BYTES = 24 * 1024;
const MAX_MESSAGE_CHARACTERS = 4_000;
/** The bytes of tags and lengths around a detail. */
const DETAIL_OVERHEAD_BYTES = 8;

/** Encodes a refusal for the trailer. */
export function encodeRefusal(refusal: Refusal): Uint8Array {
  return ErrorDetail.encode(errorDetail(refusal)).finish();
}

/** Returns the message for a refusal. Truncates a long text and drops the details that exceed the trailer limit. */
export function errorDetail({ code, message, details, retryAfterSeconds }: Refusal): ErrorDetail {
  const text = message.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed();
  return { code, message: text, details: fittingDetails(details, MAX_DETAILS_BYTES), retryAfterSeconds };
}

/** Returns the details that fit into this many encoded bytes, in order. */
export function fittingDetails(details: readonly FieldProblem[], maxBytes: number): FieldProblem[] {
  let remainingBytes = maxBytes;
  return details.filter(({ pointer, message }) => {
    remainingBytes -= Buffer.byteLength(pointer) + Buffer.byteLength(message) + DETAIL_OVERHEAD_BYTES;
    return remainingBytes >= 0;
  });
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

const UNAUTHENTICATED = 16;
const INTERNAL = 13;

/** Returns the gRPC status (https://grpc.io/docs/guides/status-codes/) of a refusal, for generic gRPC tools. */
export function grpcStatus({ code }: Refusal): number {
  // Between services this is a rejected credential. For a client of the edge it is a failed dependency.
  if (code === 'PEER_REJECTED') return UNAUTHENTICATED;
  return GRPC_STATUS[ERRORS[code].status] ?? INTERNAL;
}

const GRPC_STATUS: Record<number, number> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  408: 4,
  409: 9,
  410: 11,
  412: 10,
  413: 11,
  414: 3,
  415: 3,
  416: 11,
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
