import type { ErrorCode } from '../../lib/error-codes.ts';
import { refuse } from '../../lib/errors.ts';
import { type IdPrefix, isId } from '../../lib/ids.ts';

/** The id parameters of paths, and the error code for an id that does not exist. */
const IDS: Record<string, { prefix: IdPrefix; missing: ErrorCode }> = {
  agent_id: { prefix: 'agt', missing: 'AGENT_NOT_FOUND' },
  assistant_id: { prefix: 'ast', missing: 'ASSISTANT_NOT_FOUND' },
  session_id: { prefix: 'ses', missing: 'SESSION_NOT_FOUND' },
  turn_id: { prefix: 'trn', missing: 'TURN_NOT_FOUND' },
  approval_id: { prefix: 'apr', missing: 'APPROVAL_NOT_FOUND' },
  environment_id: { prefix: 'env', missing: 'ENVIRONMENT_NOT_FOUND' },
  sandbox_id: { prefix: 'sbx', missing: 'SANDBOX_NOT_FOUND' },
  deployment_id: { prefix: 'dep', missing: 'DEPLOYMENT_NOT_FOUND' },
  run_id: { prefix: 'run', missing: 'RUN_NOT_FOUND' },
  backfill_id: { prefix: 'bkf', missing: 'BACKFILL_NOT_FOUND' },
  post_id: { prefix: 'pst', missing: 'POST_NOT_FOUND' },
  link_id: { prefix: 'lnk', missing: 'LINK_NOT_FOUND' },
  token_id: { prefix: 'tok', missing: 'TOKEN_NOT_FOUND' },
  vault_id: { prefix: 'vlt', missing: 'VAULT_NOT_FOUND' },
  credential_id: { prefix: 'crd', missing: 'CREDENTIAL_NOT_FOUND' },
  rotation_id: { prefix: 'rot', missing: 'ROTATION_NOT_FOUND' },
  skill_id: { prefix: 'skl', missing: 'SKILL_NOT_FOUND' },
  user_id: { prefix: 'usr', missing: 'USER_NOT_FOUND' },
};

/**
 * Refuses malformed ids in a path like ids that do not exist, without calling a service. The code is that of the malformed id
 * if the route documents it, else that of the last id of the path.
 */
export function checkPath(params: Readonly<Record<string, string>>, errors: readonly ErrorCode[] = []): void {
  const names = Object.keys(params);
  const fallback = IDS[names.at(-1) ?? '']?.missing ?? 'ROUTE_NOT_FOUND';
  for (const name of names) {
    const parameter = IDS[name];
    if (!parameter || isId(parameter.prefix, params[name] ?? '')) continue;
    throw refuse(
      errors.includes(parameter.missing) ? parameter.missing : fallback,
      `Unknown ${name} ${quote(params[name] ?? '')}.`,
    );
  }
}

const quote = (id: string) => JSON.stringify(id.toWellFormed());
