import { type Database, statement, type WriteOptions } from '../../../lib/db/database.ts';
import type { OAuthMembers } from '../domain/oauth.ts';
import type { SealedMembers } from '../oauth/service-secrets.ts';

const INSERT = statement(
  'connection_attempts.insert',
  `insert into connection_attempts (attempt_id, user_id, mcp_server_id, mcp_server_url, state_sha256, browser_sha256,
     sealed, key_generation, request, return_to, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

/** Ends the oldest attempts of a user, so that the newest ones remain. */
const LIMIT = statement(
  'connection_attempts.limit',
  `delete from connection_attempts where attempt_id in (
     select attempt_id from connection_attempts where user_id = $1 order by attempt_id desc offset $2
   )`,
);

/** A request with the state ends the attempt, so that it can be tried once. */
const TAKE = statement(
  'connection_attempts.take',
  `delete from connection_attempts where state_sha256 = $1
   returning attempt_id as "attemptId", user_id as "userId", mcp_server_id as "mcpServerId",
     mcp_server_url as "mcpServerUrl", browser_sha256 as "browserSha256", sealed, key_generation as "keyGeneration",
     request, return_to as "returnTo", expires_at as "expiresAt"`,
);

const SWEEP = statement('connection_attempts.sweep', 'delete from connection_attempts where expires_at < $1');

/** The client and the endpoints of an authorization. */
export interface AuthorizationRequest extends OAuthMembers {
  redirectUri: string;
  /** Whether the issuer promises to name itself in its answers (RFC 9207). */
  namesIssuer: boolean;
  /** The algorithms with which the issuer signs ID tokens. Absent: RS256. */
  signatures?: string[];
}

/** An authorization that a user has begun. */
export interface ConnectionAttempt {
  attemptId: string;
  userId: string;
  mcpServerId: string;
  mcpServerUrl: string;
  /** Of the random value in a cookie of the browser. */
  browserSha256: Buffer;
  secret: SealedMembers;
  request: AuthorizationRequest;
  returnTo: string;
  expiresAt: Date;
}

const ATTEMPTS_OF_USER = 20;

export type ConnectionAttemptStore = ReturnType<typeof createConnectionAttemptStore>;

export function createConnectionAttemptStore(db: Database) {
  return {
    /** Adds an attempt. A user has at most 20; older ones end. */
    async add(attempt: ConnectionAttempt, stateSha256: Buffer, options?: WriteOptions): Promise<void> {
      const { attemptId, userId, mcpServerId, mcpServerUrl, browserSha256, secret } = attempt;
      await db.transaction(async (tx) => {
        await tx.change(INSERT, [
          ...[attemptId, userId, mcpServerId, mcpServerUrl, stateSha256, browserSha256],
          ...[secret.sealed, secret.keyGeneration, JSON.stringify(attempt.request)],
          ...[attempt.returnTo, attempt.expiresAt],
        ]);
        await tx.change(LIMIT, [userId, ATTEMPTS_OF_USER]);
      }, options);
    },

    /** Returns and deletes the attempt of a state. The caller checks its user, its browser and its end. */
    async take(stateSha256: Buffer, options?: WriteOptions): Promise<ConnectionAttempt | undefined> {
      const [row] = await db
        .within(options ?? {})
        .rows<Omit<ConnectionAttempt, 'secret'> & SealedMembers>(TAKE, [stateSha256]);
      if (!row) return undefined;
      const { sealed, keyGeneration, ...attempt } = row;
      return { ...attempt, secret: { sealed, keyGeneration } };
    },

    /** Deletes the attempts that ended before a time. */
    async sweep(before: Date): Promise<void> {
      await db.change(SWEEP, [before]);
    },
  };
}
