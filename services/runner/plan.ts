import { createHash } from 'node:crypto';
import type { Ask, CallDecision, OpenCall } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Call, CallResult } from './step.ts';
import { EFFECT_UNKNOWN } from './tools/run.ts';
import type { KnownTool } from './tools/tool.ts';
import type { Toolbox } from './tools/toolbox.ts';

/** What is to be done about a call that has no result. */
export type Plan =
  | { kind: 'run'; run: Run }
  | { kind: 'ask'; ask: Ask; tool: KnownTool }
  | { kind: 'answer'; result: CallResult };

/** A call that is to be sent to its tool. */
export interface Run {
  call: Call;
  tool: KnownTool;
  input: Record<string, unknown>;
  /** 1 for the first time. */
  attempt: number;
  /** Set where somebody has changed the input. */
  editedInput?: unknown;
}

/** Of a call about which nothing but its agent.tool_use is known. */
export const FRESH: Pick<OpenCall, 'dispatches' | 'decision'> = { dispatches: 0, decision: undefined };

/**
 * Decides by what the journal says of a call, and by nothing else, so that any runner goes on in the same way.
 * A call that was sent and has no result may have had its effect: unless that does no harm, it is not sent again
 * before somebody has said so, and each such word is good for one time.
 */
export function planOf(call: Call, { dispatches, decision }: typeof FRESH, toolbox: Toolbox): Plan {
  const tool = toolbox.find(call.name);
  const facts: Facts = { call, dispatches, decision, ...wantedInput(call, decision) };
  if (dispatches > 0) return planSent(facts, tool);
  if (!tool) return refused(`There is no tool ${call.name}.`);
  if (decision?.kind === 'tool') {
    const { reason } = decision;
    if (decision.decision === 'allow') return send(facts, tool);
    if (decision.decision === 'deny')
      return refused(`Denied by a person: ${reason || 'no reason was given'}`);
    if (decision.decision === 'expired') {
      return refused('Nobody decided in time whether this tool may be used, so it was not run.');
    }
  }
  const permission = toolbox.permissionOf(call.name);
  if (permission === 'deny') return refused(`The tool ${call.name} may not be used.`);
  const problem = tool.problem(call.input);
  if (problem !== undefined) return refused(invalid(problem));
  return permission === 'ask' ? ask('tool', facts, tool) : send(facts, tool);
}

interface Facts {
  call: Call;
  dispatches: number;
  decision: CallDecision | undefined;
  /** What the tool is to be called with, as JSON text. */
  inputJson: string;
  isEdited: boolean;
}

/** A decision holds the input that was decided on; before there is one, it is what the model has said. */
function wantedInput({ input }: Call, decision: CallDecision | undefined) {
  const own = JSON.stringify(input);
  const inputJson = decision?.inputJson || own;
  return { inputJson, isEdited: decision?.edited === true || inputJson !== own };
}

function planSent(facts: Facts, tool: KnownTool | undefined): Plan {
  const { decision, dispatches } = facts;
  const isAnswer = decision?.kind === 'outcome_unknown' && decision.dispatches === dispatches;
  const said = isAnswer && decision.reason ? ` The reason: ${decision.reason}` : '';
  switch (isAnswer ? decision.decision : undefined) {
    case 'retry':
      return tool ? send(facts, tool) : refused(`There is no tool ${facts.call.name}. ${EFFECT_UNKNOWN}`);
    case 'mark_done':
      return answered(
        facts,
        `A person says that this was done; what the tool gave is not known.${said}`,
        false,
      );
    case 'mark_failed':
      return answered(facts, `A person says that this has failed.${said}`, true);
    case 'expired':
      return answered(facts, `${CUT_OFF} Nobody decided in time whether to run it again.`, true);
  }
  if (!tool || (tool.kind.effect === 'once' && tool.outcomeUnknown === 'tell')) {
    return answered(facts, CUT_OFF, true);
  }
  return tool.kind.effect === 'once' ? ask('outcome_unknown', facts, tool) : send(facts, tool);
}

const CUT_OFF = `The tool was cut off while it ran. ${EFFECT_UNKNOWN}`;

/** What is sent is byte for byte what was decided on. */
function send(facts: Facts, tool: KnownTool): Plan {
  const { call, decision, inputJson, isEdited, dispatches } = facts;
  if (decision && !isDecidedInput(facts)) {
    return refused('What was approved is not what this tool would be called with, so it was not run.');
  }
  const input: Record<string, unknown> = JSON.parse(inputJson);
  const problem = tool.problem(input);
  if (problem !== undefined) return answered(facts, invalid(problem), true);
  const run: Run = { call, tool, input, attempt: dispatches + 1 };
  return { kind: 'run', run: isEdited ? { ...run, editedInput: input } : run };
}

function isDecidedInput({ decision, inputJson, isEdited }: Facts): boolean {
  if (!decision || decision.inputJson === '') return decision === undefined;
  // Without a change, an approval of a tool is of this very call.
  if (decision.kind === 'tool' && !decision.edited && isEdited) return false;
  return createHash('sha256').update(inputJson).digest('hex') === decision.inputSha256;
}

function ask(kind: 'tool' | 'outcome_unknown', { call, inputJson }: Facts, tool: KnownTool): Plan {
  return { kind: 'ask', tool, ask: { kind, toolUseId: call.toolUseId, toolName: call.name, inputJson } };
}

function refused(output: string): Plan {
  return { kind: 'answer', result: { output, isError: true } };
}

function answered({ isEdited, inputJson }: Facts, output: string, isError: boolean): Plan {
  const result = { output, isError };
  return { kind: 'answer', result: isEdited ? { ...result, editedInput: JSON.parse(inputJson) } : result };
}

function invalid(problem: string): string {
  return `The input was refused and the tool was not run: ${problem}`;
}
