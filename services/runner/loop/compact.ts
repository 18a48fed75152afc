import type { JSONValue } from '@ai-sdk/provider';
import type { ContextRules } from '../../../lib/context-settings.ts';
import type { CompactionFallback } from '../../../lib/event-types.ts';
import { estimateTextTokens } from '../../../lib/token-estimate.ts';
import type { Event, Usage } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { applyCompactions, type Compaction, summaryText } from '../context/compactions.ts';
import type { HistoryUnit } from '../context/history-unit.ts';
import type { InputLimits } from '../context/input-limits.ts';
import { resultPath, writeResultFiles } from '../context/move-results.ts';
import { type MovedResult, outputText } from '../context/moved-output.ts';
import {
  type CompactionPlan,
  essentialTokens,
  olderUnits,
  type PlannedMove,
  type PlanRequest,
  planCompaction,
  planOnDemand,
} from '../context/plan.ts';
import { publicTokens } from '../context/step-usage.ts';
import { type SummaryOptions, shortened, summarize } from '../context/summarize.ts';
import { transcriptChunks } from '../context/transcript.ts';
import type { ModelFailure } from '../models/failure.ts';
import type { Model } from '../models/registry.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import type { FilesClient } from '../workspace/workspace-client.ts';
import { unitsOf } from './history-units.ts';

export interface CompactionRequest {
  turn: LeasedTurn;
  /** All events of the history, with its compactions. */
  history: readonly Event[];
  rules: ContextRules;
  limits: InputLimits;
  /** The estimated tokens of the system prompt and of the tools. */
  fixed: number;
  /** The provider has refused the request, so that it is too long also with a low estimate. */
  isRefused: boolean;
  /** A user has asked for the compaction, so that the length does not matter. */
  isOnDemand: boolean;
  /** The model that writes summaries. Undefined when it cannot be requested. */
  summarizer: { name: string; model: Model; limits: InputLimits } | undefined;
  /** Counts the usage of a summary when its requests have ended, also if no compaction follows. */
  spend(usage: Usage): void;
}

export interface CompactionOptions extends SummaryOptions {
  files: FilesClient;
}

export type CompactionResult =
  | { kind: 'fits' }
  | { kind: 'compacted'; data: Compaction }
  /** Only on demand: the history stays as it is. Without a failure the summary is empty, or its model has no room for it. */
  | { kind: 'not_summarized'; failure: ModelFailure | undefined; fallback: CompactionFallback }
  | Extract<CompactionPlan, { kind: 'too_long' }>;

/** The tokens of a summary, at most, and the part of the longest input that it may take. */
const SUMMARY_TOKENS = 4_000;
const SUMMARY_PART = 0.2;
/** A shorter summary would say nothing. */
const MIN_SUMMARY_TOKENS = 100;
/** A refused request is shortened to this part of its estimate at least. */
const REFUSED_PART = 0.8;

type ReadyPlan = Extract<CompactionPlan, { kind: 'compact' }>;

/**
 * Shortens a history for the model, and writes moved results to files. Returns the data of the event that makes it so; the
 * caller journals it. Repeating it after a crash has no further effect. Rejects like `writeResultFiles`.
 */
export async function compact(
  request: CompactionRequest,
  options: CompactionOptions,
): Promise<CompactionResult> {
  const { turn, history, rules, limits, fixed } = request;
  const { events, summary, moved } = applyCompactions(history);
  const units = unitsOf(events, turn.claimed.turnId, moved);
  const summaryTokens = summary === undefined ? 0 : estimateTextTokens(summaryText(summary));
  const before = units.reduce((sum, { tokens }) => sum + tokens, fixed + summaryTokens);
  const { turnId } = turn.claimed;
  const essential = essentialTokens({ units, turnId, fixed });
  const { keepTurns } = rules;
  const older = olderUnits({ units, turnId, keepTurns }).reduce((sum, { tokens }) => sum + tokens, 0);
  // The part of a summary on demand that is about the older units.
  const aboutOlder = Math.max(MIN_SUMMARY_TOKENS, older / 2);
  const maxSummary = Math.floor(
    Math.min(
      ...[SUMMARY_TOKENS, SUMMARY_PART * limits.max, limits.max - essential - SUMMARY_ENVELOPE],
      request.isOnDemand ? summaryTokens + aboutOlder : Number.POSITIVE_INFINITY,
    ),
  );
  const earlier = shortened(summary ?? '', Math.max(0, maxSummary));
  const withoutSummary = estimateTextTokens(summaryText(earlier));
  const base = {
    ...{ units, turnId, fixed, summary: summaryTokens, keepTurns, max: limits.max },
    trigger: request.isRefused ? Math.min(limits.trigger, REFUSED_PART * before) : limits.trigger,
  };
  const dropping = { ...base, newSummary: withoutSummary, isLossy: true };
  const summarizing = { ...base, newSummary: maxSummary + SUMMARY_ENVELOPE, isLossy: false };
  const isSummarizing = rules.strategy === 'summarize' && maxSummary >= MIN_SUMMARY_TOKENS;
  // The summary of a history this short could be longer than the history.
  if (request.isOnDemand && isSummarizing && older <= aboutOlder + SUMMARY_ENVELOPE) return { kind: 'fits' };
  let planned = await planAndMove(isSummarizing ? summarizing : dropping, request, options);
  let written: WrittenSummary = { summary: earlier };
  if (planned.kind === 'compact' && planned.plan.removed.length > 0) {
    written = await writeSummary(planned.plan, earlier, maxSummary, request, options);
    const { isNew, failure, fallback = 'summary_failed' } = written;
    if (request.isOnDemand && !isNew) return { kind: 'not_summarized', failure, fallback };
    if (isSummarizing && !written.isNew) planned = await planAndMove(dropping, request, options);
  }
  if (planned.kind !== 'compact') return planned;
  const { plan } = planned;
  const isCut = plan.removed.length > 0;
  const range = rangeOf(plan, events);
  // Compactions before one that leaves events out are no longer read.
  const earlierMoves = isCut ? [...moved.values()].filter(({ seq }) => staysIn(range, seq)) : [];
  const files = [...earlierMoves, ...planned.moved];
  const reserved = isSummarizing && written.isNew ? summarizing.newSummary : withoutSummary;
  const unused = isCut ? reserved - estimateTextTokens(summaryText(written.summary)) : 0;
  const { cost } = written;
  const data: Compaction = {
    ...range,
    strategy: isCut ? (written.isNew ? 'summarize' : 'drop_turns') : 'drop_tool_results',
    summary: isCut ? written.summary || undefined : undefined,
    ...{ tokens_before: before, tokens_after: Math.max(0, plan.tokens - unused) },
    moved: files.length === 0 ? undefined : files,
    fallback: written.fallback,
    ...(cost && { model: cost.model, usage: publicTokens(cost.usage) }),
  };
  return { kind: 'compacted', data };
}

/** The tokens of the text around a summary. */
const SUMMARY_ENVELOPE = estimateTextTokens(summaryText(' '));

type MovedPlan =
  | Exclude<CompactionPlan, ReadyPlan>
  | { kind: 'compact'; plan: ReadyPlan; moved: MovedResult[] };

/** Plans again without moves when the workspace does not take the files. */
async function planAndMove(
  ask: Omit<PlanRequest, 'canMove'>,
  { turn, history, isOnDemand }: CompactionRequest,
  { files }: CompactionOptions,
): Promise<MovedPlan> {
  const choose = isOnDemand ? planOnDemand : planCompaction;
  const outputs = outputsOf(history);
  const textOf = ({ seq }: PlannedMove) => outputText(outputs.get(seq) ?? '');
  const plan = choose({ ...ask, canMove: true });
  if (plan.kind !== 'compact') return plan;
  const path = ({ seq }: PlannedMove) => resultPath(turn.claimed.sessionId, seq);
  const found = plan.moves.map((move) => ({ path: path(move), text: textOf(move) }));
  if (found.length === 0 || (await writeResultFiles(turn, found, files)))
    return { kind: 'compact', plan, moved: plan.moves.map((move) => movedResult(move, path(move))) };
  const again = choose({ ...ask, canMove: false });
  if (again.kind !== 'compact') return again;
  return { kind: 'compact', plan: again, moved: again.moves.map((move) => movedResult(move, undefined)) };
}

function movedResult({ seq, bytes, shown }: PlannedMove, path: string | undefined): MovedResult {
  return { seq, path, bytes, shown };
}

function outputsOf(history: readonly Event[]): Map<number, JSONValue> {
  const outputs = new Map<number, JSONValue>();
  for (const { seq, type, json } of history) {
    if (type === 'agent.tool_result')
      outputs.set(seq, (JSON.parse(json) as { data: { output: JSONValue } }).data.output);
  }
  return outputs;
}

interface WrittenSummary {
  /** In place of the removed units; the earlier one, or '', if no new one was written. */
  summary: string;
  isNew?: true;
  fallback?: CompactionFallback;
  failure?: ModelFailure | undefined;
  cost?: { model: string; usage: Usage };
}

async function writeSummary(
  { removed }: ReadyPlan,
  earlier: string,
  maxTokens: number,
  { turn, rules, summarizer, spend }: CompactionRequest,
  options: CompactionOptions,
): Promise<WrittenSummary> {
  if (rules.strategy !== 'summarize') return { summary: earlier, fallback: 'results_too_small' };
  const room = (summarizer?.limits.max ?? 0) - 2 * maxTokens - estimateTextTokens(rules.instructions) - 500;
  if (!summarizer || maxTokens < MIN_SUMMARY_TOKENS || room < MIN_SUMMARY_TOKENS)
    return { summary: earlier, fallback: 'summary_failed' };
  const { text, usage, failure } = await summarize(
    {
      ...{ name: summarizer.name, model: summarizer.model, earlier, maxTokens, signal: turn.signal },
      ...{ instructions: rules.instructions, chunks: transcriptChunks(removed, room) },
    },
    options,
  );
  spend(usage);
  const cost = { model: summarizer.name, usage };
  if (text) return { summary: text, isNew: true, cost };
  const fallback = text === undefined ? 'summary_failed' : 'summary_empty';
  return { summary: earlier, fallback, failure, cost };
}

function staysIn({ to_seq, kept }: Pick<Compaction, 'to_seq' | 'kept'>, seq: number): boolean {
  return seq > to_seq || kept.includes(seq);
}

/** The range of the events that are left out, or of the moved results, and the seqs within the range that stay. */
function rangeOf({ removed, moves }: ReadyPlan, events: readonly Event[]) {
  const seqs = removed.flatMap((unit: HistoryUnit) => unit.events.map(({ seq }) => seq));
  const out = new Set(seqs.length > 0 ? seqs : moves.map(({ seq }) => seq));
  let from = Number.POSITIVE_INFINITY;
  let to = 0;
  for (const seq of out) {
    from = Math.min(from, seq);
    to = Math.max(to, seq);
  }
  const kept =
    seqs.length === 0 ? [] : events.map(({ seq }) => seq).filter((seq) => seq <= to && !out.has(seq));
  return { from_seq: from, to_seq: to, kept };
}
