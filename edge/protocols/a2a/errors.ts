import type { FastifyRequest } from 'fastify';
import { ERRORS, type ErrorCode } from '../../../lib/error-codes.ts';
import type { Refusal } from '../../../lib/errors.ts';
import { publicError } from '../../errors.ts';
import { INVALID_PARAMS, REFUSED, type RequestId } from '../mcp/json-rpc.ts';

/** Of the codes of A2A, the one that has a counterpart among our refusals (specification, section 5.4). */
const CODES: Partial<Record<ErrorCode, number>> = { CONTENT_NOT_SUPPORTED: -32005 };
const INTERNAL_ERROR = -32603;
const TYPES = 'type.googleapis.com/google.rpc';

const ids = new WeakMap<FastifyRequest, RequestId>();

/** Notes the id of the JSON-RPC request, which its error contains. */
export function noteRequestId(request: FastifyRequest, id: RequestId): void {
  ids.set(request, id);
}

/** A refusal as a JSON-RPC error with the details that A2A describes. `reason` is our error code. */
export function a2aErrorText(refusal: Refusal, request: FastifyRequest): string {
  const { code: reason, message, details } = publicError(refusal);
  const { status } = ERRORS[refusal.code];
  const code =
    CODES[refusal.code] ?? (status === 400 ? INVALID_PARAMS : status >= 500 ? INTERNAL_ERROR : REFUSED);
  const info = { reason, domain: 'agent-hosting-service', metadata: { request_id: request.id } };
  const violations = details?.map(({ pointer, message: description }) => ({ field: pointer, description }));
  const data = [
    { '@type': `${TYPES}.ErrorInfo`, ...info },
    ...(violations ? [{ '@type': `${TYPES}.BadRequest`, fieldViolations: violations }] : []),
  ];
  return JSON.stringify({ jsonrpc: '2.0', id: ids.get(request) ?? null, error: { code, message, data } });
}
