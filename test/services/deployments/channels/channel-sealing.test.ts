import { describe, expect, it } from 'vitest';
import { createSealer } from '../../../../lib/sealing.ts';
import { Secret } from '../../../../lib/secret.ts';
import { createChannelSealing } from '../../../../services/deployments/channels/channel-sealing.ts';

const KEY = 'the sealing key of more than 32 characters';
const NEW_KEY = 'the new sealing key of more than 32 characters';
const TOKEN = new Secret('xoxb-1-2-token');

const sealingWith = (keys = KEY, secret = 'the shared secret of all services') =>
  createChannelSealing(createSealer(keys), secret);

describe('sealing of channels', () => {
  it('opens credentials only for the channel that they were sealed for', () => {
    const sealing = sealingWith();
    const sealed = sealing.sealCredentials({ bot_token: TOKEN }, 'dep_1');
    expect(sealed).not.toContain('token');
    expect(sealing.openCredentials(sealed, 'dep_1').bot_token?.reveal()).toBe('xoxb-1-2-token');
    expect(() => sealing.openCredentials(sealed, 'dep_2')).toThrow('does not belong');
  });

  it('does not open a connection state as credentials', () => {
    const sealing = sealingWith();
    const sealed = sealing.sealResume(Buffer.from('{}'), 'dep_1');
    expect(() => sealing.openCredentials(sealed, 'dep_1')).toThrow('does not belong');
  });

  it('forgets a connection state whose key is not configured any more', () => {
    const sealed = sealingWith().sealResume(Buffer.from([0, 255]), 'dep_1');
    expect(sealingWith(`${NEW_KEY},${KEY}`).openResume(sealed, 'dep_1')).toEqual(Buffer.from([0, 255]));
    expect(sealingWith(NEW_KEY).openResume(sealed, 'dep_1')).toBeUndefined();
  });

  it('compares bots by a fingerprint that depends on provider, token and key', () => {
    const fingerprint = sealingWith().botFingerprint('slack', TOKEN);
    expect(sealingWith(NEW_KEY).botFingerprint('slack', new Secret('xoxb-1-2-token'))).toBe(fingerprint);
    const others = [
      sealingWith().botFingerprint('discord', TOKEN),
      sealingWith().botFingerprint('slack', new Secret('xoxb-1-2-tokem')),
      sealingWith(KEY, 'another shared secret').botFingerprint('slack', TOKEN),
    ];
    expect(new Set([fingerprint, ...others]).size).toBe(4);
  });

  it('names the key of a fingerprint, which changes with the secret of the services', () => {
    const [sealing, rotated] = [sealingWith(), sealingWith(KEY, 'another shared secret')];
    expect(sealing.botFingerprint('slack', TOKEN).split('.')[0]).toBe(sealing.fingerprintKeyId);
    expect(rotated.botFingerprint('slack', TOKEN).split('.')[0]).toBe(rotated.fingerprintKeyId);
    expect(rotated.fingerprintKeyId).not.toBe(sealing.fingerprintKeyId);
  });

  it('finds the application of Discord, also before its id is known', () => {
    const sealing = sealingWith();
    const channel = (provider: 'slack' | 'discord', credentials: Record<string, Secret>) => ({
      ...{ deploymentId: 'dep_1', provider, identity: null },
      sealedCredentials: sealing.sealCredentials(credentials, 'dep_1'),
    });
    expect(sealing.applicationIdOf(channel('discord', { application_id: new Secret('42') }))).toBe('42');
    expect(sealing.applicationIdOf(channel('discord', {}))).toBe('');
    expect(sealing.applicationIdOf(channel('slack', { application_id: new Secret('42') }))).toBe('');
  });
});
