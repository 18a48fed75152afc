import { refuse, refuseField } from '../../../lib/errors.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import {
  type Change,
  ChangeWorkspaceRequest,
  ChangeWorkspaceResponse,
  type ContentsPlace,
  type FilesServiceDefinition,
  type WriteContentsRequest,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import { symlink } from '../domain/node.ts';
import { checkPath, checkTarget } from '../domain/paths.ts';
import type { Wish } from '../domain/plan.ts';
import { contentsOf } from '../incoming.ts';
import { Receiver } from '../receiver.ts';
import type { Changed } from '../store/changing.ts';
import type { Held } from '../store/contents.ts';
import type { HandlerContext } from './context.ts';
import { locateToChange } from './places.ts';
import { countShape, placedShape, workspaceShape } from './shapes.ts';

type Methods = Pick<Handlers<FilesServiceDefinition>, 'writeContents' | 'changeWorkspace'>;

const MAX_CHANGES = 100_000;
/** A change waits for so long until its session knows of it. */
const PATIENCE_MS = 300;

/** How workspaces change: first the bytes, then one change that names them. */
export function writingHandlers(context: HandlerContext): Methods {
  const { clock, locate, changing, deliverer, limits, receiving } = context;

  /** An upload is over before the grace of its first bytes is. */
  async function inTime<Result>(call: Call, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const late = new AbortController();
    const cancel = clock.after(receiving.graceMs / 2, () => late.abort());
    try {
      return await work(AbortSignal.any([call.signal, late.signal]));
    } catch (error) {
      throw late.signal.aborted
        ? refuse('DEADLINE_EXCEEDED', 'the upload has taken too long', { cause: error })
        : error;
    } finally {
      cancel();
    }
  }

  return {
    async writeContents(requests, call) {
      const messages = requests[Symbol.asyncIterator]();
      const { place, lease } = await firstOf(messages);
      const { ownerId } = await locateToChange(locate, place, lease, call);
      const contents = await inTime(call, (signal) =>
        new Receiver(receiving, ownerId, signal).receive(contentsOf(messages, signal)),
      );
      return { contents };
    },

    async changeWorkspace(request, call) {
      const { place, lease, changes, idempotencyKey } = request;
      const base =
        request.baseVersion === undefined ? undefined : countShape(request.baseVersion, '/base_version');
      if (changes.length > MAX_CHANGES) throw refuseField('/changes', `may hold ${MAX_CHANGES} changes`);
      changes.forEach(check);
      const located = await locateToChange(locate, place, lease, call);
      const now = clock.now();
      const userId = lease ? '' : (call.caller?.userId ?? '');
      const order = {
        located,
        lease,
        base,
        contentIds: contentsIn(changes),
        wishes: (held: Held) => changes.map((change) => wishOf(change, held, now)),
        userId,
        limits,
        now,
      };
      const key = {
        caller: userId || located.workspaceId,
        key: idempotencyKey,
        method: 'changeWorkspace',
        // The runner that asks again may hold another lease.
        request: ChangeWorkspaceRequest.encode({ ...request, lease: undefined, idempotencyKey: '' }),
        now,
      };
      let isTold = false;
      const answerFor = (changed: Changed) => {
        isTold = changed.isTold;
        return ChangeWorkspaceResponse.encode({
          workspace: workspaceShape(located.workspaceId, changed.workspace, limits),
          entries: changed.placed.map(placedShape),
          conflicts: changed.conflicts,
          replayed: false,
        }).finish();
      };
      const { answer, replayed } = await changing.change(order, key, answerFor, call);
      if (isTold && !replayed && located.sessionId) {
        await deliverer.soon(located.workspaceId, located.sessionId, PATIENCE_MS);
      }
      return { ...ChangeWorkspaceResponse.decode(answer), replayed };
    },
  };
}

async function firstOf(messages: AsyncIterator<WriteContentsRequest>): Promise<ContentsPlace> {
  const { done, value } = await messages.next();
  if (done || value.kind?.$case !== 'place')
    throw refuse('INVALID_REQUEST', 'an upload begins with its place');
  return value.kind.value;
}

/** Refused with INVALID_REQUEST before anything is looked up. */
function check({ kind }: Change, index: number): void {
  const at = (member: string) => `/changes/${index}/${member}`;
  if (!kind) throw refuseField(`/changes/${index}`, 'says nothing');
  if (kind.$case === 'move') {
    checkPath(kind.value.from, at('from'));
    checkPath(kind.value.to, at('to'));
  } else {
    checkPath(kind.value.path, at('path'));
  }
  if (kind.$case === 'putSymlink') checkTarget(kind.value.target, at('target'));
}

function contentsIn(changes: readonly Change[]): string[] {
  const ids = changes.flatMap(({ kind }) => (kind?.$case === 'putFile' ? [kind.value.contentId] : []));
  return [...new Set(ids)];
}

function wishOf({ kind }: Change, held: Held, now: Date): Wish {
  switch (kind?.$case) {
    case 'putFile': {
      const { path, contentId, executable, modifiedAt } = kind.value;
      const content = held.get(contentId);
      if (!content) throw refuse('FILE_NOT_FOUND', `there is no content ${contentId}`);
      const node = {
        kind: 'file' as const,
        contentId,
        ...content,
        executable,
        target: '',
        modifiedAt: modifiedAt ? sensible(modifiedAt) : now,
      };
      return { kind: 'put', path, node, keepsTime: modifiedAt !== undefined };
    }
    case 'makeDirectory':
      return { kind: 'directory', path: kind.value.path };
    case 'putSymlink':
      return { kind: 'put', path: kind.value.path, node: symlink(kind.value.target, now), keepsTime: false };
    case 'move':
      return { kind: 'move', ...kind.value };
    case 'remove':
      return { kind: 'remove', ...kind.value };
    default:
      throw refuse('INVALID_REQUEST', 'a change says nothing');
  }
}

const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** A program may give a file any time; every database and every archive knows those. */
function sensible(time: Date): Date {
  const ms = time.getTime();
  return new Date(Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LATEST));
}
