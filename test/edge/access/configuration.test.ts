import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from './browser.ts';
import { startTeam, type Team } from './team.ts';

interface Setting {
  name: string;
  value: string | null;
  is_set: boolean;
  is_secret: boolean;
  about: string;
}

const SECRET = 'a-key-of-a-provider-that-must-stay-secret';

describe('GET /admin/configuration', () => {
  let team: Team;
  let alice: Browser;
  beforeAll(async () => {
    team = await startTeam({
      SERVICE_ANTHROPIC_API_KEY: SECRET,
      SERVICE_MODEL_ENDPOINTS: 'local=http://127.0.0.1:9/v1',
    });
    alice = await team.logIn('alice');
  });
  afterAll(() => team[Symbol.asyncDispose]());

  async function settings(): Promise<Map<string, Setting>> {
    const { data } = await alice.get('/api/v1/admin/configuration');
    return new Map((data as Setting[]).map((setting) => [setting.name, setting]));
  }

  it('returns effective values and whether they were set', async () => {
    const all = await settings();
    expect(all.get('SERVICE_AUTH_MODE')).toMatchObject({ value: 'oidc', is_set: true, is_secret: false });
    expect(all.get('SERVICE_STREAM_STALL_SECONDS')).toMatchObject({ value: '30', is_set: false });
    expect([...all.keys()]).toEqual([...all.keys()].toSorted());
    for (const { about } of all.values()) expect(about).not.toBe('');
  });

  it('hides secrets, and user names in URLs', async () => {
    const all = await settings();
    expect(all.get('SERVICE_ANTHROPIC_API_KEY')).toMatchObject({
      value: null,
      is_set: true,
      is_secret: true,
    });
    expect(all.get('SERVICE_SEALING_KEY')).toMatchObject({ value: null, is_secret: true });
    const { text } = await alice.get('/api/v1/admin/configuration');
    expect(text).not.toContain(SECRET);
    for (const { name, is_secret: isSecret } of all.values())
      if (/SECRET|KEY|PASSWORD|DATABASE_URL|REDIS_URL/.test(name) && !/(ACCESS|TLS)_KEY$/.test(name))
        expect(isSecret, name).toBe(true);
  });

  it('returns 403 for callers who are not administrators', async () => {
    const bob = await team.logIn('bob');
    expect((await bob.get('/api/v1/admin/configuration')).code).toBe('FORBIDDEN');
  });
});
