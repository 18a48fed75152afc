import { describe, expect, it } from 'vitest';
import { defaultConfig, MODES, PROVIDERS } from '../../../../services/deployments/domain/channels/channel.ts';
import {
  changeConfig,
  checkProvider,
  newConfig,
} from '../../../../services/deployments/domain/channels/config.ts';
import { warningsOf } from '../../../../services/deployments/domain/channels/warnings.ts';

type Request = NonNullable<Parameters<typeof newConfig>[1]>;

const SLACK = defaultConfig('slack');
const USER = 'usr_00000000000000000000000001';
const refusal = (pointer: string, code = 'INVALID_REQUEST') =>
  expect.objectContaining({ code, details: [expect.objectContaining({ pointer })] });

describe('settings of a channel', () => {
  it.each(PROVIDERS)('have defaults for %s without a public address', (provider) => {
    expect(newConfig(provider, undefined)).toEqual(defaultConfig(provider));
    expect(defaultConfig(provider).mode).toBe(MODES[provider].at(-1));
    expect(defaultConfig(provider).mode).not.toBe('http');
  });

  it('keep members that a change does not name', () => {
    const first = newConfig('slack', { respondTo: 'all', greeting: 'Hello', filesIn: false });
    expect(changeConfig('slack', first, { busy: 'interrupt' })).toEqual({ ...first, busy: 'interrupt' });
    expect(changeConfig('slack', first, undefined)).toBe(first);
  });

  it.each(PROVIDERS)('allow for %s exactly its modes', (provider) => {
    for (const mode of ['http', 'socket', 'polling', 'gateway', 'pull'] as const) {
      if (MODES[provider].includes(mode)) expect(newConfig(provider, { mode }).mode).toBe(mode);
      else expect(() => newConfig(provider, { mode })).toThrow(refusal('/config/mode'));
    }
  });

  it.each<[string, Request]>([
    ['/config/respond_to', { respondTo: 'none' }],
    ['/config/owner', { owner: 'everyone' }],
    ['/config/busy', { busy: 'drop' }],
    ['/config/edits', { edits: 'never' }],
    ['/config/show_tools', { showTools: '' }],
    ['/config/approvers', { approvers: { policy: 'strangers', userIds: [] } }],
    ['/config/approvers', { approvers: { policy: 'users', userIds: [] } }],
    ['/config/approvers/1', { approvers: { policy: 'users', userIds: [USER, 'usr_1'] } }],
    ['/config/access/mode', { access: { mode: 'friends' } }],
    ['/config/access/people', { access: { mode: 'list' } }],
    ['/config/access/people', { access: { people: { ids: ['U1'] } } }],
    ['/config/access/places', { access: { mode: 'anyone', places: { ids: ['C1'] } } }],
    ['/config/access/people/0', { access: { mode: 'list', people: { ids: [''] } } }],
    ['/config/access/places/1', { access: { mode: 'list', places: { ids: ['C1', 'C 2'] } } }],
    ['/config/new_session_after_idle_seconds', { newSessionAfterIdleSeconds: 59 }],
    ['/config/new_session_after_idle_seconds', { newSessionAfterIdleSeconds: -1 }],
    ['/config/greeting', { greeting: 'x'.repeat(2_001) }],
  ])('refuse an invalid %s', (pointer, request) => {
    expect(() => newConfig('slack', request)).toThrow(refusal(pointer));
  });

  it('refuse text that cannot be stored', () => {
    expect(() => newConfig('slack', { greeting: 'a\0' })).toThrow(
      refusal('/config/greeting', 'INVALID_TEXT'),
    );
  });

  it('report all problems of a request', () => {
    expect(() => newConfig('slack', { busy: 'drop', edits: 'never' })).toThrow(
      expect.objectContaining({
        details: [
          expect.objectContaining({ pointer: '/config/busy' }),
          expect.objectContaining({ pointer: '/config/edits' }),
        ],
      }),
    );
  });

  it('allow users of other organizations only for Slack', () => {
    const access = { allowExternal: true };
    expect(newConfig('slack', { access }).access.allowExternal).toBe(true);
    expect(() => newConfig('telegram', { access })).toThrow(refusal('/config/access/allow_external'));
  });

  it('trust e-mails only of Slack, because other products tell none', () => {
    expect(newConfig('slack', { trustEmail: true }).trustEmail).toBe(true);
    expect(newConfig('discord', { trustEmail: false }).trustEmail).toBe(false);
    for (const provider of ['telegram', 'discord', 'http'] as const)
      expect(() => newConfig(provider, { trustEmail: true })).toThrow(refusal('/config/trust_email'));
  });

  it('forget lists and approvers of a former mode', () => {
    const listed = newConfig('slack', {
      access: { mode: 'list', people: { ids: ['U1', 'U1', 'U2'] } },
      approvers: { policy: 'users', userIds: [USER] },
    });
    expect(listed.access).toEqual({ mode: 'list', people: ['U1', 'U2'], places: [], allowExternal: false });
    const places = changeConfig('slack', listed, { access: { places: { ids: ['C1'] } } });
    expect(places.access).toMatchObject({ people: ['U1', 'U2'], places: ['C1'] });
    const linked = changeConfig('slack', listed, {
      access: { mode: 'linked' },
      approvers: { policy: 'managers', userIds: [USER] },
    });
    expect(linked.access).toEqual(SLACK.access);
    expect(linked.approvers).toEqual({ policy: 'managers', userIds: [] });
  });

  it('are removed by 0 and by an empty text', () => {
    const set = newConfig('slack', { newSessionAfterIdleSeconds: 60, greeting: 'Hello' });
    expect(set).toMatchObject({ newSessionAfterIdleSeconds: 60, greeting: 'Hello' });
    const removed = changeConfig('slack', set, { newSessionAfterIdleSeconds: 0, greeting: ' ' });
    expect(removed).toMatchObject({ newSessionAfterIdleSeconds: null, greeting: null });
  });

  it('name a known provider', () => {
    expect(checkProvider('http')).toBe('http');
    expect(() => checkProvider('toString')).toThrow(refusal('/provider'));
  });
});

describe('warnings of a channel', () => {
  const URL = 'https://agents.example.org/callback';
  const warnings = (request: Request, url = URL) => warningsOf('slack', newConfig('slack', request), url);

  it('are absent for the defaults', () => {
    expect(warnings({})).toEqual([]);
  });

  it('say that anyone can talk to the agent', () => {
    expect(warnings({ access: { mode: 'anyone' } })).toEqual([
      expect.stringContaining('Everyone in the Slack workspace'),
    ]);
  });

  it('say that unlinked people cannot own sessions', () => {
    const list = { mode: 'list', people: { ids: ['U1'] } };
    expect(warnings({ owner: 'sender', access: list })).toEqual([
      expect.stringContaining('without a linked account'),
    ]);
    expect(warnings({ owner: 'sender' })).toEqual([]);
  });

  it('say that the product cannot reach the callback URL', () => {
    const unreachable = 'http://127.0.0.1:8080/callback';
    expect(warnings({ mode: 'http' }, unreachable)).toEqual([expect.stringContaining('SERVICE_PUBLIC_URL')]);
    expect(warnings({ mode: 'http' })).toEqual([]);
    expect(warnings({ mode: 'socket' }, unreachable)).toEqual([]);
  });
});
