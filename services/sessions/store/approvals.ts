import { decodeCursor, type Page, pageOf } from '../../../lib/db/cursor.ts';
import { type Database, type ReadOptions, type Session, statement } from '../../../lib/db/database.ts';
import type { NewApproval, SettledApproval } from '../domain/change.ts';
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
  decided_sha256: string | null;
  decided_by: string | null;
  created_at: Date;
  expires_at: Date;
  decided_at: Date | null;
}

const COLUMNS = `approval_id, session_id, turn_id, kind, tool_use_id, tool_name, input, input_sha256, requested_by,
  status, decision, reason, edited_input, decided_sha256, decided_by, created_at, expires_at, decided_at`;

const REQUEST = statement(
  'sessions.request_approval',
  `insert into approvals (approval_id, session_id, turn_id, kind, tool_use_id, tool_name, input, input_sha256,
     requested_by, created_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

const SETTLE = statement(
  'sessions.settle_approval',
  `update approvals set status = $3, decision = $4, reason = $5, edited_input = $6,
     decided_sha256 = coalesce($7, input_sha256), decided_by = $8, decided_at = $9
   where approval_id = $1 and session_id = $2 and status = 'pending'`,
);

/** Writes, in the transaction of the change that says so, which questions are open from now on. */
export async function writeApprovals(
  tx: Session,
  { sessionId, agentId }: SessionState,
  requested: readonly NewApproval[],
  settled: readonly SettledApproval[],
  now: Date,
): Promise<void> {
  for (const one of requested) {
    const { approvalId, turnId, kind, toolUseId, toolName, inputJson, inputSha256, expiresAt } = one;
    const asked = [approvalId, sessionId, turnId, kind, toolUseId, toolName, inputJson, inputSha256];
    await tx.change(REQUEST, [...asked, agentId, now, expiresAt]);
  }
  for (const { approvalId, status, decision, reason, ...more } of settled) {
    const { editedInputJson, editedSha256, decidedBy } = more;
    const said = [status, decision ?? null, reason ?? null, editedInputJson ?? null, editedSha256 ?? null];
    await tx.change(SETTLE, [approvalId, sessionId, ...said, decidedBy ?? null, now]);
  }
}

const BY_ID = statement(
  'sessions.approval_by_id',
  `select ${COLUMNS} from approvals where approval_id = $1 and session_id = $2`,
);

const BY_IDS = statement(
  'sessions.approvals_by_ids',
  `select ${COLUMNS} from approvals where approval_id = any($1)`,
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

/** After every approval. */
const END = 'apr_~';

export type Approvals = ReturnType<typeof createApprovals>;

/** Reads the questions that turns have asked. */
export function createApprovals(db: Database) {
  return {
    async one(
      sessionId: string,
      approvalId: string,
      options?: ReadOptions,
    ): Promise<ApprovalRow | undefined> {
      const [row] = await db.rows<ApprovalRow>(BY_ID, [approvalId, sessionId], options);
      return row;
    },
    byIds(approvalIds: readonly string[], options?: ReadOptions): Promise<ApprovalRow[]> {
      return db.rows<ApprovalRow>(BY_IDS, [approvalIds], options);
    },
    /** Newest first. */
    async page(
      sessionId: string,
      status: string,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<Page<ApprovalRow>> {
      const scope = ['approvals', sessionId, status];
      const before = decodeCursor(scope, page.cursor) ?? END;
      const rows = await db.rows<ApprovalRow>(
        OF_SESSION,
        [sessionId, before, page.limit + 1, status],
        options,
      );
      return pageOf(rows, page.limit, scope, (row) => row.approval_id);
    },
    /** Those that nobody has decided in time. */
    async expired(now: Date, limit: number): Promise<{ approvalId: string; sessionId: string }[]> {
      const rows = await db.rows<{ approval_id: string; session_id: string }>(EXPIRED, [now, limit]);
      return rows.map((row) => ({ approvalId: row.approval_id, sessionId: row.session_id }));
    },
  };
}
