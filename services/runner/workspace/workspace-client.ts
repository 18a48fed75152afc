import { sha256 } from '../../../lib/digest.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { CallOptions, Client } from '../../../lib/grpc/contract.ts';
import type {
  Change,
  ChangeWorkspaceResponse,
  CommitChangesRequest,
  CommitChangesResponse,
  Content,
  Entry,
  FilesServiceDefinition,
  Place,
  Workspace,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { CallingTurn, ToolCallContext } from '../tool-calls/tool-call.ts';
import { type ContentSource, writeContentsRequests } from './upload.ts';

export type FilesClient = Client<FilesServiceDefinition>;

const PAGE_SIZE = 1_000;

interface ChangeOptions {
  baseVersion?: number | undefined;
  /** The idempotency key; see changeKey. */
  key: string;
}

/** A call of `attach` that has begun. */
export interface Attachment {
  workspace: Promise<Workspace>;
  /** Milliseconds since the epoch. */
  startedAt: number;
}

/** Accesses the workspace of a turn's session. Every request carries the lease of the turn. */
export class WorkspaceClient {
  readonly lease: Lease;
  readonly #session: Place;
  readonly #files: FilesClient;
  readonly #options: CallOptions;

  constructor(files: FilesClient, turn: Pick<CallingTurn, 'lease' | 'trace'>, signal: AbortSignal) {
    this.lease = turn.lease;
    this.#session = { of: { $case: 'sessionId', value: turn.lease.sessionId } };
    this.#files = files;
    this.#options = { signal, trace: turn.trace };
  }

  /** Resolves with undefined when the path does not exist. */
  async find(path: string): Promise<{ entry: Entry; version: number } | undefined> {
    try {
      const { entry, version } = await this.#files.getEntry({ ...this.#target, path }, this.#options);
      return entry && { entry, version };
    } catch (error) {
      if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return undefined;
      throw error;
    }
  }

  /** Lists a directory in byte order of the paths, page by page. */
  async *list(path: string, recursive: boolean): AsyncGenerator<Entry> {
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = { limit: PAGE_SIZE, cursor };
      const request = { ...this.#target, page, path, recursive };
      const answer = await this.#files.listEntries(request, this.#options);
      yield* answer.entries;
      cursor = answer.page?.nextCursor || undefined;
    }
  }

  /** Reads a file as of a version; the newest version by default. */
  async *read(path: string, version?: number): AsyncGenerator<Uint8Array> {
    const request = { ...this.#target, path, version, offset: 0 };
    for await (const { bytes } of this.#files.readContent(request, this.#options)) yield bytes;
  }

  /** Stores contents and resolves with their ids, in the order of the sources. */
  async write(sources: Iterable<ContentSource>): Promise<Content[]> {
    const { contents } = await this.#files.writeContents(
      writeContentsRequests(this.#target, sources),
      this.#options,
    );
    return contents;
  }

  change(changes: Change[], { baseVersion, key }: ChangeOptions): Promise<ChangeWorkspaceResponse> {
    const request = { ...this.#target, baseVersion, changes, idempotencyKey: key };
    return this.#files.changeWorkspace(request, this.#options);
  }

  /** Like `change`, for the encoded parts of a change that does not fit into one message. */
  commit(parts: readonly Buffer[], { baseVersion, key }: ChangeOptions): Promise<CommitChangesResponse> {
    const begin = { ...this.#target, baseVersion, idempotencyKey: key, parts: parts.length };
    async function* messages(): AsyncGenerator<CommitChangesRequest> {
      yield { kind: { $case: 'begin', value: begin } };
      for (const value of parts) yield { kind: { $case: 'part', value } };
    }
    return this.#files.commitChanges(messages(), this.#options);
  }

  /** Rejects later changes under older leases of the session. */
  async attach(): Promise<Workspace> {
    const { workspace } = await this.#files.attachWorkspace(this.#target, this.#options);
    if (!workspace) throw new Error('The response of AttachWorkspace has no workspace.');
    return workspace;
  }

  /** Streams the difference between a version and the newest version; the whole workspace without a version. */
  checkout(have: { workspaceId: string; version: number | undefined }) {
    const request = { ...this.#target, haveWorkspaceId: have.workspaceId, haveVersion: have.version };
    return this.#files.checkout(request, this.#options);
  }

  get #target(): { place: Place; lease: Lease } {
    return { place: this.#session, lease: this.lease };
  }
}

/** The idempotency key of the changes of a tool call. The id of the call is hashed because it can be long. */
export function changeKey({ turn, toolUseId }: Pick<ToolCallContext, 'turn' | 'toolUseId'>): string {
  // Earlier releases number the parts of a change here.
  return `${turn.lease.turnId} ${sha256(toolUseId)} 0`;
}
