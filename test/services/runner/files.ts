import { createHash } from 'node:crypto';
import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { guard } from '../../../lib/grpc/guard.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import { withPrefix } from '../../../lib/ids.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import {
  type Change,
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

type Tree = Map<string, Entry>;

/** What the contract says of workspaces, kept in memory. */
export interface FileBook {
  endpoint: Endpoint;
  /** What is in a workspace, by path: text, where a symlink points with an arrow before it, null for a directory. */
  tree(sessionId: string): Record<string, string | null>;
  entry(sessionId: string, path: string): Entry | undefined;
  version(sessionId: string): number;
  /** Somebody puts files there; null removes. */
  upload(sessionId: string, files: Record<string, string | Uint8Array | null>): void;
  link(sessionId: string, path: string, target: string): void;
  /** Called before each call is carried out; may fail it, or hold it up. */
  before: {
    [M in 'changeWorkspace' | 'checkout' | 'writeContents']?: (lease?: Lease) => void | Promise<void>;
  };
  after: { changeWorkspace?: (lease?: Lease) => void | Promise<void> };
  changes: ChangeWorkspaceRequest[];
  /** How often everything was asked for, and how often only what is new. */
  checkouts: { whole: number; parts: number };
  /** Of all files together. */
  maxBytes: number;
  /** ast_… of the sessions whose workspace is that of an assistant. */
  assistants: Map<string, string>;
  /** Refuses the lease when it is not held. */
  holds: (lease: Lease) => boolean;
}

interface Kept {
  versions: Tree[];
  /** By path, the version in which it was changed last. */
  touched: Map<string, number>;
  answers: Map<string, ChangeWorkspaceResponse>;
}

const CHUNK = 64 * 1024;

export function createFileBook(context: ServiceContext): FileBook {
  const contents = new Map<string, Buffer>();
  const workspaces = new Map<string, Kept>();
  let count = 0;

  function idOf(sessionId: string): string {
    return withPrefix('wsp', book.assistants.get(sessionId) ?? sessionId);
  }

  function keptOf(sessionId: string): Kept {
    const id = idOf(sessionId);
    const known = workspaces.get(id) ?? { versions: [new Map()], touched: new Map(), answers: new Map() };
    workspaces.set(id, known);
    return known;
  }

  const now = ({ versions }: Kept): Tree => versions.at(-1) ?? new Map();

  function place({ place, lease }: { place?: Place | undefined; lease?: Lease | undefined }) {
    const sessionId = place?.of?.$case === 'sessionId' ? place.of.value : '';
    if (!lease || lease.sessionId !== sessionId || !book.holds(lease))
      throw refuse('LEASE_LOST', 'the turn is no longer held');
    return { sessionId, kept: keptOf(sessionId) };
  }

  function describe(sessionId: string): Workspace {
    const kept = keptOf(sessionId);
    const files = [...now(kept).values()].filter(({ kind }) => kind === 'file');
    return {
      workspaceId: idOf(sessionId),
      version: kept.versions.length - 1,
      oldestVersion: 0,
      files: files.length,
      bytes: files.reduce((sum, { size }) => sum + size, 0),
      maxFiles: 1_000_000,
      maxBytes: book.maxBytes,
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

  function apply(kept: Kept, changes: Change[], base: number | undefined): Conflict[] {
    const tree = new Map(now(kept));
    const version = kept.versions.length;
    const conflicts: Conflict[] = [];
    const clashes = (path: string) => base !== undefined && (kept.touched.get(path) ?? 0) > base;
    const touch: string[] = [];
    for (const { kind } of changes) {
      if (kind?.$case === 'remove') {
        if (clashes(kind.value.path)) {
          conflicts.push({ path: kind.value.path, keptAs: '' });
          continue;
        }
        remove(tree, kind.value.path);
        touch.push(kind.value.path);
      } else if (kind?.$case === 'makeDirectory') {
        directories(tree, `${kind.value.path}/`);
      } else if (kind?.$case === 'putSymlink') {
        directories(tree, kind.value.path);
        put(tree, { ...kind.value, kind: 'symlink' });
        touch.push(kind.value.path);
      } else if (kind?.$case === 'putFile') {
        const { path: wanted, contentId, executable, modifiedAt } = kind.value;
        const bytes = contents.get(contentId);
        if (!bytes) throw refuse('INVALID_REQUEST', `there is no content ${contentId}`);
        const isClash = clashes(wanted) && contents.get(tree.get(wanted)?.sha256 ?? '') !== bytes;
        const path = isClash ? `${wanted}.conflict-v${base}` : wanted;
        if (isClash) conflicts.push({ path: wanted, keptAs: path });
        directories(tree, path);
        tree.set(path, fileOf(path, bytes, executable, modifiedAt));
        touch.push(path);
      }
    }
    const bytes = [...tree.values()].reduce((sum, { size }) => sum + size, 0);
    if (bytes > book.maxBytes) throw refuse('QUOTA_EXCEEDED', `the workspace would hold ${bytes} bytes`);
    kept.versions.push(tree);
    for (const path of touch) kept.touched.set(path, version);
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
      const { kept } = place(request);
      const entry = now(kept).get(request.path);
      if (!entry) throw refuse('FILE_NOT_FOUND', `there is no ${request.path}`);
      return { entry, version: kept.versions.length - 1 };
    },
    async listEntries(request) {
      const { kept } = place(request);
      const { path, recursive, page } = request;
      if (path !== '' && now(kept).get(path)?.kind !== 'directory')
        throw refuse('FILE_NOT_FOUND', `there is no directory ${path}`);
      const prefix = path === '' ? '' : `${path}/`;
      const limit = page?.limit ?? 0;
      if (limit < 1 || limit > 1_000) throw refuse('INVALID_REQUEST', 'a page has 1 to 1000 entries');
      const all = [...now(kept).values()]
        .filter((one) => one.path.startsWith(prefix))
        .filter((one) => recursive || !one.path.slice(prefix.length).includes('/'))
        .filter((one) => one.path > (page?.cursor ?? ''))
        .sort((a, b) => (a.path < b.path ? -1 : 1));
      const entries = all.slice(0, limit);
      const nextCursor = all.length > limit ? (entries.at(-1)?.path ?? '') : '';
      return { entries, page: { nextCursor } };
    },
    async *readContent(request) {
      const { kept } = place(request);
      const entry = (kept.versions[request.version ?? kept.versions.length - 1] ?? new Map()).get(
        request.path,
      );
      if (!entry) throw refuse('FILE_NOT_FOUND', `there is no ${request.path}`);
      const bytes = contents.get(entry.sha256) ?? Buffer.alloc(0);
      for (let begin = 0; begin < bytes.length; begin += CHUNK)
        yield { bytes: bytes.subarray(begin, begin + CHUNK) };
    },
    async writeContents(messages) {
      const open: { size: number | undefined; chunks: Buffer[] }[] = [];
      for await (const { kind } of messages) {
        if (kind?.$case === 'place') {
          place(kind.value);
          await book.before.writeContents?.(kind.value.lease);
        }
        if (kind?.$case === 'begin') open.push({ size: kind.value.size, chunks: [] });
        if (kind?.$case === 'bytes') open.at(-1)?.chunks.push(kind.value);
      }
      const made = open.map(({ size, chunks }) => {
        const bytes = Buffer.concat(chunks);
        if (size !== bytes.length)
          throw refuse('INVALID_REQUEST', 'a content has another size than was said');
        const contentId = `cnt_${++count}`;
        contents.set(contentId, bytes);
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        return { contentId, size: bytes.length, sha256 };
      });
      return { contents: made };
    },
    async changeWorkspace(request) {
      const { sessionId, kept } = place(request);
      book.changes.push(request);
      await book.before.changeWorkspace?.(request.lease);
      const known = kept.answers.get(request.idempotencyKey);
      if (known) return { ...known, replayed: true };
      place(request);
      const conflicts = apply(kept, request.changes, request.baseVersion);
      const answer = { workspace: describe(sessionId), entries: [], conflicts, replayed: false };
      if (request.idempotencyKey) kept.answers.set(request.idempotencyKey, answer);
      await book.after.changeWorkspace?.(request.lease);
      return answer;
    },
    async attachWorkspace(request) {
      return { workspace: describe(place(request).sessionId) };
    },
    async *checkout(request) {
      const { sessionId, kept } = place(request);
      await book.before.checkout?.(request.lease);
      const { haveVersion, haveWorkspaceId } = request;
      const whole = haveVersion === undefined || haveWorkspaceId !== idOf(sessionId);
      book.checkouts[whole ? 'whole' : 'parts']++;
      const version = kept.versions.length - 1;
      yield { kind: { $case: 'head', value: { workspaceId: idOf(sessionId), version, whole } } };
      yield* checkout(now(kept), whole ? undefined : kept.versions[haveVersion]);
    },
  };

  const names = Object.keys(
    FilesServiceDefinition.methods,
  ) as (keyof typeof FilesServiceDefinition.methods)[];
  const book: FileBook = {
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
      const shown = ({ kind, sha256, target }: Entry) => {
        if (kind === 'directory') return null;
        return kind === 'symlink' ? `→ ${target}` : String(contents.get(sha256));
      };
      const entries = [...now(keptOf(sessionId)).values()].map(
        (entry) => [entry.path, shown(entry)] as const,
      );
      return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    entry: (sessionId, path) => now(keptOf(sessionId)).get(path),
    version: (sessionId) => keptOf(sessionId).versions.length - 1,
    upload(sessionId, files) {
      const kept = keptOf(sessionId);
      const tree = new Map(now(kept));
      for (const [path, given] of Object.entries(files)) {
        directories(tree, path);
        if (given === null) remove(tree, path);
        else tree.set(path, fileOf(path, Buffer.from(given), false, context.clock.now()));
        kept.touched.set(path, kept.versions.length);
      }
      kept.versions.push(tree);
    },
    link(sessionId, path, target) {
      const kept = keptOf(sessionId);
      const tree = new Map(now(kept));
      directories(tree, path);
      put(tree, { path, kind: 'symlink', target });
      kept.versions.push(tree);
    },
    before: {},
    after: {},
    changes: [],
    checkouts: { whole: 0, parts: 0 },
    maxBytes: 64 * 1024 * 1024,
    assistants: new Map(),
    holds: () => true,
  };
  return book;
}
