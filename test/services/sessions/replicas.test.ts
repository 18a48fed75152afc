import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClaimedTurn, TurnReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { brokenInvariants } from '../../support/invariants.ts';
import {
  COMPLETED,
  claimTurn,
  claimTurns,
  createConversation,
  journalOf,
  OWNER,
  openReplica,
  openSystem,
  reportFor,
  type SessionsSystem,
  sendReports,
  sendText,
  typesOf,
} from './system.ts';

const APPENDED = { errorCode: '', errorMessage: '', followed: false, steered: false };
const requestStarted = (model: string) => ({
  type: 'model.request_started',
  dataJson: JSON.stringify({ model }),
});
/** No lease expires on a slow machine. */
const LONG_LEASES = { leaseSeconds: 600 };
const rename = (system: SessionsSystem, sessionId: string, title: string) =>
  system.edge.updateSession({ sessionId, title, metadata: undefined }, { caller: OWNER });

describe('two replicas of the sessions service', () => {
  let here: SessionsSystem & { database: { url: string } };
  let there: SessionsSystem;
  beforeAll(async () => {
    here = await openSystem('in process', {}, LONG_LEASES);
    there = await openReplica('in process', here.context, LONG_LEASES);
  });
  afterAll(async () => {
    await there[Symbol.asyncDispose]();
    await here[Symbol.asyncDispose]();
  });

  const statusOf = async (system: SessionsSystem, sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller: OWNER })).session;

  it('append a report after a change by the other replica', async () => {
    const sessionId = await createConversation(here, 'work');
    const turn = await claimTurn(here);
    await rename(there, sessionId, 'renamed elsewhere');
    expect(await sendReports(here, reportFor(turn, 1, { events: [requestStarted('one')] }))).toEqual([
      APPENDED,
    ]);
    expect(await sendReports(there, reportFor(turn, 2, { events: [requestStarted('two')] }))).toEqual([
      APPENDED,
    ]);
    expect(await sendReports(here, reportFor(turn, 3, { outcome: COMPLETED }))).toEqual([APPENDED]);
    expect(typesOf(await journalOf(here, sessionId)).slice(4)).toEqual([
      'turn.started',
      'session.status_running',
      'session.updated',
      'model.request_started',
      'model.request_started',
      'turn.completed',
      'session.status_idle',
    ]);
  });

  it('start a turn that was queued by the other replica during the current turn', async () => {
    const sessionId = await createConversation(here, 'first');
    const turn = await claimTurn(here);
    await sendText(there, sessionId, 'second');
    await sendReports(here, reportFor(turn, 1, { outcome: COMPLETED }));
    expect(await statusOf(here, sessionId)).toMatchObject({ status: 'pending', queuedTurns: 1 });
    const next = await claimTurn(there);
    expect(next.sessionId).toBe(sessionId);
    await sendReports(here, reportFor(next, 1, { outcome: COMPLETED }));
    expect(await statusOf(there, sessionId)).toMatchObject({ status: 'idle', queuedTurns: 0 });
  });

  it('refuse a report of a turn that was interrupted by the other replica', async () => {
    const sessionId = await createConversation(here, 'first');
    const turn = await claimTurn(here);
    await sendText(there, sessionId, 'no, this', 'interrupt');
    const late = reportFor(turn, 1, { events: [requestStarted('too late')], outcome: COMPLETED });
    expect(await sendReports(here, late)).toMatchObject([{ errorCode: 'LEASE_LOST' }]);
    await sendReports(there, reportFor(await claimTurn(there), 1, { outcome: COMPLETED }));
    expect(typesOf(await journalOf(here, sessionId))).not.toContain('model.request_started');
  });

  it('append a report once that was sent to both replicas', async () => {
    const sessionId = await createConversation(here, 'work');
    const turn = await claimTurn(here);
    const first = reportFor(turn, 1, { events: [requestStarted('once')] });
    expect(await sendReports(here, first)).toEqual([APPENDED]);
    expect(await sendReports(there, first)).toEqual([APPENDED]);
    expect(await sendReports(here, first)).toEqual([APPENDED]);
    await sendReports(here, reportFor(turn, 2, { outcome: COMPLETED }));
    expect(
      typesOf(await journalOf(here, sessionId)).filter((type) => type === 'model.request_started'),
    ).toHaveLength(1);
  });

  it('keep every journal without gaps while both change the same sessions', async () => {
    const systems = [here, there];
    const sessions = await Promise.all(
      Array.from({ length: 12 }, (_, i) => createConversation(here, `begin ${i}`)),
    );
    const MESSAGES = 5;
    let talking = true;

    async function talk(sessionId: string, index: number): Promise<void> {
      for (let i = 0; i < MESSAGES; i++) {
        const system = systems[(index + i) % 2] as SessionsSystem;
        await Promise.all([
          sendText(system, sessionId, `more ${i}`),
          rename(system, sessionId, `title ${i}`),
        ]);
      }
    }
    /** Repeats a report, as a runner does, when another transaction has locked the session for a second. */
    async function deliver(system: SessionsSystem, report: TurnReport) {
      for (;;) {
        const [result] = await sendReports(system, report);
        if (result?.errorCode !== 'DEPENDENCY_UNAVAILABLE') return result;
      }
    }
    async function run(turn: ClaimedTurn): Promise<void> {
      for (let seq = 1; seq <= 4; seq++) {
        const system = systems[(turn.fence + seq) % 2] as SessionsSystem;
        const outcome = seq === 4 ? COMPLETED : undefined;
        const report = reportFor(turn, seq, { events: [requestStarted(`${seq}`)], outcome });
        expect(await deliver(system, report)).toEqual(APPENDED);
      }
    }
    async function work(system: SessionsSystem, runnerId: string): Promise<void> {
      for (;;) {
        const turns = await claimTurns(system, 8, runnerId);
        if (turns.length === 0 && !talking) return;
        await Promise.all(turns.map(run));
      }
    }
    const runners = systems.flatMap((system, i) => [work(system, `rnr_${i}a`), work(system, `rnr_${i}b`)]);
    await Promise.all(sessions.map(talk));
    talking = false;
    await Promise.all(runners);

    for (const sessionId of sessions) {
      const journal = await journalOf(here, sessionId);
      expect(journal.map((event) => event.seq)).toEqual(journal.map((_, i) => i + 1));
      const types = typesOf(journal);
      const count = (type: string) => types.filter((one) => one === type).length;
      expect(count('turn.started')).toBe(MESSAGES + 1);
      expect(count('turn.completed')).toBe(MESSAGES + 1);
      expect(count('model.request_started')).toBe(4 * (MESSAGES + 1));
      expect(count('session.updated')).toBe(MESSAGES);
      expect(await statusOf(there, sessionId)).toMatchObject({
        status: 'idle',
        queuedTurns: 0,
        lastSeq: journal.length,
        title: `title ${MESSAGES - 1}`,
      });
    }
    expect(await brokenInvariants(here.context.databaseUrl)).toEqual([]);
  });
});
