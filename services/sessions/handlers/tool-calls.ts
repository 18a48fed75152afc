import { Refusal, refuse } from '../../../lib/errors.ts';
import { callerOf, databaseOptionsOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import type {
  SessionsServiceDefinition,
  SubmitToolResultRequest,
  ToolCall,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { resultDigest } from '../attachments.ts';
import { requireOwned } from '../domain/access.ts';
import { answerCall, type CallAnswer, requireFormAnswer, toolCallClosed } from '../domain/answer.ts';
import { hasByteParts } from '../domain/content.ts';
import { checkPage } from '../domain/page.ts';
import { sameJson } from '../domain/same-json.ts';
import type { OpenCall } from '../domain/state.ts';
import type { ClientCallRow } from '../store/client-calls.ts';
import type { DecideChange } from '../store/decisions.ts';
import type { ReadOptions, SessionRow } from '../store/lists.ts';
import { actorOf } from './actor.ts';
import type { SessionsHandlerContext } from './context.ts';
import { parseSingleLineJson } from './json.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'listToolCalls' | 'submitToolResult'>;

const STATUSES: readonly string[] = ['', 'pending', 'answered', 'expired', 'cancelled'];
/** About how many bytes an answer writes beside its output. */
const ANSWER_OVERHEAD_BYTES = 1_000;

/** Handlers that list and answer the calls of client tools and of ask_user. */
export function toolCallHandlers({
  clock,
  clientCalls,
  changes,
  lists,
  access,
  attachments,
}: SessionsHandlerContext): Methods {
  async function read(session: SessionRow, toolUseId: string, options: ReadOptions): Promise<ClientCallRow> {
    const row = await clientCalls.newest(session.session_id, toolUseId, options);
    if (row) return row;
    if (await isJournalled(session, toolUseId, options))
      throw refuse('SESSION_BUSY', 'The turn has not stopped for this tool call yet.', {
        retryAfterSeconds: 1,
      });
    throw refuse('TOOL_CALL_NOT_FOUND', `The session has no open or answered tool call ${toolUseId}.`);
  }

  /** Whether the turn in progress has the call and will wait for its answer. */
  async function isJournalled(
    session: SessionRow,
    toolUseId: string,
    options: ReadOptions,
  ): Promise<boolean> {
    const { session_id: sessionId, current_turn_id: turnId } = session;
    const turn = turnId === null ? undefined : await lists.turn(sessionId, turnId, options);
    const calls: OpenCall[] = JSON.parse(turn?.calls ?? '[]');
    return calls.some((call) => call.toolUseId === toolUseId && call.client !== undefined);
  }

  /** The result as it is journalled: the bytes of its image and file parts are stored and referenced. */
  async function journalledOutput(
    { outputJson, attachments: list }: SubmitToolResultRequest,
    output: unknown,
    session: SessionRow,
    call: Call,
  ): Promise<string> {
    if (!hasByteParts(output)) return outputJson;
    const {
      session_id: sessionId,
      owner_id: ownerId,
      agent_id: agentId,
      agent_version: agentVersion,
    } = session;
    const target = { sessionId, ownerId, agentId, agentVersion };
    return attachments.store(output, list ?? { attachments: [] }, target, call);
  }

  async function answer(
    row: ClientCallRow,
    { outputJson, isError, requestSha256 }: GivenResult,
    call: Call,
  ): Promise<void> {
    const { session_id: sessionId, event_id: eventId, created_at: askedAt, input: inputJson } = row;
    const given = {
      eventId,
      outputJson,
      isError,
      requestSha256,
      inputJson,
      askedAt,
      actor: actorOf(call),
      answeredBy: callerOf(call).userId,
      now: clock.now(),
    };
    const decide: DecideChange = (state) => ({
      change: answerCall(requireOwned(state, sessionId, callerOf(call).userId), given),
    });
    const bytes = 2 * outputJson.length + ANSWER_OVERHEAD_BYTES;
    await changes.change(sessionId, bytes, decide, call).catch((error: unknown) => {
      // The call was answered or closed at the same time. Its row is compared with this answer afterwards.
      if (!(error instanceof Refusal) || error.code !== 'TOOL_CALL_CLOSED') throw error;
    });
  }

  return {
    async listToolCalls({ sessionId, page, status }, call) {
      if (!STATUSES.includes(status))
        throw refuse(
          'INVALID_REQUEST',
          `Unknown status \`${status}\`. Use pending, answered, expired or cancelled.`,
        );
      const { options } = await access.readAccess(sessionId, call);
      const { rows, nextCursor } = await clientCalls.page(sessionId, status, checkPage(page), options);
      return { toolCalls: rows.map(toolCallOf), page: { nextCursor } };
    },

    async submitToolResult(request, call) {
      const { sessionId, toolUseId, isError } = request;
      const output = parseSingleLineJson(request.outputJson, 'output');
      if (isError && typeof output !== 'string')
        throw refuse('INVALID_REQUEST', 'An error must be a string.');
      const session = await access.requireOwner(sessionId, call);
      const options = databaseOptionsOf(call);
      const row = await read(session, toolUseId, options);
      if (row.status !== 'pending' && row.status !== 'answered') throw toolCallClosed();
      if (row.kind === 'input' && !isError) requireFormAnswer(row.input, output);
      const requestSha256 = hasByteParts(output) ? resultDigest(request) : null;
      if (isRepeated(row, requestSha256)) return { toolCall: toolCallOf(row) };
      let outputJson: string;
      try {
        outputJson = await journalledOutput(request, output, session, call);
      } catch (error) {
        // The same request may have been accepted meanwhile, and its file deleted after that.
        const newest = error instanceof Refusal ? await read(session, toolUseId, options) : undefined;
        if (newest && isRepeated(newest, requestSha256)) return { toolCall: toolCallOf(newest) };
        throw error;
      }
      if (row.status === 'pending') await answer(row, { outputJson, isError, requestSha256 }, call);
      const answered = await read(session, toolUseId, options);
      if (answered.status !== 'answered') throw toolCallClosed();
      if (!isSameResult(answered, outputJson, isError))
        throw refuse('TOOL_RESULT_CONFLICT', `The tool call ${toolUseId} already has another result.`);
      return { toolCall: toolCallOf(answered) };
    },
  };
}

/** A result whose bytes are stored. */
type GivenResult = Pick<CallAnswer, 'outputJson' | 'isError' | 'requestSha256'>;

/** Whether the call was answered by the same request, so that its files need not be read. */
function isRepeated(row: ClientCallRow, requestSha256: string | null): boolean {
  return row.status === 'answered' && requestSha256 !== null && row.request_sha256 === requestSha256;
}

/** Whether the stored result is the given one. A repeated result succeeds and changes nothing. */
function isSameResult(row: ClientCallRow, outputJson: string, isError: boolean): boolean {
  return row.is_error === isError && sameJson(JSON.parse(row.output ?? 'null'), JSON.parse(outputJson));
}

function toolCallOf(row: ClientCallRow): ToolCall {
  return {
    toolUseId: row.tool_use_id,
    sessionId: row.session_id,
    turnId: row.turn_id,
    kind: row.kind,
    name: row.name,
    inputJson: row.input,
    status: row.status,
    outputJson: row.output ?? '',
    isError: row.is_error ?? false,
    answeredBy: row.answered_by ?? '',
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    answeredAt: row.status === 'answered' ? (row.closed_at ?? undefined) : undefined,
  };
}
