import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { advanceUntil, until } from '../../../support/wait.ts';
import { OWNER } from '../system.ts';
import { asOwner, type ChannelSystem, openChannelSystem, refusal } from './channel-system.ts';

const CHECKS = [
  { name: 'token', ok: true, problem: '' },
  { name: 'scope files:write', ok: false, problem: 'Add the scope files:write and install the app again.' },
];
const WORKER = 'wrk_01M7XYC91CC5TE06JQWDWRTJVA';

describe('ProbeChannel', () => {
  let system: ChannelSystem;
  beforeAll(async () => {
    system = await openChannelSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    system.fakes.auditLog.takeActs();
    await system.sql('delete from deployments; delete from connections');
  });

  const claimProbes = async () => {
    const free = { connections: 0, conversations: 0, deliveries: 0 };
    const request = { workerId: WORKER, ...free, waitMs: 0, leaseSeconds: 30 };
    return (await system.worker.claimWork(request, { requestId: 'req_1' })).probes;
  };

  /** The probe, claimed by a worker as soon as it is requested. */
  const claimedProbe = () => until('a probe is requested', async () => (await claimProbes())[0]);

  async function passUntilEnd(promise: Promise<unknown>, stepMs: number): Promise<void> {
    let isEnded = false;
    const ended = promise.finally(() => {
      isEnded = true;
    });
    // A failure is reported after the loop.
    ended.catch(() => {});
    await advanceUntil(
      'the probe has ended',
      () => system.clock.advance(stepMs),
      () => isEnded,
    );
    await ended;
  }

  it('returns the checks of a channel worker, also of a disabled channel', async () => {
    const { deploymentId, reference } = await system.create('slack');
    await system.disable(deploymentId);
    system.fakes.auditLog.takeActs();
    const answer = system.edge.probeChannel(reference, asOwner);
    const probe = await claimedProbe();
    expect(probe.deploymentId).toBe(deploymentId);
    expect(await claimProbes()).toEqual([]);
    await system.worker.reportProbe({ probeId: probe.probeId, checks: CHECKS });
    expect(await answer).toEqual({ checks: CHECKS, checkedAt: system.clock.now() });
    expect(await system.sql('select from probes')).toEqual([]);
    expect(system.fakes.auditLog.takeActs()).toEqual([`${OWNER.userId} channel.probe ${deploymentId}`]);
  });

  it('is refused with DEPENDENCY_UNAVAILABLE when no worker claims the probe within 3 seconds', async () => {
    const { reference } = await system.create('slack');
    const startedAt = system.clock.now().getTime();
    const refused = expect(system.edge.probeChannel(reference, asOwner)).rejects.toMatchObject({
      ...refusal('DEPENDENCY_UNAVAILABLE'),
      message: expect.stringContaining('No channel worker is running'),
    });
    await passUntilEnd(refused, 50);
    expect(system.clock.now().getTime() - startedAt).toBeGreaterThanOrEqual(3_000);
    expect(await claimProbes()).toEqual([]);
    expect(await system.sql('select from probes')).toEqual([]);
  });

  it('is refused with DEPENDENCY_UNAVAILABLE when the worker does not answer', async () => {
    const { reference } = await system.create('slack');
    const call = { ...asOwner, timeoutMs: 60_000 };
    const refused = expect(system.edge.probeChannel(reference, call)).rejects.toMatchObject({
      ...refusal('DEPENDENCY_UNAVAILABLE'),
      message: expect.stringContaining('did not answer'),
    });
    const { probeId } = await claimedProbe();
    await passUntilEnd(refused, 500);
    // The caller has left.
    expect(await system.worker.reportProbe({ probeId, checks: CHECKS })).toEqual({});
  });

  it('names missing credentials without a worker', async () => {
    const { deployment } = await system.requestCreation('slack');
    const reference = { agentId: '', deploymentId: deployment!.deploymentId };
    const { checks } = await system.edge.probeChannel(reference, asOwner);
    expect(checks).toEqual([
      { name: 'bot_token', ok: false, problem: 'Set the credential bot_token.' },
      { name: 'app_token', ok: false, problem: 'Set the credential app_token.' },
    ]);
  });

  it('says whether a request of another product has arrived', async () => {
    const { reference } = await system.create('http');
    const answer = system.edge.probeChannel(reference, asOwner);
    await system.worker.reportProbe({ probeId: (await claimedProbe()).probeId, checks: [] });
    const problem = expect.stringContaining('callback URL');
    expect((await answer).checks).toEqual([{ name: 'first_message', ok: false, problem }]);
  });

  it('ends when the channel is deleted', async () => {
    const { deploymentId, reference } = await system.create('slack');
    const refused = expect(system.edge.probeChannel(reference, asOwner)).rejects.toMatchObject(
      refusal('DEPLOYMENT_NOT_FOUND'),
    );
    await claimedProbe();
    await system.remove(deploymentId);
    system.clock.advance(500);
    await refused;
  });
});

describe('GetChannelSetup', () => {
  let system: ChannelSystem;
  beforeAll(async () => {
    system = await openChannelSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it('returns the steps with the application of the channel', async () => {
    const { reference } = await system.create('discord');
    const { steps } = await system.edge.getChannelSetup(reference, asOwner);
    expect(steps.find(({ name }) => name === 'invite')?.url).toContain('client_id=1234567890');
    expect(steps.find(({ name }) => name === 'first_message')?.done).toBe(false);
    expect(JSON.stringify(steps)).not.toContain('discord-bot-token-secret');
  });

  it('marks the last step after the first message', async () => {
    const { reference, deploymentId } = await system.create('http');
    const insert = (key: string, result: string) =>
      system.sql(
        `insert into deliveries (delivery_id, deployment_id, owner_id, dedupe_key, kind, result, size, created_at)
         values ($1, $2, $3, $1, 'message', $4, 1, now())`,
        [key, deploymentId, OWNER.userId, result],
      );
    const isDone = async () => {
      const { steps } = await system.edge.getChannelSetup(reference, asOwner);
      return steps.find(({ name }) => name === 'first_message')?.done;
    };
    await insert('~dlv_1', 'refused');
    expect(await isDone()).toBe(false);
    // It has arrived, but its sender is not linked yet.
    await insert('dlv_2', 'refused');
    expect(await isDone()).toBe(true);
  });
});
