import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../../lib/bus/local.ts';
import { refuse } from '../../../../lib/errors.ts';
import type { CallOptions } from '../../../../lib/grpc/contract.ts';
import type { CreateSkillVersionRequest } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import type {
  DeleteSkillTreeRequest,
  PutSkillTreeRequest,
} from '../../../../proto/gen/ahs/files/v1/files.ts';
import { TRANSPORTS } from '../../../support/context.ts';
import { until } from '../../../support/wait.ts';
import { type AgentsSystem, administrator, alice, openAgentsSystem } from '../system.ts';
import { skillFile, skillZip, zipOf } from './archives.ts';

const ABSENT = 'skl_7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
const PIECE = 1_000;

type Message = CreateSkillVersionRequest['kind'];
interface Begin {
  skillId?: string;
  mediaType?: string;
  idempotencyKey?: string;
}

function* archive(bytes: Buffer, begin: Begin = {}): Generator<Message> {
  const value = { skillId: '', mediaType: 'application/zip', idempotencyKey: '', ...begin };
  yield { $case: 'begin', value };
  for (let from = 0; from < bytes.length; from += PIECE)
    yield { $case: 'bytes', value: bytes.subarray(from, from + PIECE) };
}

describe.each(TRANSPORTS)('skills, %s', (transport) => {
  const hints: string[] = [];
  /** The trees that the files service holds, as texts of their messages by workspace id. */
  const trees = new Map<string, string[]>();
  let agents: AgentsSystem;
  /** Called with each message that the files service receives. */
  let onMessage: (kind: PutSkillTreeRequest['kind']) => void = () => {};
  let names = 0;
  const newName = () => `skill-${++names}`;

  beforeAll(async () => {
    const bus = createLocalBus();
    bus.subscribe('extensions.changed', (skillId) => hints.push(skillId));
    agents = await openAgentsSystem(transport, { bus, putSkillTree, deleteSkillTree });
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  async function putSkillTree(messages: AsyncIterable<PutSkillTreeRequest>): Promise<void> {
    const texts: string[] = [];
    for await (const { kind } of messages) {
      if (kind?.$case === 'tree') trees.set(kind.value.workspaceId, texts);
      else texts.push(kind?.$case === 'file' ? kind.value.path : String(kind?.value));
      onMessage(kind);
    }
  }

  async function deleteSkillTree({ workspaceId }: DeleteSkillTreeRequest): Promise<void> {
    trees.delete(workspaceId);
  }

  const publish = (
    messages: Iterable<Message> | AsyncIterable<Message>,
    options: CallOptions = administrator,
  ) =>
    agents.edge.createSkillVersion(
      (async function* () {
        for await (const kind of messages) yield { kind };
      })(),
      options,
    );
  const created = async (name = newName(), files?: Record<string, string>) =>
    (await publish(archive(skillZip(name, files)))).skill!;
  const read = async (skillId: string) => (await agents.edge.getSkill({ skillId }, administrator)).skill;
  const remove = (skillId: string, revisions?: number[]) =>
    agents.edge.deleteSkill({ skillId, ifRevisions: revisions && { revisions } }, administrator);

  it('are made from archives, whose files are stored in the files service', async () => {
    const name = newName();
    const { skill, created: isCreated } = await publish(archive(skillZip(name, { 'a/b.txt': 'text' })));
    expect(isCreated).toBe(true);
    expect(skill).toMatchObject({
      skillId: expect.stringMatching(/^skl_[0-9A-HJKMNP-TV-Z]{26}$/),
      ...{ name, enabled: true, revision: 1, createdBy: administrator.caller.userId },
      newest: { version: 1, fileCount: 2, description: 'Fills in PDF forms.' },
    });
    const { skillId, newest } = skill!;
    expect(await read(skillId)).toEqual(skill);
    expect(trees.get(newest?.workspaceId ?? '')).toEqual(['SKILL.md', skillFile(name), 'a/b.txt', 'text']);
    const second = await publish(archive(skillZip(name, { 'a/b.txt': 'more' }), { skillId }));
    expect(second).toMatchObject({ created: true, skill: { revision: 2, newest: { version: 2 } } });
    expect(await publish(archive(skillZip(name, { 'a/b.txt': 'more' }), { skillId }))).toMatchObject({
      created: false,
      skill: { revision: 2, newest: { version: 2 } },
    });
    const { versions } = await agents.edge.listSkillVersions({ skillId, page: undefined }, administrator);
    expect(versions.map(({ version }) => version)).toEqual([2, 1]);
    const { files } = await agents.edge.listSkillFiles(
      { skillId, version: 1, page: undefined },
      administrator,
    );
    expect(files).toMatchObject([{ path: 'SKILL.md' }, { path: 'a/b.txt', size: 4, executable: false }]);
    expect(hints.filter((one) => one === skillId)).toHaveLength(2);
  });

  it('are listed, found by name, enabled, and looked up by runners', async () => {
    const { skillId, name } = await created();
    const list = (q: string) =>
      agents.edge.listSkills({ page: { limit: 100, cursor: '' }, q }, administrator);
    expect((await list(name)).skills).toMatchObject([{ skillId }]);
    expect((await list('no such skill')).skills).toEqual([]);
    const request = { skillId, enabled: false, ifRevisions: { revisions: [1] } };
    const { skill } = await agents.edge.updateSkill(request, administrator);
    expect(skill).toMatchObject({ enabled: false, revision: 2 });
    await expect(agents.edge.updateSkill(request, administrator)).rejects.toMatchObject({
      code: 'VERSION_CONFLICT',
    });
    const runner = agents.as('runner');
    expect((await runner.lookUpSkills({ skillIds: [skillId, ABSENT] })).skills).toMatchObject([
      { skillId, enabled: false },
    ]);
    const tooMany = { skillIds: Array.from({ length: 101 }, () => skillId) };
    await expect(runner.lookUpSkills(tooMany)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('are deleted with the files of all versions', async () => {
    const { skillId, name, newest } = await created();
    const second = await publish(archive(skillZip(name, { more: 'x' }), { skillId }));
    const workspaces = [newest, second.skill?.newest].map((version) => version?.workspaceId ?? '');
    await expect(remove(skillId, [1])).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
    await remove(skillId, [2]);
    await until('the trees are deleted', () => workspaces.every((one) => !trees.has(one)));
    await expect(read(skillId)).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    expect((await created(name)).newest?.version).toBe(1);
  });

  it('refuse members of users and unknown ids', async () => {
    const { skillId } = await created();
    const { edge } = agents;
    const page = undefined;
    const versionCalls = (id: string, version: number, options: CallOptions) => [
      edge.getSkillVersion({ skillId: id, version }, options),
      edge.listSkillFiles({ skillId: id, version, page }, options),
    ];
    const all = (id: string, options: CallOptions) => [
      publish(archive(skillZip(), { skillId: id }), options),
      edge.getSkill({ skillId: id }, options),
      edge.updateSkill({ skillId: id, enabled: true, ifRevisions: undefined }, options),
      edge.deleteSkill({ skillId: id, ifRevisions: undefined }, options),
      edge.listSkillVersions({ skillId: id, page }, options),
      ...versionCalls(id, 1, options),
    ];
    const codesOf = async (calls: Promise<unknown>[]) =>
      new Set((await Promise.allSettled(calls)).map((one) => one.status === 'rejected' && one.reason.code));
    expect(await codesOf(all(skillId, alice))).toEqual(new Set(['FORBIDDEN']));
    await expect(edge.listSkills({ page, q: '' }, alice)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    for (const id of [ABSENT, 'skl_1', 'forms'])
      expect(await codesOf(all(id, administrator))).toEqual(new Set(['SKILL_NOT_FOUND']));
    const versionNotFound = new Set(['SKILL_VERSION_NOT_FOUND']);
    expect(await codesOf(versionCalls(skillId, 2, administrator))).toEqual(versionNotFound);
  });

  it.each<[string, () => Iterable<Message>, string]>([
    ['without a first message', () => [], 'INVALID_REQUEST'],
    ['that begins with bytes', () => [...archive(skillZip())].slice(1), 'INVALID_REQUEST'],
    ['of an unknown type', () => archive(skillZip(), { mediaType: 'text/plain' }), 'UNSUPPORTED_MEDIA_TYPE'],
    ['without bytes', () => archive(Buffer.of()), 'SKILL_INVALID'],
    ['that is cut off', () => archive(skillZip().subarray(0, 100)), 'SKILL_INVALID'],
    [
      'with a path outside of it',
      () => archive(zipOf([{ name: '../SKILL.md', data: skillFile() }])),
      'SKILL_INVALID',
    ],
  ])('refuse an archive %s, and send nothing to the files service', async (_, messages, code) => {
    const before = trees.size;
    await expect(publish(messages())).rejects.toMatchObject({ code });
    expect(trees.size).toBe(before);
  });

  it('store no version, and delete its files, when the files service fails in the middle', async () => {
    const { skillId, name } = await created();
    const workspaces: string[] = [];
    onMessage = (kind) => {
      if (kind?.$case === 'tree') workspaces.push(kind.value.workspaceId);
      if (kind?.$case === 'bytes') throw refuse('STORAGE_FULL', 'The storage is full.');
    };
    const full = { code: 'STORAGE_FULL' };
    const other = newName();
    await expect(publish(archive(skillZip(other)))).rejects.toMatchObject(full);
    await expect(publish(archive(skillZip(name, { a: 'b' }), { skillId }))).rejects.toMatchObject(full);
    onMessage = () => {};
    expect(workspaces).toHaveLength(2);
    await until('the trees are deleted', () => workspaces.every((one) => !trees.has(one)));
    expect(await read(skillId)).toMatchObject({ revision: 1, newest: { version: 1 } });
    expect((await created(other)).newest?.version).toBe(1);
  });

  it('are recorded in the audit log first; without the log nothing is stored', async () => {
    const { auditLog } = agents;
    auditLog.takeActs();
    const { skillId, name } = await created();
    await publish(archive(skillZip(name, { a: 'b' }), { skillId }));
    auditLog.failsToRecord = true;
    const before = trees.size;
    const unavailable = { code: 'DEPENDENCY_UNAVAILABLE' };
    await expect(created()).rejects.toMatchObject(unavailable);
    await expect(remove(skillId)).rejects.toMatchObject(unavailable);
    auditLog.failsToRecord = false;
    expect(trees.size).toBe(before);
    await remove(skillId);
    expect(auditLog.takeActs()).toEqual(
      ['create', 'version', 'delete'].map((act) => `${administrator.caller.userId} skill.${act} ${skillId}`),
    );
  });
});
