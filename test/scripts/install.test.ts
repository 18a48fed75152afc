import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../support/wait.ts';

const root = mkdtempSync(join(tmpdir(), 'install-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const REPOSITORY = join(import.meta.dirname, '..', '..');

/** Replaces npm: installs the packages of the lock file after a delay, and records that it ran. */
const NPM = `
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
appendFileSync('ran', process.argv.slice(2).join(' ') + '\\n');
if (existsSync('broken')) process.exit(7);
rmSync('node_modules', { recursive: true, force: true });
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const here = Object.entries(packages).filter(([path, { os }]) => path && !os);
for (const [path] of here) {
  mkdirSync(path, { recursive: true });
  writeFileSync(path + '/package.json', '{}');
}
while (existsSync('slow')) await new Promise((resolve) => setTimeout(resolve, 10));
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(here) }));
appendFileSync('ran', 'done\\n');`;

const LOCK = {
  '': { name: 'clone' },
  'node_modules/one': { version: '1.0.0', integrity: 'sha512-one' },
  'node_modules/tool': { version: '1.0.0', integrity: 'sha512-tool', dev: true },
  'node_modules/elsewhere': { version: '1.0.0', optional: true, os: ['aix'] },
};

class Clone {
  readonly path = mkdtempSync(join(root, 'clone-'));

  constructor() {
    for (const part of ['scripts/install.mjs', 'scripts/install', 'lib/bundled-packages.js'])
      cpSync(join(REPOSITORY, part), join(this.path, part), { recursive: true });
    this.write('npm-cli.js', NPM);
    this.write('package.json', '{"type":"module"}');
    this.lock(LOCK);
  }

  file = (name: string) => join(this.path, name);
  write = (name: string, text: string) => writeFileSync(this.file(name), text);
  lock = (packages: object) => this.write('package-lock.json', JSON.stringify({ packages }));
  /** The arguments of each npm call and a line when it is done. */
  ran = () => (existsSync(this.file('ran')) ? readFileSync(this.file('ran'), 'utf8').trim().split('\n') : []);

  begin(script = 'pretest'): ChildProcess {
    const env = {
      PATH: process.env.PATH,
      npm_execpath: this.file('npm-cli.js'),
      npm_lifecycle_event: script,
    };
    return spawn(process.execPath, [this.file('scripts/install.mjs')], { env, stdio: 'pipe' });
  }

  async install(script?: string): Promise<{ code: number; output: string }> {
    const child = this.begin(script);
    let output = '';
    child.stderr?.on('data', (chunk) => {
      output += chunk;
    });
    const [code] = await once(child, 'close');
    return { code, output };
  }
}

describe('scripts/install.mjs before npm start and npm test', () => {
  it('installs missing packages once, without running package scripts', async () => {
    const clone = new Clone();
    expect((await clone.install()).code).toBe(0);
    expect(clone.ran()).toEqual([expect.stringMatching(/^ci --ignore-scripts .*--include=dev/), 'done']);
    expect(await clone.install()).toEqual({ code: 0, output: '' });
    expect(clone.ran()).toHaveLength(2);
  });

  it('installs again when the lock file has changed', async () => {
    const clone = new Clone();
    await clone.install();
    clone.lock({ ...LOCK, 'node_modules/two': { version: '1.0.0', integrity: 'sha512-two' } });
    expect((await clone.install()).code).toBe(0);
    expect(existsSync(clone.file('node_modules/two'))).toBe(true);
  });

  it('accepts packages that the user installed with npm', async () => {
    const clone = new Clone();
    await clone.install();
    rmSync(clone.file('node_modules/.installed'));
    expect(await clone.install()).toEqual({ code: 0, output: '' });
    expect(clone.ran()).toHaveLength(2);
  });

  it('requires development packages for tests but not for a start', async () => {
    const clone = new Clone();
    await clone.install();
    rmSync(clone.file('node_modules/.installed'));
    const production = { 'node_modules/one': LOCK['node_modules/one'] };
    clone.write('node_modules/.package-lock.json', JSON.stringify({ packages: production }));
    await clone.install('prestart');
    expect(clone.ran()).toHaveLength(2);
    await clone.install('pretest');
    expect(clone.ran()).toHaveLength(4);
  });

  it('installs again after an interrupted installation', async () => {
    const clone = new Clone();
    await clone.install();
    rmSync(clone.file('node_modules/.installed'));
    rmSync(clone.file('node_modules/one'), { recursive: true });
    expect((await clone.install()).code).toBe(0);
    expect(existsSync(clone.file('node_modules/one'))).toBe(true);
  });

  it('reports a failure of npm and stops', async () => {
    const clone = new Clone();
    clone.write('broken', '');
    const { code, output } = await clone.install();
    expect(code).toBe(1);
    expect(output).toContain('npm ci failed (exit code 7)');
    expect(existsSync(clone.file('.install.lock'))).toBe(false);
  });

  it('installs once when several processes start at the same time', async () => {
    const clone = new Clone();
    clone.write('slow', '');
    const all = [clone.install(), clone.install(), clone.install()];
    await until('npm runs', () => clone.ran().length === 1);
    rmSync(clone.file('slow'));
    expect((await Promise.all(all)).map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(clone.ran()).toHaveLength(2);
  });

  it('waits for the npm process of a killed installation', async () => {
    const clone = new Clone();
    clone.write('slow', '');
    const killed = clone.begin();
    await until('npm runs', () => clone.ran().length === 1);
    await until('the lock names both processes', () =>
      readFileSync(clone.file('.install.lock'), 'utf8').match(/},{/),
    );
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const next = clone.install();
    rmSync(clone.file('slow'));
    expect((await next).code).toBe(0);
    expect(clone.ran()).toHaveLength(2);
  });

  it('stops npm when it is stopped', async () => {
    const clone = new Clone();
    clone.write('slow', '');
    const stopped = clone.begin();
    await until('npm runs', () => clone.ran().length === 1);
    stopped.kill('SIGTERM');
    await once(stopped, 'close');
    expect(existsSync(clone.file('.install.lock'))).toBe(false);
    rmSync(clone.file('slow'));
    expect((await clone.install()).code).toBe(0);
    expect(clone.ran().filter((line) => line === 'done')).toHaveLength(1);
  });
});
