import type { Approval, Ask, ClaimedTurn, TurnReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { claimTurn, createConversation, OWNER, type SessionsSystem } from './system.ts';
import { createReporter, toolCallStep, toolDispatched } from './turn-events.ts';

/* Approvals of the kinds authorization and input, as a runner requests them. */

export const SERVER = 'mcp_00000000000000000000000001';
export const FORM = {
  type: 'object',
  properties: { branch: { type: 'string', minLength: 2 }, force: { type: 'boolean' } },
  required: ['branch'],
};
export const FORM_DETAILS = { mcp_server_id: SERVER, name: 'GitHub', message: 'Which branch?', form: FORM };
export const LINK_DETAILS = {
  mcp_server_id: SERVER,
  name: 'GitHub',
  message: 'Open this.',
  url: 'https://github.test/approve',
};
/** Must occur in nothing that users read. */
export const STATE = Buffer.from('canary-state-7f3a');

export const detailsOf = (mcpServerId = SERVER, reason = 'not_connected') => ({
  mcp_server_id: mcpServerId,
  name: 'GitHub',
  host: 'api.github.test',
  reason,
  who: 'you',
});

export function authorizationAsk(id: string, details: object = detailsOf()): Ask {
  return {
    kind: 'authorization',
    toolUseId: id,
    toolName: 'count',
    inputJson: JSON.stringify({ by: id }),
    detailsJson: JSON.stringify(details),
  };
}

export function inputAsk(id: string, details: object = FORM_DETAILS, state = STATE): Ask {
  return { ...authorizationAsk(id, details), kind: 'input', state };
}

export function blockedWith(...asks: Ask[]): TurnReport['outcome'] {
  return { kind: { $case: 'blocked', value: { asks } } };
}

export type Reporter = ReturnType<typeof createReporter>;

export interface BlockedTurn {
  sessionId: string;
  turn: ClaimedTurn;
  report: Reporter;
  approvals: Approval[];
}

/** Creates a session with a turn that is blocked with these requests. Calls that ask for input are dispatched before. */
export async function blockTurn(system: SessionsSystem, asks: Ask[], caller = OWNER): Promise<BlockedTurn> {
  const sessionId = await createConversation(system, 'count for me', undefined, caller);
  const turn = await claimTurn(system);
  const report = createReporter(system, turn);
  const calls = asks.map(({ toolUseId: id }) => ({ id, input: { by: id } }));
  const asking = asks.filter(({ kind }) => kind === 'input');
  const dispatches = asking.map(({ toolUseId }) => toolDispatched(toolUseId, 1, turn.fence));
  const events = [...toolCallStep('msg_1', ...calls), ...dispatches];
  await report({ events, outcome: blockedWith(...asks) });
  return { sessionId, turn, report, approvals: await approvalsOf(system, sessionId, caller) };
}

/** The approvals of a session, oldest first. */
export async function approvalsOf(system: SessionsSystem, sessionId: string, caller = OWNER) {
  const request = { sessionId, status: '', page: { limit: 50, cursor: '' } };
  return (await system.edge.listApprovals(request, { caller })).approvals.toReversed();
}

export async function decide(
  system: SessionsSystem,
  approval: Approval | undefined,
  decision: string,
  more: { contentJson?: string; reason?: string } = {},
  caller = OWNER,
): Promise<Approval | undefined> {
  const { sessionId = '', approvalId = '' } = approval ?? {};
  const request = { sessionId, approvalId, decision, reason: '', editedInputJson: '', ...more };
  return (await system.edge.decideApproval(request, { caller })).approval;
}
