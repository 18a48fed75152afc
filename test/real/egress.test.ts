import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../support/certificates.ts';
import { type IsolatedSystem, openIsolatedSystem } from '../support/internet/open.ts';
import { shellBlocks } from '../support/shell-blocks.ts';
import { until } from '../support/wait.ts';

const OWN = '93.184.216.1';
const HOSTS = [
  'api.github.com',
  'git.test',
  'pypi.test',
  'npm.test',
  'plain.test',
  'badcert.test',
  'attached.test',
];
const NAMES = Object.fromEntries(HOSTS.map((name) => [name, '93.184.216.34']));
const BOUND = HOSTS.filter((name) => name !== 'plain.test' && name !== 'attached.test');
const CANARY = 'canary-of-a-token-0123456789abcdef';
const WITH_BOTH = ['git', 'curl', 'python3', 'pip3', 'npm', 'gh'];
const PACKAGES: Record<string, string> = { pip3: 'python3-pip' };

/** A wheel with one module, made by Python, because zip files are a part of its library. */
const WHEEL = `
import base64, io, zipfile
data = io.BytesIO()
with zipfile.ZipFile(data, 'w') as wheel:
    wheel.writestr('sample.py', 'value = 1')
    wheel.writestr('sample-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: sample\\nVersion: 1.0\\n')
    wheel.writestr('sample-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('sample-1.0.dist-info/RECORD', '')
print(base64.b64encode(data.getvalue()).decode())
`;

describe('commands with credentials', () => {
  let isolated: IsolatedSystem;
  let directory: string;
  let shown: string;
  let agent: string;

  beforeAll(async () => {
    for (const program of WITH_BOTH)
      expect(exists(program), `install the package ${PACKAGES[program] ?? program}`).toBe(true);
    directory = mkdtempSync(join(tmpdir(), 'ahs-egress-'));
    const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, stdio: 'pipe' });
    git('init', '--bare', '--initial-branch=main', 'repositories/project.git');
    git('-C', 'repositories/project.git', 'config', 'http.receivepack', 'true');
    // Commands see this copy of the Node that runs the tests; that of the machine can be too old for proxies.
    // /tmp is another directory for commands.
    shown = mkdtempSync(join(homedir(), '.ahs-egress-'));
    copyFileSync(process.execPath, join(shown, 'node'));
    chmodSync(shown, 0o755);
    const trusted = createAuthority('trusted');
    const untrusted = createAuthority('untrusted');
    writeFileSync(join(directory, 'roots.pem'), trusted.cert);
    isolated = await openIsolatedSystem(NAMES, OWN, {
      tls: {
        certificate: trusted.issue({ names: HOSTS }),
        others: { 'badcert.test': untrusted.issue({ names: HOSTS }) },
        token: CANARY,
        repositories: join(directory, 'repositories'),
        wheel: {
          name: 'sample-1.0-py3-none-any.whl',
          content: execFileSync('python3', ['-c', WHEEL]).toString().trim(),
        },
      },
      // The roots of this machine, as an operator with an own authority sets them.
      env: {
        SSL_CERT_FILE: join(directory, 'roots.pem'),
        SERVICE_SANDBOX_SHOWN_DIRECTORIES: shown,
      },
    });
    const { api } = isolated;
    const environment = await api.post('/admin/environments', {
      name: 'limited',
      sandbox: { provider: 'bubblewrap' },
      network: { mode: 'limited', allowed_hosts: HOSTS },
    });
    const { environment_id } = environment.body.data;
    agent = await api.createAgent({ model: 'rehearsal/shell', environment_id });
    const vault = await api.post('/admin/vaults', { name: 'Keys' });
    const path = `/admin/vaults/${vault.body.data.vault_id}/credentials`;
    for (const credential of [
      {
        type: 'environment_variable',
        name: 'GITHUB_TOKEN',
        value: CANARY,
        allowed_hosts: BOUND,
        placeholder_prefix: 'ghp_',
      },
      { type: 'bearer', host: 'attached.test', token: CANARY },
    ]) {
      const made = await api.post(path, credential);
      expect(made.status, JSON.stringify(made.body)).toBe(201);
    }
    const assigned = await api.send('PUT', `/admin/agents/${agent}/vaults`, {
      vault_ids: [vault.body.data.vault_id],
    });
    expect(assigned.status).toBe(200);
  });
  afterAll(async () => {
    await isolated?.[Symbol.asyncDispose]();
    for (const path of [directory, shown]) rmSync(path, { recursive: true, force: true });
  });

  /** Returns the output of a script in a new session, and the id of the session. */
  async function run(...lines: string[]): Promise<{ output: string; session: string }> {
    const { api } = isolated;
    const message = lines.map((line) => `$ ${line}`).join('\n');
    const begun = await api.post(`/agents/${agent}/conversations`, { message });
    const session = String(begun.body.data.session_id);
    await until(
      'the turn has ended',
      async () => (await api.get(`/sessions/${session}`)).body.data.status === 'idle',
      60_000,
    );
    const { body } = await api.get(`/sessions/${session}/messages?limit=100`);
    const last = body.data.at(-1) as { content: { text?: string }[] };
    return { output: last.content.map(({ text }) => text ?? '').join(''), session };
  }

  it('authenticates curl, git, node, python3, pip, npm and gh without configuration', async () => {
    const python =
      'import os, urllib.request as u; print(u.urlopen(u.Request("https://api.github.com/p", headers={"Authorization": "token " + os.environ["GITHUB_TOKEN"]})).read().decode())';
    const node = `fetch("https://api.github.com/n", {headers: {Authorization: "Bearer " + process.env.GITHUB_TOKEN}}).then((r) => r.text()).then(console.log)`;
    const { output } = await run(
      'echo "variable $(printf %s "$GITHUB_TOKEN" | wc -c) $(printf %s "$GITHUB_TOKEN" | head -c 4)"',
      'echo "curl $(curl -sS -H "Authorization: Bearer $GITHUB_TOKEN" https://api.github.com/)"',
      'echo "basic $(curl -sS -u "me:$GITHUB_TOKEN" https://api.github.com/)"',
      'echo "attached $(curl -sS https://attached.test/ -H "Authorization: Bearer forged")"',
      'echo "plain $(curl -sS -H "Authorization: Bearer $GITHUB_TOKEN" https://plain.test/)"',
      'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c; git clone -q https://git.test/git/project.git /tmp/project 2>&1; cd /tmp/project && git checkout -q -b main; head -c 3000000 /dev/urandom > large; git add . && git commit -qm first && git push -q origin main 2>&1 && echo "push ok"; git clone -q https://git.test/git/project.git /tmp/again && cmp large /tmp/again/large && echo "clone ok"',
      `echo "python $(/usr/bin/python3 -c '${python}')"`,
      `echo "node $(${shown}/node -e '${node}')"`,
      'echo "pip $(/usr/bin/python3 -m pip download -q --no-deps --no-cache-dir --disable-pip-version-check -d /tmp/wheels --index-url "https://x:$GITHUB_TOKEN@pypi.test/simple" sample 2>&1; ls /tmp/wheels)"',
      'echo "npm $(npm view sample version --registry https://npm.test/ --//npm.test/:_authToken=$GITHUB_TOKEN --cache /tmp/npm 2>&1 | tail -1)"',
      'echo "gh $(gh api user 2>&1)"',
    );
    expect(output).not.toContain(CANARY);
    expect(output.split('\n')).toEqual(
      expect.arrayContaining([
        'variable 36 ghp_',
        ...['curl', 'basic', 'attached', 'python', 'node', 'gh'].map(
          (name) => `${name} {"login": "authenticated"}`,
        ),
        'plain {"message": "refused another"}',
        'push ok',
        'clone ok',
        'pip sample-1.0-py3-none-any.whl',
        'npm 1.2.3',
      ]),
    );
  });

  it('gives a sandbox a credential as docs/how-to/sandbox-credentials.md says', async () => {
    const page = readFileSync(new URL('../../docs/how-to/sandbox-credentials.md', import.meta.url), 'utf8');
    const script = shellBlocks(page).map(({ text }) =>
      text.replaceAll('http://127.0.0.1:8080', isolated.api.origin),
    );
    const run = promisify(execFile)('bash', ['-c', `set -euo pipefail\nTOKEN=\n${script.join('\n')}`], {
      timeout: 60_000,
    });
    await expect(run).resolves.toMatchObject({ stdout: expect.stringMatching(/ghp_[0-9a-f]{32}/) });
  });

  it('refuses misuse, and cuts answers that contain the value', async () => {
    const status = (options: string) =>
      `curl -sS --max-time 20 -o /dev/null -w '%{http_code} %{http_connect}' ${options}`;
    const cases = {
      path: status('https://api.github.com/$GITHUB_TOKEN'),
      header: status('-H "X-Other: $GITHUB_TOKEN" https://api.github.com/'),
      body: status('-d "a=$GITHUB_TOKEN" https://api.github.com/'),
      host: status(
        '-H "Host: attached.test" -H "Authorization: Bearer $GITHUB_TOKEN" https://api.github.com/',
      ),
      name: status('-k --connect-to attached.test:443:api.github.com:443 https://attached.test/'),
      plain: status('-H "Authorization: Bearer $GITHUB_TOKEN" http://api.github.com/'),
      port: status('--proxytunnel http://api.github.com/'),
      upgrade: status('-H "Connection: upgrade" -H "Upgrade: websocket" https://api.github.com/'),
      certificate: status('-H "Authorization: Bearer $GITHUB_TOKEN" https://badcert.test/'),
      echo: status('-H "Authorization: Bearer $GITHUB_TOKEN" https://api.github.com/echo'),
      attachedecho: status('https://attached.test/echo'),
    };
    const { output, session } = await run(
      ...Object.entries(cases).map(([name, command]) => `echo "${name} $(${command} 2>/dev/null)"`),
    );
    const answers = Object.fromEntries(
      [...output.matchAll(/^(\w+) (\d{3} \d{3})$/gm)].map(([, name, text]) => [name, text]),
    );
    expect(answers).toEqual({
      path: '403 200',
      header: '403 200',
      body: '403 200',
      host: '403 200',
      name: '403 200',
      plain: '403 000',
      port: '000 403',
      upgrade: '501 200',
      certificate: '502 200',
      echo: '502 200',
      attachedecho: '502 200',
    });
    const { body } = await isolated.api.get('/admin/audit?action=credential.echo');
    expect(body.data).toHaveLength(2);
    expect(JSON.stringify(body.data)).toContain(session);
  });

  it('keeps the value out of the sandbox and of the journal', async () => {
    const { output, session } = await run(
      'export SEEN=1; env; cat /proc/self/environ /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"; git config --list --show-origin; ls -la /run/ahs; cat /run/ahs/proxy-ca.pem; touch /run/ahs/x 2>&1; ls -a /workspace',
    );
    expect(output).toContain('SSL_CERT_FILE=/run/ahs/ca-bundle.pem');
    expect(output).toContain('Read-only file system');
    const { body } = await isolated.api.get(`/sessions/${session}/events?limit=1000`);
    for (const text of [output, JSON.stringify(body)]) {
      expect(text).not.toContain(CANARY);
      expect(text).not.toContain(Buffer.from(CANARY).toString('base64').slice(0, 30));
      expect(text).not.toContain('PRIVATE KEY');
    }
    expect(JSON.stringify(body)).not.toContain('proxy-authorization');
  });
});

function exists(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((path) => {
    try {
      return readFileSync(join(path, program)).length >= 0;
    } catch {
      return false;
    }
  });
}
