import { createHash } from 'node:crypto';
import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { guard } from '../../../lib/grpc/guard.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import { withPrefix } from '../../../lib/ids.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import {
  type Change,
  ChangePart,
  type ChangeWorkspaceRequest,
  type ChangeWorkspaceResponse,
  type CheckoutResponse,
  type Conflict,
  type Entry,
  FilesServiceDefinition,
  type Place,
  type Workspace,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { conflictName } from '../../../services/files/domain/paths.ts';

type Tree = Map<string, Entry>;

/** The files service in memory. */
export interface FakeFiles {
  endpoint: Endpoint;
  /** Returns the workspace by path: the text of a file, `→ target` for a symlink, null for a directory. */
  tree(sessionId: string): Record<string, string | null>;
  entry(sessionId: string, path: string): Entry | undefined;
  version(sessionId: string): number;
  /** Writes files as another writer. The value null removes a path. */
  upload(sessionId: string, files: Record<string, string | Uint8Array | null>): void;
  link(sessionId: string, path: string, target: string): void;
  /** Stores the bytes of a part for all sessions and returns their SHA-256. */
  putPart(bytes: Uint8Array): string;
  /** The SHA-256 of each part that was read, in order. */
  readParts: string[];
  /** The parts that were stored, in order. */
  storedParts: { type: string; sha256: string }[];
  /** Called before each request is handled. May throw or delay it. */
  before: {
    [M in 'changeWorkspace' | 'commitChanges' | 'checkout' | 'writeContents' | 'readPart' | 'storeParts']?: (
      lease?: Lease,
    ) => void | Promise<void>;
  };
  after: { [M in 'changeWorkspace' | 'commitChanges']?: (lease?: Lease) => void | Promise<void> };
  changes: ChangeWorkspaceRequest[];
  /** The number of changes in each part of each CommitChanges call. */
  commits: number[][];
  /** Number of full checkouts, and of checkouts of only the changes since a version. */
  checkouts: { whole: number; parts: number };
  /** Limit of the total size of all files of a workspace. */
  maxBytes: number;
  /** Assistant ids (ast_…) by session id. These sessions share the workspace of the assistant. */
  assistants: Map<string, string>;
  /** Streams the files of a version of a skill (skl_…@<version>). */
  checkOutSkill: (skillVersionId: string) => AsyncGenerator<CheckoutResponse>;
  /** Returns whether the lease is held. */
  holds: (lease: Lease) => boolean;
}

interface StoredWorkspace {
  versions: Tree[];
  /** The version that last changed a path, by path. */
  changedIn: Map<string, number>;
  answers: Map<string, ChangeWorkspaceResponse>;
}

const CHUNK = 64 * 1024;

export function createFakeFiles(context: ServiceContext): FakeFiles {
  const contents = new Map<string, Buffer>();
  const workspaces = new Map<string, StoredWorkspace>();
  let count = 0;

  function idOf(sessionId: string): string {
    return withPrefix('wsp', fake.assistants.get(sessionId) ?? sessionId);
  }

  function storedOf(sessionId: string): StoredWorkspace {
    const id = idOf(sessionId);
    const workspace = workspaces.get(id) ?? {
      versions: [new Map()],
      changedIn: new Map(),
      answers: new Map(),
    };
    workspaces.set(id, workspace);
    return workspace;
  }

  const currentTree = ({ versions }: StoredWorkspace): Tree => versions.at(-1) ?? new Map();

  function requireLease({ place, lease }: { place?: Place | undefined; lease?: Lease | undefined }) {
    const sessionId = place?.of?.$case === 'sessionId' ? place.of.value : '';
    if (!lease || lease.sessionId !== sessionId || !fake.holds(lease))
      throw refuse('LEASE_LOST', 'The lease of the turn is lost.');
    return { sessionId, stored: storedOf(sessionId) };
  }

  function describe(sessionId: string): Workspace {
    const stored = storedOf(sessionId);
    const files = [...currentTree(stored).values()].filter(({ kind }) => kind === 'file');
    return {
      workspaceId: idOf(sessionId),
      version: stored.versions.length - 1,
      oldestVersion: 0,
      files: files.length,
      bytes: files.reduce((sum, { size }) => sum + size, 0),
      maxFiles: 1_000_000,
      maxBytes: fake.maxBytes,
      lastSeq: 0,
      updatedAt: undefined,
    };
  }

  function fileOf(path: string, bytes: Buffer, executable: boolean, modifiedAt: Date | undefined): Entry {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    contents.set(sha256, bytes);
    return { path, kind: 'file', size: bytes.length, sha256, modifiedAt, executable, target: '' };
  }

  function directories(tree: Tree, path: string): void {
    for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1))
      if (!tree.has(path.slice(0, end))) put(tree, { path: path.slice(0, end), kind: 'directory' });
  }

  function put(tree: Tree, entry: Pick<Entry, 'path' | 'kind'> & Partial<Entry>): void {
    const rest = { size: 0, sha256: '', modifiedAt: undefined, executable: false, target: '' };
    tree.set(entry.path, { ...rest, ...entry });
  }

  function remove(tree: Tree, path: string): void {
    for (const known of [...tree.keys()])
      if (known === path || known.startsWith(`${path}/`)) tree.delete(known);
  }

  function apply(stored: StoredWorkspace, changes: Change[], base: number | undefined): Conflict[] {
    const tree = new Map(currentTree(stored));
    const version = stored.versions.length;
    const conflicts: Conflict[] = [];
    const isChangedSince = (path: string) => base !== undefined && (stored.changedIn.get(path) ?? 0) > base;
    const changedPaths: string[] = [];
    for (const { kind } of changes) {
      if (kind?.$case === 'remove') {
        if (isChangedSince(kind.value.path)) {
          conflicts.push({ path: kind.value.path, keptAs: '' });
          continue;
        }
        if (!tree.has(kind.value.path)) {
          if (kind.value.ifExists) continue;
          throw refuse('FILE_NOT_FOUND', `Unknown file or directory \`${kind.value.path}\`.`);
        }
        remove(tree, kind.value.path);
        changedPaths.push(kind.value.path);
      } else if (kind?.$case === 'makeDirectory') {
        directories(tree, `${kind.value.path}/`);
      } else if (kind?.$case === 'putSymlink') {
        directories(tree, kind.value.path);
        put(tree, { ...kind.value, kind: 'symlink' });
        changedPaths.push(kind.value.path);
      } else if (kind?.$case === 'putFile') {
        const { path: requestedPath, contentId, executable, modifiedAt } = kind.value;
        const bytes = contents.get(contentId);
        if (!bytes) throw refuse('FILE_NOT_FOUND', `Unknown content \`${contentId}\`.`);
        const isConflict =
          isChangedSince(requestedPath) &&
          !contents.get(tree.get(requestedPath)?.sha256 ?? '')?.equals(bytes);
        const path = isConflict ? conflictName(requestedPath, base ?? 0, 1) : requestedPath;
        if (isConflict) conflicts.push({ path: requestedPath, keptAs: path });
        directories(tree, path);
        tree.set(path, fileOf(path, bytes, executable, modifiedAt));
        changedPaths.push(path);
      }
    }
    const bytes = [...tree.values()].reduce((sum, { size }) => sum + size, 0);
    if (bytes > fake.maxBytes) throw refuse('QUOTA_EXCEEDED', `the workspace would hold ${bytes} bytes`);
    if (JSON.stringify([...tree]) === JSON.stringify([...currentTree(stored)])) return conflicts;
    stored.versions.push(tree);
    for (const path of changedPaths) stored.changedIn.set(path, version);
    return conflicts;
  }

  async function* checkout(tree: Tree, have: Tree | undefined): AsyncGenerator<CheckoutResponse> {
    for (const path of have?.keys() ?? [])
      if (!tree.has(path)) yield { kind: { $case: 'removed', value: path } };
    for (const entry of [...tree.values()].sort((a, b) => (a.path < b.path ? -1 : 1))) {
      const old = have?.get(entry.path);
      if (old && JSON.stringify(old) === JSON.stringify(entry)) continue;
      yield { kind: { $case: 'entry', value: entry } };
      const bytes = contents.get(entry.sha256) ?? Buffer.alloc(0);
      for (let begin = 0; begin < bytes.length; begin += CHUNK)
        yield { kind: { $case: 'bytes', value: bytes.subarray(begin, begin + CHUNK) } };
    }
  }

  const handlers: Partial<Handlers<FilesServiceDefinition>> = {
    async getEntry(request) {
      const { stored } = requireLease(request);
      const entry = currentTree(stored).get(request.path);
      if (!entry) throw refuse('FILE_NOT_FOUND', `Unknown file or directory \`${request.path}\`.`);
      return { entry, version: stored.versions.length - 1 };
    },
    async listEntries(request) {
      const { stored } = requireLease(request);
      const { path, recursive, page } = request;
      if (path !== '' && currentTree(stored).get(path)?.kind !== 'directory')
        throw refuse('FILE_NOT_FOUND', `Unknown directory \`${path}\`.`);
      const prefix = path === '' ? '' : `${path}/`;
      const limit = page?.limit ?? 0;
      if (limit < 1 || limit > 1_000)
        throw refuse('INVALID_REQUEST', 'The page limit must be from 1 to 1000.');
      const all = [...currentTree(stored).values()]
        .filter((one) => one.path.startsWith(prefix))
        .filter((one) => recursive || !one.path.slice(prefix.length).includes('/'))
        .filter((one) => one.path > (page?.cursor ?? ''))
        .sort((a, b) => (a.path < b.path ? -1 : 1));
      const entries = all.slice(0, limit);
      const nextCursor = all.length > limit ? (entries.at(-1)?.path ?? '') : '';
      return { entries, page: { nextCursor } };
    },
    async *readContent(request) {
      const { stored } = requireLease(request);
      const entry = (stored.versions[request.version ?? stored.versions.length - 1] ?? new Map()).get(
        request.path,
      );
      if (!entry) throw refuse('FILE_NOT_FOUND', `Unknown file \`${request.path}\`.`);
      const bytes = contents.get(entry.sha256) ?? Buffer.alloc(0);
      for (let begin = 0; begin < bytes.length; begin += CHUNK)
        yield { bytes: bytes.subarray(begin, begin + CHUNK) };
    },
    async writeContents(messages) {
      const open: { size: number | undefined; chunks: Buffer[] }[] = [];
      for await (const { kind } of messages) {
        if (kind?.$case === 'place') {
          requireLease(kind.value);
          await fake.before.writeContents?.(kind.value.lease);
        }
        if (kind?.$case === 'begin') open.push({ size: kind.value.size, chunks: [] });
        if (kind?.$case === 'bytes') open.at(-1)?.chunks.push(kind.value);
      }
      const written = open.map(({ size, chunks }) => {
        const bytes = Buffer.concat(chunks);
        if (size !== undefined && size !== bytes.length)
          throw refuse('INVALID_REQUEST', `The content does not have the declared ${size} bytes.`);
        const contentId = `cnt_${++count}`;
        contents.set(contentId, bytes);
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        return { contentId, size: bytes.length, sha256 };
      });
      return { contents: written };
    },
    async changeWorkspace(request) {
      const { sessionId, stored } = requireLease(request);
      fake.changes.push(request);
      await fake.before.changeWorkspace?.(request.lease);
      const known = stored.answers.get(request.idempotencyKey);
      if (known) return { ...known, replayed: true };
      requireLease(request);
      const conflicts = apply(stored, request.changes, request.baseVersion);
      const answer = { workspace: describe(sessionId), entries: [], conflicts, replayed: false };
      if (request.idempotencyKey) stored.answers.set(request.idempotencyKey, answer);
      await fake.after.changeWorkspace?.(request.lease);
      return answer;
    },
    async commitChanges(messages) {
      const all = await Array.fromAsync(messages, ({ kind }) => kind);
      const [begin] = all.flatMap((kind) => (kind?.$case === 'begin' ? [kind.value] : []));
      const parts = all.flatMap((kind) =>
        kind?.$case === 'part' ? [ChangePart.decode(kind.value).changes] : [],
      );
      const { sessionId, stored } = requireLease(begin ?? {});
      fake.commits.push(parts.map(({ length }) => length));
      await fake.before.commitChanges?.(begin?.lease);
      const key = begin?.idempotencyKey ?? '';
      const known = stored.answers.get(key);
      if (known) return { ...known, conflictCount: known.conflicts.length, replayed: true };
      const conflicts = apply(stored, parts.flat(), begin?.baseVersion);
      const answer = { workspace: describe(sessionId), entries: [], conflicts, replayed: false };
      stored.answers.set(key, answer);
      await fake.after.commitChanges?.(begin?.lease);
      return { ...answer, conflictCount: conflicts.length };
    },
    async attachWorkspace(request) {
      return { workspace: describe(requireLease(request).sessionId) };
    },
    async *readPart({ sessionId, lease, sha256 }) {
      requireLease({ place: { of: { $case: 'sessionId', value: sessionId } }, lease });
      await fake.before.readPart?.(lease);
      fake.readParts.push(sha256);
      const bytes = contents.get(sha256);
      if (!bytes) throw refuse('PART_NOT_FOUND', `Unknown part \`${sha256}\`.`);
      for (let begin = 0; begin < bytes.length; begin += CHUNK)
        yield { part: undefined, bytes: bytes.subarray(begin, begin + CHUNK) };
    },
    async storeParts({ sessionId, lease, parts }) {
      requireLease({ place: { of: { $case: 'sessionId', value: sessionId } }, lease });
      await fake.before.storeParts?.(lease);
      const stored = parts.map(({ type, mediaType, name, contentId = '' }) => {
        const bytes = contents.get(contentId);
        if (!bytes) throw refuse('FILE_NOT_FOUND', `Unknown content \`${contentId}\`.`);
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        contents.set(sha256, bytes);
        fake.storedParts.push({ type, sha256 });
        return { sha256, size: bytes.length, mediaType, name };
      });
      return { parts: stored };
    },
    async *checkout(request) {
      if (request.place?.of?.$case === 'skillVersionId')
        return yield* fake.checkOutSkill(request.place.of.value);
      const { sessionId, stored } = requireLease(request);
      await fake.before.checkout?.(request.lease);
      const { haveVersion, haveWorkspaceId } = request;
      const whole = haveVersion === undefined || haveWorkspaceId !== idOf(sessionId);
      fake.checkouts[whole ? 'whole' : 'parts']++;
      const version = stored.versions.length - 1;
      const { files, bytes } = describe(sessionId);
      const head = { workspaceId: idOf(sessionId), version, whole, files, bytes };
      yield { kind: { $case: 'head', value: head } };
      yield* checkout(currentTree(stored), whole ? undefined : stored.versions[haveVersion]);
    },
  };

  const names = Object.keys(
    FilesServiceDefinition.methods,
  ) as (keyof typeof FilesServiceDefinition.methods)[];
  const fake: FakeFiles = {
    endpoint: guard({
      contract: FilesServiceDefinition,
      handlers: handlers as Handlers<FilesServiceDefinition>,
      peers: Object.fromEntries(names.map((name) => [name, ['runner']])) as Record<
        keyof typeof FilesServiceDefinition.methods,
        string[]
      >,
      secret: context.serviceSecret,
      clock: context.clock,
      observe: context.observe,
    }),
    tree(sessionId) {
      const render = ({ kind, sha256, target }: Entry) => {
        if (kind === 'directory') return null;
        return kind === 'symlink' ? `→ ${target}` : String(contents.get(sha256));
      };
      const entries = [...currentTree(storedOf(sessionId)).values()].map(
        (entry) => [entry.path, render(entry)] as const,
      );
      return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    entry: (sessionId, path) => currentTree(storedOf(sessionId)).get(path),
    version: (sessionId) => storedOf(sessionId).versions.length - 1,
    upload(sessionId, files) {
      const stored = storedOf(sessionId);
      const tree = new Map(currentTree(stored));
      for (const [path, given] of Object.entries(files)) {
        directories(tree, path);
        if (given === null) remove(tree, path);
        else tree.set(path, fileOf(path, Buffer.from(given), false, context.clock.now()));
        stored.changedIn.set(path, stored.versions.length);
      }
      stored.versions.push(tree);
    },
    link(sessionId, path, target) {
      const stored = storedOf(sessionId);
      const tree = new Map(currentTree(stored));
      directories(tree, path);
      put(tree, { path, kind: 'symlink', target });
      stored.versions.push(tree);
    },
    putPart(given) {
      const bytes = Buffer.from(given);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      contents.set(sha256, bytes);
      return sha256;
    },
    readParts: [],
    storedParts: [],
    before: {},
    after: {},
    changes: [],
    commits: [],
    checkouts: { whole: 0, parts: 0 },
    maxBytes: 64 * 1024 * 1024,
    checkOutSkill() {
      throw refuse('SKILL_NOT_FOUND', 'Unknown skill.');
    },
    assistants: new Map(),
    holds: () => true,
  };
  return fake;
}
