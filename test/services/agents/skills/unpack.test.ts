import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../../lib/clock.ts';
import { systemClock } from '../../../../lib/clock.ts';
import { SkillProblem } from '../../../../services/agents/domain/skill-problem.ts';
import type { ArchiveType, UnpackTask } from '../../../../services/agents/skill-archive/messages.ts';
import { readArchive } from '../../../../services/agents/skill-archive/read-archive.ts';
import { createUnpack } from '../../../../services/agents/skill-archive/unpack.ts';
import { skillFile, skillZip, tarGzOf, tarOf, zipOf } from './archives.ts';

const SKILL = { name: 'SKILL.md', data: skillFile() };
const never = new AbortController().signal;
const MIB = 1024 * 1024;

describe('unpacking an archive of a skill', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ahs-test-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const taskOf = (bytes: Buffer, type: ArchiveType): UnpackTask => {
    const own = mkdtempSync(join(directory, 'one-'));
    const archive = join(own, 'archive');
    writeFileSync(archive, bytes);
    return { archive, type, contents: join(own, 'contents') };
  };
  const unpackInThread = (bytes: Buffer, clock: Clock = systemClock, type: ArchiveType = 'application/zip') =>
    createUnpack(clock)(taskOf(bytes, type), never);
  const unpack = (bytes: Buffer, type: ArchiveType = 'application/zip') => unpackTask(taskOf(bytes, type));
  const unpackTask = async (task: UnpackTask) => {
    const result = await readArchive(task);
    if (result.kind === 'done') return result.skill;
    throw new SkillProblem(result.path, result.message);
  };
  const refused = (bytes: Buffer, path: string, message: RegExp, type?: ArchiveType) =>
    expect(unpack(bytes, type)).rejects.toMatchObject({ path, message: expect.stringMatching(message) });

  it('reads SKILL.md at the root of a zip archive, with modes and digests', async () => {
    const bytes = zipOf([
      { ...SKILL, method: 0 },
      { name: 'scripts/', mode: 0o040755 },
      { name: 'scripts/fill.py', data: 'print(1)\n', mode: 0o100755 },
      { name: 'empty', data: '' },
    ]);
    const task = taskOf(bytes, 'application/zip');
    const { frontmatter, files, warnings } = await unpackTask(task);
    expect(frontmatter).toMatchObject({ name: 'pdf-forms', description: 'Fills in PDF forms.' });
    expect(files.map(({ path, size, executable }) => [path, size, executable])).toEqual([
      ['SKILL.md', SKILL.data.length, false],
      ['empty', 0, false],
      ['scripts/fill.py', 9, true],
    ]);
    const { offset = 0, size = 0 } = files[2] ?? {};
    expect(
      readFileSync(task.contents)
        .subarray(offset, offset + size)
        .toString(),
    ).toBe('print(1)\n');
    expect(warnings).toEqual([]);
  });

  it.each(['application/x-tar', 'application/gzip'] as const)(
    'reads a folder of an archive, %s',
    async (type) => {
      const long = `pdf-forms/${'d'.repeat(120)}/ü.txt`;
      const entries = [
        { name: 'pdf-forms', type: 'directory' as const },
        { name: 'pdf-forms/SKILL.md', data: skillFile() },
        { name: 'pdf-forms/run.sh', data: 'true\n', mode: 0o755 },
        { name: long, data: 'x' },
      ];
      const bytes = type === 'application/gzip' ? await tarGzOf(entries) : await tarOf(entries);
      const { files } = await unpack(bytes, type);
      expect(files.map(({ path, executable }) => [path, executable])).toEqual([
        ['SKILL.md', false],
        [long.slice('pdf-forms/'.length), false],
        ['run.sh', true],
      ]);
    },
  );

  it('leaves out files of archivers and version control with a warning', async () => {
    const bytes = zipOf([
      { name: 'pdf-forms/SKILL.md', data: skillFile() },
      { name: '__MACOSX/pdf-forms/._SKILL.md', data: 'x' },
      { name: 'pdf-forms/.DS_Store', data: 'x' },
      { name: 'pdf-forms/.git/config', data: 'x' },
    ]);
    const { files, warnings } = await unpack(bytes);
    expect(files.map(({ path }) => path)).toEqual(['SKILL.md']);
    expect(warnings.map(({ path }) => path)).toEqual([
      '__MACOSX/pdf-forms/._SKILL.md',
      'pdf-forms/.DS_Store',
      'pdf-forms/.git/config',
    ]);
  });

  it.each([
    ['a parent directory', '../evil', /"\.\."/],
    ['a parent directory inside', 'a/../b', /"\.\."/],
    ['an absolute path', '/etc/passwd', /relative/],
    ['a drive letter', 'C:evil', /drive letter/],
    ['a backslash', 'a\\b', /backslash/],
    ['a NUL character', 'a\0b', /control character/],
    ['an empty part', 'a//b', /empty part/],
    ['a reserved name', '.ahs-x/y', /begins with "\.ahs-"/],
    ['a long name', 'x'.repeat(256), /more than 255 bytes/],
  ])('refuses %s in a zip archive and in a tar archive', async (_, name, message) => {
    await refused(zipOf([SKILL, { name, data: 'x' }]), name, message);
    // A NUL character ends a name in a tar header.
    if (!name.includes('\0'))
      await refused(await tarOf([SKILL, { name, data: 'x' }]), name, message, 'application/x-tar');
  });

  it.each([
    ['a symbolic link', { name: 'l', data: '/etc', mode: 0o120777 }],
    ['a device', { name: 'l', mode: 0o060644 }],
    ['a socket', { name: 'l', mode: 0o140644 }],
    ['a named pipe', { name: 'l', mode: 0o010644 }],
  ])('refuses %s in a zip archive', (_, entry) => refused(zipOf([SKILL, entry]), 'l', /link or device/));

  it.each(['symlink', 'link', 'character-device', 'block-device', 'fifo'] as const)(
    'refuses a %s in a tar archive',
    async (type) =>
      refused(
        await tarOf([SKILL, { name: 'l', type, linkname: 'SKILL.md' }]),
        'l',
        /link or device/,
        'application/x-tar',
      ),
  );

  it.each([
    ['a file twice', ['a', 'a'], 'a', /twice/],
    ['a file as directory', ['a', 'a/b'], 'a', /twice/],
    ['letter case', ['a/b', 'A/c'], 'A', /letter case/],
    ['Unicode form', ['\u00e9', 'e\u0301'], 'e\u0301', /letter case/],
  ])('refuses colliding names: %s', (_, names, path, message) =>
    refused(zipOf([SKILL, ...names.map((name) => ({ name, data: 'x' }))]), path, message),
  );

  it('refuses encrypted entries', async () => {
    await refused(zipOf([SKILL, { name: 'x', data: 'x', flags: 0x801 }]), 'x', /encrypted/);
    await refused(zipOf([SKILL, { name: 'x', data: 'x', flags: 0x841 }]), '', /malformed.*encryption/);
  });

  it('refuses names that are not UTF-8 or differ between the headers', async () => {
    await refused(zipOf([SKILL, { name: Buffer.from('e9', 'hex') }]), '\u00e9', /UTF-8/);
    await refused(zipOf([SKILL, { name: 'x', localName: 'y' }]), 'x', /both headers/);
    const extra = Buffer.concat([
      Buffer.from('75700700', 'hex'),
      Buffer.from('0100000000', 'hex'),
      Buffer.from('yy'),
    ]);
    await refused(zipOf([SKILL, { name: 'x', extra }]), 'x', /one name/);
  });

  it.each([
    ['a smaller size', { data: 'xxxx', size: 2 }],
    ['a larger size', { data: 'xx', size: 4 }],
    ['a stored size', { data: 'xx', size: 4, method: 0 as const }],
    ['a checksum', { data: 'xx', checksum: 1 }],
    ['a size of 2 GiB', { data: 'xx', size: 2 ** 31 }],
  ])('refuses a false statement of a zip header: %s', (_, entry) =>
    expect(unpack(zipOf([SKILL, { name: 'x', ...entry }]))).rejects.toMatchObject({
      message: expect.stringMatching(/size|checksum|byte/),
    }),
  );

  it('refuses bombs while they are unpacked', async () => {
    const zeros = Buffer.alloc(8 * MIB);
    await refused(zipOf([SKILL, { name: 'x', data: zeros }]), 'x', /100 times/);
    const tar = await tarOf([SKILL, { name: 'x', data: zeros }]);
    await refused(gzipSync(tar), '', /100 times/, 'application/gzip');
    // Many entries that share one body, each below the limit of a file.
    const body = { data: Buffer.alloc(MIB, 'ab'), method: 0 as const };
    await expect(
      unpack(
        await tarOf(Array.from({ length: 101 }, (_, at) => ({ name: `${at}`, ...body }))),
        'application/x-tar',
      ),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/100 MiB/),
    });
  });

  it('accepts 1 MiB of zeros, whose ratio does not matter', async () => {
    const { files } = await unpack(zipOf([SKILL, { name: 'x', data: Buffer.alloc(MIB) }]));
    expect(files[1]).toMatchObject({ path: 'x', size: MIB });
  });

  it('refuses more than 2,000 entries and files of more than 32 MiB', async () => {
    const many = Array.from({ length: 2_000 }, (_, at) => ({ name: `f${at}`, data: '' }));
    await refused(zipOf([SKILL, ...many]), '', /2000 files and directories/);
    const large = { name: 'x', data: Buffer.alloc(32 * MIB + 1, 'abc') };
    await refused(await tarOf([SKILL, large]), 'x', /32 MiB/, 'application/x-tar');
  });

  it('refuses headers of a tar archive that are too large', async () => {
    const pax = { comment: 'c'.repeat(512 * 1024) };
    await refused(await tarOf([SKILL, { name: 'x', data: 'x', pax }]), '', /256 KiB/, 'application/x-tar');
  });

  it('refuses an archive without SKILL.md, and with files beside its folder', async () => {
    await refused(zipOf([{ name: 'README.md', data: 'x' }]), 'SKILL.md', /root of the archive/);
    await refused(zipOf([]), 'SKILL.md', /root of the archive/);
    const outside = zipOf([
      { name: 'pdf-forms/SKILL.md', data: skillFile() },
      { name: 'x', data: 'x' },
    ]);
    await refused(outside, 'x', /folder of/);
    await refused(zipOf([{ name: 'other/SKILL.md', data: skillFile() }]), 'SKILL.md', /name of its folder/);
  });

  it('refuses bytes that are no archive of the type', async () => {
    for (const type of ['application/zip', 'application/x-tar', 'application/gzip'] as const) {
      await refused(Buffer.from('no archive'), '', /malformed|SKILL.md/, type).catch(() =>
        refused(Buffer.from('no archive'), 'SKILL.md', /root/, type),
      );
      await expect(unpack(skillZip().subarray(0, 50), type)).rejects.toThrow();
    }
  });

  it('unpacks and refuses in a thread of its own', async () => {
    const { frontmatter, files } = await unpackInThread(zipOf([SKILL]));
    expect([frontmatter.name, files.map(({ path }) => path)]).toEqual(['pdf-forms', ['SKILL.md']]);
    const refusal = { path: 'SKILL.md', message: expect.stringMatching(/root of the archive/) };
    await expect(unpackInThread(zipOf([]))).rejects.toMatchObject(refusal);
  });

  it('ends the thread when it takes too long', async () => {
    let expire = () => {};
    const clock: Clock = {
      ...systemClock,
      after: (_, callback) => {
        expire = callback;
        return () => {};
      },
    };
    const unpacking = unpackInThread(skillZip(), clock);
    const refusal = expect(unpacking).rejects.toMatchObject({ message: expect.stringMatching(/30 seconds/) });
    expire();
    await refusal;
  });

  it('refuses or unpacks archives with random damage, and never fails otherwise', async () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    const entries = [SKILL, { name: 'scripts/fill.py', data: 'print(1)\n'.repeat(50) }];
    const archives: [Buffer, ArchiveType][] = [
      [zipOf(entries), 'application/zip'],
      [await tarOf(entries), 'application/x-tar'],
      [await tarGzOf(entries), 'application/gzip'],
    ];
    const outcomes = new Set<string>();
    for (let round = 0; round < 18; round++) {
      const [valid, type] = archives[round % archives.length]!;
      const bytes = Buffer.from(valid);
      for (let change = 0; change <= random(4); change++) bytes[random(bytes.length)] = random(256);
      const cut = random(3) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
      const outcome = await unpackInThread(cut, systemClock, type).then(
        () => 'done',
        (error: Error) => error.constructor.name,
      );
      outcomes.add(outcome);
    }
    expect([...outcomes].sort()).toEqual(['SkillProblem', 'done']);
  });
});
