import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CheckoutResponse, Place, PutSkillTreeRequest } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { patternBytes } from '../../support/blob-conformance.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { countOn } from '../../support/sql.ts';
import { type FilesSystem, list, MIB, OWNER, openFilesSystem, pathsOf, put, readText } from './system.ts';

type Message = PutSkillTreeRequest['kind'];
interface SkillFile {
  path: string;
  bytes: Uint8Array;
  executable?: boolean;
}

const FILE_MAX = 32 * MIB;
const PIECE = 256 * 1024;
const file = (path: string, size: number): Message => ({
  $case: 'file',
  value: { path, size, executable: false },
});
const bytes = (value: Uint8Array): Message => ({ $case: 'bytes', value: Buffer.from(value) });
const placeOf = (skillId: string, version = 1): Place => ({
  of: { $case: 'skillVersionId', value: `${skillId}@${version}` },
});

function* messagesOf(files: readonly SkillFile[]): Generator<Message> {
  for (const { path, bytes: content, executable = false } of files) {
    yield { $case: 'file', value: { path, size: content.length, executable } };
    for (let from = 0; from < content.length; from += PIECE)
      yield bytes(content.subarray(from, from + PIECE));
  }
}

/** Calls of the service agents, with ids for a new tree. */
function treesOf(system: FilesSystem) {
  const { ids } = system.context;
  const tree = () => ({ skillId: ids('skl'), workspaceId: ids('wsp') });
  const send = (messages: Iterable<Message> | AsyncIterable<Message>, signal?: AbortSignal) =>
    system.agents.putSkillTree(
      (async function* () {
        for await (const kind of messages) yield { kind };
      })(),
      signal ? { signal } : {},
    );
  const store = (key: ReturnType<typeof tree>, messages: Iterable<Message> | AsyncIterable<Message>) =>
    send(
      (async function* (): AsyncGenerator<Message> {
        yield { $case: 'tree', value: key };
        yield* messages;
      })(),
    );
  const rows = ({ workspaceId }: { workspaceId: string }) =>
    countOn(
      system.database.url,
      `select (select count(*) from files.workspaces where workspace_id = '${workspaceId}')
         + (select count(*) from files.entries where workspace_id = '${workspaceId}') as count`,
    );
  return { tree, send, store, rows };
}

describe.each(TRANSPORTS)('PutSkillTree, %s', (transport) => {
  let system: FilesSystem;
  let trees: ReturnType<typeof treesOf>;
  let lease: Lease;
  beforeAll(async () => {
    system = await openFilesSystem(transport);
    trees = treesOf(system);
    lease = system.fakes.lease(system.fakes.session());
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const FILES: SkillFile[] = [
    { path: 'SKILL.md', bytes: Buffer.from('# Use\n') },
    { path: 'empty', bytes: Buffer.of() },
    { path: 'scripts/deep/fill.sh', bytes: patternBytes(300 * 1024, 7), executable: true },
  ];

  async function stored(isPinned = true) {
    const key = trees.tree();
    await trees.store(key, messagesOf(FILES));
    system.fakes.publish(key.skillId, 1, key.workspaceId, isPinned);
    return key;
  }

  const checkOut = (skillId: string, held: Lease | undefined = lease, version = 1) =>
    Array.fromAsync(
      system.runner.checkout({ place: placeOf(skillId, version), lease: held, haveWorkspaceId: '' }),
    );

  it('stores files that a runner checks out and administrators read', async () => {
    const { skillId } = await stored();
    const received = await checkOut(skillId);
    expect(received[0]?.kind).toMatchObject({
      $case: 'head',
      value: { version: 1, whole: true, files: 3, bytes: 6 + 300 * 1024 },
    });
    const entries = received.flatMap(({ kind }) => (kind?.$case === 'entry' ? [kind.value] : []));
    expect(entries.map(({ path, size, executable }) => ({ path, size, executable }))).toEqual([
      { path: 'SKILL.md', size: 6, executable: false },
      { path: 'empty', size: 0, executable: false },
      { path: 'scripts', size: 0, executable: false },
      { path: 'scripts/deep', size: 0, executable: false },
      { path: 'scripts/deep/fill.sh', size: 300 * 1024, executable: true },
    ]);
    expect(contentOf(received).equals(Buffer.concat(FILES.map((one) => one.bytes)))).toBe(true);
    expect(pathsOf(await list(system.edge, placeOf(skillId)))).toEqual(entries.map(({ path }) => path));
    expect(await readText(system.edge, placeOf(skillId), 'SKILL.md')).toBe('# Use\n');
  });

  it('serves a runner only the versions that the agent version of its lease has', async () => {
    const [{ skillId }, other] = [await stored(), await stored(false)];
    const absent = { code: 'SKILL_VERSION_NOT_FOUND' };
    await expect(checkOut(other.skillId)).rejects.toMatchObject(absent);
    await expect(checkOut(skillId, lease, 2)).rejects.toMatchObject(absent);
    await expect(checkOut(skillId, { ...lease, fence: 9 })).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await expect(checkOut('skl_1')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    const request = { place: placeOf(skillId), lease: undefined, haveWorkspaceId: '' };
    await expect(Array.fromAsync(system.runner.checkout(request))).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });

  it('stores a tree that never changes', async () => {
    const key = await stored();
    await trees.store(key, messagesOf(FILES));
    const more = [{ path: 'more', bytes: Buffer.from('x') }];
    await expect(trees.store(key, messagesOf(more))).rejects.toMatchObject({ code: 'NAME_TAKEN' });
    const other = { ...trees.tree(), workspaceId: key.workspaceId };
    await expect(trees.store(other, messagesOf(more))).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    const changes = [put('more', 'cnt_00000000000000000000000000')];
    const change = { place: placeOf(key.skillId), lease: undefined, changes, idempotencyKey: '' };
    const refused = { code: 'INVALID_REQUEST' };
    await expect(system.edge.changeWorkspace(change, { caller: OWNER })).rejects.toMatchObject(refused);
    await expect(system.runner.changeWorkspace({ ...change, lease })).rejects.toMatchObject(refused);
    expect(await list(system.edge, placeOf(key.skillId))).toHaveLength(5);
  });

  it.each<[string, Message[], string]>([
    ['without a file', [], 'INVALID_REQUEST'],
    ['with bytes before a file', [bytes(Buffer.from('x'))], 'INVALID_REQUEST'],
    ['with a message of no kind', [file('a', 0), undefined], 'INVALID_REQUEST'],
    [
      'with a second first message',
      [{ $case: 'tree', value: { skillId: '', workspaceId: '' } }],
      'INVALID_REQUEST',
    ],
    ['with fewer bytes than declared', [file('a', 2), bytes(Buffer.from('x'))], 'INVALID_REQUEST'],
    ['with more bytes than declared', [file('a', 0), bytes(Buffer.from('x'))], 'INVALID_REQUEST'],
    ['with a negative size', [file('a', -1)], 'INVALID_REQUEST'],
    ['with a message above 1 MiB', [file('a', MIB + 1), bytes(Buffer.alloc(MIB + 1))], 'INVALID_REQUEST'],
    ['with a path out of the tree', [file('a', 0), file('../b', 0)], 'INVALID_REQUEST'],
    ['with an absolute path', [file('/a', 0)], 'INVALID_REQUEST'],
    ['with an empty path', [file('', 0)], 'INVALID_REQUEST'],
    ['with a path twice', [file('a', 0), file('a', 0)], 'INVALID_REQUEST'],
    ['with a file below a file', [file('a', 0), file('a/b', 0)], 'NAME_TAKEN'],
    ['with a file above 32 MiB', [file('a', FILE_MAX + 1)], 'FILE_TOO_LARGE'],
    [
      'with more than 2,000 files',
      Array.from({ length: 2_001 }, (_, at) => file(`f${at}`, 0)),
      'QUOTA_EXCEEDED',
    ],
  ])('refuses a tree %s, and stores no tree', async (_, messages, code) => {
    const key = trees.tree();
    await expect(trees.store(key, messages)).rejects.toMatchObject({ code });
    expect(await trees.rows(key)).toBe(0);
  });

  it('refuses a stream that does not begin with the ids of a skill and a workspace', async () => {
    const { skillId, workspaceId } = trees.tree();
    const firsts: Message[][] = [
      [],
      [file('a', 0)],
      [{ $case: 'tree', value: { skillId, workspaceId: skillId } }],
      [{ $case: 'tree', value: { skillId: 'skl_1', workspaceId } }],
    ];
    for (const messages of firsts)
      await expect(trees.send(messages)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('stores no tree when the stream fails or the caller leaves in the middle', async () => {
    const mistake = new Error('the archive could not be read');
    const [failing, leaving] = [trees.tree(), trees.tree()];
    async function* failingMessages(): AsyncGenerator<Message> {
      yield* messagesOf(FILES);
      throw mistake;
    }
    await expect(trees.store(failing, failingMessages())).rejects.toBe(mistake);
    const abort = new AbortController();
    async function* leavingMessages(): AsyncGenerator<Message> {
      yield { $case: 'tree', value: leaving };
      yield* messagesOf(FILES);
      abort.abort();
      yield file('late', 0);
    }
    await expect(trees.send(leavingMessages(), abort.signal)).rejects.toMatchObject({ code: 'CANCELLED' });
    for (const key of [failing, leaving]) {
      expect(await trees.rows(key)).toBe(0);
      await system.agents.deleteSkillTree(key);
      await expect(trees.store(key, messagesOf(FILES))).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    }
  });

  it('deletes a tree at once and for good', async () => {
    const key = await stored();
    await system.agents.deleteSkillTree(key);
    await system.agents.deleteSkillTree(key);
    const deleted = { code: 'SKILL_NOT_FOUND' };
    await expect(checkOut(key.skillId)).rejects.toMatchObject(deleted);
    await expect(readText(system.edge, placeOf(key.skillId), 'SKILL.md')).rejects.toMatchObject(deleted);
    await expect(trees.store(key, messagesOf(FILES))).rejects.toMatchObject(deleted);
    const never = trees.tree();
    system.fakes.publish(never.skillId, 1, never.workspaceId, true);
    await expect(checkOut(never.skillId)).rejects.toMatchObject({ code: 'SKILL_VERSION_NOT_FOUND' });
  });
});

describe('the limits of PutSkillTree', () => {
  it('store files of 100 MiB together, and not more', async () => {
    await using system = await openFilesSystem();
    const { tree, store, rows } = treesOf(system);
    const block = Buffer.alloc(MIB, 'x');
    const sizesOf = (last: number) => [32, 32, 32, last];
    function* messages(sizes: readonly number[]): Generator<Message> {
      for (const [index, mib] of sizes.entries()) {
        yield file(`f${index}`, mib * MIB);
        for (let sent = 0; sent < mib; sent++) yield bytes(block);
      }
    }
    await store(tree(), messages(sizesOf(4)));
    const larger = tree();
    await expect(store(larger, messages(sizesOf(5)))).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect(await rows(larger)).toBe(0);
  });
});

function contentOf(received: readonly CheckoutResponse[]): Buffer {
  return Buffer.concat(received.flatMap(({ kind }) => (kind?.$case === 'bytes' ? [kind.value] : [])));
}
