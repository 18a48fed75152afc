import { chooseWindow } from '../../../lib/context-settings.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type ContextEstimate, parseContext } from '../domain/context.ts';
import { estimateHistory } from '../domain/estimate-history.ts';
import type { ReadOptions } from '../store/lists.ts';
import { agentContext, withoutCaller } from './agent-context.ts';
import type { SessionsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'getSessionContext'>;

/** Events behind the newest estimate that are read. With more, the history is unknown until the next request. */
const MAX_EVENTS = 200;

/** The context of the next turn of a session, from what runners have reported and from the messages since. */
export function contextHandlers(context: SessionsHandlerContext): Methods {
  const { agents, lists, contexts, events, access } = context;

  async function windowOf(model: string, ofAgent: number | undefined, call: Call) {
    const { window, declaredWindow } = await agents.getModelWindow({ model }, withoutCaller(call));
    return chooseWindow({ ofAgent, declared: declaredWindow, learned: window });
  }

  /** The tokens of the history of the next request. Undefined when the history is too long to be read now. */
  async function historyTokens(
    sessionId: string,
    estimate: ContextEstimate | undefined,
    options: ReadOptions,
  ) {
    const { seq = 0, history = 0, files = 0, ratio = 1 } = estimate ?? {};
    const behind = await events.historyBehind(sessionId, seq, MAX_EVENTS, options);
    if (!behind) return undefined;
    const added = estimateHistory(behind);
    return { history: scaled(history + added.history, ratio), files: scaled(files + added.files, ratio) };
  }

  return {
    async getSessionContext({ sessionId }, call) {
      const { row, options } = await access.readAccess(sessionId, call);
      const [{ model: ofAgent, rules }, settings, json, { compactions }] = await Promise.all([
        agentContext(agents, row, call),
        lists.turnSettings(sessionId, options),
        contexts.storedContext(sessionId, options),
        events.compactions(sessionId, options),
      ]);
      const { model = ofAgent }: { model?: string } = JSON.parse(settings?.overrides ?? '{}');
      const reported = parseContext(json);
      // The system prompt, the tools and the limits are those of a version and of a model.
      const isCurrent = reported?.agentVersion === row.agent_version && reported.model === model;
      const current = isCurrent ? reported : undefined;
      const found = current?.window === undefined ? await windowOf(model, rules.window, call) : current;
      const { ratio = 1, threshold, system, tools } = current ?? {};
      const history = await historyTokens(sessionId, reported, options);
      return {
        model,
        ...{ window: found?.window, windowSource: found?.windowSource },
        ...{ strategy: rules.strategy, threshold: rules.threshold, keepTurns: rules.keepTurns },
        thresholdTokens: threshold === undefined ? undefined : scaled(threshold, ratio),
        systemTokens: system === undefined ? undefined : scaled(system, ratio),
        toolsTokens: tools === undefined ? undefined : scaled(tools, ratio),
        historyTokens: history?.history,
        filesTokens: history?.files,
        lastCompaction: compactions.at(-1),
      };
    },
  };
}

/** Estimated tokens in tokens of the model. */
function scaled(tokens: number, ratio: number): number {
  return Math.round(tokens * ratio);
}
