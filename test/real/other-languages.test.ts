import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { freePort } from '../support/port.ts';
import { scratch } from '../support/scratch.ts';
import { shellBlocks } from '../support/shell-blocks.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECRET = 'the secret that the services and the programs of the page share';
/** The programs of Debian, before those of other installations. */
const PATH = '/usr/bin:/bin:/usr/local/bin';
/** The compilation of the Go libraries takes minutes on a busy machine. */
const TIMEOUT_MS = 600_000;

const page = await readFile(join(ROOT, 'docs/how-to/call-services.md'), 'utf8');

/** A section of the page: its shell blocks without those that install packages, and its program. */
function sectionOf(language: string, fence: string) {
  const [, section = ''] = page.split(`\n## ${language}\n`);
  const [text = ''] = section.split('\n## ');
  const [, program = ''] = new RegExp(`\`\`\`${fence}\n(.*?)\`\`\``, 's').exec(text) ?? [];
  const [, file = ''] = /as\s+`(agents\.\w+)`/.exec(text) ?? [];
  const scripts = shellBlocks(text).flatMap((block) => (block.mark === 'external' ? [block.text] : []));
  return { program, file, script: ['set -euo pipefail', ...scripts].join('\n') };
}

function runInBash(script: string, directory: string, env: Record<string, string>) {
  const child = spawn('bash', ['-c', script], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (piece) => (output += piece));
  child.stderr.on('data', (piece) => (errors += piece));
  return new Promise<{ code: number | null; output: string; errors: string }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output, errors }));
  });
}

describe('docs/how-to/call-services.md', () => {
  let fleet: Fleet;
  let directory: string;
  let env: Record<string, string>;
  const agents: string[] = [];

  beforeAll(async () => {
    const [, rules = ''] = /SERVICE_GRPC_CALLERS='(.*)'/.exec(page) ?? [];
    fleet = await startFleet({ SERVICE_SECRET: SECRET, SERVICE_GRPC_CALLERS: rules });
    const address = `127.0.0.1:${await freePort()}`;
    fleet.add('agents for programs', 'agents', { SERVICE_GRPC_LISTEN: address });
    await fleet.run('agents for programs');
    for (const name of ['Ledger', 'Überprüfer'])
      agents.push(`${await fleet.api.createAgent({ name })} ${name}`);
    const { body } = await fleet.api.get('/auth/session');
    const { user_id: userId } = body.data.user as { user_id: string };
    directory = await mkdtemp(join(scratch(), 'ahs-languages-'));
    await symlink(join(ROOT, 'proto'), join(directory, 'proto'));
    const ownEnv = { HOME: directory, GOCACHE: join(directory, 'go-build'), TMPDIR: directory };
    env = { PATH, ...ownEnv, SERVICE_SECRET: SECRET, AGENTS_ADDRESS: address, USER_ID: userId };
  });
  afterAll(async () => {
    await fleet?.[Symbol.asyncDispose]();
    if (directory) await rm(directory, { recursive: true, force: true });
  });

  it.each([
    { language: 'Python', fence: 'python', error: 'NOT_FOUND AGENT_NOT_FOUND' },
    { language: 'Go', fence: 'go', error: 'NotFound AGENT_NOT_FOUND' },
  ])(
    'contains a $language program that lists agents and reads an error',
    async ({ language, fence, error }) => {
      const { program, file, script } = sectionOf(language, fence);
      await writeFile(join(directory, file), program);
      const { code, output, errors } = await runInBash(script, directory, env);
      expect({ code, errors: code === 0 ? '' : errors }).toEqual({ code: 0, errors: '' });
      // Newest first.
      expect(output.trim().split('\n')).toEqual([...agents.toReversed(), error]);
    },
    TIMEOUT_MS,
  );

  it('is refused to programs without a rule', async () => {
    const { program, file, script } = sectionOf('Python', 'python');
    await writeFile(join(directory, file), program.replace('"billing"', '"reporting"'));
    const { code, errors } = await runInBash(script, directory, env);
    expect(code).toBe(1);
    expect(errors).toContain('StatusCode.PERMISSION_DENIED');
  });
});
