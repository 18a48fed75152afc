import { type ErrorCode, refuse } from '../../lib/errors.ts';
import { type IdPrefix, isId } from '../../lib/ids.ts';

/** The ids that stand in paths, and what a request for one that does not exist is answered with. */
const IDS: Record<string, { prefix: IdPrefix; missing: ErrorCode }> = {
  agent_id: { prefix: 'agt', missing: 'AGENT_NOT_FOUND' },
  assistant_id: { prefix: 'ast', missing: 'ASSISTANT_NOT_FOUND' },
  session_id: { prefix: 'ses', missing: 'SESSION_NOT_FOUND' },
  turn_id: { prefix: 'trn', missing: 'TURN_NOT_FOUND' },
  approval_id: { prefix: 'apr', missing: 'APPROVAL_NOT_FOUND' },
  environment_id: { prefix: 'env', missing: 'ENVIRONMENT_NOT_FOUND' },
  sandbox_id: { prefix: 'sbx', missing: 'SANDBOX_NOT_FOUND' },
  deployment_id: { prefix: 'dep', missing: 'DEPLOYMENT_NOT_FOUND' },
  token_id: { prefix: 'tok', missing: 'TOKEN_NOT_FOUND' },
  user_id: { prefix: 'usr', missing: 'USER_NOT_FOUND' },
};

/**
 * Refuses a path with a text that cannot be an id, like an id that does not exist: no service has to look for
 * it. Where an id only says where to look, what was looked for is missing.
 */
export function checkPath(params: Readonly<Record<string, string>>, errors: readonly ErrorCode[] = []): void {
  const names = Object.keys(params);
  const sought = IDS[names.at(-1) ?? '']?.missing ?? 'ROUTE_NOT_FOUND';
  for (const name of names) {
    const known = IDS[name];
    if (!known || isId(known.prefix, params[name] ?? '')) continue;
    throw refuse(errors.includes(known.missing) ? known.missing : sought, 'there is nothing with this id');
  }
}
