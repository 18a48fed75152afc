import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { ERRORS } from '../../../../lib/error-codes.ts';
import { Refusal } from '../../../../lib/errors.ts';
import { publicError, toRefusal } from '../../../errors.ts';
import type { McpOperation } from '../operation.ts';

const STATUS_NOT_FOUND = 404;
const STATUS_INTERNAL = 500;

/** Whether a resource does not exist for the client. The reasons look the same to it. */
export function isNotFound(error: unknown): boolean {
  return error instanceof Refusal && ERRORS[error.code].status === STATUS_NOT_FOUND;
}

/** Notes the outcome of a request for resources and returns its error. `data` has the members of our error envelope. */
export function resourceError(
  { outcome, requestId }: Pick<McpOperation, 'outcome' | 'requestId'>,
  error: unknown,
  uri?: string,
): ProtocolError {
  const refusal = error instanceof Refusal ? error : toRefusal(error);
  outcome.errorCode = refusal.code;
  if (refusal.code === 'INTERNAL') outcome.cause = refusal.cause ?? error;
  if (uri !== undefined && isNotFound(error)) return new ResourceNotFoundError(uri);
  const { message, ...members } = publicError(refusal);
  const isOurs = ERRORS[refusal.code].status >= STATUS_INTERNAL;
  const code = isOurs ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, message, { ...members, request_id: requestId });
}
