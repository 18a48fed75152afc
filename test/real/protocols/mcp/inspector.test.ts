import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTeam, type Team } from '../../../edge/access/team.ts';
import { createApi } from '../../../support/api.ts';
import { scratch } from '../../../support/scratch.ts';

const PROGRAM = fileURLToPath(new URL('../../../../node_modules/.bin/mcp-inspector', import.meta.url));
const run = promisify(execFile);

describe("the inspector's command line", () => {
  const stack = new AsyncDisposableStack();
  let team: Team;
  let directory: string;
  let token: string;
  let agentId: string;

  beforeAll(async () => {
    team = stack.use(await startTeam());
    directory = await mkdtemp(join(scratch(), 'ahs-inspector-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const browser = await team.logIn('bob');
    token = (await browser.token(['mcp'])).value;
    const write = { authorization: `Bearer ${(await browser.token(['write'])).value}` };
    agentId = await createApi(team.url, write).createAgent({ name: 'Parrot' });
  });
  afterAll(() => stack.disposeAsync());

  /** Returns the result of a method. */
  async function inspect(era: string, method: string, ...args: string[]): Promise<Record<string, unknown>> {
    const { stdout } = await run(
      process.execPath,
      [
        ...[PROGRAM, '--cli', '--server-url', `${team.url}/api/v1/mcp`, '--transport', 'http'],
        ...['--header', `Authorization: Bearer ${token}`, '--protocol-era', era],
        ...['--format', 'json', '--quiet', '--stored-auth-only', '--method', method, ...args],
      ],
      // It keeps its settings in the home directory.
      { env: { ...process.env, HOME: directory }, cwd: directory },
    );
    return JSON.parse(stdout).result;
  }

  it.each(['modern', 'legacy'])('lists tools and asks an agent as a %s client', async (era) => {
    const { tools } = (await inspect(era, 'tools/list', '--strict')) as { tools: { name: string }[] };
    const ask = `ask_parrot_${agentId.slice(-4).toLowerCase()}`;
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining([ask, 'list_agents']));
    const input = JSON.stringify({ message: 'Polly', wait_seconds: 30 });
    const outcome = await inspect(era, 'tools/call', '--tool-name', ask, '--tool-args-json', input);
    expect(outcome).toMatchObject({ structuredContent: { status: 'completed', text: 'Polly' } });
  });
});
