import type { Database, DatabaseSession, ReadOptions, WriteOptions } from '../../../lib/db/database.ts';
import { runOnce } from '../../../lib/db/idempotency.ts';
import { likePattern } from '../../../lib/db/like.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentViewer } from '../domain/access.ts';
import type { ExtensionServer } from '../domain/extensions.ts';
import type { ToolRule } from '../domain/mcp-review.ts';
import {
  checkMcpServerUnused,
  type McpOAuth,
  type McpServer,
  mcpServerNameTaken,
  mcpServerNotFound,
} from '../domain/mcp-server.ts';
import type { IdempotentCreation } from './idempotent-creation.ts';
import * as sql from './mcp-server-statements.ts';
import { decodePosition, nextCursor, type PageOf, type PageRequest, type PageRow } from './paging.ts';

export type McpServerStore = ReturnType<typeof createMcpServerStore>;

/** What a call of a server needs. */
export interface McpServerRuntime {
  mcpServerId: string;
  name: string;
  url: string;
  transport: string;
  authorization: string;
  timeoutSeconds: number;
  enabled: boolean;
  trustAnnotations: boolean;
  offerInstructions: boolean;
  review: number;
  catalogueSha256: string;
  changedTools: string[];
  rules: ToolRule[];
  offerResources: boolean;
  protocolVersion: string;
  oauth: McpOAuth | undefined;
}

/** A server to which users connect. */
interface ConnectableServer {
  mcpServerId: string;
  name: string;
  url: string;
  description: string;
}

/** A column without value is null. */
type Stored<Server extends { oauth: McpOAuth | undefined }> = Omit<Server, 'oauth'> & {
  oauth: McpOAuth | null;
};

/** MCP servers. The handlers decide who can read and change them. */
export function createMcpServerStore(db: Database) {
  return {
    /** Creates a server, or returns the answer of an earlier request with the same key. Refused with NAME_TAKEN. */
    create(server: McpServer, { key, request, answer }: IdempotentCreation, options?: WriteOptions) {
      return runOnce(
        db,
        { caller: server.createdBy, key, method: 'CreateMcpServer', request, now: server.createdAt },
        async (tx) => {
          if ((await tx.change(sql.INSERT_SERVER, insertValues(server))) === 0)
            throw mcpServerNameTaken(server.name);
          return answer;
        },
        options,
      );
    },

    async server(mcpServerId: string, options?: ReadOptions): Promise<McpServer> {
      const [row] = isId('mcp', mcpServerId)
        ? await db.rows<Stored<McpServer>>(sql.SERVER_BY_ID, [mcpServerId], options)
        : [];
      if (!row) throw mcpServerNotFound();
      return fromRow(row);
    },

    /** Cursors are bound to the caller and the search text. */
    async list(
      caller: string,
      q: string,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<PageOf<McpServer>> {
      const scope = ['ListMcpServers', caller, q];
      const after = decodePosition(scope, page, (key) => isId('mcp', key)) ?? sql.END_OF_SERVERS;
      const values = [after, likePattern(q), q, page.limit];
      const rows = await db.rows<Stored<McpServer> & PageRow>(sql.LIST_SERVERS, values, options);
      const items = rows.map(fromRow);
      return { items, nextCursor: nextCursor(rows, scope, (row) => row.mcpServerId) };
    },

    /** Changes a locked server. `change` returns the same object to leave it unchanged. */
    async change(
      mcpServerId: string,
      change: (server: McpServer) => McpServer,
      options?: WriteOptions,
    ): Promise<McpServer> {
      return db.transaction(async (tx) => {
        const before = await lockServer(tx, mcpServerId);
        const after = change(before);
        if (after !== before) await tx.change(sql.UPDATE_SERVER, updateValues(after));
        return after;
      }, options);
    },

    /**
     * Deletes a server, unless `check` refuses its revision. Refused with RESOURCE_IN_USE while agents have it. Agents that
     * get it meanwhile wait and are refused.
     */
    async delete(
      mcpServerId: string,
      check: (revision: number) => void,
      now: Date,
      options?: WriteOptions,
    ): Promise<void> {
      if (!isId('mcp', mcpServerId)) throw mcpServerNotFound();
      await db.transaction(async (tx) => {
        const [locked] = await tx.rows<Pick<McpServer, 'revision'>>(sql.LOCK_SERVER_FOR_DELETE, [
          mcpServerId,
        ]);
        if (!locked) throw mcpServerNotFound();
        check(locked.revision);
        const [counted] = await tx.rows<{ users: number }>(sql.COUNT_SERVER_USERS, [mcpServerId]);
        checkMcpServerUnused(counted?.users ?? 0);
        await tx.change(sql.DELETE_SERVER, [mcpServerId, now]);
      }, options);
    },

    /** The servers with these ids, deleted ones included, and those that `adder` can add, by name. */
    async extensions(
      ids: readonly string[],
      adder: AgentViewer | undefined,
      options?: ReadOptions,
    ): Promise<ExtensionServer[]> {
      return db.rows<ExtensionServer>(
        sql.EXTENSION_SERVERS,
        [ids, adder !== undefined, adder?.isAdministrator ?? false],
        options,
      );
    },

    /** Servers that exist, by name. */
    async lookUp(ids: readonly string[], options?: ReadOptions): Promise<McpServerRuntime[]> {
      const rows = await db.rows<Stored<McpServerRuntime>>(sql.LOOK_UP_SERVERS, [ids], options);
      return rows.map(fromRow);
    },

    /** The enabled servers to which users connect with credentials of their own, by name. At most 1,000. */
    async connectable(options?: ReadOptions): Promise<ConnectableServer[]> {
      return db.rows<ConnectableServer>(sql.CONNECTABLE_SERVERS, [], options);
    },
  };
}

/** Locks a server until the transaction ends. Refused with MCP_SERVER_NOT_FOUND. */
export async function lockServer(tx: DatabaseSession, mcpServerId: string): Promise<McpServer> {
  if (!isId('mcp', mcpServerId)) throw mcpServerNotFound();
  const locked = await tx.rows(sql.LOCK_SERVER_FOR_CHANGE, [mcpServerId]);
  const [row] = locked.length > 0 ? await tx.rows<Stored<McpServer>>(sql.SERVER_BY_ID, [mcpServerId]) : [];
  if (!row) throw mcpServerNotFound();
  return fromRow(row);
}

function fromRow<Row extends { oauth: McpOAuth | null }>({ oauth, ...members }: Row) {
  return { ...members, oauth: oauth ?? undefined };
}

function insertValues(server: McpServer): unknown[] {
  const { mcpServerId, name, url, transport, createdBy, createdAt } = server;
  return [mcpServerId, name, url, transport, ...settingValues(server), createdBy, createdAt];
}

function updateValues(server: McpServer): unknown[] {
  return [server.mcpServerId, ...settingValues(server), server.revision, server.updatedAt];
}

function settingValues(server: McpServer): unknown[] {
  const { description, enabled, authorization, timeoutSeconds, availableTo } = server;
  const { trustAnnotations, offerInstructions, oauth } = server;
  return [
    description,
    enabled,
    authorization,
    timeoutSeconds,
    availableTo,
    trustAnnotations,
    offerInstructions,
    oauth === undefined ? null : JSON.stringify(oauth),
  ];
}
