import {
  type Change,
  ChangePart,
  type CommitChangesRequest,
  type CommitChangesResponse,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type FilesSystem, ofSession, put, upload } from './system.ts';

interface CommitOptions {
  base?: number;
  key?: string;
  /** The declared number of parts, if it differs from the sent one. */
  parts?: number;
  signal?: AbortSignal;
  /** Called before each part is sent. */
  beforePart?: (index: number) => Promise<unknown> | unknown;
}

/** Commits changes in the given parts. */
export function commit(
  system: FilesSystem,
  lease: Lease,
  parts: Change[][],
  { base, key = '', parts: declared = parts.length, signal, beforePart }: CommitOptions = {},
): Promise<CommitChangesResponse> {
  async function* messages(): AsyncGenerator<CommitChangesRequest> {
    const place = ofSession(lease.sessionId);
    const begin = { place, lease, baseVersion: base, idempotencyKey: key, parts: declared };
    yield { kind: { $case: 'begin', value: begin } };
    for (const [index, changes] of parts.entries()) {
      await beforePart?.(index);
      yield { kind: { $case: 'part', value: Buffer.from(ChangePart.encode({ changes }).finish()) } };
    }
  }
  return system.runner.commitChanges(messages(), signal ? { signal } : {});
}

/** Commits empty files in parts of 1,000 paths. */
export async function commitFiles(
  system: FilesSystem,
  lease: Lease,
  count: number,
): Promise<CommitChangesResponse> {
  const [content] = await upload(system.runner, ofSession(lease.sessionId), [''], {}, lease);
  const paths = Array.from({ length: count }, (_, index) => `f${index}`);
  const changes = paths.map((path) => put(path, content?.contentId ?? ''));
  const parts = Array.from({ length: Math.ceil(count / 1_000) }, (_, index) =>
    changes.slice(1_000 * index, 1_000 * (index + 1)),
  );
  return commit(system, lease, parts, { base: 0 });
}
