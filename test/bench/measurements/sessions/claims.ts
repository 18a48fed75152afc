import { createClient } from '../../../../lib/grpc/client.ts';
import type { Client } from '../../../../lib/grpc/contract.ts';
import { localTransport } from '../../../../lib/grpc/local.ts';
import { AgentsServiceDefinition } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { openSessions } from '../../../../services/sessions/service.ts';
import { createContext } from '../../../support/context.ts';
import { FakeAuth } from '../../../support/fake-auth.ts';
import { fakeService } from '../../../support/fake-service.ts';
import { type Bench, percentile } from '../../bench.ts';
import type { BenchDatabase } from '../../subjects/postgres.ts';

/** Median milliseconds of one claim. */
export interface Claims {
  idleMs: number;
  /** With 51,000 turns in progress. */
  runningMs: number;
  /** With 100,000 ready turns of an agent at its limit, too. */
  fullMs: number;
  /** From the claim to the start of a user's only turn. */
  aloneMs: number;
  /** The same with 100,000 ready turns of another user. */
  behindMs: number;
}

const RUNNING = 51_000;
const READY = 100_000;
const MAX_RUNNING = 1_000;
/** Two users take turns, so that one claim starts a turn of each. */
const SLOTS = 2;
const TIMES = 200;
const WARM_UPS = 20;
const USER = { userId: 'usr_00000000000000000000000001', roles: ['member'] };
const AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVA';
const CONFIG = {
  pool: 8,
  leaseSeconds: 600,
  approvalTtlSeconds: 600,
  maxFailures: 2,
  maxTurnsPerAgent: MAX_RUNNING,
  quotaTurnsPerDay: 0,
  purgeAfterSeconds: 3_600,
};

/** r: claims of the service alone, in this process, over the in-process transport. */
export async function measureClaims(bench: Bench): Promise<Claims> {
  const scaled = (count: number) => Math.ceil(count * bench.scale);
  await using database = await bench.postgres.createDatabase();
  const context = createContext(database.url);
  const fakes = {
    agents: fakeService(
      AgentsServiceDefinition,
      { resolveAgent: async () => ({ agentId: AGENT, version: 1 }) },
      'sessions',
      context,
    ),
    files: fakeService(FilesServiceDefinition, {}, 'sessions', context),
    auth: new FakeAuth(),
  };
  const service = await openSessions(context, CONFIG, fakes);
  const clientOf = (self: string) =>
    createClient({
      contract: SessionsServiceDefinition,
      self,
      secret: context.serviceSecret,
      clock: context.clock,
      transport: localTransport(service.endpoint),
    });
  const [edge, runner] = [clientOf('edge'), clientOf('runner')];
  const claim = () => runner.claimTurns({ runnerId: 'rnr_1', slots: SLOTS, waitMs: 0 });
  const start = () => startTurn(edge, claim);
  try {
    const idleMs = await medianOf(bench, 'idle', claim);
    const aloneMs = await medianOf(bench, 'the only turn', start);
    await fill(database, scaled(RUNNING), 'running', `'agt_' || i % 100`, "false, 'in_progress'");
    const runningMs = await medianOf(bench, `${scaled(RUNNING)} turns in progress`, claim);
    await fill(database, MAX_RUNNING, 'limit', "'agt_full'", "false, 'in_progress'");
    await fill(database, scaled(READY), 'full', "'agt_full'", "true, 'queued'");
    const fullMs = await medianOf(bench, `${scaled(READY)} ready turns of an agent at its limit`, claim);
    await fill(database, scaled(READY), 'busy', "'agt_busy'", "true, 'queued'");
    const behindMs = await medianOf(bench, `a turn behind ${scaled(READY)} of another user`, start);
    return { idleMs, runningMs, fullMs, aloneMs, behindMs };
  } finally {
    await service.stop();
  }
}

/** Queues a turn of the user. Returns a function that claims until it has started. */
async function startTurn(
  edge: Client<SessionsServiceDefinition>,
  claim: () => ReturnType<Client<SessionsServiceDefinition>['claimTurns']>,
): Promise<() => Promise<void>> {
  const contentJson = JSON.stringify([{ type: 'text', text: 'hello' }]);
  const request = { agentId: AGENT, contentJson, title: '', metadata: {}, idempotencyKey: '' };
  const { session } = await edge.createConversation(request, { caller: USER });
  return async () => {
    for (;;) {
      const { turns } = await claim();
      if (turns.some(({ sessionId }) => sessionId === session?.sessionId)) return;
    }
  };
}

/** `prepare` may return the part that is measured. */
async function medianOf(
  bench: Bench,
  what: string,
  prepare: () => Promise<(() => Promise<void>) | object>,
): Promise<number> {
  const times: number[] = [];
  for (let time = -WARM_UPS; time < TIMES; time++) {
    let startedAt = performance.now();
    const measured = await prepare();
    if (typeof measured === 'function') {
      startedAt = performance.now();
      await measured();
    }
    if (time >= 0) times.push(performance.now() - startedAt);
  }
  const ms = percentile(times, 0.5);
  bench.print('w', `${what}: ${ms.toFixed(2)} ms`);
  return ms;
}

/** Adds sessions of one other owner, each with one turn. */
async function fill(database: BenchDatabase, count: number, prefix: string, agent: string, state: string) {
  const id = (kind: string) => `'${kind}_${prefix}' || lpad(i::text, 20, '0')`;
  const numbers = `generate_series(1, ${count}) i`;
  await database.run(`
    insert into sessions.sessions (session_id, owner_id, agent_id, agent_version, created_at)
      select ${id('ses')}, 'usr_0', ${agent}, 1, now() from ${numbers};
    insert into sessions.heads (session_id, last_seq, status, queued_turns, updated_at)
      select ${id('ses')}, 4, 'pending', 1, now() from ${numbers};
    insert into sessions.turns (session_id, position, turn_id, owner_id, agent_id, agent_version, priority, ready,
                                status, lease_until, created_at)
      select ${id('ses')}, 2, ${id('trn')}, 'usr_0', ${agent}, 1, 0, ${state}, now() + interval '1 h', now()
      from ${numbers};`);
  await database.run('analyze sessions.turns');
}
