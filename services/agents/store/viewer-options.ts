import type { ReadOptions } from '../../../lib/db/database.ts';
import type { AgentViewer } from '../domain/access.ts';
import { groupName } from './agent-statements.ts';

/** Administrators bypass row-level security, because they access agents of others; the statements check their level. */
export function viewerOptions(
  { userId, groups, isAdministrator }: AgentViewer,
  options?: ReadOptions,
): ReadOptions | undefined {
  if (isAdministrator) return options;
  return { ...options, viewer: { userId, names: groups.map(groupName) } };
}
