import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../support/wait.ts';

const root = mkdtempSync(join(tmpdir(), 'console-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const REPOSITORY = join(import.meta.dirname, '..', '..');

/** Replaces Vite: creates a page and a script from the sources after a delay, and records that it ran. */
const VITE = `
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
export async function build({ root, envDir, build: { outDir } }) {
  appendFileSync('ran', [envDir, process.env.NODE_ENV].join(' ') + '\\n');
  mkdirSync(outDir + '/assets', { recursive: true });
  writeFileSync(outDir + '/index.html', readFileSync(root + '/index.html'));
  if (existsSync('broken')) throw new Error('a bracket is missing');
  writeFileSync(outDir + '/assets/main-1.js', readFileSync(root + '/main.tsx'));
  writeFileSync(outDir + '/assets/tiny-1.css', 'a{}');
  writeFileSync(outDir + '/assets/logo-1.png', 'x'.repeat(1000));
  while (existsSync('slow')) await new Promise((resolve) => setTimeout(resolve, 10));
}`;

const SCRIPT = `export const text = '${'again and '.repeat(100)}';`;

class Clone {
  readonly path = mkdtempSync(join(root, 'clone-'));

  constructor() {
    for (const part of ['console.mjs', 'console', 'install'])
      cpSync(join(REPOSITORY, 'scripts', part), this.file(`scripts/${part}`), { recursive: true });
    this.write('node_modules/vite/package.json', '{"name":"vite","type":"module","main":"vite.js"}');
    this.write('node_modules/vite/vite.js', VITE);
    this.write('package.json', '{"type":"module"}');
    this.write('package-lock.json', '{}');
    this.write('console/index.html', '<!doctype html>');
    this.write('console/main.tsx', SCRIPT);
    this.write('console/gen/client.ts', '1');
  }

  file = (name: string) => join(this.path, name);
  has = (name: string) => existsSync(this.file(name));
  read = (name: string) => readFileSync(this.file(name), 'utf8');
  remove = (name: string) => rmSync(this.file(name), { recursive: true, force: true });
  write(name: string, text: string): void {
    mkdirSync(dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), text);
  }

  /** The number of builds. */
  built = () => (this.has('ran') ? this.read('ran').trim().split('\n').length : 0);
  /** The build folders next to the sources. */
  left = () => readdirSync(this.file('console')).filter((name) => /dist/.test(name));

  begin(script = 'pretest', ...args: string[]): ChildProcess {
    const env = { PATH: process.env.PATH, NODE_ENV: 'development', npm_lifecycle_event: script };
    return spawn(process.execPath, [this.file('scripts/console.mjs'), ...args], {
      cwd: this.path,
      env,
      stdio: 'pipe',
    });
  }

  async run(script?: string, ...args: string[]): Promise<{ code: number; output: string }> {
    const child = this.begin(script, ...args);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
    const [code] = await once(child, 'close');
    return { code, output };
  }
}

describe('scripts/console.mjs before npm start and npm test', () => {
  it('builds a missing console in production mode once', async () => {
    const clone = new Clone();
    const first = await clone.run();
    expect(first.code).toBe(0);
    expect(first.output).toMatch(/^Building the console …\nBuilt in \d+\.\d s\.\n$/);
    expect(clone.read('ran')).toBe('false production\n');
    expect(clone.read('console/dist/assets/main-1.js')).toBe(SCRIPT);
    expect(clone.left()).toEqual(['dist']);
    expect(await clone.run()).toEqual({ code: 0, output: '' });
    expect(clone.built()).toBe(1);
  });

  it('writes compressed copies of text files if they are shorter', async () => {
    const clone = new Clone();
    await clone.run();
    const names = readdirSync(clone.file('console/dist/assets')).sort();
    expect(names).toEqual(['logo-1.png', 'main-1.js', 'main-1.js.br', 'main-1.js.gz', 'tiny-1.css']);
    const packed = (extension: string) =>
      readFileSync(clone.file(`console/dist/assets/main-1.js.${extension}`));
    expect(brotliDecompressSync(packed('br')).toString()).toBe(SCRIPT);
    expect(gunzipSync(packed('gz')).toString()).toBe(SCRIPT);
  });

  it.each([
    ['a source file changes', (clone: Clone) => clone.write('console/main.tsx', `${SCRIPT} `)],
    ['a source file is added', (clone: Clone) => clone.write('console/pages/new.tsx', '')],
    ['a source file is removed', (clone: Clone) => clone.remove('console/gen/client.ts')],
    ['the generated client changes', (clone: Clone) => clone.write('console/gen/client.ts', '2')],
    ['a source file is renamed', rename],
    ['package versions change', (clone: Clone) => clone.write('package-lock.json', '{"packages":{}}')],
    ['the build scripts change', (clone: Clone) => clone.write('scripts/console/more.mjs', '')],
    ['the digest file is missing', (clone: Clone) => clone.remove('console/dist/.made-from')],
    ['the build is missing', (clone: Clone) => clone.remove('console/dist')],
  ])('builds again when %s', async (_, change) => {
    const clone = new Clone();
    await clone.run();
    change(clone);
    expect((await clone.run()).code).toBe(0);
    expect(clone.built()).toBe(2);
    expect(await clone.run()).toEqual({ code: 0, output: '' });
  });

  it.each([
    [
      'only the time of a source file changes',
      (clone: Clone) => utimesSync(clone.file('console/main.tsx'), 9e9, 9e9),
    ],
    ['an editor has a file open', (clone: Clone) => clone.write('console/.main.tsx.swp', '')],
    ['an earlier build was killed', (clone: Clone) => clone.write('console/.dist-new/index.html', '')],
    ['another folder changes', (clone: Clone) => clone.write('edge/app.ts', '')],
  ])('does not build again when %s', async (_, change) => {
    const clone = new Clone();
    await clone.run();
    change(clone);
    expect(await clone.run()).toEqual({ code: 0, output: '' });
    expect(clone.built()).toBe(1);
  });

  it('builds once when several processes start at the same time', async () => {
    const clone = new Clone();
    clone.write('slow', '');
    const all = [clone.run(), clone.run(), clone.run()];
    await until('the build runs', () => clone.built() === 1);
    clone.remove('slow');
    expect((await Promise.all(all)).map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(clone.built()).toBe(1);
    expect(clone.has('.console.lock')).toBe(false);
  });

  it('keeps the previous build until the next one is complete', async () => {
    const clone = new Clone();
    await clone.run();
    clone.write('console/main.tsx', 'new');
    clone.write('slow', '');
    const next = clone.run();
    await until('the build runs', () => clone.has('console/.dist-new/assets/logo-1.png'));
    expect(clone.read('console/dist/assets/main-1.js')).toBe(SCRIPT);
    clone.remove('slow');
    await next;
    expect(clone.read('console/dist/assets/main-1.js')).toBe('new');
    expect(clone.has('console/dist/assets/main-1.js.br')).toBe(false);
  });

  it('builds again after an interrupted build', async () => {
    const clone = new Clone();
    clone.write('slow', '');
    const stopped = clone.begin();
    await until('the build runs', () => clone.has('console/.dist-new/assets/logo-1.png'));
    stopped.kill('SIGTERM');
    await once(stopped, 'close');
    expect(clone.has('console/dist')).toBe(false);
    clone.remove('slow');
    expect((await clone.run()).code).toBe(0);
    expect(clone.left()).toEqual(['dist']);
  });

  it('stops tests when the build fails and explains how to see the reason', async () => {
    const clone = new Clone();
    clone.write('broken', '');
    const { code, output } = await clone.run();
    expect(code).toBe(1);
    expect(output).toContain('The console could not be built. To see why: npm run console\n');
    expect(output).not.toContain('bracket');
    expect(clone.left()).toEqual([]);
    const shown = await clone.run('console', '--show');
    expect(shown.code).toBe(1);
    expect(shown.output).toContain('a bracket is missing');
  });

  it('does not stop a start when the build fails', async () => {
    const clone = new Clone();
    clone.write('broken', '');
    const without = await clone.run('prestart');
    expect(without.code).toBe(0);
    expect(without.output).toContain('The console could not be built. To see why: npm run console\n');
    expect(without.output).toContain('The service starts without a console');
    clone.remove('broken');
    await clone.run();
    clone.write('console/main.tsx', 'new');
    clone.write('broken', '');
    const before = await clone.run('prestart');
    expect(before.code).toBe(0);
    expect(before.output).toContain('The previous build is served.');
    expect(clone.read('console/dist/assets/main-1.js')).toBe(SCRIPT);
  });

  it('uses the existing build without sources or build tools', async () => {
    const clone = new Clone();
    await clone.run();
    clone.remove('node_modules');
    expect(await clone.run('prestart')).toEqual({ code: 0, output: '' });
    clone.write('console/main.tsx', 'new');
    const stale = await clone.run('prestart');
    expect(stale.code).toBe(0);
    expect(stale.output).toContain('npm ci --include=dev');
    for (const name of ['main.tsx', 'gen', 'index.html']) clone.remove(`console/${name}`);
    expect(await clone.run('prestart')).toEqual({ code: 0, output: '' });
    expect(clone.built()).toBe(1);
  });
});

function rename(clone: Clone): void {
  clone.remove('console/gen/client.ts');
  clone.write('console/gen/other.ts', '1');
}
