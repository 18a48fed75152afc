import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type {
  Change,
  FilesServiceDefinition,
  PutSkillTreeRequest,
  SkillTree,
  SkillTreeFile,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import { ContentReceiver, type ContentReceiverContext } from '../content-receiver.ts';
import { withUploadDeadline } from '../upload-deadline.ts';
import { incomingContents } from '../upload-messages.ts';
import type { FilesHandlerContext } from './context.ts';
import { checkChanges, requestPart } from './request-parts.ts';

type Methods = Pick<Handlers<FilesServiceDefinition>, 'putSkillTree' | 'deleteSkillTree'>;

const MIB = 1024 * 1024;
const MAX_FILES = 2_000;
const MAX_BYTES = 100 * MIB;
const MAX_FILE_BYTES = 32 * MIB;

/** The files of versions of skills, for the service agents. Each version is a workspace of its skill with one version. */
export function skillTreeHandlers(context: FilesHandlerContext): Methods {
  const { clock, workspaceChanges, forks } = context;
  /** The versions of one skill share their bytes, which count against the quota of no user. */
  const receiving: ContentReceiverContext = {
    ...context.receiving,
    fileMaxBytes: MAX_FILE_BYTES,
    workspaceMaxBytes: MAX_BYTES,
    quotaBytesPerUser: 0,
  };

  return {
    async putSkillTree(requests, call) {
      const messages = requests[Symbol.asyncIterator]();
      const { skillId: ownerId, workspaceId } = await firstOf(messages);
      const files: SkillTreeFile[] = [];
      const contents = await withUploadDeadline(receiving, call.signal, (signal) =>
        new ContentReceiver(receiving, ownerId, signal).receive(
          incomingContents(contentMessages(messages, files), signal),
        ),
      );
      const changes = files.map(({ path, executable }, index): Change => {
        const contentId = contents[index]?.contentId ?? '';
        return { kind: { $case: 'putFile', value: { path, contentId, executable, modifiedAt: undefined } } };
      });
      checkChanges(changes, MAX_FILES);
      checkPaths(files);
      const now = clock.now();
      const located = { workspaceId, ownerId, sessionId: '', readOnly: false, foreign: false };
      const request = {
        ...{ located, userId: '', upload: false, now, signal: call.signal },
        limits: { maxFiles: 2 * MAX_FILES, maxBytes: MAX_BYTES },
        parts: [requestPart(() => changes, now)],
      };
      const key = {
        ...{ caller: workspaceId, key: '', method: 'putSkillTree', now },
        request: { finish: () => Buffer.of() },
      };
      await workspaceChanges.change(request, key, ({ workspace }) => requireFirst(workspace.version), call);
      return {};
    },

    async deleteSkillTree(tree, call) {
      const { workspaceId } = checkTree(tree);
      await forks.delete({ workspaceId, sessionId: undefined }, clock.now(), call);
      return {};
    },
  };
}

async function firstOf(messages: AsyncIterator<PutSkillTreeRequest>): Promise<SkillTree> {
  const { done, value } = await messages.next();
  if (done || value.kind?.$case !== 'tree')
    throw refuse('INVALID_REQUEST', 'The first message of the files of a skill must be `tree`.');
  return checkTree(value.kind.value);
}

function checkTree(tree: SkillTree): SkillTree {
  if (isId('skl', tree.skillId) && isId('wsp', tree.workspaceId)) return tree;
  throw refuse('INVALID_REQUEST', 'The request must name a skill and a workspace.');
}

function checkPaths(files: readonly SkillTreeFile[]): void {
  if (files.length === 0) throw refuse('INVALID_REQUEST', 'The skill must have at least one file.');
  if (new Set(files.map(({ path }) => path)).size < files.length)
    throw refuse('INVALID_REQUEST', 'The skill must have each path once.');
}

/** Returns an empty answer. The refusal undoes the change. */
function requireFirst(version: number): Buffer {
  if (version === 1) return Buffer.of();
  throw refuse('NAME_TAKEN', 'The workspace already has the files of a version of a skill.');
}

/** The messages of the contents. Adds the description of each file to `files`. */
async function* contentMessages(messages: AsyncIterator<PutSkillTreeRequest>, files: SkillTreeFile[]) {
  for (let { done, value } = await messages.next(); !done; { done, value } = await messages.next()) {
    const { kind } = value;
    if (kind?.$case === 'file') {
      if (files.length === MAX_FILES)
        throw refuse('QUOTA_EXCEEDED', `A skill has at most ${MAX_FILES} files.`);
      files.push(kind.value);
      yield { kind: { $case: 'begin' as const, value: { size: kind.value.size } } };
    } else if (kind?.$case === 'bytes') yield { kind };
    else throw refuse('INVALID_REQUEST', 'Every message after the first one must be `file` or `bytes`.');
  }
}
