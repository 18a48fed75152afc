import type { DatabaseSession } from '../../../lib/db/database.ts';
import type { VersionedAccess } from '../domain/access.ts';
import type { Agent } from '../domain/agent.ts';
import * as sql from './agent-statements.ts';

interface AccessRow {
  version: number;
  /** Empty in the single row of an agent without access entries. */
  role: string;
  principal: string;
}

/** Returns the access list of an agent. */
export async function accessOf(
  tx: Pick<DatabaseSession, 'rows'>,
  { agentId, visibility }: Agent,
): Promise<VersionedAccess> {
  const rows = await tx.rows<AccessRow>(sql.ACCESS, [agentId]);
  const principalsOf = (role: string) =>
    rows.filter((row) => row.role === role).map(({ principal }) => principal);
  const isGroup = (name: string) => name.startsWith(sql.groupName(''));
  const users = principalsOf('user');
  const access = {
    visibility,
    managers: principalsOf('manager'),
    users: users.filter((name) => !isGroup(name)),
    groups: users.filter(isGroup).map((name) => name.slice(sql.groupName('').length)),
  };
  return { access, version: rows[0]?.version ?? 0 };
}
