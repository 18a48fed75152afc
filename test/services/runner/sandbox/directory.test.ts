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
import type { TreeIndex } from '../../../../services/runner/sandbox/workspace-tree.ts';
import { asUnprivilegedUser, isRoot, UNPRIVILEGED_UID } from '../../../support/unprivileged-user.ts';
import { bytes, makeWorkspace, PLAIN, readText } from './workspace-fixture.ts';

describe('DirectoryTree', () => {
  it('stores files, directories and links, and reports them in the first scan', async () => {
    using workspace = makeWorkspace();
    const { tree, at } = workspace;
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
    expect(readdirSync(workspace.staging.path)).toEqual([]);
  });

  it('reads files of any length', async () => {
    using workspace = makeWorkspace();
    const long = Buffer.alloc(3_000_001, 'abc');
    await workspace.tree.putFile('long', bytes(long.subarray(0, 1_000_000), long.subarray(1_000_000)), PLAIN);
    await workspace.tree.putFile('short', bytes('x'), PLAIN);
    expect(await readText(workspace.tree, 'long')).toBe(long.toString());
    expect(await readText(workspace.tree, 'short')).toBe('x');
  });

  it('reports only the changes since the last scan', async () => {
    using workspace = makeWorkspace();
    const { tree, at } = workspace;
    for (const name of ['a', 'b', 'c']) await tree.putFile(name, bytes(name), PLAIN);
    await tree.makeDirectory('d');
    await tree.putFile('d/e', bytes('e'), PLAIN);
    const index: TreeIndex = new Map();
    await untilNotRacy(() => tree.updateIndex(index), index);
    expect(await tree.scan(index)).toEqual({ changes: [], skipped: [] });
    writeFileSync(at('a'), 'A');
    utimesSync(at('a'), PLAIN.modifiedAt, PLAIN.modifiedAt);
    chmodSync(at('b'), 0o700);
    renameSync(at('d'), at('f'));
    const { changes } = await tree.scan(index);
    expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'remove d',
      'file a',
      'file b',
      'directory f',
      'file f/e',
    ]);
  });

  it('reports a file that changed in the same clock tick as its last inspection', async () => {
    using workspace = makeWorkspace();
    const index: TreeIndex = new Map();
    // Repeats until a change and an inspection fall into the same tick of the file system's clock.
    for (let round = 0; !index.get('a')?.racy; round++) {
      writeFileSync(workspace.at('a'), `${round % 10}`);
      await workspace.tree.scan(index);
    }
    expect((await workspace.tree.scan(index)).changes).toMatchObject([{ kind: 'file', path: 'a' }]);
    await untilNotRacy(() => workspace.tree.scan(index), index);
    expect((await workspace.tree.scan(index)).changes).toEqual([]);
  });

  it('replaces existing entries of any kind', async () => {
    using workspace = makeWorkspace();
    const { tree, at } = workspace;
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

  it('keeps the old file when the new content ends with an error', async () => {
    using workspace = makeWorkspace();
    await workspace.tree.putFile('a', bytes('before'), PLAIN);
    const broken = async function* () {
      yield* bytes('half of ');
      throw new Error('the connection was closed');
    };
    await expect(workspace.tree.putFile('a', broken(), PLAIN)).rejects.toThrow('the connection was closed');
    expect(readFileSync(workspace.at('a'), 'utf8')).toBe('before');
    expect(readdirSync(workspace.staging.path)).toEqual([]);
  });

  it('follows no symbolic link', async () => {
    using workspace = makeWorkspace();
    const { tree, at, base } = workspace;
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
    expect(readdirSync(workspace.root)).toEqual([]);
    expect(readFileSync(join(base, 'outside/secret'), 'utf8')).toBe('secret');
  });

  it('reads regular files only', async () => {
    using workspace = makeWorkspace();
    execFileSync('mkfifo', [workspace.at('pipe')]);
    mkdirSync(workspace.at('folder'));
    await expect(readText(workspace.tree, 'pipe')).rejects.toThrow('is not a regular file');
    await expect(readText(workspace.tree, 'folder')).rejects.toThrow();
    await expect(readText(workspace.tree, 'nothing')).rejects.toThrow('ENOENT');
  });

  it('skips entries that a workspace cannot store, with the reason', async () => {
    using workspace = makeWorkspace();
    const { tree, at, root } = workspace;
    execFileSync('mkfifo', [at('pipe')]);
    const server = createServer().listen(at('socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    writeFileSync(Buffer.concat([Buffer.from(`${root}/bad-`), Buffer.from([0xff])]), '');
    writeFileSync(at('good-\ufffd'), '');
    writeFileSync(at('line\nbreak'), '');
    mkdirSync(at('.ahs-mine'));
    writeFileSync(at('.ahs-mine/below'), '');
    symlinkSync(Buffer.from([0xff]), at('bad-link'));
    // Deeper than PATH_MAX.
    nestDirectories(root, '0'.repeat(200), 30);
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
    expect(readdirSync(workspace.staging.path)).toEqual([]);
  });

  it('reports a path as removed when an entry that cannot be stored has replaced it', async () => {
    using workspace = makeWorkspace();
    const { tree, at } = workspace;
    await tree.putFile('a', bytes(''), PLAIN);
    const index: TreeIndex = new Map();
    await tree.updateIndex(index);
    rmSync(at('a'));
    execFileSync('mkfifo', [at('a')]);
    expect(await tree.scan(index)).toEqual({
      changes: [{ kind: 'remove', path: 'a' }],
      skipped: [{ path: 'a', reason: 'is a named pipe' }],
    });
  });

  it('stores hard links as separate files', async () => {
    using workspace = makeWorkspace();
    const { tree, at } = workspace;
    writeFileSync(at('a'), 'one');
    linkSync(at('a'), at('b'));
    const index: TreeIndex = new Map();
    expect((await tree.scan(index)).changes.map(({ path }) => path)).toEqual(['a', 'b']);
    await tree.putFile('b', bytes('two'), PLAIN);
    expect(readFileSync(at('a'), 'utf8')).toBe('one');
    await untilNotRacy(() => tree.scan(index), index);
    writeFileSync(at('a'), 'three');
    expect((await tree.scan(index)).changes.map(({ path }) => path)).toEqual(['a']);
  });

  it('throws QUOTA_EXCEEDED for a scan of more files than the limit', async () => {
    using workspace = makeWorkspace({ maxFiles: 3 });
    for (const name of ['a', 'b', 'c']) writeFileSync(workspace.at(name), '');
    expect((await workspace.tree.scan(new Map())).changes).toHaveLength(3);
    writeFileSync(workspace.at('d'), '');
    await expect(workspace.tree.scan(new Map())).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  it('removes a tree of any depth', async () => {
    using workspace = makeWorkspace();
    mkdirSync(workspace.at('a'));
    nestDirectories(workspace.at('a'), 'd', 3_000);
    await workspace.tree.remove('a');
    expect(readdirSync(workspace.root)).toEqual([]);
    expect(readdirSync(workspace.staging.path)).toEqual([]);
  });

  it('throws STORAGE_FULL when the disk is full', async () => {
    using workspace = makeWorkspace();
    const full = async function* (): AsyncGenerator<Uint8Array> {
      yield* bytes('x');
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    await expect(workspace.tree.putFile('a', full(), PLAIN)).rejects.toMatchObject({ code: 'STORAGE_FULL' });
  });

  it('restores access to entries whose permissions a command removed, as an ordinary user', () => {
    using workspace = makeWorkspace();
    const { base, root } = workspace;
    mkdirSync(join(root, 'closed/below'), { recursive: true });
    writeFileSync(join(root, 'closed/below/file'), 'text');
    writeFileSync(join(root, 'shut'), 'shut');
    const program = `
      const { chmodSync } = await import('node:fs');
      const [{ DirectoryTree }, { Staging }] = await Promise.all(
        ['directory-tree', 'staging'].map((name) => import('${import.meta.dirname}/../../../../services/runner/sandbox-providers/directory/' + name + '.ts')),
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
      ...asUnprivilegedUser(UNPRIVILEGED_UID, base),
      process.execPath,
      '--input-type=module',
      '-e',
      program,
    ];
    const { stdout, stderr } = spawnSync(first, rest, { encoding: 'utf8', cwd: base });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      uid: isRoot ? UNPRIVILEGED_UID : process.getuid?.(),
      text: 'text',
      changes: ['closed', 'closed/below', 'closed/below/file', 'shut'],
    });
    expect(readdirSync(root)).toEqual([]);
  });
});

/** Creates nested directories by changing into each, so that their path may be longer than PATH_MAX. */
function nestDirectories(root: string, name: string, depth: number): void {
  const program = `for (let i = 0; i < ${depth}; i++) { fs.mkdirSync('${name}'); process.chdir('${name}'); }`;
  execFileSync(process.execPath, ['-e', program], { cwd: root });
}

/** Repeats an update of the index until no entry is racy. */
async function untilNotRacy(update: () => Promise<unknown>, index: TreeIndex): Promise<void> {
  do await update();
  while ([...index.values()].some(({ racy }) => racy));
}
