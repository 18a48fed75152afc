import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import type { ChannelCheck } from '../domain/channels/check.ts';

/** A probe that a worker has claimed. */
export interface ClaimedProbe {
  probeId: string;
  deploymentId: string;
}

interface ProbeState {
  isClaimed: boolean;
  /** Undefined: not finished. */
  checks: ChannelCheck[] | undefined;
}

/** The caller of a probe waits for seconds, so an older row belongs to a caller that was cut off. */
const KEPT = `interval '10 minutes'`;

const INSERT = statement(
  'probes.insert',
  `with swept as (delete from probes where requested_at < $3::timestamptz - ${KEPT})
   insert into probes (probe_id, deployment_id, requested_at) values ($1, $2, $3)`,
);

/** Only new probes: the caller of an older one has left. */
const CLAIM = statement(
  'probes.claim',
  `with ready as (
     select probe_id from probes
     where checks is null and requested_at > $4 and (claimed_until is null or claimed_until <= $1)
     order by requested_at limit $2 for update skip locked
   )
   update probes p set claimed_until = $3 from ready where p.probe_id = ready.probe_id
   returning p.probe_id as "probeId", p.deployment_id as "deploymentId"`,
);

const READ = statement(
  'probes.read',
  `select claimed_until is not null as "isClaimed", checks from probes where probe_id = $1`,
);

const FINISH = statement(
  'probes.finish',
  'update probes set checks = $2 where probe_id = $1 and checks is null',
);

const DELETE = statement('probes.delete', 'delete from probes where probe_id = $1');

export type ProbeStore = ReturnType<typeof createProbeStore>;

export function createProbeStore(db: Database) {
  return {
    async insert(probe: ClaimedProbe, now: Date, { trace }: WriteOptions): Promise<void> {
      await db.change(INSERT, [probe.probeId, probe.deploymentId, now], { trace });
    },

    claim(
      limit: number,
      { now, until, requestedAfter }: { now: Date; until: Date; requestedAfter: Date },
      options?: WriteOptions,
    ): Promise<ClaimedProbe[]> {
      return db.rows<ClaimedProbe>(CLAIM, [now, limit, until, requestedAfter], options);
    },

    /** Undefined when the channel was deleted. */
    async read(probeId: string, { trace }: ReadOptions): Promise<ProbeState | undefined> {
      const [row] = await db.rows<{ isClaimed: boolean; checks: string | null }>(READ, [probeId], { trace });
      return row && { ...row, checks: row.checks === null ? undefined : JSON.parse(row.checks) };
    },

    /** Returns false for an unknown probe: its caller has left. */
    async finish(
      probeId: string,
      checks: readonly ChannelCheck[],
      { trace }: WriteOptions,
    ): Promise<boolean> {
      return (await db.change(FINISH, [probeId, JSON.stringify(checks)], { trace })) > 0;
    },

    async delete(probeId: string, { trace }: WriteOptions): Promise<void> {
      await db.change(DELETE, [probeId], { trace });
    },
  };
}
