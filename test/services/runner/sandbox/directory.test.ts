import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TreeIndex } from '../../../../services/runner/sandbox/tree.ts';
import { isRoot, NOBODY, ordinaryUser } from '../../../support/ordinary.ts';
import { bytes, makeWorkspace, PLAIN, readText } from './workspace.ts';

describe('a workspace in a directory', () => {
  it('takes files, directories and links, and tells them at the first scan', async () => {
    using there = makeWorkspace();
    const { tree, at } = there;
    await tree.makeDirectory('src');
    await tree.putFile('src/run.sh', bytes('echo ', 'hi'), { ...PLAIN, executable: true });
    await tree.putFile('empty', bytes(), PLAIN);
    await tree.putSymlink('link', 'src/run.sh');
    expect(readFileSync(at('src/run.sh'), 'utf8')).toBe('echo hi');
    expect(statSync(at('src/run.sh')).mode & 0o777).toBe(0o755);
    expect(statSync(at('empty')).mtime).toEqual(PLAIN.modifiedAt);
    const { changes, skipped } = await tree.scan(new Map());
    expect(changes).toEqual([
      { kind: 'file', path: 'empty', size: 0, ...PLAIN },
      { kind: 'symlink', path: 'link', target: 'src/run.sh' },
      { kind: 'directory', path: 'src' },
      { kind: 'file', path: 'src/run.sh', size: 7, executable: true, modifiedAt: PLAIN.modifiedAt },
    ]);
    expect(skipped).toEqual([]);
    expect(readdirSync(there.staging.path)).toEqual([]);
  });

  it('reads files of any length', async () => {
    using there = makeWorkspace();
    const long = Buffer.alloc(3_000_001, 'abc');
    await there.tree.putFile('long', bytes(long.subarray(0, 1_000_000), long.subarray(1_000_000)), PLAIN);
    await there.tree.putFile('short', bytes('x'), PLAIN);
    expect(await readText(there.tree, 'long')).toBe(long.toString());
    expect(await readText(there.tree, 'short')).toBe('x');
  });

  it('tells what has changed since, and nothing else', async () => {
    using there = makeWorkspace();
    const { tree, at } = there;
    for (const name of ['a', 'b', 'c']) await tree.putFile(name, bytes(name), PLAIN);
    await tree.makeDirectory('d');
    await tree.putFile('d/e', bytes('e'), PLAIN);
    const seen: TreeIndex = new Map();
    await settled(() => tree.note(seen), seen);
    expect(await tree.scan(seen)).toEqual({ changes: [], skipped: [] });
    writeFileSync(at('a'), 'A');
    utimesSync(at('a'), PLAIN.modifiedAt, PLAIN.modifiedAt);
    chmodSync(at('b'), 0o700);
    renameSync(at('d'), at('f'));
    const { changes } = await tree.scan(seen);
    expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'remove d',
      'file a',
      'file b',
      'directory f',
      'file f/e',
    ]);
  });

  it('reads again what changed in the moment it was seen', async () => {
    using there = makeWorkspace();
    const seen: TreeIndex = new Map();
    // Until a change and a look fall into one moment of the clock that stamps files.
    for (let round = 0; !seen.get('a')?.racy; round++) {
      writeFileSync(there.at('a'), `${round % 10}`);
      await there.tree.scan(seen);
    }
    expect((await there.tree.scan(seen)).changes).toMatchObject([{ kind: 'file', path: 'a' }]);
    await settled(() => there.tree.scan(seen), seen);
    expect((await there.tree.scan(seen)).changes).toEqual([]);
  });

  it('replaces whatever stands in the way', async () => {
    using there = makeWorkspace();
    const { tree, at } = there;
    mkdirSync(at('x/y'), { recursive: true });
    writeFileSync(at('x/y/z'), '');
    await tree.putFile('x', bytes('file'), PLAIN);
    expect(readFileSync(at('x'), 'utf8')).toBe('file');
    await tree.putSymlink('x', 'nowhere');
    await tree.putFile('x', bytes('again'), PLAIN);
    expect(lstatSync(at('x')).isFile()).toBe(true);
    await tree.makeDirectory('x');
    await tree.makeDirectory('x');
    await tree.putFile('x/kept', bytes(''), PLAIN);
    await tree.makeDirectory('x');
    expect(existsSync(at('x/kept'))).toBe(true);
    await tree.putSymlink('x', 'nowhere');
    expect(lstatSync(at('x')).isSymbolicLink()).toBe(true);
  });

  it('leaves a file as it was when its content does not come to its end', async () => {
    using there = makeWorkspace();
    await there.tree.putFile('a', bytes('before'), PLAIN);
    const broken = async function* () {
      yield* bytes('half of ');
      throw new Error('the line was cut');
    };
    await expect(there.tree.putFile('a', broken(), PLAIN)).rejects.toThrow('the line was cut');
    expect(readFileSync(there.at('a'), 'utf8')).toBe('before');
    expect(readdirSync(there.staging.path)).toEqual([]);
  });

  it('never goes through a link', async () => {
    using there = makeWorkspace();
    const { tree, at, base } = there;
    mkdirSync(join(base, 'outside'));
    writeFileSync(join(base, 'outside/secret'), 'secret');
    symlinkSync('../outside', at('out'));
    symlinkSync('../outside/secret', at('secret'));
    mkdirSync(at('in'));
    symlinkSync(join(base, 'outside'), at('in/out'));
    for (const path of ['out/secret', 'in/out/secret', 'secret']) {
      await expect(readText(tree, path)).rejects.toThrow(/ELOOP|ENOTDIR/);
      if (path !== 'secret')
        await expect(tree.putFile(path, bytes('gone'), PLAIN)).rejects.toThrow(/ELOOP|ENOTDIR/);
    }
    await expect(tree.makeDirectory('out/more')).rejects.toThrow(/ELOOP|ENOTDIR/);
    await tree.remove('out/secret');
    await tree.putFile('secret', bytes('mine'), PLAIN);
    const { changes } = await tree.scan(new Map());
    expect(changes.map(({ path }) => path)).toEqual(['in', 'in/out', 'out', 'secret']);
    await tree.clear();
    expect(readdirSync(there.root)).toEqual([]);
    expect(readFileSync(join(base, 'outside/secret'), 'utf8')).toBe('secret');
  });

  it('reads nothing but files', async () => {
    using there = makeWorkspace();
    execFileSync('mkfifo', [there.at('pipe')]);
    mkdirSync(there.at('folder'));
    await expect(readText(there.tree, 'pipe')).rejects.toThrow('is not a file');
    await expect(readText(there.tree, 'folder')).rejects.toThrow();
    await expect(readText(there.tree, 'nothing')).rejects.toThrow('ENOENT');
  });

  it('skips what cannot be kept, and says why', async () => {
    using there = makeWorkspace();
    const { tree, at, root } = there;
    execFileSync('mkfifo', [at('pipe')]);
    const server = createServer().listen(at('socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    writeFileSync(Buffer.concat([Buffer.from(`${root}/bad-`), Buffer.from([0xff])]), '');
    writeFileSync(at('good-\ufffd'), '');
    writeFileSync(at('line\nbreak'), '');
    mkdirSync(at('.ahs-mine'));
    writeFileSync(at('.ahs-mine/below'), '');
    symlinkSync(Buffer.from([0xff]), at('bad-link'));
    // Deeper than a path may be long, made from inside as a shell would.
    dig(root, '0'.repeat(200), 30);
    const { changes, skipped } = await tree.scan(new Map());
    const name = '0'.repeat(200);
    expect(changes.map(({ path }) => path)).toEqual([
      ...[1, 2, 3, 4, 5].map((depth) => Array(depth).fill(name).join('/')),
      'good-\ufffd',
    ]);
    expect(skipped).toEqual([
      { path: 'bad-\ufffd', reason: 'its name is not UTF-8' },
      { path: '.ahs-mine', reason: 'must not have a part that begins with ".ahs-"' },
      { path: `${Array(6).fill(name).join('/').slice(0, 200)}…`, reason: 'must have at most 1024 bytes' },
      { path: 'bad-link', reason: 'is a symbolic link whose target is too long, or not UTF-8' },
      { path: 'line\ufffdbreak', reason: 'holds a control character' },
      { path: 'pipe', reason: 'is a named pipe' },
      { path: 'socket', reason: 'is a socket' },
    ]);
    server.close();
    await tree.clear();
    expect(readdirSync(root)).toEqual([]);
    expect(readdirSync(there.staging.path)).toEqual([]);
  });

  it('tells a path as removed when something stands there that cannot be kept', async () => {
    using there = makeWorkspace();
    const { tree, at } = there;
    await tree.putFile('a', bytes(''), PLAIN);
    const seen: TreeIndex = new Map();
    await tree.note(seen);
    rmSync(at('a'));
    execFileSync('mkfifo', [at('a')]);
    expect(await tree.scan(seen)).toEqual({
      changes: [{ kind: 'remove', path: 'a' }],
      skipped: [{ path: 'a', reason: 'is a named pipe' }],
    });
  });

  it('keeps hard links as files of their own', async () => {
    using there = makeWorkspace();
    const { tree, at } = there;
    writeFileSync(at('a'), 'one');
    linkSync(at('a'), at('b'));
    const seen: TreeIndex = new Map();
    expect((await tree.scan(seen)).changes.map(({ path }) => path)).toEqual(['a', 'b']);
    await tree.putFile('b', bytes('two'), PLAIN);
    expect(readFileSync(at('a'), 'utf8')).toBe('one');
    await settled(() => tree.scan(seen), seen);
    writeFileSync(at('a'), 'three');
    expect((await tree.scan(seen)).changes.map(({ path }) => path)).toEqual(['a']);
  });

  it('refuses to look at more than it may hold', async () => {
    using there = makeWorkspace({ maxEntries: 3 });
    for (const name of ['a', 'b', 'c']) writeFileSync(there.at(name), '');
    expect((await there.tree.scan(new Map())).changes).toHaveLength(3);
    writeFileSync(there.at('d'), '');
    await expect(there.tree.scan(new Map())).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  it('removes a tree of any depth', async () => {
    using there = makeWorkspace();
    mkdirSync(there.at('a'));
    dig(there.at('a'), 'd', 3_000);
    await there.tree.remove('a');
    expect(readdirSync(there.root)).toEqual([]);
    expect(readdirSync(there.staging.path)).toEqual([]);
  });

  it('says that the disk is full', async () => {
    using there = makeWorkspace();
    const full = async function* (): AsyncGenerator<Uint8Array> {
      yield* bytes('x');
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    await expect(there.tree.putFile('a', full(), PLAIN)).rejects.toMatchObject({ code: 'STORAGE_FULL' });
  });

  it('opens again, as an ordinary user, what commands have locked', () => {
    using there = makeWorkspace();
    const { base, root } = there;
    mkdirSync(join(root, 'closed/below'), { recursive: true });
    writeFileSync(join(root, 'closed/below/file'), 'text');
    writeFileSync(join(root, 'shut'), 'shut');
    const program = `
      const { chmodSync } = await import('node:fs');
      const [{ DirectoryTree }, { Staging }] = await Promise.all(
        ['tree', 'erase'].map((name) => import('${import.meta.dirname}/../../../../services/runner/sandbox/directory/' + name + '.ts')),
      );
      chmodSync('${root}/closed/below/file', 0);
      chmodSync('${root}/closed/below', 0o500);
      chmodSync('${root}/closed', 0);
      chmodSync('${root}/shut', 0);
      const tree = new DirectoryTree({ path: '${root}', staging: new Staging('${base}/staging') });
      const { changes } = await tree.scan(new Map());
      let text = '';
      for await (const chunk of tree.read('closed/below/file')) text += chunk;
      chmodSync('${root}/closed/below', 0o500);
      chmodSync('${root}/closed', 0o500);
      await tree.remove('closed/below');
      await tree.clear();
      console.log(JSON.stringify({ uid: process.getuid(), text, changes: changes.map(({ path }) => path) }));
    `;
    const [first = process.execPath, ...rest] = [
      ...ordinaryUser(NOBODY, base),
      process.execPath,
      '--input-type=module',
      '-e',
      program,
    ];
    const { stdout, stderr } = spawnSync(first, rest, { encoding: 'utf8', cwd: base });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      uid: isRoot ? NOBODY : process.getuid?.(),
      text: 'text',
      changes: ['closed', 'closed/below', 'closed/below/file', 'shut'],
    });
    expect(readdirSync(root)).toEqual([]);
  });
});

/** Makes directories in each other, as a program does that goes into each: their path may be of any length. */
function dig(root: string, name: string, depth: number): void {
  const program = `for (let i = 0; i < ${depth}; i++) { fs.mkdirSync('${name}'); process.chdir('${name}'); }`;
  execFileSync(process.execPath, ['-e', program], { cwd: root });
}

/** Looks until nothing is so young that it might still change unseen. */
async function settled(look: () => Promise<unknown>, seen: TreeIndex): Promise<void> {
  do await look();
  while ([...seen.values()].some(({ racy }) => racy));
}
