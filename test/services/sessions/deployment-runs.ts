import { createIds } from '../../../lib/ids.ts';
import type { Signal } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { AGENT, content, OWNER, type SessionsSystem } from './system.ts';

/* Sessions and messages of schedules, and the signals that they write. */

export const SCHEDULE = 'dep_01M7XYC91CC5TE06JQWDWRTJVS';

export const newRunId: () => string = (() => {
  const ids = createIds({ now: () => new Date() } as Parameters<typeof createIds>[0]);
  return () => ids('run');
})();

export const actorOf = (runId: string) => ({ type: 'schedule', deploymentId: SCHEDULE, runId });

export const suffixOf = (id: string) => id.slice(4);

/** The request that starts a run in a new session. */
export const runRequest = (runId: string, text = 'Report.') => ({
  ...{ invocationId: '', deploymentId: SCHEDULE, agentId: AGENT, agentVersion: 3, ownerId: OWNER.userId },
  ...{ text, bodyBytes: 0, sourceAddress: '', actor: actorOf(runId) },
});

/** Sends the message of a run to a session, for its owner. */
export function sendForRun(
  system: SessionsSystem,
  sessionId: string,
  runId: string,
  { text = 'Report again.', busyPolicy = 'enqueue', caller = OWNER } = {},
) {
  const message = { sessionId, contentJson: content(text), busyPolicy, idempotencyKey: '' };
  return system.deployments.sendMessage({ ...message, actor: actorOf(runId) }, { caller });
}

/** Claims and acknowledges all signals. */
export async function drainSignals({ deployments }: SessionsSystem): Promise<Signal[]> {
  const { signals } = await deployments.claimSignals({ limit: 500, leaseSeconds: 300 });
  await deployments.ackSignals({ signalIds: signals.map(({ signalId }) => signalId) });
  return signals;
}

export const kindsOf = (signals: readonly Signal[]) => signals.map(({ kind }) => kind);
