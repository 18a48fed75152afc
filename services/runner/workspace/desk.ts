import { Refusal } from '../../../lib/errors.ts';
import type { CallOptions, Client } from '../../../lib/grpc/contract.ts';
import type {
  Change,
  ChangeWorkspaceResponse,
  Content,
  Entry,
  FilesServiceDefinition,
  Place,
  Workspace,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { CallingTurn } from '../tools/tool.ts';
import { type Source, upload } from './upload.ts';

export type FilesClient = Client<FilesServiceDefinition>;

/** A page of a listing. */
const PAGE = 1_000;

export interface ChangeOptions {
  baseVersion?: number | undefined;
  /** Of one change, in one turn. */
  key: string;
}

/** The workspace of a turn's session, as the turn's runner may use it: everything is asked under its lease. */
export class Desk {
  readonly lease: Lease;
  readonly #place: Place;
  readonly #files: FilesClient;
  readonly #options: CallOptions;

  constructor(files: FilesClient, turn: Pick<CallingTurn, 'lease' | 'trace'>, signal: AbortSignal) {
    this.lease = turn.lease;
    this.#place = { of: { $case: 'sessionId', value: turn.lease.sessionId } };
    this.#files = files;
    this.#options = { signal, trace: turn.trace };
  }

  /** Undefined when there is nothing at the path. */
  async find(path: string): Promise<{ entry: Entry; version: number } | undefined> {
    try {
      const { entry, version } = await this.#files.getEntry({ ...this.#where, path }, this.#options);
      return entry && { entry, version };
    } catch (error) {
      if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return undefined;
      throw error;
    }
  }

  /** What is in a directory, in the order of the bytes of the paths; asked for page by page. */
  async *list(path: string, recursive: boolean): AsyncGenerator<Entry> {
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = { limit: PAGE, cursor };
      const request = { ...this.#where, page, path, recursive };
      const answer = await this.#files.listEntries(request, this.#options);
      yield* answer.entries;
      cursor = answer.page?.nextCursor || undefined;
    }
  }

  /** The bytes of a file as of a version; absent for now. */
  async *read(path: string, version?: number): AsyncGenerator<Uint8Array> {
    const request = { ...this.#where, path, version, offset: 0 };
    for await (const { bytes } of this.#files.readContent(request, this.#options)) yield bytes;
  }

  /** Keeps the bytes of files, in the order of the sources. */
  async write(sources: Iterable<Source>): Promise<Content[]> {
    const { contents } = await this.#files.writeContents(upload(this.#where, sources), this.#options);
    return contents;
  }

  change(changes: Change[], { baseVersion, key }: ChangeOptions): Promise<ChangeWorkspaceResponse> {
    const request = { ...this.#where, baseVersion, changes, idempotencyKey: key };
    return this.#files.changeWorkspace(request, this.#options);
  }

  /** From here on nothing is changed under an older lease of the session. */
  async attach(): Promise<Workspace> {
    const { workspace } = await this.#files.attachWorkspace(this.#where, this.#options);
    if (!workspace) throw new Error('files says nothing of the workspace');
    return workspace;
  }

  /** What tells a version from the newest one; everything when there is none. */
  checkout(have: { workspaceId: string; version: number | undefined }) {
    const request = { ...this.#where, haveWorkspaceId: have.workspaceId, haveVersion: have.version };
    return this.#files.checkout(request, this.#options);
  }

  get #where(): { place: Place; lease: Lease } {
    return { place: this.#place, lease: this.lease };
  }
}
