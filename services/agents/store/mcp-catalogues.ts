import type { Database, DatabaseSession, ReadOptions, WriteOptions } from '../../../lib/db/database.ts';
import type { ToolRule } from '../domain/mcp-review.ts';
import type { McpServer } from '../domain/mcp-server.ts';
import * as sql from './mcp-catalogue-statements.ts';
import { lockServer } from './mcp-servers.ts';

export type McpCatalogueStore = ReturnType<typeof createMcpCatalogueStore>;

export interface SeenCatalogue {
  sha256: string;
  /** Canonical JSON. */
  json: string;
  protocolVersion: string;
}

/** Decisions about all tools of a catalogue. */
interface NewReview {
  sha256: string;
  /** The catalogue as canonical JSON. */
  json: string;
  rules: readonly ToolRule[];
  /** The tools whose last seen form differs. */
  changedTools: readonly string[];
  offerResources: boolean;
  reviewedBy: string;
  reviewedAt: Date;
  title: string;
  toolCount: number;
  offeredCount: number;
  offeredBytes: number;
}

/** The newest review of a server and the canonical JSON of the catalogue that it approved. */
interface EarlierReview {
  json: string;
  rules: readonly ToolRule[];
}

/** Decides about a locked server with the canonical JSON of its last seen catalogue. Can refuse. */
export type DecideReview = (state: {
  server: McpServer;
  seen: string | undefined;
  earlier: EarlierReview | undefined;
}) => NewReview;

export interface StoredReview {
  rules: ToolRule[];
  offerResources: boolean;
}

/** Catalogues of MCP servers and their reviews. */
export function createMcpCatalogueStore(db: Database) {
  return {
    /** The canonical JSON of a catalogue of the server. */
    async body(mcpServerId: string, sha256: string, options?: ReadOptions): Promise<string | undefined> {
      return bodyOf(db, mcpServerId, sha256, options);
    },

    async bodyByDigest(sha256: string, options?: ReadOptions): Promise<string | undefined> {
      const [row] = await db.rows<{ body: string }>(sql.CATALOGUE_BY_DIGEST, [sha256], options);
      return row?.body;
    },

    async newestReview({ mcpServerId, review }: McpServer, options?: ReadOptions) {
      const [row] = await db.rows<StoredReview>(sql.NEWEST_REVIEW, [mcpServerId, review], options);
      return row;
    },

    /**
     * Stores the catalogue that was seen at a server. `changedTools` gets the reviewed catalogue of the locked server and
     * returns the reviewed tools that differ.
     */
    async storeSeen(
      mcpServerId: string,
      { sha256, json, protocolVersion }: SeenCatalogue,
      changedTools: (reviewed: string | undefined) => string[],
      now: Date,
      options?: WriteOptions,
    ): Promise<McpServer> {
      return db.transaction(async (tx) => {
        const server = await lockServer(tx, mcpServerId);
        const reviewed = await bodyOf(tx, mcpServerId, server.reviewedSha256);
        const values = [mcpServerId, sha256, json, Buffer.byteLength(json), protocolVersion, now];
        await tx.change(sql.PUT_CATALOGUE, values);
        await tx.change(sql.SET_SEEN, [mcpServerId, sha256, now, protocolVersion, changedTools(reviewed)]);
        await tx.change(sql.DROP_OTHER_CATALOGUES, [mcpServerId, sha256]);
        return server;
      }, options);
    },

    /** `problem` is unreachable or unauthorized. */
    async storeProblem(mcpServerId: string, problem: string, options?: WriteOptions): Promise<void> {
      await db.change(sql.SET_SEEN_PROBLEM, [mcpServerId, problem], options);
    },

    /** Adds a review of a locked server. */
    async review(mcpServerId: string, decide: DecideReview, options?: WriteOptions): Promise<McpServer> {
      return db.transaction(async (tx) => {
        const server = await lockServer(tx, mcpServerId);
        const seen = await bodyOf(tx, mcpServerId, server.seenSha256);
        await insertReview(tx, server, decide({ server, seen, earlier: await earlierOf(tx, server) }));
        return lockServer(tx, mcpServerId);
      }, options);
    },
  };
}

async function earlierOf(
  tx: DatabaseSession,
  { mcpServerId, review, reviewedSha256 }: McpServer,
): Promise<EarlierReview | undefined> {
  const json = await bodyOf(tx, mcpServerId, reviewedSha256);
  if (json === undefined) return undefined;
  const [row] = await tx.rows<StoredReview>(sql.NEWEST_REVIEW, [mcpServerId, review]);
  return { json, rules: row?.rules ?? [] };
}

async function insertReview(
  tx: DatabaseSession,
  { mcpServerId, review: number, seenSha256, protocolVersion }: McpServer,
  review: NewReview,
): Promise<void> {
  const { sha256, json, rules, offerResources, reviewedBy, reviewedAt } = review;
  const { title, toolCount, offeredCount, offeredBytes, changedTools } = review;
  // A catalogue with pending tools was seen at no server.
  if (sha256 !== seenSha256) {
    const catalogue = [sha256, json, Buffer.byteLength(json), protocolVersion, reviewedAt];
    await tx.change(sql.PUT_CATALOGUE, [mcpServerId, ...catalogue]);
  }
  const text = JSON.stringify(rules);
  const values = [mcpServerId, number + 1, sha256];
  await tx.change(sql.INSERT_REVIEW, [...values, text, offerResources, reviewedBy, reviewedAt]);
  const counts = [title, toolCount, offeredCount, offeredBytes];
  await tx.change(sql.SET_REVIEWED, [...values, reviewedBy, reviewedAt, ...counts, changedTools]);
}

async function bodyOf(
  from: Pick<Database, 'rows'>,
  mcpServerId: string,
  sha256: string,
  options?: ReadOptions,
): Promise<string | undefined> {
  if (sha256 === '') return undefined;
  const [row] = await from.rows<{ body: string }>(sql.CATALOGUE, [mcpServerId, sha256], options);
  return row?.body;
}
