import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Api, createApi, dataOfCreated } from '../../../support/api.ts';
import { compatible } from '../../../support/providers/compatible.ts';
import { type Bench, type Spread, spreadOf } from '../../bench.ts';
import { eventsPath, openEvents } from '../../clients/event-socket.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

/** Times from a message to the end of its turn, with a provider in this process. */
export interface ModelKeys {
  /** The agent has a model key, which is lent for each turn. */
  withKey: Spread;
  /** The agent has none, in the same system. */
  withoutKey: Spread;
  /** Lent model keys of turns of the agent without one. */
  lentWithoutKey: number;
}

const TURNS = 200;
const WARM_UPS = 20;
const KEY = 'model-key-of-the-agent-0123456789';
const OPERATOR_KEY = 'model-key-of-the-operator-0123456789';

/** d': turns of two agents by turns, so that a slowdown of the machine affects both. */
export async function measureModelKeys(bench: Bench): Promise<ModelKeys> {
  await using database = await bench.postgres.createDatabase();
  await using provider = await startProvider();
  await using subject = await startSingleProcess(database.url, undefined, {
    SERVICE_MODEL_ENDPOINTS: `local=${provider.url}`,
    SERVICE_MODEL_ENDPOINT_KEYS: `local=${OPERATOR_KEY}`,
  });
  const api = createApi(subject.origin);
  const keyed = await createAgent(api);
  const plain = await createAgent(api);
  await addModelKey(api, keyed);
  const lendings = async () => (await database.queryRow('select count(*)::int from vaults.lendings'))[0] ?? 0;
  const [withKey, withoutKey]: [number[], number[]] = [[], []];
  let keyedTurns = 0;
  for (let time = -WARM_UPS; time < Math.max(20, TURNS * bench.scale); time++) {
    const times = [await runTurn(subject, plain), await runTurn(subject, keyed)] as const;
    keyedTurns++;
    if (time < 0) continue;
    withoutKey.push(times[0]);
    withKey.push(times[1]);
  }
  const { operator, agent } = provider.requests;
  if (operator !== keyedTurns || agent !== keyedTurns)
    throw new Error(
      `of ${keyedTurns} turns each, ${operator} had the operator's key and ${agent} the agent's`,
    );
  const figures = {
    withKey: spreadOf(withKey),
    withoutKey: spreadOf(withoutKey),
    lentWithoutKey: (await lendings()) - keyedTurns,
  };
  bench.print(
    "d'",
    `a turn with a model key ${figures.withKey.p50Ms.toFixed(2)} ms, without ${figures.withoutKey.p50Ms.toFixed(2)} ms; ` +
      `keys lent to turns of the agent without one: ${figures.lentWithoutKey}`,
  );
  return figures;
}

/** A provider that answers each request at once, and counts the keys. */
async function startProvider() {
  const requests = { operator: 0, agent: 0 };
  const answer = { parts: [{ text: 'Yes.' }] };
  const stream = [...compatible.streamStart(answer), ...compatible.streamEnd(answer)].join('');
  const server = createServer(async (request, response) => {
    await text(request);
    const { authorization } = request.headers;
    if (authorization === `Bearer ${OPERATOR_KEY}`) requests.operator++;
    if (authorization === `Bearer ${KEY}`) requests.agent++;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(stream);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    requests,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const createAgent = (api: Api) => api.createAgent({ model: 'local/model' });

async function addModelKey(api: Api, agentId: string): Promise<void> {
  const vaultId = String(dataOfCreated(await api.post('/admin/vaults', { name: 'Keys' })).vault_id);
  const credential = { type: 'model_key', provider: 'local', key: KEY };
  dataOfCreated(await api.post(`/admin/vaults/${vaultId}/credentials`, credential));
  const { status } = await api.send('PUT', `/admin/agents/${agentId}/vaults`, { vault_ids: [vaultId] });
  if (status !== 200) throw new Error(`the assignment of a vault was answered with ${status}`);
}

/** Returns the time from the message of a new session to the event that its turn has ended. */
async function runTurn(subject: Subject, agentId: string): Promise<number> {
  const api = createApi(subject.origin);
  const startedAt = performance.now();
  const begun = dataOfCreated(await api.post(`/agents/${agentId}/conversations`, { message: 'Well?' }));
  const ended = Promise.withResolvers<number>();
  const socket = openEvents(Number(new URL(subject.origin).port), eventsPath(String(begun.session_id)), {
    frame({ type }) {
      if (type === 'session.status_idle') ended.resolve(performance.now() - startedAt);
    },
    lost: ended.reject,
  });
  try {
    return await Promise.race([ended.promise, subject.failed]);
  } finally {
    socket.close();
  }
}
