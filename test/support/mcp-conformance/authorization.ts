import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { type Api, dataOfCreated } from '../api.ts';
import { until } from '../wait.ts';
import type { Scenario } from './suite.ts';

/** The navigation with which a browser follows the redirect of another site. */
const NAVIGATION = {
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};
/** A user does not connect more often for one call. */
const MAX_CONNECTIONS = 5;

let servers = 0;

/** Connects a user to the server, and lets an agent of the user call each tool. The user connects again when a turn needs it. */
export async function connectAndCall(api: Api, { url, context }: Scenario): Promise<void> {
  const name = `server-${++servers}`;
  const server = { name, url, transport: 'streamable_http', authorization: 'personal' };
  const oauth = await registeredClient(url, context);
  const created = dataOfCreated(await api.post('/admin/mcp-servers', { ...server, ...(oauth && { oauth }) }));
  const id = String(created.mcp_server_id);
  await connect(api, id);
  const tools = await review(api, id);
  const steps = [...tools.map((tool) => ({ tool: `mcp__${name}__${tool}`, input: {} })), { text: 'Done.' }];
  const agentId = await api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
  await api.send('PUT', `/agents/${agentId}/extensions`, { mcp_server_ids: [id], skill_ids: [] });
  const begun = dataOfCreated(await api.post(`/agents/${agentId}/conversations`, { message: 'Go' }));
  await connectWhileWaiting(api, id, `/sessions/${begun.session_id}`);
}

async function connectWhileWaiting(api: Api, id: string, session: string): Promise<void> {
  for (let time = 0; time < MAX_CONNECTIONS; time++) {
    const reason = await until('the turn waits or has ended', async () => {
      if ((await api.get(session)).body.data.state === 'completed') return 'completed';
      const approvals = await api.list<Approval>(`${session}/approvals`);
      return approvals.find(({ status }) => status === 'pending')?.details.reason;
    });
    if (reason === 'completed') return;
    if (reason === 'refused') throw new Error('the server refuses the credential');
    await connect(api, id);
  }
  throw new Error('the server demands ever more connections');
}

interface Approval {
  status: string;
  details: { reason: string };
}

/** The client that an administrator has registered by hand, if the scenario has one. */
async function registeredClient(url: string, { client_id, client_secret }: Scenario['context']) {
  if (client_id === undefined) return undefined;
  const { origin, pathname } = new URL(url);
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers } = (await response.json()) as { authorization_servers: string[] };
  return { client_id, client_secret, issuer: authorization_servers[0] };
}

/** Connects as a browser does. */
async function connect(api: Api, id: string): Promise<void> {
  const begun = await api.post('/auth/connections', { mcp_server_id: id, return_to: '/' });
  const [cookie = ''] = begun.headers.getSetCookie().map((line) => line.split(';')[0]);
  const authorization = String(dataOfCreated(begun).authorization_url);
  const consented = await fetch(authorization, { redirect: 'manual' });
  const { search } = new URL(consented.headers.get('location') ?? '');
  await consented.body?.cancel();
  const request = get(`${api.origin}/api/v1/auth/connections/callback${search}`, {
    headers: { ...NAVIGATION, cookie },
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  if (response.statusCode !== 302) throw new Error(`the callback was answered with ${response.statusCode}`);
}

/** Offers all tools of the server, as its user sees them. Returns their names. The user connects again if the server demands it. */
async function review(api: Api, id: string): Promise<string[]> {
  let catalogue = await probe(api, id);
  if (!catalogue) {
    await connect(api, id);
    catalogue = await probe(api, id);
  }
  if (!catalogue) throw new Error('the server refuses a new connection');
  const { sha256, tools } = catalogue;
  const rules = tools.map(({ name }) => ({ name, offered: true, permission: 'allow', effect: 'once' }));
  await api.send('PUT', `/admin/mcp-servers/${id}/catalogue`, { sha256, tools: rules });
  return tools.map(({ name }) => name);
}

/** Returns undefined if the server refuses the connection. */
async function probe(api: Api, id: string): Promise<Catalogue | undefined> {
  const { body } = await api.get('/auth/connections');
  const { connections } = body.data as unknown as {
    connections: { connection_id: string; mcp_server_id: string }[];
  };
  const connection = connections.find((one) => one.mcp_server_id === id);
  const probed = await api.post(`/admin/mcp-servers/${id}/probe`, {
    credential_id: connection?.connection_id,
  });
  const { catalogue, problem } = probed.body.data as unknown as {
    catalogue: Catalogue | null;
    problem: { code: string } | null;
  };
  if (!catalogue && problem?.code !== 'unauthorized')
    throw new Error(`the server has no catalogue: ${JSON.stringify(probed.body)}`);
  return catalogue ?? undefined;
}

interface Catalogue {
  sha256: string;
  tools: { name: string }[];
}
