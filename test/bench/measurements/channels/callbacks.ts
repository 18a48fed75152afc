import type { Bench, Spread } from '../../bench.ts';
import { createWebhook } from '../../fixtures/webhook.ts';
import { createMeter } from '../../subjects/meter.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';
import { send } from '../../workers/senders.ts';
import { compareWithStored, describeLoad, jobFor } from '../webhooks/acceptance.ts';

export interface Callbacks extends Spread {
  /** Messages that were verified and committed. */
  perSecond: number;
  /** Accepted triggers of a webhook in the same process. */
  triggersPerSecond: number;
  /** Latencies at `CALLBACKS_PER_SECOND`. */
  paced: Spread;
}

const LETTER = "t'";
/** The rate at which latencies are measured. Saturated connections measure their number instead. */
export const CALLBACKS_PER_SECOND = 500;
/** As long as the body of the trigger. */
const MESSAGE_BYTES = 900;

/** t': signed messages to a channel of the provider http, without channel workers and runners. */
export async function measureCallbacks(bench: Bench): Promise<Callbacks> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url, 0, { SERVICE_CHANNELS_SLOTS: '0' });
  const { api, request } = await createWebhook(subject.origin);
  const agentId = await api.createAgent();
  const job = jobFor(subject, request, bench.durationMs);
  const triggers = await send(job, subject);
  bench.print(LETTER, `triggers: ${describeLoad(triggers)}`);
  const { body } = await api.post(`/admin/agents/${agentId}/deployments`, {
    type: 'channel',
    provider: 'http',
    name: 'Callbacks',
    config: { access: { mode: 'anyone' } },
  });
  const { callback_url: url, shared_secret: secret } = body.data;
  const messages = { path: new URL(String(url)).pathname, secret: String(secret), bytes: MESSAGE_BYTES };
  const meter = createMeter(bench, subject);
  const callbackJob = { ...job, request: '', messages, status: 202 };
  const callbacks = await send(callbackJob, subject, meter.begin);
  const costs = await meter.end(callbacks.answers, 'callback');
  bench.print(LETTER, `callbacks: ${describeLoad(callbacks)}\n${costs}`);
  const paced = await send({ ...callbackJob, requestsPerSecond: CALLBACKS_PER_SECOND }, subject);
  bench.print(LETTER, `callbacks at ${CALLBACKS_PER_SECOND}/s: ${describeLoad(paced)}`);
  await compareWithStored(database, 'deployments.deliveries', callbacks.accepted + paced.accepted);
  return { ...callbacks, triggersPerSecond: triggers.perSecond, paced };
}
