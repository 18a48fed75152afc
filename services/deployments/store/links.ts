import { type CursorScope, decodeIdCursor, pageOf } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';

/** An account of a product. */
export interface ProductAccount {
  provider: string;
  /** The workspace of the product; for http the deployment; empty otherwise. */
  team: string;
  externalId: string;
}

export interface StoredLink extends ProductAccount {
  linkId: string;
  externalName: string;
  userId: string;
  how: string;
  createdAt: Date;
}

/** An offer to link an account. */
export interface LinkOffer extends ProductAccount {
  codeSha256: Buffer;
  deploymentId: string;
  externalName: string;
  expiresAt: Date;
  createdAt: Date;
}

export type FoundOffer = Omit<LinkOffer, 'codeSha256' | 'createdAt'> & { deploymentName: string };

interface LinkPage {
  caller: string;
  limit: number;
  cursor: string;
}

const COLUMNS = `
  l.link_id as "linkId", l.provider, l.team, l.external_id as "externalId", l.external_name as "externalName",
  l.user_id as "userId", l.how, l.created_at as "createdAt"`;

const OF_ACCOUNTS = statement(
  'links.of_accounts',
  `select ${COLUMNS}
   from unnest($1::text[], $2::text[], $3::text[]) as g (provider, team, external_id)
   join links l on l.provider = g.provider and l.team = g.team and l.external_id = g.external_id`,
);

const OF_USER = statement(
  'links.of_user',
  `select ${COLUMNS} from links l where l.user_id = $1 and ($2::text is null or l.link_id < $2)
   order by l.link_id desc limit $3`,
);

/** People who have talked to a channel. */
const IN_CHANNEL = `exists (
  select from conversation_people p join channels c on c.deployment_id = p.deployment_id
  where p.deployment_id = $1 and c.provider = l.provider and p.team = l.team and p.external_id = l.external_id)`;

const OF_CHANNEL = statement(
  'links.of_channel',
  `select ${COLUMNS} from links l where ${IN_CHANNEL} and ($2::text is null or l.link_id < $2)
   order by l.link_id desc limit $3`,
);

const FIND_OWN = statement(
  'links.find_own',
  `select ${COLUMNS} from links l where l.link_id = $2 and l.user_id = $1`,
);

const FIND_IN_CHANNEL = statement(
  'links.find_in_channel',
  `select ${COLUMNS} from links l where l.link_id = $2 and ${IN_CHANNEL}`,
);

const REMOVE = statement('links.remove', 'delete from links where link_id = $1');

/** A new link of an account replaces the earlier one. */
const PUT = statement(
  'links.put',
  `insert into links (link_id, provider, team, external_id, external_name, user_id, how, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (provider, team, external_id) do update set link_id = excluded.link_id,
     external_name = excluded.external_name, user_id = excluded.user_id, how = excluded.how,
     created_at = excluded.created_at`,
);

const ADD = statement(
  'links.add',
  `insert into links (link_id, provider, team, external_id, external_name, user_id, how, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (provider, team, external_id) do nothing`,
);

const SWEEP = statement('links.sweep_offers', 'delete from link_codes where expires_at <= $1');

/** An account has at most one offer. */
const OFFER = statement(
  'links.offer',
  `insert into link_codes (code_sha256, deployment_id, provider, team, external_id, external_name, expires_at, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (provider, team, external_id) do update set code_sha256 = excluded.code_sha256,
     deployment_id = excluded.deployment_id, external_name = excluded.external_name,
     expires_at = excluded.expires_at, created_at = excluded.created_at`,
);

const OFFER_COLUMNS = `
  k.deployment_id as "deploymentId", k.provider, k.team, k.external_id as "externalId",
  k.external_name as "externalName", k.expires_at as "expiresAt", d.name as "deploymentName"`;

const FIND_OFFER = statement(
  'links.find_offer',
  `select ${OFFER_COLUMNS} from link_codes k join deployments d on d.deployment_id = k.deployment_id
   where k.code_sha256 = $1 and k.expires_at > $2`,
);

const USE_OFFER = statement(
  'links.use_offer',
  'delete from link_codes where code_sha256 = $1 and expires_at > $2',
);

export type LinkStore = ReturnType<typeof createLinkStore>;

export function createLinkStore(db: Database) {
  async function page(
    query: typeof OF_USER,
    id: string,
    { caller, limit, cursor }: LinkPage,
    options?: ReadOptions,
  ) {
    const scope: CursorScope = ['links', caller, query.name, id];
    const before = decodeIdCursor('lnk', scope, cursor) ?? null;
    const rows = await db.rows<StoredLink>(query, [id, before, limit + 1], options);
    return pageOf(rows, limit, scope, ({ linkId }) => linkId);
  }

  async function one(query: typeof FIND_OWN, id: string, linkId: string, options?: ReadOptions) {
    const [row] = await db.rows<StoredLink>(query, [id, linkId], options);
    return row;
  }

  return {
    /** The links of these accounts, in any order. */
    async ofAccounts(accounts: readonly ProductAccount[], options?: ReadOptions): Promise<StoredLink[]> {
      if (accounts.length === 0) return [];
      return db.rows<StoredLink>(
        OF_ACCOUNTS,
        [
          accounts.map(({ provider }) => provider),
          accounts.map(({ team }) => team),
          accounts.map(({ externalId }) => externalId),
        ],
        options,
      );
    },

    ofUser: (userId: string, limits: LinkPage, options?: ReadOptions) =>
      page(OF_USER, userId, limits, options),
    ofChannel: (deploymentId: string, limits: LinkPage, options?: ReadOptions) =>
      page(OF_CHANNEL, deploymentId, limits, options),
    findOwn: (userId: string, linkId: string, options?: ReadOptions) =>
      one(FIND_OWN, userId, linkId, options),
    findInChannel: (deploymentId: string, linkId: string, options?: ReadOptions) =>
      one(FIND_IN_CHANNEL, deploymentId, linkId, options),

    /** An account has at most one link, so another one that was added meanwhile stays. */
    async add(link: StoredLink, { trace }: WriteOptions = {}): Promise<void> {
      await db.change(ADD, valuesOf(link), { trace });
    },

    /** Returns whether the link existed. */
    remove: async (linkId: string, { trace, viewer }: WriteOptions = {}): Promise<boolean> =>
      (await db.change(REMOVE, [linkId], { trace, viewer })) > 0,

    /** The offer of a code that is neither used nor expired. */
    async findOffer(codeSha256: Buffer, now: Date, options?: ReadOptions): Promise<FoundOffer | undefined> {
      const [row] = await db.rows<FoundOffer>(FIND_OFFER, [codeSha256, now], options);
      return row;
    },

    /** Uses the code and links its account. Returns false when the code was used or has expired. */
    confirm(codeSha256: Buffer, link: StoredLink, now: Date, { trace }: WriteOptions = {}): Promise<boolean> {
      return db.transaction(
        async (tx) => {
          if ((await tx.change(USE_OFFER, [codeSha256, now])) === 0) return false;
          await tx.change(PUT, valuesOf(link));
          return true;
        },
        { trace },
      );
    },
  };
}

function valuesOf(link: StoredLink): unknown[] {
  const { linkId, provider, team, externalId, externalName, userId, how, createdAt } = link;
  return [linkId, provider, team, externalId, externalName, userId, how, createdAt];
}

/** Replaces the offer of the account, and removes expired ones. */
export async function replaceOffer(tx: DatabaseSession, offer: LinkOffer): Promise<void> {
  const { codeSha256, deploymentId, provider, team, externalId, externalName, expiresAt, createdAt } = offer;
  await tx.change(SWEEP, [createdAt]);
  await tx.change(OFFER, [
    ...[codeSha256, deploymentId, provider, team, externalId, externalName, expiresAt, createdAt],
  ]);
}
