import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { createContext, TRANSPORTS } from '../../support/context.ts';
import { advanceUntil } from '../../support/wait.ts';
import { trackSessions } from './created-sessions.ts';
import { newRunId, sendForRun } from './deployment-runs.ts';
import {
  AGENT,
  ASSISTANT,
  COMPLETED,
  claimTurn,
  claimTurns,
  createConversation,
  journalOf,
  OWNER,
  openReplica,
  openSystem,
  reportFor,
  sendReports,
} from './system.ts';

const credentialId = 'crd_01M7XYC91CC5TE06JQWDWRTJVA';
const USE = { credentialId, host: 'mcp.example.org' };

describe.each(TRANSPORTS)('CheckLease over %s', (transport) => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  const clock = createFakeClock();
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { track } = trackSessions(() => system);

  async function startTurn(agentId = AGENT) {
    const sessionId = track(await createConversation(system, 'hello', agentId));
    const turn = await claimTurn(system);
    const { turnId, fence } = turn;
    return { turn, lease: { sessionId, turnId, fence } };
  }

  const check = (lease: { sessionId: string; turnId: string; fence: number } | undefined, uses = [USE]) =>
    system.as('vaults').checkLease({ lease, uses });

  async function usesIn(sessionId: string) {
    const events = await journalOf(system, sessionId);
    return events.filter(({ type }) => type === 'credential.used').map(({ json }) => JSON.parse(json));
  }

  it('returns owner, agent and version of the turn, and journals nothing without uses', async () => {
    const { lease } = await startTurn();
    const answer = {
      ownerId: OWNER.userId,
      agentId: AGENT,
      agentVersion: 3,
      deploymentId: '',
      triggered: false,
    };
    expect(await check(lease, [])).toEqual(answer);
    expect(await usesIn(lease.sessionId)).toEqual([]);
  });

  it('returns the deployment of a session that a trigger has started', async () => {
    const deploymentId = 'dep_01M7XYC91CC5TE06JQWDWRTJVA';
    const created = await system.deployments.createSession({
      ...{
        invocationId: 'inv_01M7XYC91CC5TE06JQWDWRTJVB',
        ownerId: OWNER.userId,
        agentId: AGENT,
        agentVersion: 3,
      },
      ...{ deploymentId, text: 'hello', bodyBytes: 2, sourceAddress: '127.0.0.1' },
    });
    track(created.sessionId);
    const { sessionId, turnId, fence } = await claimTurn(system);
    expect(await check({ sessionId, turnId, fence }, [])).toMatchObject({ deploymentId, triggered: true });
  });

  it('returns that a schedule has started a turn in a session of a user', async () => {
    const sessionId = track(await createConversation(system));
    await sendForRun(system, sessionId, newRunId());
    const { turnId, fence } = await claimTurn(system);
    expect(await check({ sessionId, turnId, fence }, [])).toMatchObject({
      deploymentId: '',
      triggered: true,
    });
  });

  it('returns version 0 for an assistant', async () => {
    const { lease } = await startTurn(ASSISTANT);
    expect(await check(lease, [])).toMatchObject({ agentId: ASSISTANT, agentVersion: 0 });
  });

  it('journals each use once for each turn, credential and host', async () => {
    const { turn, lease } = await startTurn();
    const other = { ...USE, host: 'other.example.org:8443' };
    await check(lease);
    await check(lease, [USE, other, other]);
    await Promise.all([1, 2, 3].map(() => check(lease, [other])));
    await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
    const used = await usesIn(lease.sessionId);
    expect(used).toMatchObject([
      {
        turn_id: lease.turnId,
        actor: { type: 'agent', id: AGENT },
        data: { credential_id: credentialId, host: 'mcp.example.org' },
      },
      { data: { host: 'other.example.org:8443' } },
    ]);
    expect(used).toHaveLength(2);
  });

  it('does not journal a use again in a later attempt of the turn', async () => {
    const { lease } = await startTurn();
    await check(lease);
    clock.advance(16_000);
    const { sessionId, turnId, fence } = await advanceUntil(
      'the turn is claimed again',
      () => clock.advance(1_000),
      async () => (await claimTurns(system, 1, 'rnr_2'))[0],
    );
    expect(fence).toBeGreaterThan(lease.fence);
    await check({ sessionId, turnId, fence });
    expect(await usesIn(sessionId)).toHaveLength(1);
  });

  it('refuses a lease that has ended, expired or belongs to another turn, and journals nothing', async () => {
    const { turn, lease } = await startTurn();
    const other = await startTurn();
    const refused = { code: 'LEASE_LOST' };
    await expect(check({ ...lease, fence: lease.fence - 1 })).rejects.toMatchObject(refused);
    await expect(check({ ...lease, turnId: other.lease.turnId })).rejects.toMatchObject(refused);
    await expect(check({ ...lease, sessionId: other.lease.sessionId })).rejects.toMatchObject(refused);
    await expect(check(undefined)).rejects.toMatchObject(refused);
    await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
    await expect(check(lease)).rejects.toMatchObject(refused);
    await expect(check(lease, [])).rejects.toMatchObject(refused);
    clock.advance(15_000);
    await expect(check(other.lease)).rejects.toMatchObject(refused);
    for (const { sessionId } of [lease, other.lease]) expect(await usesIn(sessionId)).toEqual([]);
  });

  it('journals a use on another replica, and the runner can report afterwards', async () => {
    const { database, context } = system;
    await using replica = await openReplica(
      transport,
      createContext(database.url, { clock, bus: context.bus }),
    );
    const { turn, lease } = await startTurn();
    await replica.as('vaults').checkLease({ lease, uses: [USE] });
    await check(lease);
    const [result] = await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
    expect(result?.errorCode).toBe('');
    expect(await usesIn(lease.sessionId)).toHaveLength(1);
  });

  it('refuses malformed uses and more than 50', async () => {
    const { lease } = await startTurn();
    const code = 'INVALID_REQUEST';
    for (const uses of [
      [{ credentialId: 'crd_1', host: 'a' }],
      [{ credentialId, host: '' }],
      [{ credentialId, host: 'a b' }],
      [{ credentialId, host: 'a'.repeat(300) }],
      Array.from({ length: 51 }, (_, index) => ({ credentialId, host: `host-${index}` })),
    ])
      await expect(check(lease, uses)).rejects.toMatchObject({ code });
  });
});
