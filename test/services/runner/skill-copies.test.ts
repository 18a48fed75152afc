import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { ErrorCode } from '../../../lib/error-codes.ts';
import { refuse } from '../../../lib/errors.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import { createLog } from '../../../lib/log.ts';
import type { CheckoutRequest, CheckoutResponse } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SkillDirectory } from '../../../services/runner/sandbox-providers/skill-directory.ts';
import type { DiskSpace } from '../../../services/runner/sandbox-providers/space/disk-reserve.ts';
import { ToolError } from '../../../services/runner/tool-calls/tool-error.ts';
import { SkillCopies } from '../../../services/runner/workspace/skill-copies.ts';
import type { FilesClient } from '../../../services/runner/workspace/workspace-client.ts';

const KIB = 1024;
/** The space that a copy of the skills of these tests uses: two files of 8 KiB together. */
const COPY_BYTES = 16 * KIB;
const DISK: DiskSpace = {
  ...{ usedBytes: 0, usedInodes: 0, freeBytes: 1_000 * KIB, freeInodes: 1_000 },
  ...{ reservedBytes: 0, reservedInodes: 0 },
};

const skill = (name: string, version = 1) => ({
  ...{ id: `skl_${name}`, name, version, description: '', workspaceId: 'wsp_1' },
});
const trace = { traceId: '', spanId: '', sampled: false };
const turnWith = (...skills: ReturnType<typeof skill>[]) => ({
  ...{ lease: { sessionId: 'ses_1', turnId: 'trn_1', fence: 1 }, agentId: 'agt_1', ownerId: 'usr_1' },
  ...{ environmentId: '', skills, trace: trace as never },
});

describe('the copies of skills of a runner', () => {
  let base: string;
  /** The skill version ids of the checkouts, in order. */
  let checkouts: string[];
  /** Called in the middle of the checkout of a version. */
  let midway: (id: string) => Promise<void> | void;
  let disk: DiskSpace;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'ahs-skill-copies-'));
    checkouts = [];
    midway = () => {};
    disk = DISK;
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  async function* checkout(
    { place }: Pick<CheckoutRequest, 'place'>,
    { signal }: CallOptions = {},
  ): AsyncGenerator<CheckoutResponse> {
    const id = place?.of?.value ?? '';
    checkouts.push(id);
    const head = { workspaceId: 'wsp_1', version: 1, whole: true, files: 2, bytes: 8 * KIB };
    yield { kind: { $case: 'head', value: head } };
    const entry = { size: 0, sha256: '', modifiedAt: undefined, executable: false, target: '' };
    yield { kind: { $case: 'entry', value: { ...entry, path: 'SKILL.md', kind: 'file' } } };
    yield { kind: { $case: 'bytes', value: Buffer.from(id) } };
    await midway(id);
    if (signal?.aborted) throw refuse('CANCELLED', 'The caller disconnected before the response.');
    yield { kind: { $case: 'entry', value: { ...entry, path: 'scripts', kind: 'directory' } } };
    const script = { ...entry, path: 'scripts/a.sh', kind: 'file', executable: true };
    yield { kind: { $case: 'entry', value: script } };
  }

  const open = (copies = 3) =>
    new SkillCopies({
      directory: new SkillDirectory({ path: base, maxBytes: copies * COPY_BYTES, readDisk: () => disk }),
      files: { checkout } as unknown as FilesClient,
      clock: systemClock,
      log: createLog({ level: 'silent' }),
    });
  const signal = new AbortController().signal;
  const acquire = (copies: SkillCopies, ...skills: ReturnType<typeof skill>[]) =>
    copies.acquire({ turn: turnWith(...skills), signal });
  const copiesOnDisk = () => readdirSync(base).filter((name) => name !== '.staging');
  const expectNothing = () => expect([...copiesOnDisk(), ...readdirSync(join(base, '.staging'))]).toEqual([]);

  it('are made once for each version, for all commands that use it', async () => {
    const copies = open();
    const [one, other, newer] = await Promise.all([
      acquire(copies, skill('forms')),
      acquire(copies, skill('forms')),
      acquire(copies, skill('forms', 2)),
    ]);
    expect(one.mounts).toEqual(other.mounts);
    expect(newer.mounts[0]?.copy).not.toBe(one.mounts[0]?.copy);
    expect(checkouts).toEqual(['skl_forms@1', 'skl_forms@2']);
    const modeOf = (path: string) =>
      statSync(join(base, one.mounts[0]?.copy ?? '', 'files', path)).mode & 0o777;
    expect(['', 'SKILL.md', 'scripts', 'scripts/a.sh'].map(modeOf)).toEqual([0o555, 0o444, 0o555, 0o555]);
  });

  it('have no name before they are complete', async () => {
    let during: string[] = ['not called'];
    midway = () => {
      during = copiesOnDisk();
    };
    await acquire(open(), skill('forms'));
    expect(during).toEqual([]);
    expect(copiesOnDisk()).toHaveLength(1);
  });

  it('are removed within the limit of bytes, the least recently used one first', async () => {
    const copies = open();
    for (const name of ['a', 'b', 'c', 'a']) (await acquire(copies, skill(name)))[Symbol.dispose]();
    (await acquire(copies, skill('d')))[Symbol.dispose]();
    (await acquire(copies, skill('a'), skill('c')))[Symbol.dispose]();
    expect(checkouts.map((id) => id.slice(4))).toEqual(['a@1', 'b@1', 'c@1', 'd@1']);
    (await acquire(copies, skill('b')))[Symbol.dispose]();
    expect(checkouts.at(-1)).toBe('skl_b@1');
    expect(copiesOnDisk()).toHaveLength(3);
  });

  it('stay while a command uses them; a skill that does not fit then is refused', async () => {
    const copies = open(2);
    const used = await acquire(copies, skill('a'), skill('b'));
    const refused = acquire(copies, skill('c'));
    await expect(refused).rejects.toThrow(
      /^STORAGE_FULL: The skill "c" has 8 KiB in 2 files, and the runner has only 0 KiB left for copies of skills\. No command was run\./,
    );
    await expect(refused).rejects.toBeInstanceOf(ToolError);
    expect(copiesOnDisk()).toHaveLength(2);
    used[Symbol.dispose]();
    await acquire(copies, skill('c'));
    expect(copiesOnDisk()).toHaveLength(2);
  });

  it('are removed for a new one when the disk is full', async () => {
    const copies = open();
    (await acquire(copies, skill('a')))[Symbol.dispose]();
    disk = { ...DISK, freeBytes: COPY_BYTES - 1 };
    await expect(acquire(copies, skill('b'))).rejects.toThrow(/^STORAGE_FULL: .* no space left for copies/);
    expectNothing();
    disk = { ...DISK, freeInodes: 1 };
    await expect(acquire(copies, skill('b'))).rejects.toThrow(/^STORAGE_FULL: /);
    expectNothing();
  });

  it.each<[string, () => Error, RegExp]>([
    ['the disk becomes full', () => errno('ENOSPC'), /^STORAGE_FULL: .*the disk of the runner is full/],
    [
      'the disk fails',
      () => errno('EIO'),
      /^SANDBOX_UNAVAILABLE: The files of the skill "a" could not be copied/,
    ],
    ['the skill is deleted', () => refusal('SKILL_NOT_FOUND'), /^SKILL_NOT_FOUND: The skill "a" was deleted/],
    ['the lease is lost', () => refusal('LEASE_LOST'), /^LEASE_LOST$/],
  ])('leave nothing behind when %s', async (_, failure, message) => {
    const copies = open(1);
    midway = () => {
      throw failure();
    };
    await expect(acquire(copies, skill('a'))).rejects.toThrow(message);
    expectNothing();
    midway = () => {};
    expect((await acquire(copies, skill('a'))).mounts).toHaveLength(1);
  });

  it('are made again, for another turn that waits, when the turn that began has ended', async () => {
    const copies = open(1);
    const reached = Promise.withResolvers<void>();
    const { promise: hangs, resolve: release } = Promise.withResolvers<void>();
    midway = () => {
      reached.resolve();
      return hangs;
    };
    const ending = new AbortController();
    const first = copies.acquire({ turn: turnWith(skill('a')), signal: ending.signal });
    await reached.promise;
    const second = acquire(copies, skill('a'));
    ending.abort();
    await expect(first).rejects.toMatchObject({ code: 'CANCELLED' });
    release();
    expect((await second).mounts).toHaveLength(1);
    expect(checkouts).toHaveLength(2);
    expect(copiesOnDisk()).toHaveLength(1);
  });

  it('of an earlier process are removed at the start, also incomplete ones', async () => {
    mkdirSync(join(base, '1-1', 'files'), { recursive: true });
    mkdirSync(join(base, '.staging', '1-2', 'files'), { recursive: true });
    writeFileSync(join(base, '.staging', '1-2', 'files', 'SKILL.md'), 'x');
    const { mounts } = await acquire(open(), skill('a'));
    expect(copiesOnDisk()).toEqual([mounts[0]?.copy]);
    expect(readdirSync(join(base, '.staging'))).toEqual([]);
  });

  it('are removed when the runner stops', async () => {
    const copies = open();
    (await acquire(copies, skill('a')))[Symbol.dispose]();
    await copies.close();
    expectNothing();
  });
});

const errno = (code: string) => Object.assign(new Error(code), { code });
const refusal = (code: ErrorCode) => refuse(code, code);
