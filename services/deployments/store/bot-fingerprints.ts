import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { isDuplicate } from '../../../lib/db/failure.ts';
import { USED_BOT } from './channel-rows.ts';

/** An enabled channel whose fingerprint was made with another key. */
export interface StaleFingerprint {
  deploymentId: string;
  sealedCredentials: string;
}

const MAX_LISTED = 500;

const STALE = statement(
  'bot_fingerprints.stale',
  `select deployment_id as "deploymentId", sealed_credentials as "sealedCredentials" from channels
   where provider = $1 and is_enabled and bot_fingerprint is not null and split_part(bot_fingerprint, '.', 1) <> $2
     and deployment_id > $3
   order by deployment_id limit ${MAX_LISTED}`,
);

/** Credentials that were changed meanwhile have a new fingerprint already. */
const REPLACE = statement(
  'bot_fingerprints.replace',
  'update channels set bot_fingerprint = $3 where deployment_id = $1 and sealed_credentials = $2',
);

export type BotFingerprintStore = ReturnType<typeof createBotFingerprintStore>;

export function createBotFingerprintStore(db: Database) {
  return {
    /** At most 500, in the order of their ids, after an id. */
    stale: (
      provider: string,
      { keyId, after }: { keyId: string; after: string },
      options?: ReadOptions,
    ): Promise<StaleFingerprint[]> => db.rows<StaleFingerprint>(STALE, [provider, keyId, after], options),

    /** Keeps the fingerprint of a channel whose bot another enabled channel has. */
    async replace(
      { deploymentId, sealedCredentials }: StaleFingerprint,
      fingerprint: string,
      options: WriteOptions,
    ): Promise<void> {
      try {
        await db.change(REPLACE, [deploymentId, sealedCredentials, fingerprint], options);
      } catch (error) {
        if (!isDuplicate(error, USED_BOT)) throw error;
      }
    },
  };
}
