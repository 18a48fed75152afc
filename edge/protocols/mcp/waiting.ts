import { wait } from '../../../lib/clock.ts';
import type { GetTurnResponse } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { answeringTurn, waitForTurn } from '../../routes/turn-wait.ts';
import type { McpOperation } from './operation.ts';
import type { ProgressReporter } from './progress.ts';

/** Clients give up after 60 seconds unless progress tells them that the call is alive. */
export const MAX_SECONDS = 50;
export const MAX_SECONDS_WITH_PROGRESS = 600;

/** The longest single wait: without progress, and for the progress that is due every 10 seconds. */
const SLICE_SECONDS = 50;
const PROGRESS_SECONDS = [1, 3, 5, 8];
/** A stopping sessions service answers early. */
const RETRY_MS = 1_000;
const OPEN = new Set(['queued', 'in_progress']);

export interface AwaitedTurn {
  sessionId: string;
  turnId: string;
}

/**
 * Returns the turn, or the one that its message was delivered into, when it has ended or blocked, or its state when the time is over or this process stops. Without
 * `seconds`, the time is the longest that is allowed. Reports progress to a client that has asked for it.
 */
export async function awaitTurn(
  operation: McpOperation,
  turn: AwaitedTurn,
  seconds: number | undefined,
  progress: ProgressReporter | undefined,
): Promise<GetTurnResponse> {
  const { context, call } = operation;
  const { clients, clock, draining } = context;
  const now = () => clock.now().getTime();
  const longest = progress ? MAX_SECONDS_WITH_PROGRESS : MAX_SECONDS;
  const deadline = now() + Math.min(seconds ?? longest, longest) * 1_000;
  const release = context.protocolMetrics.beginWait('mcp');
  try {
    for (let round = 0; ; round++) {
      const begun = now();
      const slice = Math.min(
        sliceSeconds(round, progress),
        Math.max(0, Math.ceil((deadline - begun) / 1_000)),
      );
      const found = answeringTurn(await waitForTurn({ clients, call, draining }, turn, slice));
      const isOpen = OPEN.has(found.turn?.status ?? '');
      if (!isOpen || draining.aborted || now() >= deadline) return found;
      if (now() - begun < (slice * 1_000) / 2) await wait(clock, RETRY_MS, call.signal);
      await progress?.(await describeTurn(operation, turn, found));
    }
  } finally {
    release();
  }
}

/** The longest wait of a round. */
function sliceSeconds(round: number, progress: ProgressReporter | undefined): number {
  return progress ? (PROGRESS_SECONDS[round] ?? PROGRESS_SECONDS.at(-1) ?? 1) : SLICE_SECONDS;
}

/** Returns the turn as it is now. */
export function readTurn({ context, call }: McpOperation, turn: AwaitedTurn): Promise<GetTurnResponse> {
  return context.clients.sessions.getTurn({ ...turn, waitMs: 0 }, call);
}

/** What an open turn does now, for the user of the client. */
export async function describeTurn(
  { context, call }: McpOperation,
  { sessionId }: AwaitedTurn,
  { turn }: GetTurnResponse,
): Promise<string> {
  if (turn?.status === 'queued') return 'The turn is queued.';
  const step = Math.max(1, turn?.usage?.steps ?? 1);
  const { events } = await context.clients.sessions.listEvents(
    {
      sessionId,
      page: { limit: 1, cursor: '' },
      afterSeq: turn?.position ?? 0,
      types: ['agent.tool_use'],
      newestFirst: true,
    },
    call,
  );
  const event = events[0] && (JSON.parse(events[0].json) as { turn_id?: string; data: { name: string } });
  const tool = event && event.turn_id === turn?.turnId ? `; last tool: ${event.data.name}` : '';
  return `Step ${step}${tool}`;
}
