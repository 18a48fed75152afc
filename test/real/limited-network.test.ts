import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IsolatedSystem, openIsolatedSystem } from '../support/internet/open.ts';
import { until } from '../support/wait.ts';

const OWN = '93.184.216.1';
/** All names resolve and are routable. A server answers at all but the last two. */
const NAMES = {
  'allowed.test': '93.184.216.34',
  'a.below.test': '93.184.216.34',
  'other.test': '93.184.216.35',
  'private.test': '10.1.2.3',
  'shared.test': '100.64.0.1',
  'metadata.test': '169.254.169.254',
  'machine.test': OWN,
  'loopback.test': '127.0.0.1',
};
const { 'other.test': _, ...ON_THE_LIST } = NAMES;
const LIST = Object.keys(ON_THE_LIST).map((name) => name.replace(/^a\./, '*.'));

describe('the network of a session’s commands', () => {
  let isolated: IsolatedSystem;
  let environments = 0;
  beforeAll(async () => {
    isolated = await openIsolatedSystem(NAMES, OWN);
  });
  afterAll(() => isolated?.[Symbol.asyncDispose]());

  /** Returns the output of commands in a session whose environment has this network. */
  async function outputOf(network: object, ...commands: string[]): Promise<string> {
    const { api, requestedHosts } = isolated;
    requestedHosts.length = 0;
    const sandbox = { provider: 'bubblewrap' };
    const made = await api.post('/admin/environments', {
      name: `environment-${++environments}`,
      sandbox,
      network,
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const { environment_id } = made.body.data;
    const agent = await api.createAgent({ model: 'rehearsal/shell', environment_id });
    const message = commands.map((line) => `$ ${line}`).join('\n');
    const begun = await api.post(`/agents/${agent}/conversations`, { message });
    const session = String(begun.body.data.session_id);
    await until('the turn has ended', async () => {
      const { body } = await api.get(`/sessions/${session}`);
      return body.data.status === 'idle';
    });
    const { body } = await api.get(`/sessions/${session}/messages?limit=100`);
    const last = body.data.at(-1) as { content: { text?: string }[] };
    return last.content.map(({ text }) => text ?? '').join('');
  }

  const request = (options: string, host: string) =>
    `echo "${host} $(curl --silent --max-time 10 --output /dev/null ${options} http://${host}/)"`;

  it('limited: reaches allowed hosts with public addresses and nothing else', async () => {
    const output = await outputOf(
      { mode: 'limited', allowed_hosts: LIST },
      'curl --silent http://allowed.test/',
      ...Object.keys(NAMES).map((name) => request("--write-out '%{http_code}'", name)),
    );
    expect(output).toContain('from afar');
    const answers = Object.fromEntries(
      [...output.matchAll(/^(\S+\.test) (\d+)$/gm)].map(([, host, status]) => [host, Number(status)]),
    );
    expect(answers).toEqual({
      'allowed.test': 200,
      'a.below.test': 200,
      'other.test': 403,
      'private.test': 403,
      'shared.test': 403,
      'metadata.test': 403,
      'machine.test': 403,
      'loopback.test': 403,
    });
    expect(isolated.requestedHosts).toEqual(['allowed.test', 'allowed.test', 'a.below.test']);
  });

  it('limited: permits tunnels to allowed hosts and no bypass of the list', async () => {
    const output = await outputOf(
      { mode: 'limited', allowed_hosts: ['allowed.test', 'metadata.test'] },
      request("--proxytunnel --write-out '%{http_connect}'", 'allowed.test'),
      request("--proxytunnel --write-out '%{http_connect}'", 'metadata.test'),
      request("--proxytunnel --write-out '%{http_connect}'", 'other.test'),
      request("--noproxy '*' --write-out '%{http_code}'", NAMES['allowed.test']),
      request("--noproxy '*' --write-out '%{http_code}'", NAMES['metadata.test']),
    );
    const answers = [...output.matchAll(/^(\S+) (\d\d\d)$/gm)].map(([, host, status]) => [host, status]);
    expect(answers).toEqual([
      ['allowed.test', '200'],
      ['metadata.test', '403'],
      ['other.test', '403'],
      [NAMES['allowed.test'], '000'],
      [NAMES['metadata.test'], '000'],
    ]);
    expect(isolated.requestedHosts).toEqual(['allowed.test']);
  });

  it('none: reaches nothing', async () => {
    const output = await outputOf(
      { mode: 'none' },
      request("--write-out '%{http_code}'", 'allowed.test'),
      request("--write-out '%{http_code}'", NAMES['allowed.test']),
    );
    expect([...output.matchAll(/^\S+ (\d\d\d)$/gm)].map(([, status]) => status)).toEqual(['000', '000']);
    expect(isolated.requestedHosts).toEqual([]);
  });
});
