import type { Database, ReadOptions } from '../../../lib/db/database.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentViewer } from '../domain/access.ts';
import type { AgentVersion } from '../domain/agent.ts';
import type { AgentKind } from '../domain/agent-kind.ts';
import * as sql from './agent-statements.ts';
import {
  decodePosition,
  END_OF_VERSIONS,
  isVersionNumber,
  nextCursor,
  PAGE_BYTES,
  type PageOf,
  type PageRequest,
  type PageRow,
} from './paging.ts';
import { type VersionRow, versionFromRow } from './rows.ts';
import { viewerOptions } from './viewer-options.ts';

type NamedVersionRow = VersionRow & { agentName: string };

/** The methods of the agent store that read versions. */
export function versionQueries(db: Database, { prefix }: AgentKind) {
  return {
    async versions(
      viewer: AgentViewer,
      agentId: string,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<PageOf<AgentVersion>> {
      const scope = ['ListAgentVersions', viewer.userId, agentId];
      const after = decodePosition(scope, page, isVersionNumber) ?? END_OF_VERSIONS;
      const values = [...sql.viewerValues(viewer), agentId, after, page.limit, PAGE_BYTES];
      const rows = await db.rows<VersionRow & PageRow>(sql.VERSIONS, values, viewerOptions(viewer, options));
      return {
        items: rows.map(versionFromRow),
        nextCursor: nextCursor(rows, scope, (row) => String(row.version)),
      };
    },

    /** A version of any agent, including deleted ones, and the current name of the agent. */
    async version(agentId: string, version: number, options?: ReadOptions) {
      if (!isId(prefix, agentId)) return undefined;
      const [row] = await db.rows<NamedVersionRow>(sql.VERSION, [agentId, version], options);
      return row && { version: versionFromRow(row), agentName: row.agentName };
    },

    /** The newest version of any agent that is not deleted. */
    async newestVersion(agentId: string, options?: ReadOptions) {
      if (!isId(prefix, agentId)) return undefined;
      const [row] = await db.rows<NamedVersionRow>(sql.NEWEST_VERSION, [agentId], options);
      return row && { version: versionFromRow(row), agentName: row.agentName };
    },
  };
}
