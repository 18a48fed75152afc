import { list, ok } from '../../envelope.ts';
import { ifMatch } from '../../input/headers.ts';
import { route } from '../../route.ts';
import { closed, deleted, id, pageRequest, paging, search } from '../../schemas/common.ts';
import { SkillPatch, SkillShape, serializeSkill } from '../../schemas/skills.ts';
import { etag } from '../etag.ts';

const ALL = '/admin/skills';
const ONE = `${ALL}/{skill_id}`;
const tag = 'Skills';

export const skillRoutes = [
  route({
    method: 'GET',
    path: ALL,
    operationId: 'listSkills',
    tag,
    summary: 'List skills',
    description: 'Requires an administrator. Returns skills, newest first.',
    query: closed({ ...paging, q: search('Matches a part of the name or description, or an id.') }),
    success: { status: 200, description: 'A page of skills.', data: SkillShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const request = { page: pageRequest(query), q: query.q ?? '' };
      const { skills, page } = await clients.agents.listSkills(request, call);
      return list(skills.map(serializeSkill), page);
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    operationId: 'getSkill',
    tag,
    summary: 'Get a skill',
    description: 'Requires an administrator. The ETag is its `revision`, for `If-Match`.',
    headers: ['If-Match'],
    success: { status: 200, description: 'The skill.', data: SkillShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'SKILL_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { skill } = await clients.agents.getSkill({ skillId: param('skill_id') }, call);
      return ok(serializeSkill(skill), etag(skill?.revision));
    },
  }),

  route({
    method: 'PATCH',
    path: ONE,
    operationId: 'updateSkill',
    tag,
    summary: 'Enable or disable a skill',
    description:
      'Requires an administrator. The next turn of each session gets the change. With `If-Match`, the request fails if the ' +
      'skill has changed since.',
    headers: ['If-Match'],
    body: SkillPatch,
    example: { enabled: false },
    success: { status: 200, description: 'The updated skill.', data: SkillShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'SKILL_NOT_FOUND'],
    async answer({ clients, call, param, body, request }) {
      const change = { skillId: param('skill_id'), enabled: body.enabled, ifRevisions: ifMatch(request.raw) };
      const { skill } = await clients.agents.updateSkill(change, call);
      return ok(serializeSkill(skill), etag(skill?.revision));
    },
  }),

  route({
    method: 'DELETE',
    path: ONE,
    operationId: 'deleteSkill',
    tag,
    summary: 'Delete a skill',
    description:
      'Requires an administrator. Deletes all versions. Fails with RESOURCE_IN_USE while an agent or an assistant has the ' +
      'skill. With `If-Match`, the request fails if the skill has changed since.',
    headers: ['If-Match'],
    success: {
      status: 200,
      description: 'The skill was deleted.',
      data: deleted('skill', id('skl', 'the skill')),
    },
    errors: ['FORBIDDEN', 'SKILL_NOT_FOUND', 'RESOURCE_IN_USE'],
    async answer({ clients, call, param, request }) {
      const skillId = param('skill_id');
      await clients.agents.deleteSkill({ skillId, ifRevisions: ifMatch(request.raw) }, call);
      return ok({ skill_id: skillId, deleted: true });
    },
  }),
];
