import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs } from '../../../lib/blobs/blobs.ts';
import { openDirectory } from '../../../lib/blobs/directory.ts';
import { refuse } from '../../../lib/errors.ts';
import type { Call, Caller, CallOptions, Client } from '../../../lib/grpc/contract.ts';
import { withPrefix } from '../../../lib/ids.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import {
  AgentRuntime,
  AgentsServiceDefinition,
  SkillVersion,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import {
  type Change,
  type ChangeWorkspaceResponse,
  type CheckoutResponse,
  type Content,
  type CreateUploadRequest,
  type Entry,
  FilesServiceDefinition,
  type PathChange,
  type Place,
  type RequiredState,
  type StoredPart,
  type WriteContentsRequest,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import {
  type FileEvent,
  type Lease,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { FilesConfig } from '../../../services/files/config.ts';
import { openFiles } from '../../../services/files/service.ts';
import { connect, createContext, type TransportName } from '../../support/context.ts';
import { createDatabase } from '../../support/database.ts';
import { fakeService } from '../../support/fake-service.ts';
import { scratch } from '../../support/scratch.ts';

export const OWNER = { userId: 'usr_00000000000000000000000001', roles: ['member'] };
export const STRANGER = { userId: 'usr_00000000000000000000000002', roles: ['member'] };
const caller = OWNER;

export const MIB = 1024 * 1024;

const CONFIG: FilesConfig = {
  pool: 8,
  workspaceMaxBytes: 1024 * MIB,
  workspaceMaxFiles: 200_000,
  fileMaxBytes: 256 * MIB,
  historyDays: 30,
  graceSeconds: 86_400,
  scrubDays: 7,
  scrubMibPerSecond: 0,
  quotaBytesPerUser: 0,
};

const ASSISTANT = {
  name: 'Helper',
  description: '',
  runtime: undefined,
  metadata: {},
  enabled: true,
  createdAt: undefined,
  updatedAt: undefined,
};

interface SessionOwnership {
  ownerId: string;
  assistantId: string;
  readOnly: boolean;
}

/** Fakes of the sessions and agents services. */
class FakePeers {
  readonly #sessions = new Map<string, SessionOwnership>();
  readonly #leases = new Map<string, Lease>();
  readonly #assistants = new Map<string, string>();
  readonly #skills: { id: string; version: number; workspaceId: string; isPinned: boolean }[] = [];
  /** Users with read access by session or assistant. */
  readonly #readers = new Map<string, string[]>();
  readonly #delivered = new Map<string, FileEvent[]>();
  readonly #context: Pick<ServiceContext, 'ids' | 'serviceSecret' | 'clock'>;
  /** The digests of the parts that the journal of a session refers to. */
  readonly #referenced = new Map<string, string[]>();
  /** ses_…: the journal of this session cannot be read. */
  unreadable: string | undefined;
  /** Called before an append; it can fail or delay it. */
  onAppend: (sessionId: string) => Promise<void> | void = () => {};

  constructor(context: Pick<ServiceContext, 'ids' | 'serviceSecret' | 'clock'>) {
    this.#context = context;
  }

  /** Makes a session, optionally of an assistant. */
  session(owner: Caller = OWNER, assistantId = ''): string {
    return this.create(this.#context.ids('ses'), owner, assistantId);
  }

  /** Makes a session with this id. */
  create(sessionId: string, owner: Caller = OWNER, assistantId = ''): string {
    this.#sessions.set(sessionId, { ownerId: owner.userId, assistantId, readOnly: false });
    return sessionId;
  }

  assistant(owner: Caller = OWNER): string {
    const assistantId = this.#context.ids('ast');
    this.#assistants.set(assistantId, owner.userId);
    return assistantId;
  }

  /** Names the workspace with the files of a version of a skill. The agent of every leased turn has the version if `isPinned`. */
  publish(skillId: string, version: number, workspaceId: string, isPinned: boolean): void {
    this.#skills.push({ id: skillId, version, workspaceId, isPinned });
  }

  /** Gives another user read access to a session or assistant. */
  shareWith(id: string, reader: Caller): void {
    this.#readers.set(id, [...(this.#readers.get(id) ?? []), reader.userId]);
  }

  archive(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (session) session.readOnly = true;
  }

  /** Deletes a session for all users. */
  delete(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  /** Leases a turn of the session to a new runner. Earlier leases are lost. */
  lease(sessionId: string): Lease {
    const fence = (this.#leases.get(sessionId)?.fence ?? 0) + 1;
    const lease = { sessionId, turnId: this.#context.ids('trn'), fence };
    this.#leases.set(sessionId, lease);
    return lease;
  }

  /** Makes a lost lease valid again, as for a runner that was paused. */
  restore(lease: Lease): void {
    this.#leases.set(lease.sessionId, lease);
  }

  /** Makes the journal of a session refer to a part. */
  refer(sessionId: string, digest: string): void {
    this.#referenced.set(sessionId, [...(this.#referenced.get(sessionId) ?? []), digest]);
  }

  referencedParts(sessionId: string): string[] {
    return this.#referenced.get(sessionId) ?? [];
  }

  /** The file events in the journal of a session. */
  deliveredEvents(sessionId: string): FileEvent[] {
    return this.#delivered.get(sessionId) ?? [];
  }

  clients() {
    const isReader = (id: string, { caller }: Call) =>
      this.#readers.get(id)?.includes(caller?.userId ?? '') === true;
    const locate = async ({ sessionId, lease }: { sessionId: string; lease?: Lease }, call: Call) => {
      const session = this.#sessions.get(sessionId);
      if (lease) {
        const current = this.#leases.get(sessionId);
        if (!session || current?.fence !== lease.fence || current.turnId !== lease.turnId)
          throw refuse('LEASE_LOST', 'Another runner holds the turn.');
        return { ...session, foreign: false, agentId: 'agt_1', agentVersion: 1 };
      }
      const foreign = session?.ownerId !== call.caller?.userId;
      if (!session || (foreign && !isReader(sessionId, call)))
        throw refuse('SESSION_NOT_FOUND', 'Unknown session.');
      return { ...session, foreign };
    };
    return {
      sessions: fakeService(
        SessionsServiceDefinition,
        {
          locateWorkspace: locate,
          appendFileEvents: async ({ sessionId, events }) => {
            await this.onAppend(sessionId);
            if (!this.#sessions.has(sessionId)) return { gone: true };
            const delivered = this.deliveredEvents(sessionId);
            const last = delivered.at(-1)?.seq ?? 0;
            this.#delivered.set(sessionId, [...delivered, ...events.filter(({ seq }) => seq > last)]);
            return { gone: false };
          },
          listReferencedParts: async ({ sessionId, sha256: digests }) => {
            if (sessionId === this.unreadable) throw refuse('DEPENDENCY_UNAVAILABLE', 'No answer.');
            const referenced = this.referencedParts(sessionId);
            return { sha256: digests.filter((digest) => referenced.includes(digest)) };
          },
        },
        'files',
        this.#context,
      ),
      agents: fakeService(
        AgentsServiceDefinition,
        {
          getAssistant: async ({ assistantId }, call) => {
            const createdBy = this.#assistants.get(assistantId);
            if (!createdBy || (createdBy !== call.caller?.userId && !isReader(assistantId, call)))
              throw refuse('ASSISTANT_NOT_FOUND', 'Unknown assistant.');
            return { assistant: { ...ASSISTANT, assistantId, createdBy } };
          },
          getAgentVersion: async () => {
            const items = this.#skills
              .filter(({ isPinned }) => isPinned)
              .map((pin) => ({ ...pin, name: 'forms', description: '' }));
            const runtime = { ...AgentRuntime.decode(Buffer.of()), skills: { items } };
            const version = { agentId: 'agt_1', version: 1, runtime, createdBy: '', createdAt: undefined };
            return { version, agentName: '' };
          },
          getSkillVersion: async ({ skillId, version }) => {
            const found = this.#skills.find((one) => one.id === skillId && one.version === version);
            if (!found) throw refuse('SKILL_VERSION_NOT_FOUND', 'The skill has no such version.');
            return { version: { ...SkillVersion.decode(Buffer.of()), ...found } };
          },
        },
        'files',
        this.#context,
      ),
    };
  }
}

/** Opens the files service on its own database and directory, with fakes of the services that it calls. */
export async function openFilesSystem(
  transport: TransportName = 'in process',
  overrides: Partial<ServiceContext> = {},
  config: Partial<FilesConfig> = {},
  wrap: (blobs: Blobs) => Blobs = (blobs) => blobs,
) {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await createDatabase());
  const directory = await mkdtemp(join(scratch(), 'ahs-test-files-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const context = createContext(database.url, overrides);
  const blobs = wrap(await openDirectory(directory));
  const fakes = new FakePeers(context);
  const replica = stack.use(await openReplica(transport, context, fakes, blobs, config));
  return {
    ...replica,
    database,
    directory,
    blobs,
    fakes,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Opens another replica of the files service on the same database and object store. */
export async function openReplica(
  transport: TransportName,
  context: ServiceContext,
  fakes: FakePeers,
  blobs: Blobs,
  config: Partial<FilesConfig> = {},
) {
  const stack = new AsyncDisposableStack();
  const service = stack.adopt(
    await openFiles(context, { ...CONFIG, ...config }, fakes.clients(), blobs),
    (opened) => opened.stop(),
  );
  const connection = stack.use(await connect(FilesServiceDefinition, service.endpoint, transport, context));
  return {
    context,
    edge: connection.as('edge'),
    runner: connection.as('runner'),
    sessions: connection.as('sessions'),
    agents: connection.as('agents'),
    as: connection.as,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export type FilesSystem = Awaited<ReturnType<typeof openFilesSystem>>;
export type Files = Client<FilesServiceDefinition>;

export const ofSession = (sessionId: string): Place => ({ of: { $case: 'sessionId', value: sessionId } });
export const ofAssistant = (id: string): Place => ({ of: { $case: 'assistantId', value: id } });
export const workspaceOf = (id: string) => withPrefix('wsp', id);

type Text = string | Uint8Array;

/** The messages of an upload, in pieces of `piece` bytes. */
export async function* uploadOf(
  place: Place,
  files: readonly Text[],
  lease?: Lease,
  piece = MIB,
): AsyncGenerator<WriteContentsRequest> {
  yield { kind: { $case: 'place', value: { place, lease } } };
  for (const file of files) {
    const bytes = Buffer.from(file);
    yield { kind: { $case: 'begin', value: { size: undefined } } };
    for (let from = 0; from < bytes.length; from += piece)
      yield { kind: { $case: 'bytes', value: bytes.subarray(from, from + piece) } };
  }
}

export async function upload(
  files: Files,
  place: Place,
  texts: readonly Text[],
  options: CallOptions = { caller },
  lease?: Lease,
): Promise<Content[]> {
  return (await files.writeContents(uploadOf(place, texts, lease), options)).contents;
}

export const put = (
  path: string,
  contentId: string,
  more: { executable?: boolean; modifiedAt?: Date; required?: RequiredState } = {},
): Change => ({
  kind: {
    $case: 'putFile',
    value: { path, contentId, executable: false, modifiedAt: undefined, ...more },
  },
});
export const mkdir = (path: string): Change => ({ kind: { $case: 'makeDirectory', value: { path } } });
export const link = (path: string, target: string): Change => ({
  kind: { $case: 'putSymlink', value: { path, target } },
});
export const move = (from: string, to: string, overwrite = false): Change => ({
  kind: { $case: 'move', value: { from, to, overwrite } },
});
export const remove = (path: string, ifExists = false): Change => ({
  kind: { $case: 'remove', value: { path, ifExists } },
});

interface ChangeOptions {
  base?: number;
  key?: string;
  lease?: Lease;
  upload?: boolean;
  call?: CallOptions;
}

export async function change(
  files: Files,
  place: Place,
  changes: Change[],
  { base, key = '', lease, upload, call = lease ? {} : { caller } }: ChangeOptions = {},
): Promise<ChangeWorkspaceResponse> {
  return files.changeWorkspace(
    { place, lease, baseVersion: base, changes, idempotencyKey: key, upload },
    call,
  );
}

/** Writes files by their paths, in one change. */
export async function write(
  files: Files,
  place: Place,
  texts: Record<string, Text>,
  options: ChangeOptions = {},
): Promise<ChangeWorkspaceResponse> {
  const call = options.call ?? (options.lease ? {} : { caller });
  const contents = await upload(files, place, Object.values(texts), call, options.lease);
  const changes = Object.keys(texts).map((path, index) => put(path, contents[index]!.contentId));
  return change(files, place, changes, options);
}

export async function workspace(files: Files, place: Place) {
  const { workspace: found } = await files.getWorkspace({ place }, { caller });
  if (!found) throw new Error('the answer has no workspace');
  return found;
}

/** All entries of a directory, page after page. */
export async function list(
  files: Files,
  place: Place,
  path = '',
  recursive = true,
  limit = 100,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor = '';
  do {
    const request = { place, lease: undefined, page: { limit, cursor }, path, recursive };
    const page = await files.listEntries(request, { caller });
    entries.push(...page.entries);
    cursor = page.page?.nextCursor ?? '';
  } while (cursor !== '');
  return entries;
}

export const pathsOf = (entries: readonly { path: string }[]) => entries.map(({ path }) => path);

export interface ReadOptions {
  version?: number;
  offset?: number;
  length?: number;
  lease?: Lease;
  call?: CallOptions;
}

export async function read(
  files: Files,
  place: Place,
  path: string,
  { version, offset = 0, length, lease, call = lease ? {} : { caller } }: ReadOptions = {},
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const { bytes } of files.readContent({ place, lease, path, version, offset, length }, call))
    pieces.push(bytes);
  return Buffer.concat(pieces);
}

export async function readText(files: Files, place: Place, path: string, options?: ReadOptions) {
  return String(await read(files, place, path, options));
}

type UploadFacts = { mediaType?: string; name?: string; size?: number; key?: string; piece?: number };

/** Creates an upload of the caller, in pieces of `piece` bytes. */
export async function createUpload(
  files: Files,
  bytes: Text,
  { mediaType = 'text/plain', name = '', size, key = '', piece = MIB }: UploadFacts = {},
  options: CallOptions = { caller },
) {
  const all = Buffer.from(bytes);
  async function* messages(): AsyncGenerator<CreateUploadRequest> {
    yield { kind: { $case: 'begin', value: { mediaType, name, size, idempotencyKey: key } } };
    for (let from = 0; from < all.length; from += piece)
      yield { kind: { $case: 'bytes', value: all.subarray(from, from + piece) } };
  }
  const { upload, replayed } = await files.createUpload(messages(), options);
  if (!upload) throw new Error('the answer has no upload');
  return { ...upload, replayed };
}

/** The bytes of a part, and the part as its first message describes it. */
export async function readPart(
  files: Files,
  sessionId: string,
  digest: string,
  { lease, offset, length, call = lease ? {} : { caller } }: ReadOptions = {},
) {
  const pieces: Uint8Array[] = [];
  let part: StoredPart | undefined;
  for await (const message of files.readPart({ sessionId, lease, sha256: digest, offset, length }, call)) {
    part ??= message.part;
    pieces.push(message.bytes);
  }
  return { part, bytes: Buffer.concat(pieces) };
}

/** All entries of a workspace by path: the text of files, `→ target` for symlinks, `/` for directories. */
export async function treeOf(files: Files, place: Place): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const { path, kind, target } of await list(files, place)) {
    tree[path] =
      kind === 'file' ? await readText(files, place, path) : kind === 'symlink' ? `→ ${target}` : '/';
  }
  return tree;
}

export async function changesOf(
  files: Files,
  place: Place,
  afterSeq = 0,
  limit = 100,
): Promise<PathChange[]> {
  const changes: PathChange[] = [];
  let cursor = '';
  do {
    const page = await files.listChanges({ place, afterSeq, page: { limit, cursor } }, { caller });
    changes.push(...page.changes);
    cursor = page.page?.nextCursor ?? '';
  } while (cursor !== '');
  return changes;
}

/** A copy of a workspace, updated by checkouts like the copy of a runner. */
export class WorkspaceCopy {
  workspaceId = '';
  version: number | undefined;
  whole = false;
  tree: Record<string, string> = {};
  /** Paths of the entries in the last checkout. */
  received: string[] = [];

  async checkout(files: Files, lease: Lease): Promise<this> {
    const place = ofSession(lease.sessionId);
    const request = { place, lease, haveVersion: this.version, haveWorkspaceId: this.workspaceId };
    this.received = [];
    let path = '';
    for await (const { kind } of files.checkout(request)) path = this.#take(kind, path);
    return this;
  }

  #take(kind: CheckoutResponse['kind'], path: string): string {
    if (kind?.$case === 'head') {
      this.workspaceId = kind.value.workspaceId;
      this.version = kind.value.version;
      this.whole = kind.value.whole;
      if (kind.value.whole) this.tree = {};
    } else if (kind?.$case === 'removed') {
      if (this.received.length > 0) throw new Error('a removal comes after an entry');
      const gone = (one: string) => one === kind.value || one.startsWith(`${kind.value}/`);
      this.tree = Object.fromEntries(Object.entries(this.tree).filter(([one]) => !gone(one)));
    } else if (kind?.$case === 'entry') {
      const { path: at, kind: what, target } = kind.value;
      const above = at.slice(0, Math.max(0, at.lastIndexOf('/')));
      if (above !== '' && this.tree[above] !== '/') throw new Error(`${at} comes before its directory`);
      this.tree[at] = what === 'directory' ? '/' : what === 'symlink' ? `→ ${target}` : '';
      this.received.push(at);
      return at;
    } else if (kind?.$case === 'bytes') {
      this.tree[path] += String(kind.value);
    }
    return path;
  }
}

export const sha256 = (text: Text) => createHash('sha256').update(text).digest('hex');
