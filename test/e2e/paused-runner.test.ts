import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Point } from '../chaos/tools/points.ts';
import { openStage } from '../chaos/tools/stage.ts';
import { createDatabase } from '../support/database.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { rowsOn } from '../support/sql.ts';
import { until } from '../support/wait.ts';

const COUNT_ASK = 0;
const LEASE_SECONDS = 1;

describe('a runner that is paused in the middle of a turn', () => {
  it.each<Point>(['before agent.tool_dispatched', 'after agent.tool_dispatched', 'before agent.tool_result'])(
    'does nothing more to it when it wakes up: %s',
    async (point) => {
      await using database = await createDatabase();
      await using stage = await openStage(database.url, LEASE_SECONDS);
      const journal = () =>
        rowsOn(database.url, 'select * from sessions.journal order by session_id, last_seq');
      await stage.begin(COUNT_ASK, 'first');
      const paused = stage.run({ point, signal: 'SIGSTOP' });
      await until('it is paused', async () => (await stateOf(paused.child.pid)) === 'T', 20_000);
      const before = stage.counter.calls.length;

      const other = stage.run({});
      await until(
        'another one has ended its turn',
        async () => {
          await stage.decideAll(() => 'retry');
          return (await stage.unfinished()) === 0;
        },
        30_000,
      );
      other.child.kill('SIGKILL');
      await other.exited;
      const told = await journal();

      paused.child.kill('SIGCONT');
      // It is well again when it has carried out another turn.
      await stage.begin(COUNT_ASK, 'second');
      await until('it works again', async () => (await stage.unfinished()) === 0, 20_000);
      expect((await journal()).slice(0, told.length)).toEqual(told);
      const calls = stage.counter.calls.filter(({ key }) => key === 'first');
      expect(calls).toHaveLength(before + 1);
      expect(new Set(calls.map(({ attempt }) => attempt)).size).toBe(calls.length);
      expect(await brokenInvariants(database.url)).toEqual([]);
    },
    90_000,
  );
});

/** T while it is stopped; see proc(5). */
async function stateOf(pid: number | undefined): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2)[0];
}
