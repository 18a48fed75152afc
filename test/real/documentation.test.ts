import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpTestServer, startMcpServer } from '../support/mcp-server.ts';
import { runnableScript, shellBlocks } from '../support/shell-blocks.ts';
import { type System, startSystem } from '../support/system.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DOCUMENTED_ORIGIN = 'http://127.0.0.1:8080';
const DOCUMENTED_MCP_SERVER = 'http://127.0.0.1:3001/mcp';

const guides = (await readdir(join(ROOT, 'docs/how-to'))).filter((name) => name.endsWith('.md')).sort();
const pages = await Promise.all(
  ['README.md', ...guides.map((name) => `docs/how-to/${name}`)].map(async (path) => ({
    path,
    blocks: shellBlocks(await readFile(join(ROOT, path), 'utf8')),
  })),
);

async function runInBash(
  script: string,
  directory: string,
): Promise<{ code: number | null; output: string }> {
  const child = spawn('bash', ['-c', script], { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => output.push(piece));
  child.stderr.on('data', (piece: Buffer) => output.push(piece));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output: Buffer.concat(output).toString() };
}

let system: System;
let mcpServer: McpTestServer;
let directory = '';

beforeAll(async () => {
  mcpServer = await startMcpServer({ echo: {} });
  system = await startSystem({ SERVICE_OUTBOUND_PRIVATE_HOSTS: `127.0.0.1:${mcpServer.port}` });
  directory = await mkdtemp(join(tmpdir(), 'documentation-'));
});

afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await mcpServer?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

describe('shell blocks of README and the how-to pages', () => {
  it('are marked as external or run by this test', () => {
    const marks = new Set(pages.flatMap(({ blocks }) => blocks.map(({ mark }) => mark)));
    expect([...marks].sort()).toEqual(['', 'external', 'external packages']);
  });

  const runnable = pages
    .map(({ path, blocks }) => ({ path, script: runnableScript(blocks) }))
    .filter(({ script }) => script !== '');

  it.each(runnable)('of $path succeed against a running system', async ({ script }) => {
    const { code, output } = await runInBash(
      script.replaceAll(DOCUMENTED_ORIGIN, system.url).replaceAll(DOCUMENTED_MCP_SERVER, mcpServer.url),
      directory,
    );
    expect(output).not.toContain('"error":{');
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
  });
});
