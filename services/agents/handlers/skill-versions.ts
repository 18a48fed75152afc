import { refuse } from '../../../lib/errors.ts';
import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import {
  type AgentsServiceDefinition,
  type CreateSkillVersionRequest,
  CreateSkillVersionResponse,
  SkillArchiveBegin,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import {
  checkSkillId,
  type NewSkillVersion,
  type Skill,
  skillNameTaken,
  treeDigest,
} from '../domain/skill.ts';
import { SkillProblem, skillInvalid } from '../domain/skill-problem.ts';
import { SKILL_FILE } from '../domain/skill-tree.ts';
import { ARCHIVE_TYPES, type UnpackedSkill, type UnpackTask } from '../skill-archive/messages.ts';
import { withArchive } from '../skill-archive/receive.ts';
import { treeMessages } from '../skill-archive/send-tree.ts';
import type { Published } from '../store/skills.ts';
import type { AgentsHandlerContext } from './context.ts';
import { skillMessage } from './skill-messages.ts';

type Methods = Pick<Handlers<AgentsServiceDefinition>, 'createSkillVersion'>;

/** Storing 2,000 files takes longer than other calls. */
const PUT_TIMEOUT_MS = 120_000;

/** Receives archives of skills. An archive is checked completely before anything of it is stored. */
export function skillVersionHandlers(context: AgentsHandlerContext): Methods {
  const { skills, skillTrees, unpackSkill, files, record, clock, ids, publishHint, startDeletions } = context;

  /** Refused with SKILL_INVALID. */
  async function unpack(task: UnpackTask, call: Call): Promise<UnpackedSkill> {
    try {
      return await unpackSkill(task, call.signal);
    } catch (error) {
      throw error instanceof SkillProblem ? skillInvalid(error) : error;
    }
  }

  /** The skill with the answer, when the newest version of it already has these files. Refused before anything is stored. */
  async function current(
    before: Skill | undefined,
    version: NewSkillVersion,
    call: Call,
  ): Promise<Skill | undefined> {
    if (before && before.name !== version.name)
      throw skillInvalid(new SkillProblem(SKILL_FILE, `must have the name of the skill, "${before.name}"`));
    if (!before && (await skills.hasName(version.name, call))) throw skillNameTaken(version.name);
    return before?.newest.sha256 === version.sha256 ? before : undefined;
  }

  return {
    async createSkillVersion(requests, call) {
      const { userId } = administratorOf(call);
      const messages = requests[Symbol.asyncIterator]();
      const begin = await firstOf(messages);
      const type = ARCHIVE_TYPES.find((one) => one === begin.mediaType);
      if (!type) throw refuse('UNSUPPORTED_MEDIA_TYPE', `The archive must be ${ARCHIVE_TYPES.join(', ')}.`);
      const before = begin.skillId === '' ? undefined : await skills.skill(begin.skillId, call);
      return withArchive(messages, async ({ path, contents, sha256 }) => {
        const key = {
          caller: userId,
          key: begin.idempotencyKey,
          method: 'CreateSkillVersion',
          request: SkillArchiveBegin.encode({ ...begin, idempotencyKey: '' }).raw(sha256),
          now: clock.now(),
        };
        const earlier = begin.idempotencyKey === '' ? undefined : await skills.earlierAnswer(key, call);
        if (earlier) return { ...CreateSkillVersionResponse.decode(earlier), replayed: true };
        const unpacked = await unpack({ archive: path, type, contents }, call);
        const version = newVersion(unpacked, userId, ids('wsp'), clock.now());
        const same = await current(before, version, call);
        if (same) return { skill: skillMessage(same), replayed: false, created: false };
        const skillId = before?.skillId ?? ids('skl');
        const { name, workspaceId } = version;
        const action = before ? 'skill.version' : 'skill.create';
        await record({ action, targetId: skillId, data: { name, sha256: version.sha256 } }, call);
        await skillTrees.expect({ skillId, workspaceId }, call);
        let isCreated = false;
        const encode = ({ skill, created }: Published) => {
          isCreated = created;
          const answer = { skill: skillMessage(skill), replayed: false, created };
          return CreateSkillVersionResponse.encode(answer).finish();
        };
        try {
          const options = { ...call, timeoutMs: PUT_TIMEOUT_MS };
          const tree = { skillId, workspaceId };
          await files.putSkillTree(treeMessages(tree, unpacked.files, contents), options);
          const { answer, replayed } = before
            ? await skills.addVersion(skillId, version, key, encode, call)
            : await skills.create(skillId, version, key, encode, call);
          isCreated &&= !replayed;
          if (isCreated) publishHint('extensions.changed', skillId);
          return { ...CreateSkillVersionResponse.decode(answer), replayed };
        } catch (error) {
          // The version may have been committed. Its tree is then no longer expected, and stays.
          isCreated = false;
          throw error;
        } finally {
          if (!isCreated) {
            await skillTrees.abandon(workspaceId).catch(() => {});
            startDeletions();
          }
        }
      });
    },
  };
}

async function firstOf(messages: AsyncIterator<CreateSkillVersionRequest>): Promise<SkillArchiveBegin> {
  const { done, value } = await messages.next();
  if (done || value.kind?.$case !== 'begin')
    throw refuse('INVALID_REQUEST', 'The first message of an archive must be `begin`.');
  const { skillId } = value.kind.value;
  if (skillId !== '') checkSkillId(skillId);
  return value.kind.value;
}

function newVersion(
  { frontmatter, files: unpacked, warnings }: UnpackedSkill,
  createdBy: string,
  workspaceId: string,
  createdAt: Date,
): NewSkillVersion {
  const { name, description, license, compatibility, metadata, allowedTools } = frontmatter;
  const files = unpacked.map(({ path, size, sha256, executable }) => ({ path, size, sha256, executable }));
  return {
    ...{ name, description, workspaceId, createdBy, createdAt, warnings, files },
    sha256: treeDigest(files),
    frontmatter: { license, compatibility, metadata, allowedTools },
    fileCount: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
  };
}
