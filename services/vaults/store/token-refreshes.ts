import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import type { SealedSecret } from '../domain/credential.ts';
import { lockDataKey } from './data-keys.ts';

/** Elects one replica to refresh a token. Returns the earlier claim, which a replica that ended has left. */
const CLAIM = statement(
  'token_refreshes.claim',
  `update credentials c set refreshing_until = $4
   from (select credential_id, refreshing_until from credentials where credential_id = $1 for update) before
   where c.credential_id = before.credential_id and c.generation = $2
     and (c.refreshing_until is null or c.refreshing_until <= $3) and (c.retry_at is null or c.retry_at <= $3)
   returning before.refreshing_until is not null as "wasLeft"`,
);

const STATE = statement(
  'token_refreshes.state',
  `select generation, status, refreshing_until is not null and refreshing_until > $2 as "isClaimed",
     retry_at is not null and retry_at > $2 as "isDelayed"
   from credentials where credential_id = $1`,
);

const COMPLETE = statement(
  'token_refreshes.complete',
  `update credentials set sealed = $3, key_generation = $4, generation = generation + 1, fingerprint = $5, last_four = $6,
     scopes = $7, expires_at = $8, last_refreshed_at = $9, status = 'active', status_reason = '', refreshing_until = null,
     refresh_failures = 0, retry_at = null, updated_at = $9
   where credential_id = $1 and generation = $2`,
);

const DELAY = statement(
  'token_refreshes.delay',
  `update credentials set refreshing_until = null, refresh_failures = refresh_failures + 1,
     retry_at = $3::timestamptz + least(interval '10 minutes', interval '5 seconds' * power(2, least(refresh_failures, 10)))
   where credential_id = $1 and generation = $2`,
);

/** A refusal counts only for the generation that was sent. */
const END = statement(
  'token_refreshes.end',
  `update credentials set refreshing_until = null, status = 'needs_connection', status_reason = $3,
     revision = revision + 1, updated_at = $4
   where credential_id = $1 and generation = $2`,
);

/** Counts the demands of a day, beginning with the first one. $5 is a day ago. */
const DEMAND_SCOPES = statement(
  'token_refreshes.demand_scopes',
  `update credentials set wanted_scopes = $2, scope_demands = case when fresh.is_new_day then 1 else scope_demands + 1 end,
     scope_demands_since = case when fresh.is_new_day then $3 else scope_demands_since end
   from (select scope_demands_since is null or scope_demands_since <= $5 as is_new_day from credentials
     where credential_id = $1) fresh
   where credential_id = $1 and (fresh.is_new_day or scope_demands < $4)`,
);

/** The generation of a secret that is refreshed. */
export interface RefreshTarget {
  credentialId: string;
  vaultId: string;
  generation: number;
}

/** The result of a refresh, sealed for the next generation. */
export interface RefreshedToken {
  secret: SealedSecret;
  scopes: string[];
  expiresAt: Date | undefined;
}

export interface RefreshState {
  generation: number;
  status: string;
  /** A replica refreshes the token now. */
  isClaimed: boolean;
  /** The last refreshes failed, and the next one is later. */
  isDelayed: boolean;
}

const DAY_MS = 24 * 60 * 60_000;
const DEMANDS_A_DAY = 3;

export type TokenRefreshStore = ReturnType<typeof createTokenRefreshStore>;

export function createTokenRefreshStore(db: Database) {
  return {
    /** Undefined: another replica refreshes the token, its secret has changed, or the next attempt is later. */
    async claim(
      { credentialId, generation }: RefreshTarget,
      now: Date,
      until: Date,
      options?: WriteOptions,
    ): Promise<{ wasLeft: boolean } | undefined> {
      const values = [credentialId, generation, now, until];
      const [row] = await db.within(options ?? {}).rows<{ wasLeft: boolean }>(CLAIM, values);
      return row;
    },

    /** Undefined for a deleted credential. */
    async state(credentialId: string, now: Date, options?: ReadOptions): Promise<RefreshState | undefined> {
      const [row] = await db.rows<RefreshState>(STATE, [credentialId, now], options);
      return row;
    },

    /**
     * Stores the new tokens and ends the claim. `data_key_ended`: they have to be sealed again. `changed`: the secret has
     * changed or was deleted meanwhile.
     */
    async complete(
      { credentialId, vaultId, generation }: RefreshTarget,
      { secret, scopes, expiresAt }: RefreshedToken,
      now: Date,
      options?: WriteOptions,
    ): Promise<'stored' | 'data_key_ended' | 'changed'> {
      const { sealed, keyGeneration, fingerprint, lastFour } = secret;
      return db.transaction(async (tx) => {
        if (!(await lockDataKey(tx, vaultId, keyGeneration))) return 'data_key_ended';
        const values = [
          ...[credentialId, generation, sealed, keyGeneration, fingerprint, lastFour, scopes],
          ...[expiresAt ?? null, now],
        ];
        return (await tx.change(COMPLETE, values)) > 0 ? 'stored' : 'changed';
      }, options);
    },

    /** Ends the claim of a refresh that failed. The next one is after 5 seconds, then 10, at most 10 minutes. */
    async delay(
      { credentialId, generation }: RefreshTarget,
      now: Date,
      options?: WriteOptions,
    ): Promise<void> {
      await db.change(DELAY, [credentialId, generation, now], options);
    },

    /**
     * Notes the scopes that the next authorization requests. Returns false if the server has demanded others too often
     * today, or the credential was deleted.
     */
    async demandScopes(
      credentialId: string,
      scopes: readonly string[],
      now: Date,
      options?: WriteOptions,
    ): Promise<boolean> {
      const dayAgo = new Date(now.getTime() - DAY_MS);
      const values = [credentialId, scopes, now, DEMANDS_A_DAY, dayAgo];
      return (await db.change(DEMAND_SCOPES, values, options)) > 0;
    },

    /** Ends the claim of a refresh that the issuer refused. Returns false if the secret has changed meanwhile. */
    async end(
      { credentialId, generation }: RefreshTarget,
      reason: string,
      now: Date,
      options?: WriteOptions,
    ): Promise<boolean> {
      return (await db.change(END, [credentialId, generation, reason, now], options)) > 0;
    },
  };
}
