import type { PartBytes } from '../parts/part-bytes.ts';
import { hasReferences, loadPrompt, type Prompt } from '../parts/prompt.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import { type ModelAccess, type ModelKeyOptions, reportRefusedKey } from './model-access.ts';
import {
  type ModelStepOptions,
  type ModelStepRun,
  type ModelTurnState,
  runModelStep,
} from './run-model-step.ts';

export interface RequestStepOptions extends ModelStepOptions, ModelKeyOptions {
  partBytes: PartBytes;
}

type UsableAccess = Exclude<ModelAccess, { kind: 'ended' }>;

/**
 * Requests the next step of a turn and reports a refused key of its agent. A step whose key was refused is requested once more
 * if an administrator has replaced the key meanwhile.
 */
export async function requestStep(
  turn: LeasedTurn,
  state: ModelTurnState,
  access: UsableAccess,
  options: RequestStepOptions,
): Promise<ModelStepRun> {
  const prompt = await promptOf(turn, state, options);
  const request = ({ kind, model }: UsableAccess) =>
    runModelStep(turn, { ...state, model, hasAgentKey: kind === 'agent_key' }, prompt.messages, options);
  try {
    const run = await request(access);
    if (run.end.kind !== 'failed' || access.kind !== 'agent_key') return run;
    const replaced = await reportRefusedKey(turn, access, run.end.failure, options);
    if (!replaced) return run;
    const repeated = await request(replaced);
    if (repeated.end.kind === 'failed') await reportRefusedKey(turn, replaced, repeated.end.failure, options);
    return repeated;
  } finally {
    prompt.release();
  }
}

const keepNothing = () => {};

/** The messages of the next request, with the bytes of their image and file parts if they have any. */
async function promptOf(
  { claimed, signal, span }: LeasedTurn,
  { messages, ownMessage, model, runtime }: ModelTurnState,
  { partBytes: bytes }: RequestStepOptions,
): Promise<Prompt> {
  if (!hasReferences(messages)) return { messages, release: keepNothing };
  const { sessionId, turnId, fence, ownerId } = claimed;
  const turn = { lease: { sessionId, turnId, fence }, ownerId, trace: span.trace };
  const { parts, entry } = model;
  return loadPrompt(messages, {
    bytes,
    model: { name: runtime.model, entry, parts },
    turn,
    signal,
    ownMessage,
  });
}
