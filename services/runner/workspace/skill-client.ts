import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { PinnedSkill } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Entry, Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { CallingTurn } from '../tool-calls/tool-call.ts';
import type { FilesClient } from './workspace-client.ts';

const PAGE_SIZE = 1_000;

/** Reads a version of a skill under the lease of a turn whose agent version has it. */
export class SkillClient {
  readonly #target: { place: Place; lease: Lease };
  readonly #files: FilesClient;
  readonly #options: CallOptions;

  constructor(
    files: FilesClient,
    { id, version }: Pick<PinnedSkill, 'id' | 'version'>,
    { lease, trace }: Pick<CallingTurn, 'lease' | 'trace'>,
    signal: AbortSignal,
  ) {
    this.#target = { place: { of: { $case: 'skillVersionId', value: `${id}@${version}` } }, lease };
    this.#files = files;
    this.#options = { signal, trace };
  }

  /** Returns at most one byte more than `maxBytes`. */
  async read(path: string, maxBytes: number): Promise<Buffer> {
    const request = { ...this.#target, path, offset: 0, length: maxBytes + 1 };
    const chunks: Buffer[] = [];
    for await (const { bytes } of this.#files.readContent(request, this.#options)) chunks.push(bytes);
    return Buffer.concat(chunks);
  }

  /** All files and directories, in the byte order of their paths. */
  async *list(): AsyncGenerator<Entry> {
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = { limit: PAGE_SIZE, cursor };
      const answer = await this.#files.listEntries(
        { ...this.#target, page, path: '', recursive: true },
        this.#options,
      );
      yield* answer.entries;
      cursor = answer.page?.nextCursor || undefined;
    }
  }

  /** Streams all files with their bytes. */
  checkout() {
    return this.#files.checkout({ ...this.#target, haveWorkspaceId: '' }, this.#options);
  }
}
