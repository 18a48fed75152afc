import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSealer } from '../../../../lib/sealing.ts';
import { Secret } from '../../../../lib/secret.ts';
import { createChannelSealing } from '../../../../services/deployments/channels/channel-sealing.ts';
import { SEALING_KEY } from '../system.ts';
import { type ChannelSystem, CREDENTIALS, openChannelSystem, refusal } from './channel-system.ts';
import { IDENTITIES } from './fixtures.ts';

const IN_USE = refusal('RESOURCE_IN_USE');
const OTHER_BOT = { bot_token: '42:another-token' };

describe('bots of channels after SERVICE_SECRET was rotated', () => {
  let system: ChannelSystem;
  beforeAll(async () => {
    system = await openChannelSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    await system.sql('delete from deployments; delete from connections');
  });

  const fingerprintOf = async (deploymentId: string) => {
    const query = 'select bot_fingerprint from channels where deployment_id = $1';
    return (await system.sql<{ bot_fingerprint: string }>(query, [deploymentId]))[0]?.bot_fingerprint;
  };
  const former = createChannelSealing(createSealer(SEALING_KEY), 'the secret before the rotation');
  const token = new Secret(CREDENTIALS.telegram.bot_token);
  /** As the service stored it before the rotation, and as an earlier release stored it. */
  const STORED = [
    ['the former secret', former.botFingerprint('telegram', token)],
    ['an earlier release', former.botFingerprint('telegram', token).split('.')[1] ?? ''],
  ] as const;

  async function store(deploymentId: string, fingerprint: string): Promise<void> {
    const update = 'update channels set bot_fingerprint = $2 where deployment_id = $1';
    await system.sql(update, [deploymentId, fingerprint]);
  }

  describe.each(STORED)('with a fingerprint of %s', (_, stored) => {
    it('are recognized when another channel is created', async () => {
      const { deploymentId } = await system.create('telegram');
      await store(deploymentId, stored);
      await expect(system.create('telegram')).rejects.toMatchObject(IN_USE);
      expect(await fingerprintOf(deploymentId)).not.toBe(stored);
    });

    it('are recognized when another channel gets the token', async () => {
      const { deploymentId } = await system.create('telegram');
      await store(deploymentId, stored);
      const other = await system.create('telegram', { credentials: OTHER_BOT });
      const credentials = CREDENTIALS.telegram;
      await expect(system.update(other.deploymentId, { credentials })).rejects.toMatchObject(IN_USE);
    });

    it('are recognized when a channel is enabled', async () => {
      const { deploymentId } = await system.create('telegram');
      await system.disable(deploymentId);
      await store(deploymentId, stored);
      const other = await system.create('telegram');
      await expect(system.enable(deploymentId)).rejects.toMatchObject(IN_USE);
      await store(other.deploymentId, stored);
      await expect(system.enable(deploymentId)).rejects.toMatchObject(IN_USE);
    });

    it('are still the same bots after a change of other members', async () => {
      const { deploymentId } = await system.create('telegram');
      await store(deploymentId, stored);
      const identity = JSON.stringify(IDENTITIES.telegram);
      await system.sql('update channels set identity = $2 where deployment_id = $1', [
        deploymentId,
        identity,
      ]);
      const config = { respondTo: 'all', access: undefined, approvers: undefined };
      const { channel } = await system.update(deploymentId, { config });
      expect(channel.connection?.botName).toBe(IDENTITIES.telegram.name);
    });
  });

  it('keep two channels that both were enabled before, and refuse a third', async () => {
    const first = await system.create('telegram');
    await store(first.deploymentId, STORED[0][1]);
    const second = await system.create('telegram', { credentials: OTHER_BOT });
    // As if the second one had been created while the first one was not comparable.
    const { sealedCredentials, fingerprint } = {
      sealedCredentials: createChannelSealing(createSealer(SEALING_KEY), '').sealCredentials(
        { bot_token: token },
        second.deploymentId,
      ),
      fingerprint: STORED[1][1],
    };
    const update =
      'update channels set sealed_credentials = $2, bot_fingerprint = $3 where deployment_id = $1';
    await system.sql(update, [second.deploymentId, sealedCredentials, fingerprint]);
    await expect(system.create('telegram')).rejects.toMatchObject(IN_USE);
    for (const { deploymentId } of [first, second])
      expect((await system.read(deploymentId)).status).toBe('enabled');
  });
});
