import { refuse, refuseField } from '../../../lib/errors.ts';
import { mediaTypeOf } from '../../../lib/media-type.ts';
import { baseNameOf } from '../../../lib/paths.ts';
import { callOf } from '../../authentication/authenticator.ts';
import { list, ok } from '../../envelope.ts';
import { checkFilePath, decodableQuery } from '../../files/path.ts';
import { sendStored } from '../../files/send-stored.ts';
import { checkPath } from '../../input/path.ts';
import { route } from '../../route.ts';
import { closed, pageRequest, paging } from '../../schemas/common.ts';
import { filePath } from '../../schemas/files.ts';
import {
  SkillFileShape,
  SkillVersionShape,
  serializeSkillFile,
  serializeSkillVersion,
} from '../../schemas/skills.ts';
import { DOWNLOAD_RESPONSES } from '../files/download-responses.ts';

const ALL = '/admin/skills/{skill_id}/versions';
const ONE = `${ALL}/{version}`;
const tag = 'Skills';

export const skillVersionRoutes = [
  route({
    method: 'GET',
    path: ALL,
    operationId: 'listSkillVersions',
    tag,
    summary: 'List versions of a skill',
    description: 'Requires an administrator. Returns versions, newest first. A version never changes.',
    query: closed(paging),
    success: { status: 200, description: 'A page of versions.', data: SkillVersionShape, list: true },
    errors: ['FORBIDDEN', 'SKILL_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const request = { skillId: param('skill_id'), page: pageRequest(query) };
      const { versions, page } = await clients.agents.listSkillVersions(request, call);
      return list(versions.map(serializeSkillVersion), page);
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    operationId: 'getSkillVersion',
    tag,
    summary: 'Get a version of a skill',
    description: 'Requires an administrator.',
    success: { status: 200, description: 'The version.', data: SkillVersionShape },
    errors: ['FORBIDDEN', 'SKILL_NOT_FOUND', 'SKILL_VERSION_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const request = { skillId: param('skill_id'), version: versionOf(param('version')) };
      const { version } = await clients.agents.getSkillVersion(request, call);
      if (!version) throw new Error('The agents service returned no version.');
      return ok(serializeSkillVersion(version));
    },
  }),

  route({
    method: 'GET',
    path: `${ONE}/files`,
    operationId: 'listSkillFiles',
    tag,
    summary: 'List files of a skill',
    description:
      'Requires an administrator. Returns the files of a version in the byte order of their paths.',
    query: closed(paging),
    success: { status: 200, description: 'A page of files.', data: SkillFileShape, list: true },
    errors: ['FORBIDDEN', 'SKILL_NOT_FOUND', 'SKILL_VERSION_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const version = versionOf(param('version'));
      const request = { skillId: param('skill_id'), version, page: pageRequest(query) };
      const { files, page } = await clients.agents.listSkillFiles(request, call);
      return list(files.map(serializeSkillFile), page);
    },
  }),

  route.raw({
    method: 'GET',
    path: `${ONE}/files/content`,
    operationId: 'getSkillFileContent',
    tag,
    summary: 'Download a file of a skill',
    description: 'Requires an administrator.',
    query: closed({ path: filePath('The file.') }),
    headers: ['Range', 'If-Range', 'If-Match', 'If-None-Match'],
    responses: DOWNLOAD_RESPONSES,
    errors: [
      ...(['FORBIDDEN', 'SKILL_NOT_FOUND', 'SKILL_VERSION_NOT_FOUND', 'FILE_NOT_FOUND'] as const),
      ...(['FILE_TOO_LARGE', 'CONTENT_DAMAGED', 'RANGE_NOT_SATISFIABLE'] as const),
    ],
    config: { longLived: true },
    createHandler({ clients: { files }, stallMonitor }, readQuery) {
      return async (request, reply) => {
        const path = checkFilePath(readQuery(decodableQuery(request)).path);
        const params = request.params as Record<string, string>;
        checkPath(params, ['SKILL_NOT_FOUND']);
        const value = `${params.skill_id}@${versionOf(params.version ?? '')}`;
        const location = { place: { of: { $case: 'skillVersionId' as const, value } }, lease: undefined };
        const call = callOf(request);
        const { entry } = await files.getEntry({ ...location, path }, call);
        if (entry?.kind !== 'file')
          throw refuseField('/path', `is a ${entry?.kind}; only files have content`);
        const { size, sha256 } = entry;
        const stored = {
          ...{ name: baseNameOf(path), mediaType: mediaTypeOf(path), size, sha256 },
          read: (offset: number, length: number | undefined) =>
            files.readContent({ ...location, path, offset, length }, call),
        };
        await sendStored(request, reply, stored, stallMonitor);
      };
    },
  }),
];

function versionOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw refuse('SKILL_VERSION_NOT_FOUND', `The skill has no version ${JSON.stringify(text.toWellFormed())}.`);
}
