import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { CrashPoint } from '../chaos/tools/crash-points.ts';
import { openToolCrashSystem } from '../chaos/tools/system.ts';
import { createDatabase } from '../support/database.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { rowsOn } from '../support/sql.ts';
import { until } from '../support/wait.ts';

const COUNT_ASK = 0;
const LEASE_SECONDS = 1;

describe('a runner that is suspended during a turn', () => {
  it.each<CrashPoint>([
    'before agent.tool_dispatched',
    'after agent.tool_dispatched',
    'before agent.tool_result',
  ])(
    'does not change the turn after it resumes: %s',
    async (point) => {
      await using database = await createDatabase();
      await using system = await openToolCrashSystem(database.url, LEASE_SECONDS);
      const journal = () =>
        rowsOn(database.url, 'select * from sessions.journal order by session_id, last_seq');
      await system.createSession(COUNT_ASK, 'first');
      const paused = system.startRunner({ point, signal: 'SIGSTOP' });
      await until('the runner is suspended', async () => (await stateOf(paused.child.pid)) === 'T');
      const before = system.counter.calls.length;

      const other = system.startRunner({});
      await until('another runner has ended the turn', async () => {
        await system.decideAll(() => 'retry');
        return (await system.unfinished()) === 0;
      });
      other.child.kill('SIGKILL');
      await other.exited;
      const journalAtEnd = await journal();

      paused.child.kill('SIGCONT');
      // The resumed runner works again when it executes another turn.
      await system.createSession(COUNT_ASK, 'second');
      await until('the resumed runner works again', async () => (await system.unfinished()) === 0);
      expect((await journal()).slice(0, journalAtEnd.length)).toEqual(journalAtEnd);
      const calls = system.counter.calls.filter(({ key }) => key === 'first');
      expect(calls).toHaveLength(before + 1);
      expect(new Set(calls.map(({ attempt }) => attempt)).size).toBe(calls.length);
      expect(await brokenInvariants(database.url)).toEqual([]);
    },
    90_000,
  );
});

/** Returns the process state, T while suspended; see proc(5). */
async function stateOf(pid: number | undefined): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2)[0];
}
