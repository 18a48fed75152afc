import { LARGE_RESULT_BYTES } from '../../../lib/context-settings.ts';
import type { HistoryUnit, UnitResult } from './history-unit.ts';

/** Estimated tokens of a request, and what may be changed to make it shorter. */
export interface PlanRequest {
  /** In the order of the model; the last ones belong to the turn. */
  units: readonly HistoryUnit[];
  turnId: string;
  /** The tokens of the system prompt and of the tools. */
  fixed: number;
  /** The tokens of the message in place of what earlier compactions left out; 0 without one. */
  summary: number;
  /** The tokens that such a message may have after this compaction. */
  newSummary: number;
  /** The longest request that the model accepts. */
  max: number;
  /** A longer request is shortened. */
  trigger: number;
  keepTurns: number;
  /** Results can be written to files. */
  canMove: boolean;
  /** Nothing takes the place of units that are left out, so that no more of them than needed are. */
  isLossy: boolean;
}

/** A result whose output the model no longer gets, except for its first `shown` UTF-16 units. */
export interface PlannedMove {
  seq: number;
  bytes: number;
  shown: number;
  /** Stays out of the model's input also if it cannot be written to a file. */
  isRequired: boolean;
}

export type CompactionPlan =
  | { kind: 'fits' }
  | {
      kind: 'compact';
      moves: PlannedMove[];
      /** The units that are left out. */
      removed: HistoryUnit[];
      /** Estimated tokens of the request after the compaction, with `newSummary` if units are left out. */
      tokens: number;
    }
  /** No compaction makes the request short enough. */
  | { kind: 'too_long'; part: 'system prompt and tools' | 'message'; tokens: number };

/** The tokens of a reference in place of an output. */
const REFERENCE_TOKENS = 60;
/** A compaction leaves room for further steps, so that the next ones follow later. In parts of the trigger. */
const TARGET = 0.5;
const ENOUGH = 0.85;

/**
 * Chooses what a model no longer gets: first the outputs of large results, then whole units, the oldest first. Pinned
 * messages and the messages of the turn stay; the newest turns and the newest step stay while they fit. Deterministic.
 */
export function planCompaction(request: PlanRequest): CompactionPlan {
  const { units, turnId, fixed, max, trigger } = request;
  if (fixed > max) return { kind: 'too_long', part: 'system prompt and tools', tokens: fixed };
  const essential = essentialTokens(request);
  if (essential > max) return { kind: 'too_long', part: 'message', tokens: essential };
  const draft = new Draft(request);
  if (draft.tokens <= trigger) return { kind: 'fits' };
  const isEnough = () => draft.tokens <= ENOUGH * trigger;
  const last = units.at(-1);
  const newest = last?.isStep && last.turnId === turnId ? last : undefined;
  // Results of the newest step that fill the request leave no place for anything else.
  if (newest && tokensOf(newest.results) > max / 2) draft.excerpt(newest.results, max / 4);

  const turns = [...new Set(units.map((unit) => unit.turnId))];
  const isBefore = (keep: number) => {
    const kept = new Set(turns.slice(-keep));
    return (unit: HistoryUnit) => !kept.has(unit.turnId);
  };
  const older = isBefore(request.keepTurns);
  draft.moveLarge(units.filter(older), TARGET * trigger);
  if (isEnough()) return draft.plan();
  const removeFrom = (candidates: readonly HistoryUnit[], isLossy: boolean) => {
    for (const unit of candidates) {
      if (isLossy && draft.tokens <= TARGET * trigger) return;
      if (!stays(unit, turnId)) draft.remove(unit);
    }
  };
  removeFrom(units.filter(older), request.isLossy);
  if (isEnough()) return draft.plan();
  draft.moveLarge(
    units.filter((unit) => unit !== newest),
    TARGET * trigger,
  );
  for (let keep = request.keepTurns - 1; keep > 0 && !isEnough(); keep--)
    removeFrom(units.filter(isBefore(keep)), request.isLossy);
  if (isEnough()) return draft.plan();
  removeFrom(
    units.filter((unit) => unit !== newest),
    true,
  );
  if (newest && draft.tokens > max) draft.excerpt(newest.results, 0);
  if (newest && draft.tokens > max) draft.remove(newest);
  return draft.tokens <= max ? draft.plan() : { kind: 'too_long', part: 'message', tokens: draft.tokens };
}

/**
 * Chooses what a model no longer gets when a user asks for a compaction: the turns before the newest `keepTurns`, or with `isLossy`
 * only the outputs of their large results, because nothing would take the place of their messages.
 */
export function planOnDemand(request: PlanRequest): CompactionPlan {
  const draft = new Draft(request);
  const older = olderUnits(request);
  if (request.isLossy) draft.moveLarge(older, 0);
  else for (const unit of older) draft.remove(unit);
  return draft.plan();
}

/** The units before the newest turns, without those that no compaction leaves out. */
export function olderUnits({
  units,
  turnId,
  keepTurns,
}: Pick<PlanRequest, 'units' | 'turnId' | 'keepTurns'>): HistoryUnit[] {
  const newest = new Set([...new Set(units.map((unit) => unit.turnId))].slice(-keepTurns));
  return units.filter((unit) => !newest.has(unit.turnId) && !stays(unit, turnId));
}

/** The tokens of what no compaction leaves out. */
export function essentialTokens({
  units,
  turnId,
  fixed,
}: Pick<PlanRequest, 'units' | 'turnId' | 'fixed'>): number {
  return units.reduce((sum, unit) => sum + (stays(unit, turnId) ? unit.tokens : 0), fixed);
}

function stays({ isStep, isPinned, turnId: of }: HistoryUnit, turnId: string): boolean {
  return isPinned || (!isStep && of === turnId);
}

/** A plan in the making. */
class Draft {
  readonly #request: PlanRequest;
  readonly #moves = new Map<number, PlannedMove & { saved: number }>();
  readonly #removed = new Set<HistoryUnit>();
  #kept: number;

  constructor(request: PlanRequest) {
    this.#request = request;
    this.#kept = request.units.reduce((sum, { tokens }) => sum + tokens, request.fixed);
  }

  get tokens(): number {
    const { summary, newSummary } = this.#request;
    return this.#kept + (this.#removed.size === 0 ? summary : newSummary);
  }

  /** Moves large results to files, the oldest first, until the request has `target` tokens. */
  moveLarge(units: readonly HistoryUnit[], target: number): void {
    if (!this.#request.canMove) return;
    for (const unit of units) {
      if (this.#removed.has(unit)) continue;
      for (const result of unit.results) {
        if (this.tokens <= target) return;
        if (result.bytes > LARGE_RESULT_BYTES) this.#move(result, 0, false);
      }
    }
  }

  /** Cuts results to excerpts that have `tokens` together. */
  excerpt(results: readonly UnitResult[], tokens: number): void {
    const each = Math.floor(tokens / Math.max(1, results.length));
    // A UTF-16 unit has at most three bytes, so that an excerpt has at most as many tokens as units.
    for (const result of results) if (result.tokens > each + REFERENCE_TOKENS) this.#move(result, each, true);
  }

  remove(unit: HistoryUnit): void {
    if (this.#removed.has(unit)) return;
    this.#removed.add(unit);
    this.#kept -= unit.tokens;
    for (const { seq } of unit.results) {
      this.#kept += this.#moves.get(seq)?.saved ?? 0;
      this.#moves.delete(seq);
    }
  }

  plan(): CompactionPlan {
    const { units } = this.#request;
    const moves = [...this.#moves.values()].map(({ saved: _, ...move }) => move);
    // Nothing can be left out, but the model accepts the request.
    if (moves.length === 0 && this.#removed.size === 0) return { kind: 'fits' };
    return {
      kind: 'compact',
      moves: moves.sort((one, other) => one.seq - other.seq),
      removed: units.filter((unit) => this.#removed.has(unit)),
      tokens: this.tokens,
    };
  }

  #move({ seq, bytes, tokens }: UnitResult, shown: number, isRequired: boolean): void {
    const saved = tokens - shown - REFERENCE_TOKENS;
    if (saved <= 0) return;
    this.#kept += (this.#moves.get(seq)?.saved ?? 0) - saved;
    this.#moves.set(seq, { seq, bytes, shown, isRequired, saved });
  }
}

function tokensOf(results: readonly UnitResult[]): number {
  return results.reduce((sum, { tokens }) => sum + tokens, 0);
}
