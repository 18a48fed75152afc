import type { Refusal } from '../../../lib/errors.ts';
import { publicError } from '../../errors.ts';

/** https://www.jsonrpc.org/specification#error_object */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** The error of a request that was refused before its message was read. The protocol defines no code for it. */
export const REFUSED = -32000;

export type RequestId = string | number | null;

/** A message that is refused with a JSON-RPC error and the HTTP status 400. */
export class JsonRpcError extends Error {
  readonly code: number;
  /** The id of the request; null if it has none that can be read. */
  readonly id: RequestId;

  constructor(code: number, message: string, id: RequestId = null) {
    super(message);
    this.code = code;
    this.id = id;
  }
}

/** A refusal as a JSON-RPC error. `data` has the members of our error envelope that clients use. */
export function refusalText(refusal: Refusal, requestId: string): string {
  const { message, ...members } = publicError(refusal);
  return errorText(REFUSED, message, null, { ...members, request_id: requestId });
}

export function errorText(code: number, message: string, id: RequestId, data?: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data ? { data } : {}) } });
}
