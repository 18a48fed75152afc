import { ERRORS, type ErrorCode } from '../../../lib/error-codes.ts';
import type { Refusal } from '../../../lib/errors.ts';
import { publicError } from '../../errors.ts';

/** The types of errors by status (https://platform.openai.com/docs/guides/error-codes). */
const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

/** The code of an error. Clients compare that of an unknown model. Other errors keep the code of this service. */
export function openaiCode(code: ErrorCode): string {
  return code === 'AGENT_NOT_FOUND' ? 'model_not_found' : code;
}

/** The error object of a refusal. `param` names the first member of the request that is at fault. */
export function openaiError(refusal: Refusal, requestId: string) {
  const { message } = publicError(refusal);
  const { status } = ERRORS[refusal.code];
  return {
    message,
    type: TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
    param: refusal.code === 'AGENT_NOT_FOUND' ? 'model' : paramOf(refusal),
    code: openaiCode(refusal.code),
    request_id: requestId,
  };
}

/** The body of an error response. */
export function openaiErrorText(refusal: Refusal, requestId: string): string {
  return JSON.stringify({ error: openaiError(refusal, requestId) });
}

/** Writes a JSON pointer as the API writes the place of a member: `/messages/0/content` as `messages[0].content`. */
function paramOf({ details: [first] }: Refusal): string | null {
  if (!first?.pointer) return null;
  return first.pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path ? `${path}.${step}` : step), '');
}
