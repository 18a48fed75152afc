import type { ChannelIdentity } from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { type JsonObject, listIn, objectIn } from '../json-members.ts';
import type { ParsedEvent } from '../product.ts';

type Mismatch = Extract<ParsedEvent, { outcome: 'refused' }>;

/**
 * Refuses events of another app or workspace. In channels that are shared with other organizations, the workspace of an
 * event can be that of its author; the installations that see it are in `authorizations`.
 */
export function findMismatch(
  payload: JsonObject,
  teamId: unknown,
  identity: ChannelIdentity,
): Mismatch | undefined {
  if (differs(payload.api_app_id, identity.appId)) return { outcome: 'refused', reason: 'app_mismatch' };
  if (!differs(teamId, identity.teamId)) return undefined;
  const isShared = payload.is_ext_shared_channel === true;
  const isAuthorized = listIn(payload.authorizations).some(
    (one) => objectIn(one).team_id === identity.teamId,
  );
  return isShared && isAuthorized ? undefined : { outcome: 'refused', reason: 'team_mismatch' };
}

/** An absent id is not that of another app: the body has the wrong form. */
function differs(id: unknown, expected: string): boolean {
  return typeof id === 'string' && expected !== '' && id !== expected;
}
