import { type Database, statement } from '../../../lib/db/database.ts';

/**
 * The server that was not compared for the longest time among those that were compared at $2 or before, which an agent or
 * assistant has in its newest version and which no user has to connect to. Servers that another transaction changes are left
 * out.
 */
const CLAIM = statement(
  'mcp_servers.claim_comparison',
  `update mcp_servers set compared_at = $1
   where mcp_server_id = (
     select s.mcp_server_id from mcp_servers s
     where s.deleted_at is null and s.enabled and s."authorization" in ('none', 'shared', 'any')
       and (s.compared_at is null or s.compared_at <= $2)
       and exists (
         select from agent_versions v join agents a using (agent_id, version)
         where v.mcp_server_ids @> array[s.mcp_server_id::text] and v.mcp_server_ids <> '{}' and a.deleted_at is null
       )
     order by s.compared_at nulls first, s.mcp_server_id limit 1
     for update skip locked
   )
   returning mcp_server_id as "mcpServerId"`,
);

const SET_COMPARED = statement(
  'mcp_servers.set_compared',
  'update mcp_servers set compared_at = $2 where mcp_server_id = $1',
);

export type McpComparisonStore = ReturnType<typeof createMcpComparisonStore>;

/** Decides which replica compares the catalogue of which MCP server. */
export function createMcpComparisonStore(db: Database) {
  return {
    /** Takes a server that was compared at `dueBefore` or before. Undefined: there is none. */
    async claim(now: Date, dueBefore: Date): Promise<string | undefined> {
      const [row] = await db.rows<{ mcpServerId: string }>(CLAIM, [now, dueBefore]);
      return row?.mcpServerId;
    },

    async setCompared(mcpServerId: string, at: Date): Promise<void> {
      await db.change(SET_COMPARED, [mcpServerId, at]);
    },
  };
}
