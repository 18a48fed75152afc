import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { RUNNER_EXPIRY_MS, type Runner } from '../domain/runner.ts';

/** $7 the time before which other runners have expired. */
const REPORT = statement(
  'runners.report',
  `with expired as (
     delete from runners where runner_id in (
       select runner_id from runners where reported_at < $7 and runner_id <> $1 for update skip locked
     )
   )
   insert into runners (runner_id, providers, backends, key_providers, optional_providers, reported_at)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (runner_id) do update set providers = $2, backends = $3, key_providers = $4, optional_providers = $5,
     reported_at = $6`,
);

const DELETE = statement('runners.delete', 'delete from runners where runner_id = $1');

const LIST = statement(
  'runners.list',
  `select runner_id as "runnerId", providers, backends, key_providers as "keyProviders",
     optional_providers as "optionalProviders"
   from runners where reported_at >= $1 order by runner_id`,
);

export type RunnerStore = ReturnType<typeof createRunnerStore>;

/** The runners that report. */
export function createRunnerStore(db: Database) {
  const expiredAt = (now: Date) => new Date(now.getTime() - RUNNER_EXPIRY_MS);
  return {
    async report(runner: Runner, now: Date, options?: WriteOptions): Promise<void> {
      const { runnerId, keyProviders, optionalProviders } = runner;
      const [providers, backends] = [JSON.stringify(runner.providers), JSON.stringify(runner.backends)];
      const facts = [runnerId, providers, backends, keyProviders, optionalProviders];
      await db.change(REPORT, [...facts, now, expiredAt(now)], options);
    },

    async forget(runnerId: string, options?: WriteOptions): Promise<void> {
      await db.change(DELETE, [runnerId], options);
    },

    list(now: Date, options?: ReadOptions): Promise<Runner[]> {
      return db.rows<Runner>(LIST, [expiredAt(now)], options);
    },
  };
}
