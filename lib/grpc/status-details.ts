import { BadRequest, ErrorInfo, RetryInfo } from '../../proto/gen/google/rpc/error_details.ts';
import { Status } from '../../proto/gen/google/rpc/status.ts';
import type { FieldProblem, Refusal } from '../errors.ts';
import type { Codec } from './contract.ts';
import { fittingDetails, grpcStatus } from './trailer.ts';

/** The trailer that carries a refusal as an encoded google.rpc.Status (https://google.aip.dev/193). */
export const STATUS_TRAILER = 'grpc-status-details-bin';

/** The same as the realm of the HTTP API. */
const DOMAIN = 'agent-hosting-service';
const TYPE_PREFIX = 'type.googleapis.com/google.rpc.';
/** The rest of the 64 KiB of trailers belongs to the trailer `ahs-error-bin`. */
const MAX_VIOLATIONS_BYTES = 4 * 1024;
/** A character takes up to nine bytes, because `grpc-message` is percent-encoded. */
const MAX_MESSAGE_CHARACTERS = 500;

/** Returns the text of the gRPC status of a refusal. The status details have the same text. */
export function statusMessage({ message }: Refusal): string {
  return message.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed();
}

/** Encodes a refusal for the trailer. Long texts and details are truncated. */
export function encodeStatusDetails(refusal: Refusal, requestId: string | undefined): Uint8Array {
  const { code, details, retryAfterSeconds } = refusal;
  const metadata: Record<string, string> = requestId === undefined ? {} : { request_id: requestId };
  const parts = [packed('ErrorInfo', ErrorInfo, { reason: code, domain: DOMAIN, metadata })];
  if (details.length > 0) parts.push(packed('BadRequest', BadRequest, badRequestOf(details)));
  if (retryAfterSeconds !== undefined)
    parts.push(packed('RetryInfo', RetryInfo, { retryDelay: { seconds: retryAfterSeconds, nanos: 0 } }));
  const status = { code: grpcStatus(refusal), message: statusMessage(refusal), details: parts };
  return Status.encode(status).finish();
}

function badRequestOf(details: readonly FieldProblem[]): BadRequest {
  const fitting = fittingDetails(details, MAX_VIOLATIONS_BYTES);
  return {
    fieldViolations: fitting.map(({ pointer, message }) => ({ field: pointer, description: message })),
  };
}

function packed<Message>(name: string, codec: Codec<Message>, message: Message) {
  return { typeUrl: TYPE_PREFIX + name, value: Buffer.from(codec.encode(message).finish()) };
}
