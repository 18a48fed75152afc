import { refuse } from '../../../lib/errors.ts';
import type { CreateSkillVersionRequest } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { callOf } from '../../authentication/authenticator.ts';
import { ok } from '../../envelope.ts';
import { BodyReader } from '../../files/body-reader.ts';
import { mergeSmallChunks } from '../../files/merge-chunks.ts';
import { announcedLength, checkContentType } from '../../files/raw-body.ts';
import { idempotencyKey } from '../../input/headers.ts';
import { checkPath } from '../../input/path.ts';
import { type RawHandler, type Route, type RouteContext, route } from '../../route.ts';
import { SKILL_ARCHIVE, SkillShape, serializeSkill } from '../../schemas/skills.ts';
import { etag } from '../etag.ts';
import { sendJson } from '../files/send-json.ts';
import { replayed } from '../replayed.ts';

const MAX_BYTES = 20 * 1024 * 1024;
/** Unpacking and storing an archive of 2,000 files. */
const TIMEOUT_MS = 180_000;
const TYPES = Object.keys(SKILL_ARCHIVE.content);
const LIMITS =
  'The body is the archive, of at most 20 MiB. It holds SKILL.md at its root or in its only folder, at most 2,000 files and ' +
  'directories, and at most 100 MiB. Links and other special files are refused. SKILL_INVALID names the path in the archive.';

export const skillPublishRoutes: Route[] = [
  route.raw({
    method: 'POST',
    path: '/admin/skills',
    operationId: 'createSkill',
    tag: 'Skills',
    summary: 'Create a skill',
    description: `Requires an administrator. ${LIMITS}`,
    headers: ['Idempotency-Key'],
    requestBody: SKILL_ARCHIVE,
    responses: { 201: { description: 'The new skill.', data: SkillShape, headers: ['ETag'] } },
    errors: [
      'FORBIDDEN',
      'SKILL_INVALID',
      'NAME_TAKEN',
      'UNSUPPORTED_MEDIA_TYPE',
      'FILE_TOO_LARGE',
      'STORAGE_FULL',
    ],
    config: { slowBody: true, longLived: true },
    compressed: true,
    createHandler: (context) => publishHandler(context),
  }),

  route.raw({
    method: 'POST',
    path: '/admin/skills/{skill_id}/versions',
    operationId: 'createSkillVersion',
    tag: 'Skills',
    summary: 'Publish a version of a skill',
    description:
      `Requires an administrator. The name in SKILL.md must be that of the skill. An archive with the same files as the newest ` +
      `version makes no version. Agents keep the version that they have. ${LIMITS}`,
    headers: ['Idempotency-Key'],
    requestBody: SKILL_ARCHIVE,
    responses: {
      200: { description: 'The newest version has the same files.', data: SkillShape, headers: ['ETag'] },
      201: { description: 'The skill with its new version.', data: SkillShape, headers: ['ETag'] },
    },
    errors: [
      ...(['FORBIDDEN', 'SKILL_NOT_FOUND', 'SKILL_INVALID'] as const),
      ...(['UNSUPPORTED_MEDIA_TYPE', 'FILE_TOO_LARGE', 'STORAGE_FULL'] as const),
    ],
    config: { slowBody: true, longLived: true },
    compressed: true,
    createHandler: (context) => publishHandler(context),
  }),
];

function publishHandler({ clients, clock, uploadStallMs }: RouteContext): RawHandler {
  return async (request, reply) => {
    const { raw } = request;
    const params = request.params as Record<string, string>;
    checkPath(params, ['SKILL_NOT_FOUND']);
    const mediaType = (checkContentType(raw).split(';')[0] ?? '').trim().toLowerCase();
    if (!TYPES.includes(mediaType))
      throw refuse('UNSUPPORTED_MEDIA_TYPE', `The Content-Type must be ${TYPES.join(', ')}.`);
    if ((announcedLength(raw) ?? 0) > MAX_BYTES)
      throw refuse('FILE_TOO_LARGE', 'The archive must have at most 20 MiB.');
    const begin = { skillId: params.skill_id ?? '', mediaType, idempotencyKey: idempotencyKey(raw) };
    const reader = new BodyReader(raw, uploadStallMs, clock);
    async function* messages(): AsyncGenerator<CreateSkillVersionRequest> {
      yield { kind: { $case: 'begin', value: begin } };
      for await (const value of mergeSmallChunks(reader)) yield { kind: { $case: 'bytes', value } };
    }
    try {
      const call = { ...callOf(request), timeoutMs: TIMEOUT_MS };
      const {
        skill,
        created,
        replayed: isReplay,
      } = await clients.agents.createSkillVersion(messages(), call);
      const headers = { ...etag(skill?.revision), ...replayed(isReplay) };
      return sendJson(reply, created ? 201 : 200, ok(serializeSkill(skill), headers));
    } finally {
      reader.discard();
    }
  };
}
