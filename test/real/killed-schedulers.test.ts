import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded } from '../chaos/random.ts';
import { dataOfCreated } from '../support/api.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { freePort } from '../support/port.ts';
import { killUntil } from '../support/random-kills.ts';
import { rowsOn } from '../support/sql.ts';
import { until } from '../support/wait.ts';

const SEED = Number(process.env.SERVICE_TEST_SEED ?? 22);
const SECOND_MS = 1_000;
/** The times of the schedules, one each second. */
const TIMES = 20;
/** From the creation of the first schedule to the first time. */
const LEAD_MS = 4_000;
const VICTIMS = [
  'deployments',
  'deployments 2',
  'deployments',
  'deployments 2',
  'sessions',
  'runner',
] as const;

interface Schedule {
  overlap: string;
  session: 'new' | 'continue';
}
const SCHEDULES: Schedule[] = [
  { overlap: 'allow', session: 'new' },
  { overlap: 'skip', session: 'new' },
  { overlap: 'buffer_one', session: 'new' },
  { overlap: 'cancel_previous', session: 'new' },
  { overlap: 'allow', session: 'continue' },
  { overlap: 'cancel_previous', session: 'continue' },
];

interface Run {
  runId: string;
  status: string;
  reason: string | null;
  first: Date;
  last: Date | null;
  count: number;
  sessionId: string | null;
  turnId: string | null;
  /** The run was cancelled, and its turn was not looked up yet. */
  isUnchecked: boolean;
}

interface Turn {
  sessionId: string;
  turnId: string;
  ended: boolean;
  messages: number;
}

describe(`schedules of two deployments processes that are killed, seed ${SEED}`, () => {
  let fleet: Fleet;
  let agent: string;
  beforeAll(async () => {
    fleet = await startFleet({
      SERVICE_SCHEDULE_MIN_INTERVAL_SECONDS: '1',
      SERVICE_TURN_LEASE_SECONDS: '2',
    });
    fleet.add('deployments 2', 'deployments', {
      SERVICE_GRPC_LISTEN: `127.0.0.1:${await freePort()}`,
    });
    await fleet.run('deployments 2');
    await fleet.listening('deployments 2');
    // Turns last longer than an interval, so that the overlap policies have an effect.
    const steps = [{ text: 'a slow answer', chunk_chars: 1, delay_ms: 100 }];
    agent = await fleet.api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
  });
  afterAll(async () => {
    const broken = fleet ? await brokenInvariants(fleet.databaseUrl) : [];
    await fleet?.[Symbol.asyncDispose]();
    expect(broken).toEqual([]);
  });

  const rows = <Row extends object>(sql: string) =>
    rowsOn<Row & Record<string, unknown>>(fleet.databaseUrl, sql);

  const runsOf = (schedule: string) =>
    rows<Run>(`
      select run_id as "runId", status, reason, scheduled_for as first, scheduled_until as last, count,
        session_id as "sessionId", turn_id as "turnId", check_at is not null as "isUnchecked"
      from deployments.runs where deployment_id = '${schedule}' order by scheduled_for`);

  const turnsOf = (schedule: string) =>
    rows<Turn>(`
      select t.session_id as "sessionId", t.turn_id as "turnId", t.finished_at is not null as ended,
        (select count(*)::integer from sessions.journal j, json_array_elements(j.events::json) e
         where j.session_id = t.session_id and e ->> 'type' = 'user.message' and e ->> 'turn_id' = t.turn_id) as messages
      from sessions.turns t join sessions.sessions s using (session_id)
      where s.deployment_id = '${schedule}' order by t.turn_id`);

  const isDrained = async () => {
    const [open] = await rows<{ count: number }>(`
      select (select count(*) from deployments.runs where status in ('queued', 'running', 'waiting'))::integer
        + (select count(*) from deployments.schedules where next_at is not null)::integer
        + (select count(*) from sessions.turns where finished_at is null)::integer as count`);
    return open?.count === 0;
  };

  /** The scheduled times of a run: a missed range has one each second. */
  function timesOf({ first, last, count }: Run): number[] {
    const times: number[] = [];
    for (let at = first.getTime(); at <= (last ?? first).getTime(); at += SECOND_MS) times.push(at);
    expect(times).toHaveLength(count);
    return times;
  }

  it('give every scheduled time one fate, and every started run one session with one turn', async () => {
    const start = Math.ceil((Date.now() + LEAD_MS) / SECOND_MS) * SECOND_MS;
    const end = start + (TIMES - 1) * SECOND_MS;
    const created = await Promise.all(
      SCHEDULES.map(async (members) => {
        const times = { every_seconds: 1, start_at: new Date(start), end_at: new Date(end) };
        const schedule = { type: 'schedule', name: members.overlap, prompt: 'Go.', ...times, ...members };
        const { body, ...response } = await fleet.api.post(`/admin/agents/${agent}/deployments`, schedule);
        return { ...members, id: String(dataOfCreated({ body, ...response }).deployment_id) };
      }),
    );
    expect(Date.now()).toBeLessThan(start);
    const kills = await killUntil(end, fleet, VICTIMS, seeded(SEED));
    expect(kills).toBeGreaterThan(3);
    await until('all runs and turns have ended', isDrained);

    const expected = Array.from({ length: TIMES }, (_, index) => start + index * SECOND_MS);
    for (const { id, overlap, session } of created) {
      const name = `${overlap}, ${session}, seed ${SEED}`;
      const runs = await runsOf(id);
      expect(runs.flatMap(timesOf), name).toEqual(expected);
      const turns = await turnsOf(id);
      const turnIds = new Set(turns.map(({ turnId }) => turnId));
      const started = runs.filter(
        ({ runId, turnId, isUnchecked }) =>
          turnId !== null || (isUnchecked && turnIds.has(`trn_${runId.slice(4)}`)),
      );
      expect(started.length, name).toBeGreaterThan(0);
      // Each turn belongs to a run, and each started run has one turn, which got its message once.
      const suffixes = started.map(({ runId }) => runId.slice(4)).sort();
      expect(turns.map(({ turnId }) => turnId.slice(4)).sort(), name).toEqual(suffixes);
      for (const turn of turns) expect(turn, name).toMatchObject({ ended: true, messages: 1 });
      for (const { runId, turnId, sessionId } of started) {
        if (turnId === null) continue;
        const [turn] = turns.filter((one) => one.turnId === turnId);
        expect(turn, name).toMatchObject({ turnId: `trn_${runId.slice(4)}`, sessionId });
      }
      const sessions = new Set(turns.map(({ sessionId }) => sessionId));
      expect(sessions.size, name).toBe(session === 'new' ? started.length : 1);
      const outcomes = new Set(runs.map(({ status, reason }) => (reason ? `${status} ${reason}` : status)));
      expect(
        [...outcomes].filter((outcome) => !OUTCOMES.has(outcome)),
        name,
      ).toEqual([]);
    }
  });
});

const OUTCOMES = new Set([
  ...['succeeded', 'interrupted', 'cancelled overlap', 'cancelled turn_cancelled'],
  ...['skipped overlap', 'skipped buffer_full', 'missed superseded'],
]);
