import type { SessionState } from './state.ts';

/** The estimated tokens of a model request, as its runner reports them. */
export interface ReportedContext {
  /** Number of the first events of the report that the estimate includes. */
  events: number;
  /** The model name of the agent. */
  model: string;
  system: number;
  tools: number;
  history: number;
  files: number;
  /** Tokens of the model in one estimated token. */
  ratio: number;
  /** In tokens of the model. */
  window?: number | undefined;
  windowSource?: string | undefined;
  /** A longer request is shortened. */
  threshold?: number | undefined;
}

/** The newest estimate of a session. It includes the history up to `seq`. */
export interface ContextEstimate extends Omit<ReportedContext, 'events'> {
  seq: number;
  agentVersion: number;
}

/** Ratios are shown in whole tokens. */
const RATIO_DIGITS = 1_000;

/** The estimate as JSON text. It is short, because it is part of the head, which most changes of a session write. */
export function contextJsonOf(
  { lastSeq, agentVersion }: Pick<SessionState, 'lastSeq' | 'agentVersion'>,
  context: ReportedContext,
): string {
  const { events, model, system, tools, history, files, window, windowSource, threshold } = context;
  const ratio = Math.round(Math.max(1, context.ratio) * RATIO_DIGITS) / RATIO_DIGITS;
  const parts = [lastSeq + events, agentVersion, model, system, tools, history, files, ratio];
  return JSON.stringify([...parts, window, windowSource, threshold]);
}

type StoredContext = [
  ...[seq: number, agentVersion: number, model: string],
  ...[system: number, tools: number, history: number, files: number, ratio: number],
  ...[window: number | null, windowSource: string | null, threshold: number | null],
];

export function parseContext(json: string | null): ContextEstimate | undefined {
  if (json === null) return undefined;
  const stored: StoredContext = JSON.parse(json);
  const [seq, agentVersion, model, system, tools, history, files, ratio, window, windowSource, threshold] =
    stored;
  return {
    ...{ seq, agentVersion, model, system, tools, history, files, ratio },
    window: window ?? undefined,
    windowSource: windowSource ?? undefined,
    threshold: threshold ?? undefined,
  };
}
