import { decodeCursor, pageOf, type RowPage } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
} from '../../../lib/db/database.ts';
import type { ClosedApproval, NewApproval } from '../domain/change.ts';
import type { SessionState } from '../domain/state.ts';
import type { PageRequest } from './lists.ts';

export interface ApprovalRow {
  approval_id: string;
  session_id: string;
  turn_id: string;
  kind: string;
  tool_use_id: string;
  tool_name: string;
  /** JSON text. */
  input: string;
  input_sha256: string;
  requested_by: string;
  status: string;
  decision: string | null;
  reason: string | null;
  edited_input: string | null;
  /** JSON text. Null for the kinds without details. */
  details: string | null;
  decided_sha256: string | null;
  decided_by: string | null;
  via: string | null;
  created_at: Date;
  expires_at: Date;
  decided_at: Date | null;
}

export interface ApprovalWithContent extends ApprovalRow {
  /** JSON text of the content of an accepted form. */
  content: string | null;
}

/** An approval as the service reads it. Users cannot read the state. */
export interface ApprovalWithState extends ApprovalWithContent {
  /** The sealed state of a tool that has asked for input. */
  state: Buffer | null;
}

const COLUMNS = `approval_id, session_id, turn_id, kind, tool_use_id, tool_name, input, input_sha256, requested_by,
  status, decision, reason, edited_input, details, decided_sha256, decided_by, via, created_at, expires_at, decided_at`;

const REQUEST = statement(
  'sessions.request_approval',
  `insert into approvals (approval_id, session_id, turn_id, kind, tool_use_id, tool_name, input, input_sha256,
     requested_by, created_at, expires_at, details, owner_id, mcp_server_id, state)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
);

const CLOSE = statement(
  'sessions.settle_approval',
  `update approvals set status = $3, decision = $4, reason = $5, edited_input = $6,
     decided_sha256 = coalesce($7, input_sha256), decided_by = $8, decided_at = $9, content = $10, via = $11
   where approval_id = $1 and session_id = $2 and status = 'pending'`,
);

/** Writes new and closed approvals in the transaction of the change that requests or closes them. */
export async function writeApprovals(
  tx: DatabaseSession,
  { sessionId, agentId, ownerId }: SessionState,
  requested: readonly NewApproval[],
  closed: readonly ClosedApproval[],
  now: Date,
): Promise<void> {
  for (const approval of requested) {
    const { approvalId, turnId, kind, toolUseId, toolName, inputJson, inputSha256, expiresAt } = approval;
    const { detailsJson = null, mcpServerId = null, sealedState = null } = approval;
    const call = [approvalId, sessionId, turnId, kind, toolUseId, toolName, inputJson, inputSha256];
    const server = [mcpServerId === null ? null : ownerId, mcpServerId];
    await tx.change(REQUEST, [...call, agentId, now, expiresAt, detailsJson, ...server, sealedState]);
  }
  for (const { approvalId, status, decision, reason, ...more } of closed) {
    const { editedInputJson, editedSha256, decidedBy, contentJson = null, via = null } = more;
    const result = [status, decision ?? null, reason ?? null, editedInputJson ?? null, editedSha256 ?? null];
    await tx.change(CLOSE, [approvalId, sessionId, ...result, decidedBy ?? null, now, contentJson, via]);
  }
}

const BY_ID = statement(
  'sessions.approval_by_id',
  `select ${COLUMNS}, content from approvals where approval_id = $1 and session_id = $2`,
);

const BY_IDS = statement(
  'sessions.approvals_by_ids',
  `select ${COLUMNS}, content, state from approvals where approval_id = any($1)`,
);

const OF_SESSION = statement(
  'sessions.approvals_of_session',
  `select ${COLUMNS} from approvals
   where session_id = $1 and approval_id < $2 and ($4 = '' or status = $4) order by approval_id desc limit $3`,
);

const EXPIRED = statement(
  'sessions.expired_approvals',
  `select approval_id, session_id from approvals where status = 'pending' and expires_at <= $1
   order by expires_at limit $2`,
);

/** Sorts after every approval id. */
const END = 'apr_~';

const WAITING = statement(
  'sessions.waiting_authorizations',
  `select approval_id, session_id from approvals
   where status = 'pending' and kind = 'authorization' and mcp_server_id = $1 and owner_id = $2 and approval_id > $3
   order by approval_id limit $4`,
);

/** Reads the approvals with these ids in a transaction. */
export function approvalsByIds(
  tx: DatabaseSession,
  approvalIds: readonly string[],
): Promise<ApprovalWithState[]> {
  return tx.rows<ApprovalWithState>(BY_IDS, [approvalIds]);
}

export type Approvals = ReturnType<typeof createApprovals>;

/** Reads the approvals that turns have requested. */
export function createApprovals(db: Database) {
  return {
    async one(
      sessionId: string,
      approvalId: string,
      options?: ReadOptions,
    ): Promise<ApprovalWithContent | undefined> {
      const [row] = await db.rows<ApprovalWithContent>(BY_ID, [approvalId, sessionId], options);
      return row;
    },
    /** A page of the approvals of a session, newest first. An empty `status` is every status. */
    async page(
      sessionId: string,
      status: string,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<RowPage<ApprovalRow>> {
      const scope = ['approvals', sessionId, status];
      const before = decodeCursor(scope, page.cursor) ?? END;
      const rows = await db.rows<ApprovalRow>(
        OF_SESSION,
        [sessionId, before, page.limit + 1, status],
        options,
      );
      return pageOf(rows, page.limit, scope, (row) => row.approval_id);
    },
    /** Pending authorizations of a user for a server behind the approval `after`, in the order of their ids. */
    async waiting(
      { userId, mcpServerId, after }: { userId: string; mcpServerId: string; after: string },
      limit: number,
      options?: ReadOptions,
    ): Promise<{ approvalId: string; sessionId: string }[]> {
      const values = [mcpServerId, userId, after, limit];
      const rows = await db.rows<{ approval_id: string; session_id: string }>(WAITING, values, options);
      return rows.map((row) => ({ approvalId: row.approval_id, sessionId: row.session_id }));
    },
    /** Pending approvals whose time is over. */
    async expired(now: Date, limit: number): Promise<{ approvalId: string; sessionId: string }[]> {
      const rows = await db.rows<{ approval_id: string; session_id: string }>(EXPIRED, [now, limit]);
      return rows.map((row) => ({ approvalId: row.approval_id, sessionId: row.session_id }));
    },
  };
}
