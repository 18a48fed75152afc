import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  exposedSessions,
  requireExposedAgent,
  requireExposedSession,
} from '../../../edge/protocols/exposure.ts';
import { refuse } from '../../../lib/errors.ts';
import { Session } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { assistantRequest } from '../../services/agents/assistants.ts';
import {
  ABSENT,
  type AgentsSystem,
  administrator,
  alice,
  bob,
  change,
  createAgent,
  openAgentsSystem,
} from '../../services/agents/system.ts';

describe('exposure to a protocol', () => {
  let agents: AgentsSystem;
  let agentId: string;
  beforeAll(async () => {
    agents = await openAgentsSystem('in process');
  });
  afterAll(() => agents[Symbol.asyncDispose]());
  beforeEach(async () => {
    agentId = await createAgent(agents);
  });

  const update = (members: object) => agents.edge.updateAgent(change(agentId, members), alice);
  const inProtocol = ({ caller }: typeof alice) => ({ caller: { ...caller, protocol: 'mcp' as const } });
  const requireAgent = (id = agentId, by = alice) =>
    requireExposedAgent({ agents: agents.edge }, inProtocol(by), id, 'mcp');

  describe('requireExposedAgent', () => {
    const notFound = { code: 'AGENT_NOT_FOUND' };

    it('returns the own agent, also a disabled one', async () => {
      await update({ enabled: false });
      expect(await requireAgent()).toMatchObject({ agentId, enabled: false, level: 'manage' });
    });

    it('refuses an agent whose exposure is off, with the answer for an absent one', async () => {
      const absent = await requireAgent(ABSENT).catch((error: unknown) => error);
      expect(absent).toMatchObject(notFound);
      await update({ exposure: { mcp: 'off' } });
      await expect(requireAgent()).rejects.toEqual(absent);
      expect(await requireExposedAgent({ agents: agents.edge }, alice, agentId, 'openai')).toMatchObject({
        agentId,
      });
      const a2a = requireExposedAgent({ agents: agents.edge }, alice, agentId, 'a2a');
      await expect(a2a).rejects.toMatchObject(notFound);
    });

    it('refuses the agent of another user until it is shared, and after it is unshared', async () => {
      await expect(requireAgent(agentId, bob)).rejects.toMatchObject(notFound);
      await update({ visibility: 'public' });
      expect(await requireAgent(agentId, bob)).toMatchObject({ level: 'use' });
      await update({ visibility: 'private' });
      await expect(requireAgent(agentId, bob)).rejects.toMatchObject(notFound);
    });

    it('refuses the agent of another user for an administrator', async () => {
      await expect(requireAgent(agentId, administrator)).rejects.toMatchObject(notFound);
    });

    it('refuses an assistant and a malformed id', async () => {
      const { assistant } = await agents.edge.createAssistant(assistantRequest(), alice);
      for (const id of [assistant?.assistantId ?? '', 'agt_1', ''])
        await expect(requireAgent(id)).rejects.toMatchObject(notFound);
    });
  });

  describe('requireExposedSession and exposedSessions', () => {
    const sessionOf = (members: Partial<Session> = {}): Session => ({
      ...Session.decode(new Uint8Array()),
      ...{ sessionId: 'ses_1', agentId, createdBy: alice.caller.userId },
      ...members,
    });
    /** Calls with a sessions service that has this session. */
    const requireSession = (session: Session | undefined) => {
      const getSession = async () => {
        if (!session) throw refuse('SESSION_NOT_FOUND', 'Unknown session ses_1.');
        return { session };
      };
      const clients = { agents: agents.edge, sessions: { getSession } };
      return requireExposedSession(clients, inProtocol(alice), 'ses_1', 'mcp');
    };

    it('returns a session of the caller', async () => {
      expect(await requireSession(sessionOf())).toEqual(sessionOf());
    });

    it('refuses all other sessions with the answer for an absent one', async () => {
      const absent = await requireSession(undefined).catch((error: unknown) => error);
      expect(absent).toMatchObject({ code: 'SESSION_NOT_FOUND' });
      for (const members of [
        { createdBy: bob.caller.userId },
        { agentId: await createAgent(agents, {}, bob) },
        { agentId: await createAgent(agents, { exposure: { mcp: 'off' } }) },
        { agentId: ABSENT },
        { agentId: '', assistantId: 'ast_1' },
      ])
        await expect(requireSession(sessionOf(members))).rejects.toEqual(absent);
    });

    it('keeps the exposed sessions of a page in their order', async () => {
      const other = await createAgent(agents, { exposure: { mcp: 'off' } });
      const sessions = [agentId, other, agentId, ''].map((id, index) =>
        sessionOf({ agentId: id, sessionId: `ses_${index}` }),
      );
      const exposed = await exposedSessions({ agents: agents.edge }, inProtocol(alice), sessions, 'mcp');
      expect(exposed.map(({ sessionId }) => sessionId)).toEqual(['ses_0', 'ses_2']);
    });
  });
});
