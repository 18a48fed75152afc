import type { JSONValue } from '@ai-sdk/provider';
import { estimateTextTokens } from '../../../lib/token-estimate.ts';
import type { Event } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { estimateMessages } from '../context/estimate-tokens.ts';
import type { HistoryUnit, UnitResult } from '../context/history-unit.ts';
import { outputText } from '../context/moved-output.ts';
import { buildHistory } from './history.ts';

interface JournaledEvent {
  turn_id?: string;
  data: { output?: JSONValue; pinned?: boolean };
}

/**
 * Divides events of a history into units, in the order in which the model gets them: turn by turn up to the given one, as
 * in `buildHistory`. `moved` are the results whose output is moved already.
 */
export function unitsOf(
  events: readonly Event[],
  turnId: string,
  moved: Pick<ReadonlyMap<number, unknown>, 'has'>,
): HistoryUnit[] {
  const turns = new Map<string, HistoryUnit[]>();
  let turn = '';
  for (const event of events) {
    const { turn_id, data } = JSON.parse(event.json) as JournaledEvent;
    turn = turn_id ?? turn;
    const units = turns.get(turn) ?? [];
    turns.set(turn, units);
    const last = units.at(-1);
    if (event.type === 'agent.tool_result' && last) {
      last.events.push(event);
      if (!moved.has(event.seq)) last.results.push(resultOf(event.seq, data.output ?? ''));
      continue;
    }
    const isStep = event.type !== 'user.message';
    const isPinned = !isStep && data.pinned === true;
    units.push({ turnId: turn, isStep, isPinned, events: [event], tokens: 0, results: [] });
  }
  const found: HistoryUnit[] = [];
  for (const [id, units] of turns) {
    found.push(...units);
    if (id === turnId) break;
  }
  for (const unit of found) unit.tokens = tokensOf(unit.events);
  return found;
}

function tokensOf(events: readonly Event[]): number {
  const { messages } = buildHistory(events, '');
  return estimateMessages(messages);
}

function resultOf(seq: number, output: JSONValue): UnitResult {
  const text = outputText(output);
  return { seq, bytes: Buffer.byteLength(text), tokens: estimateTextTokens(text) };
}
