import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Canaries, databaseDump } from '../support/canaries.ts';
import { createAuthority } from '../support/certificates.ts';
import { openIsolatedTargets } from '../support/internet/open.ts';
import { processTexts } from '../support/processes.ts';
import { until } from '../support/wait.ts';

const OWN = '93.184.216.1';
const TYPES = ['bearer', 'header', 'basic', 'oauth', 'client', 'variable'];
const HOSTS = TYPES.map((type) => `${type}.test`);
const NAMES = Object.fromEntries([...HOSTS, 'issuer.test'].map((name) => [name, '93.184.216.34']));
const AUTHENTICATED = '{"login": "authenticated"}';

describe('commands with credentials, with a process per target', () => {
  const canaries = new Canaries();
  const secrets = {
    bearer: canaries.create('bearer'),
    header: canaries.create('header'),
    basic: canaries.create('basic'),
    refresh: canaries.create('refresh'),
    stale: canaries.create('stale'),
    oauth: canaries.create('oauth'),
    clientSecret: canaries.create('client-secret'),
    client: canaries.create('client'),
    variable: canaries.create('variable'),
  };
  const oauth = { token_endpoint: 'https://issuer.test/token', client_id: 'service' };
  const credentials = [
    { type: 'bearer', host: 'bearer.test', token: secrets.bearer },
    { type: 'header', host: 'header.test', name: 'X-Api-Key', value: secrets.header },
    { type: 'basic', host: 'basic.test', username: 'deploy', password: secrets.basic },
    {
      ...{ type: 'oauth2', host: 'oauth.test', ...oauth },
      ...{ refresh_token: secrets.refresh, access_token: secrets.stale },
    },
    { type: 'oauth2_client', host: 'client.test', ...oauth, client_secret: secrets.clientSecret },
    {
      ...{ type: 'environment_variable', name: 'API_TOKEN', value: secrets.variable },
      allowed_hosts: ['variable.test'],
    },
  ];
  let isolated: Awaited<ReturnType<typeof openIsolatedTargets>>;
  let directory: string;
  let session: string;
  let answer: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'ahs-egress-'));
    const roots = join(directory, 'roots.pem');
    const trusted = createAuthority('trusted');
    writeFileSync(roots, trusted.cert);
    const { bearer, header, basic, oauth: refreshed, client, variable } = secrets;
    isolated = await openIsolatedTargets(NAMES, OWN, {
      tls: {
        certificate: trusted.issue({ names: Object.keys(NAMES) }),
        others: {},
        token: variable,
        moreTokens: [bearer, header, basic, refreshed, client],
        issued: { refresh_token: refreshed, client_credentials: client },
        repositories: directory,
        wheel: { name: '', content: '' },
      },
      // The roots for sandboxes, and those for the vaults service.
      env: {
        ...{ SSL_CERT_FILE: roots, NODE_EXTRA_CA_CERTS: roots, SERVICE_LOG_LEVEL: 'debug' },
        SERVICE_SANDBOX_DIRECTORY: join(directory, 'sandboxes'),
      },
    });
    const agent = await createAgent();
    ({ session, answer } = await run(
      agent,
      ...['bearer', 'header', 'basic'].map((type) => `echo "${type} $(curl -sS https://${type}.test/)"`),
      `echo "stale $(curl -sS -o /dev/null -w '%{http_code}' https://oauth.test/)"`,
      'echo "oauth $(curl -sS https://oauth.test/)"',
      'echo "client $(curl -sS https://client.test/)"',
      'echo "variable $(curl -sS -H "Authorization: Bearer $API_TOKEN" https://variable.test/)"',
      `echo "echo $(curl -sS -o /dev/null -w '%{http_code}' https://bearer.test/echo)"`,
      'curl -sS https://bearer.test/ > /workspace/answer.json',
      'env > /workspace/environment.txt; cat /proc/*/environ /proc/*/cmdline > /workspace/processes.txt 2>/dev/null; true',
    ));
  });
  afterAll(async () => {
    await isolated?.[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Creates an agent whose commands may reach the hosts, with the credentials. */
  async function createAgent(): Promise<string> {
    const { api } = isolated;
    const environment = await until('the runner has reported its sandboxes', async () => {
      const { status, body } = await api.post('/admin/environments', {
        name: 'limited',
        sandbox: { provider: 'bubblewrap' },
        network: { mode: 'limited', allowed_hosts: HOSTS },
      });
      return status === 201 && body.data;
    });
    const { environment_id } = environment;
    const agent = await api.createAgent({ model: 'rehearsal/shell', environment_id });
    const vault = (await api.post('/admin/vaults', { name: 'Keys' })).body.data.vault_id;
    for (const credential of credentials) {
      const created = await api.post(`/admin/vaults/${vault}/credentials`, credential);
      expect(created.status, JSON.stringify(created.body)).toBe(201);
    }
    const assigned = await api.send('PUT', `/admin/agents/${agent}/vaults`, { vault_ids: [vault] });
    expect(assigned.status).toBe(200);
    return agent;
  }

  /** Runs a script in a new session. */
  async function run(agent: string, ...lines: string[]): Promise<{ session: string; answer: string }> {
    const { api } = isolated;
    const message = lines.map((line) => `$ ${line}`).join('\n');
    const begun = await api.post(`/agents/${agent}/conversations`, { message });
    const id = String(begun.body.data.session_id);
    const isIdle = async () => (await api.get(`/sessions/${id}`)).body.data.status === 'idle';
    await until('the turn has ended', isIdle);
    const { body } = await api.get(`/sessions/${id}/messages?limit=100`);
    const last = body.data.at(-1) as { content: { text?: string }[] };
    return { session: id, answer: last.content.map(({ text }) => text ?? '').join('') };
  }

  it('are authenticated, also after a host has refused a token', () => {
    const lines = answer.split('\n').filter((line) => /^\w+ ({|\d)/.test(line));
    expect(lines).toEqual([
      ...['bearer', 'header', 'basic'].map((type) => `${type} ${AUTHENTICATED}`),
      'stale 401',
      ...['oauth', 'client', 'variable'].map((type) => `${type} ${AUTHENTICATED}`),
      'echo 502',
    ]);
  });

  it('leave no secret in events, workspace copies, logs and the database', async () => {
    const { api, databaseUrl, output, pids } = isolated;
    const { body } = await api.get(`/sessions/${session}/events?limit=1000`);
    expect(canaries.in(JSON.stringify(body))).toEqual([]);
    expect(canaries.in(output())).toEqual([]);
    const runner = pids.find((pid) => read(`/proc/${pid}/cmdline`).includes('--target=runner'));
    const sandboxes = viewsOf(join(directory, 'sandboxes'), runner);
    const files = sandboxes.flatMap(filesBelow).map((path) => ({ path, content: read(path) }));
    expect(
      files.flatMap(({ path, content }) => canaries.in(content).map((name) => `${path}: ${name}`)),
    ).toEqual([]);
    const dump = await databaseDump(databaseUrl);
    expect(dump.flatMap(({ table, row }) => canaries.in(row).map((name) => `${table}: ${name}`))).toEqual([]);
    // The search reads what commands have written.
    expect(files.filter(({ content }) => content.includes('API_TOKEN='))).not.toEqual([]);
    expect(files.filter(({ content }) => content.toString() === AUTHENTICATED)).not.toEqual([]);
  });

  it('leave no secret in the environments and arguments of processes', () => {
    const texts = processTexts(isolated.pids);
    expect(
      texts.flatMap(({ name, content }) => canaries.in(content).map((one) => `${name}: ${one}`)),
    ).toEqual([]);
    for (const pid of isolated.pids)
      for (const [name, text] of [
        ['environ', 'SERVICE_PORT='],
        ['cmdline', '--target='],
      ])
        expect(read(`/proc/${pid}/${name}`).includes(text!), `${name} of ${pid} is readable`).toBe(true);
  });
});

/**
 * The paths by which a process reaches a directory. The copies of workspaces can be mounted in a namespace of which the runner
 * has only an open directory.
 */
function viewsOf(directory: string, pid: number | undefined): string[] {
  const open = readdirSync(`/proc/${pid}/fd`).map((name) => `fd/${name}`);
  return ['root', ...open]
    .map((name) => `/proc/${pid}/${name}${directory}`)
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Empty for a file or process that has just ended. */
function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
