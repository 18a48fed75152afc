import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ComposeProject, startComposeProject } from '../support/containers/compose.ts';
import { runnableScript, shellBlocks } from '../support/shell-blocks.ts';
import { until } from '../support/wait.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const START_MS = 1_200_000;
const STEP_MS = 240_000;

/** The programs of the runner image that agents can use besides the shell. */
const PROGRAMS = ['git', 'python3', 'node', 'rg', 'curl', 'jq'];

let project: ComposeProject;

beforeAll(async () => {
  project = await startComposeProject();
}, START_MS);

afterAll(() => project?.[Symbol.asyncDispose](), STEP_MS);

/** Runs a command in a new session. Returns the message of the agent, which contains its output. */
async function runCommand(command: string): Promise<string> {
  const agent = await project.request('POST', '/api/v1/agents', { name: 'Shell', model: 'rehearsal/shell' });
  const path = `/api/v1/agents/${agent.body.data.agent_id}/conversations`;
  const started = await project.request('POST', path, { message: `$ ${command}` });
  const session = started.body.data.session_id;
  await until(
    'the session is idle',
    async () => (await project.request('GET', `/api/v1/sessions/${session}`)).body.data.status === 'idle',
    STEP_MS,
  );
  const { body } = await project.request('GET', `/api/v1/sessions/${session}/messages`);
  return JSON.stringify(body.data.at(-1));
}

describe('the containers of docker-compose.yml', () => {
  const sandbox = async (): Promise<string> => {
    const { body } = await project.request('GET', '/readyz?verbose');
    // Absent while the edge is not ready.
    const facts = body.data.in_force as { role: string; in_force: string }[] | undefined;
    return facts?.find(({ role }) => role === 'sandbox')?.in_force ?? '';
  };
  const runnerHasReported = async () => !/^(no runner|unknown)/.test(await sandbox());

  it(
    'run the tour of the README',
    async () => {
      const tour = runnableScript(shellBlocks(await readFile(join(ROOT, 'README.md'), 'utf8')));
      // The edge is ready before the runner has connected to the other services, and a turn would be repeated.
      await until('the runner reports', runnerHasReported, STEP_MS);
      expect(await project.runScript(tour)).not.toContain('"error":{');
    },
    2 * STEP_MS,
  );

  it(
    'name the sandbox provider of the runner at /readyz?verbose',
    async () => {
      // The edge is ready before the runner, which tests its sandboxes first.
      await until('the runner reports', runnerHasReported, STEP_MS);
      expect(await sandbox()).toMatch(/^bubblewrap, isolated by the kernel/);
      const log = await project.compose(['logs', '--no-color', 'runner']);
      expect(log).toContain('bubblewrap, isolated by the kernel');
    },
    2 * STEP_MS,
  );

  it(
    'run the programs of the image of the runner in a session',
    async () => {
      const answer = await runCommand(PROGRAMS.map((name) => `${name} --version`).join(' && '));
      expect(answer).toMatch(/git version \d.*Python 3.*v24\..*ripgrep \d.*curl \d.*jq-\d/);
    },
    STEP_MS,
  );

  it(
    'have the packages of MODEL_PACKAGES and no other optional ones',
    async () => {
      await until('the runner reports', runnerHasReported, STEP_MS);
      const { body } = await project.request('GET', '/api/v1/models');
      for (const [provider, installed] of [
        ['gemini', true],
        ['bedrock', false],
      ])
        expect(body.data).toContainEqual(expect.objectContaining({ provider, installed }));
    },
    STEP_MS,
  );

  it(
    'isolate commands from the runner',
    async () => {
      const answer = await runCommand(
        'ls /proc | grep -c "^[0-9]" ; cat /proc/1/comm; ls /app /var/lib/sandbox; id -u',
      );
      expect(answer).toContain('No such file or directory');
      expect(answer).not.toContain('services');
      expect(answer).toContain('1000');
    },
    STEP_MS,
  );

  it('refuse an environment with a limit that the runner cannot enforce', async () => {
    const body = { name: 'limited-processor', sandbox: { cpu_millis: 500 } };
    const answer = await project.request('POST', '/api/v1/admin/environments', body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
  });

  it(
    'require a login in team mode',
    async () => {
      await project.compose(['up', '--detach'], {
        SERVICE_AUTH_MODE: 'oidc',
        SERVICE_PUBLIC_URL: 'https://agents.example.com',
        SERVICE_OIDC_ISSUER: 'https://login.example.com',
        SERVICE_OIDC_CLIENT_ID: 'agents',
        SERVICE_OIDC_ADMINISTRATORS: 'you@example.com',
      });
      const isRefused = async () => {
        const answer = await project.request('GET', '/api/v1/agents').catch(() => undefined);
        return answer?.status === 401 && answer.body.code === 'UNAUTHENTICATED';
      };
      await until('the edge requires a login', isRefused, 4 * STEP_MS);
    },
    6 * STEP_MS,
  );
});
