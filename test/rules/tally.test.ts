import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../.ci/tally.mjs', import.meta.url));
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface File {
  status: string;
  tests: string[];
}

async function report(name: string, ...files: File[]): Promise<string> {
  const path = join(folder, `${name}.json`);
  const testResults = files.map(({ status, tests }, index) => ({
    name: `${index}.test.ts`,
    status,
    message: '',
    assertionResults: tests.map((result, number) => ({
      status: result,
      fullName: `${name} ${number}`,
      failureMessages: result === 'failed' ? ['Error: not equal\n    at a place', 'Error: another'] : [],
    })),
  }));
  const success = files.every((file) => file.status === 'passed');
  await writeFile(path, JSON.stringify({ success, testResults }));
  return path;
}

function tally(...paths: string[]): Promise<{ ok: boolean; lines: string[] }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...paths], (error, stdout) => {
      resolve({ ok: error === null, lines: stdout.trim().split('\n') });
    });
  });
}

describe('.ci/tally.mjs', () => {
  it('sums the tests of all lanes', async () => {
    const one = await report('one', { status: 'passed', tests: ['passed', 'passed'] });
    const two = await report('two', { status: 'passed', tests: ['passed'] });
    expect(await tally(one, two)).toEqual({ ok: true, lines: ['3 passed, 0 failed'] });
  });

  it('fails when a test failed, and names it with its message', async () => {
    const path = await report('red', { status: 'failed', tests: ['passed', 'failed'] });
    const { ok, lines } = await tally(path);
    expect(ok).toBe(false);
    expect(lines).toEqual([
      'red: failed: red 1: Error: not equal',
      'red: vitest reports a failure',
      '1 passed, 1 failed',
    ]);
  });

  it('counts a file that could not be loaded as failed', async () => {
    const path = await report(
      'broken',
      { status: 'failed', tests: [] },
      { status: 'passed', tests: ['passed'] },
    );
    const { ok, lines } = await tally(path);
    expect(ok).toBe(false);
    expect(lines.at(-1)).toBe('1 passed, 1 failed');
  });

  it.each(['skipped', 'pending', 'todo', 'disabled'])(
    'fails when a test has the status %s',
    async (status) => {
      const path = await report(status, { status: 'passed', tests: ['passed', status] });
      const { ok, lines } = await tally(path);
      expect(ok).toBe(false);
      expect(lines).toEqual([`${status}: skipped (${status}): ${status} 1`, '1 passed, 0 failed']);
    },
  );

  it('fails when a lane ran no test', async () => {
    const full = await report('full', { status: 'passed', tests: ['passed'] });
    const empty = await report('empty');
    expect((await tally(full, empty)).ok).toBe(false);
  });

  it('fails when the report of a lane is missing', async () => {
    const full = await report('whole', { status: 'passed', tests: ['passed'] });
    expect((await tally(full, join(folder, 'missing.json'))).ok).toBe(false);
  });

  it('fails without reports', async () => {
    expect((await tally()).ok).toBe(false);
  });
});
