import { refuse } from '../../../lib/errors.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import type { CheckoutResponse, FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Placed } from '../domain/node.ts';
import { byBytes } from '../domain/paths.ts';
import { outermost } from '../domain/view.ts';
import { withBytes } from '../loading.ts';
import type { Snapshot } from '../store/reads.ts';
import type { HandlerContext } from './context.ts';
import { countShape, placedShape, workspaceShape } from './shapes.ts';

type Methods = Pick<Handlers<FilesServiceDefinition>, 'attachWorkspace' | 'checkout'>;

const PAGE = 500;

/** What a runner needs that works on a workspace. */
export function workingHandlers(context: HandlerContext): Methods {
  const { locate, reads, fences, contents, reader, limits } = context;

  /** What stands at these paths now, a page at a time. */
  async function* standing(
    snapshot: Snapshot,
    paths: readonly string[],
    call: Call,
  ): AsyncGenerator<Placed[]> {
    for (let from = 0; from < paths.length; from += PAGE) {
      const some = paths.slice(from, from + PAGE);
      const nodes = await reads.nodes(snapshot, some, call);
      yield some.flatMap((path) => nodes.get(path) ?? []);
    }
  }

  async function* send(
    pages: AsyncIterable<readonly Placed[]>,
    call: Call,
  ): AsyncGenerator<CheckoutResponse> {
    const { signal } = call;
    for await (const page of pages) {
      for await (const { placed, content, bytes } of withBytes(page, { contents, reader, signal, call })) {
        yield { kind: { $case: 'entry', value: placedShape(placed) } };
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
      const located = await locate(place, needed(lease), call);
      await fences.raise(located.workspaceId, needed(lease));
      const row = await reads.workspace(located, call);
      return { workspace: workspaceShape(located.workspaceId, row, limits) };
    },

    async checkout({ place, lease, haveVersion, haveWorkspaceId }, call) {
      const have = haveVersion === undefined ? undefined : countShape(haveVersion, '/have_version');
      const located = await locate(place, needed(lease), call);
      const { workspaceId } = located;
      const snapshot = await reads.snapshot(located, undefined, call);
      const { version, row } = snapshot;
      const isKnown = haveWorkspaceId === workspaceId && have !== undefined;
      const whole = !isKnown || have < (row?.oldestVersion ?? 0) || have > version;

      async function* answer(): AsyncGenerator<CheckoutResponse> {
        yield { kind: { $case: 'head', value: { workspaceId, version, whole } } };
        if (whole) return yield* send(await reads.walk(snapshot, '', call), call);
        const changed = await reads.changedPaths(workspaceId, have ?? 0, version, call);
        const gone = changed.filter(({ wasDeleted }) => wasDeleted).map(({ path }) => path);
        for (const path of outermost(gone)) yield { kind: { $case: 'removed', value: path } };
        const paths = changed.map(({ path }) => path).sort(byBytes);
        yield* send(standing(snapshot, paths, call), call);
      }
      return answer();
    },
  };
}

function needed<Lease>(lease: Lease | undefined): Lease {
  if (!lease) throw refuse('INVALID_REQUEST', 'only who holds a turn works on its workspace');
  return lease;
}
