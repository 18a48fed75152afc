import { refuse } from '../../../lib/errors.ts';
import { callerOf, databaseOptionsOf } from '../../../lib/grpc/caller.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import { isId, withPrefix } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lease, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { LocatedWorkspace, ReadOptions } from '../store/workspaces.ts';

/** Returns the workspace of a place and its owner. Refused when the caller may not read it. */
export type LocateWorkspace = (
  place: Place | undefined,
  lease: Lease | undefined,
  call: Call,
) => Promise<LocatedWorkspace>;

export interface WorkspaceOwnerClients {
  sessions: Pick<Client<SessionsServiceDefinition>, 'locateWorkspace'>;
  agents: Pick<Client<AgentsServiceDefinition>, 'getAssistant' | 'getAgentVersion' | 'getSkillVersion'>;
}

export function createLocateWorkspace({ sessions, agents }: WorkspaceOwnerClients): LocateWorkspace {
  async function ofSession(
    sessionId: string,
    lease: Lease | undefined,
    call: Call,
  ): Promise<LocatedWorkspace> {
    if (!isId('ses', sessionId)) throw refuse('SESSION_NOT_FOUND', `Unknown session \`${sessionId}\`.`);
    if (lease && lease.sessionId !== sessionId)
      throw refuse('INVALID_REQUEST', 'The lease belongs to another session.');
    const { assistantId, ...access } = await sessions.locateWorkspace({ sessionId, lease }, call);
    return { ...access, workspaceId: workspaceIdFor(assistantId || sessionId), sessionId };
  }

  async function ofAssistant(assistantId: string, call: Call): Promise<LocatedWorkspace> {
    if (!isId('ast', assistantId))
      throw refuse('ASSISTANT_NOT_FOUND', `Unknown assistant \`${assistantId}\`.`);
    const { userId } = callerOf(call);
    const { assistant } = await agents.getAssistant({ assistantId }, call);
    const ownerId = assistant?.createdBy ?? '';
    const foreign = ownerId !== userId;
    return { workspaceId: workspaceIdFor(assistantId), ownerId, sessionId: '', readOnly: false, foreign };
  }

  /** A runner reads the skills of the agent version of its turn; other callers must be administrators. */
  async function ofSkillVersion(
    text: string,
    lease: Lease | undefined,
    call: Call,
  ): Promise<LocatedWorkspace> {
    const { skillId, version } = parseSkillVersionId(text);
    const workspaceId = lease
      ? await pinnedWorkspace(skillId, version, lease, call)
      : (await agents.getSkillVersion({ skillId, version }, call)).version?.workspaceId;
    if (!workspaceId)
      throw refuse('SKILL_VERSION_NOT_FOUND', 'The agent version has no such version of a skill.');
    return { workspaceId, ownerId: skillId, sessionId: '', readOnly: true, foreign: true };
  }

  async function pinnedWorkspace(skillId: string, version: number, lease: Lease, call: Call) {
    const { sessionId } = lease;
    const { agentId = '', agentVersion = 0 } = await sessions.locateWorkspace({ sessionId, lease }, call);
    const found = await agents.getAgentVersion({ agentId, version: agentVersion }, call);
    const pins = found.version?.runtime?.skills?.items ?? [];
    return pins.find((pin) => pin.id === skillId && pin.version === version)?.workspaceId;
  }

  return async (place, lease, call) => {
    if (place?.of?.$case === 'skillVersionId') return ofSkillVersion(place.of.value, lease, call);
    if (place?.of?.$case === 'sessionId') return ofSession(place.of.value, lease, call);
    if (lease) throw refuse('INVALID_REQUEST', 'A lease requires a session.');
    if (place?.of?.$case === 'assistantId') return ofAssistant(place.of.value, call);
    throw refuse('INVALID_REQUEST', 'The request must name a session or an assistant.');
  };
}

/** Locates a workspace for a change. Also refused with FORBIDDEN and SESSION_ARCHIVED. */
export async function locateToChange(
  locate: LocateWorkspace,
  place: Place | undefined,
  lease: Lease | undefined,
  call: Call,
): Promise<LocatedWorkspace> {
  if (place?.of?.$case === 'skillVersionId')
    throw refuse('INVALID_REQUEST', 'A version of a skill never changes.');
  const located = await locate(place, lease, call);
  if (located.foreign)
    throw refuse('FORBIDDEN', 'These files belong to another user. You can only read them.');
  if (located.readOnly) throw refuse('SESSION_ARCHIVED', 'The session is archived and read-only.');
  return located;
}

/** Options for further reads: on behalf of the caller if they own the workspace, otherwise as the service. */
export function readOptionsFor({ ownerId }: LocatedWorkspace, call: Call): ReadOptions {
  return call.caller?.userId === ownerId ? databaseOptionsOf(call) : call;
}

const SKILL_VERSION_ID = /^(.+)@([1-9]\d{0,8})$/;

function parseSkillVersionId(text: string): { skillId: string; version: number } {
  const [, skillId = '', version] = SKILL_VERSION_ID.exec(text) ?? [];
  if (!isId('skl', skillId)) throw refuse('SKILL_NOT_FOUND', 'Unknown skill.');
  return { skillId, version: Number(version) };
}

/** The workspace id (wsp_…) of a session or assistant. Both ids share the same 26 characters. */
export function workspaceIdFor(id: string): string {
  return withPrefix('wsp', id);
}

/** The workspace of a session that may be about to be created. The service sessions has authorized its owner. */
export function newSession(sessionId: string, ownerId: string, assistantId: string): LocatedWorkspace {
  if (!isId('ses', sessionId)) throw refuse('SESSION_NOT_FOUND', `Unknown session \`${sessionId}\`.`);
  if (!isId('usr', ownerId))
    throw refuse('INVALID_REQUEST', 'The request must name the owner of the session.');
  if (assistantId !== '' && !isId('ast', assistantId))
    throw refuse('ASSISTANT_NOT_FOUND', `Unknown assistant \`${assistantId}\`.`);
  const workspaceId = workspaceIdFor(assistantId || sessionId);
  return { workspaceId, ownerId, sessionId, readOnly: false, foreign: false };
}
