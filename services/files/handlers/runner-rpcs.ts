import { refuse } from '../../../lib/errors.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import type { CheckoutResponse, FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { TreeEntry } from '../domain/node.ts';
import { compareByBytes } from '../domain/paths.ts';
import { outermostOf } from '../domain/workspace-view.ts';
import { prefetchContents } from '../prefetch.ts';
import type { Snapshot } from '../store/reads.ts';
import type { FilesHandlerContext } from './context.ts';
import { checkCount, treeEntryMessage, workspaceMessage } from './messages.ts';

type Methods = Pick<Handlers<FilesServiceDefinition>, 'attachWorkspace' | 'checkout'>;

const PAGE = 500;

/** The RPCs for runners that work on the workspace of a turn. */
export function runnerHandlers(context: FilesHandlerContext): Methods {
  const { locate, reads, fences, contents, reader, limits } = context;

  /** The current entries at these paths, in pages. Absent paths are left out. */
  async function* currentEntries(
    snapshot: Snapshot,
    paths: readonly string[],
    call: Call,
  ): AsyncGenerator<TreeEntry[]> {
    for (let from = 0; from < paths.length; from += PAGE) {
      const page = paths.slice(from, from + PAGE);
      const entries = await reads.entriesAt(snapshot, page, call);
      yield page.flatMap((path) => entries.get(path) ?? []);
    }
  }

  async function* send(
    pages: AsyncIterable<readonly TreeEntry[]>,
    call: Call,
  ): AsyncGenerator<CheckoutResponse> {
    const { signal } = call;
    for await (const page of pages) {
      for await (const { entry, content, bytes } of prefetchContents(page, {
        contents,
        reader,
        signal,
        call,
      })) {
        yield { kind: { $case: 'entry', value: treeEntryMessage(entry) } };
        if (bytes) {
          if (bytes.length > 0) yield { kind: { $case: 'bytes', value: bytes } };
        } else if (content) {
          for await (const piece of reader.read(content, 0, content.size, signal)) {
            yield {
              kind: { $case: 'bytes', value: Buffer.from(piece.buffer, piece.byteOffset, piece.length) },
            };
          }
        }
      }
    }
  }

  return {
    async attachWorkspace({ place, lease }, call) {
      const located = await locate(place, requireLease(lease), call);
      await fences.raise(located.workspaceId, requireLease(lease));
      const row = await reads.workspace(located, call);
      return { workspace: workspaceMessage(located.workspaceId, row, limits) };
    },

    async checkout({ place, lease, haveVersion, haveWorkspaceId }, call) {
      const have = haveVersion === undefined ? undefined : checkCount(haveVersion, '/have_version');
      const located = await locate(place, requireLease(lease), call);
      const { workspaceId } = located;
      const snapshot = await reads.snapshot(located, undefined, call);
      const { version, row } = snapshot;
      if (!row && place?.of?.$case === 'skillVersionId')
        throw refuse('SKILL_VERSION_NOT_FOUND', 'The version of the skill was deleted.');
      const hasBase = haveWorkspaceId === workspaceId && have !== undefined;
      const whole = !hasBase || have < (row?.oldestVersion ?? 0) || have > version;

      async function* answer(): AsyncGenerator<CheckoutResponse> {
        const { files = 0, bytes = 0 } = row ?? {};
        yield { kind: { $case: 'head', value: { workspaceId, version, whole, files, bytes } } };
        if (whole) return yield* send(await reads.walk(snapshot, '', call), call);
        const changed = await reads.changedPaths(workspaceId, have ?? 0, version, call);
        const deleted = changed.filter(({ wasDeleted }) => wasDeleted).map(({ path }) => path);
        for (const path of outermostOf(deleted)) yield { kind: { $case: 'removed', value: path } };
        const paths = changed.map(({ path }) => path).sort(compareByBytes);
        yield* send(currentEntries(snapshot, paths, call), call);
      }
      return answer();
    },
  };
}

function requireLease<Lease>(lease: Lease | undefined): Lease {
  if (!lease) throw refuse('INVALID_REQUEST', 'The request must name the lease of a turn.');
  return lease;
}
