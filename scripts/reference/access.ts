import { acceptedScopes, type RegisteredRoute, type RouteAccess } from '../../edge/access.ts';
import { createApp } from '../../edge/app.ts';
import { settings } from '../../edge/config.ts';
import type { EdgeContext } from '../../edge/context.ts';
import { createLocalBus } from '../../lib/bus/local.ts';
import { systemClock } from '../../lib/clock.ts';
import { createKeyDeriver } from '../../lib/derived-key.ts';
import { readSettings } from '../../lib/env/read-settings.ts';
import { createClient } from '../../lib/grpc/client.ts';
import type { Client, Contract } from '../../lib/grpc/contract.ts';
import { deferredTransport } from '../../lib/grpc/local.ts';
import { createPeerSealer } from '../../lib/grpc/sealed-for-peer.ts';
import { createIds } from '../../lib/ids.ts';
import { createLog } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { silentTracer } from '../../lib/telemetry/tracer.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../proto/gen/ahs/vaults/v1/vaults.ts';
import { page, table } from './table.ts';

const INTRODUCTION = `In team mode (\`SERVICE_AUTH_MODE=oidc\`) a request needs a credential: a bearer token in
\`Authorization\`, or a login cookie. The cookie is ignored when a bearer token is present. A request without a valid
credential returns 401 (\`UNAUTHENTICATED\`, \`TOKEN_EXPIRED\`) with \`WWW-Authenticate\`. A credential without the required
scope returns 403 (\`SCOPE_INSUFFICIENT\`). Both checks come directly after the path and the method. In local mode every
client is the administrator and there are no such checks.

Protocol endpoints require the scope \`mcp\`, which no other scope includes and which opens no other route. They ignore
cookies. The scope \`approve\` opens no route: it allows decisions on approvals through these endpoints.

Further checks follow: agents, sessions, assistants and files of another user return 404, as if they did not exist.
Operations for administrators return 403 (\`FORBIDDEN\`) to other users.

A change with a login cookie requires the \`Origin\` of the service or \`Sec-Fetch-Site: same-origin\`. Otherwise it returns
403 (\`CSRF_REJECTED\`). A request with a bearer token needs neither. An \`Origin\` that is neither that of the service nor in
\`SERVICE_ALLOWED_ORIGINS\` is refused in any case.`;

const COLUMNS = `The columns are: a request without a credential (\`anonymous\`); personal access tokens of an administrator
with only this scope (\`write\` includes \`read\`); the logins of a member and of an administrator, which have all
scopes. HEAD requires the same access as GET. The trigger of a webhook is open because its requests
are signed. \`/auth/tokens\` requires a login and refuses tokens (403, \`FORBIDDEN\`).`;

const ALL_SCOPES = ['read', 'write', 'admin', 'mcp', 'approve'];

/** The clients of the table with the scopes of their credential and whether they are an administrator. */
const CLIENTS: Record<string, { scopes: readonly string[]; isAdministrator: boolean }> = {
  anonymous: { scopes: [], isAdministrator: false },
  read: { scopes: ['read'], isAdministrator: true },
  write: { scopes: ['read', 'write'], isAdministrator: true },
  admin: { scopes: ['admin'], isAdministrator: true },
  mcp: { scopes: ['mcp'], isAdministrator: true },
  member: { scopes: ALL_SCOPES, isAdministrator: false },
  administrator: { scopes: ALL_SCOPES, isAdministrator: true },
};
const LOGINS = ['member', 'administrator'];

/** Renders the routes and the required access of each. */
export async function renderAccess(): Promise<string> {
  const routes = await servedRoutes();
  const rows = routes
    .filter(({ method }) => method !== 'HEAD')
    .map(({ method, path, access }) => [
      `\`${method} ${path}\``,
      acceptedScopes(access).join(' or ') || access,
      ...Object.keys(CLIENTS).map((client) => outcomeOf(access, client)),
    ]);
  const head = ['route', 'required scope', ...Object.keys(CLIENTS)];
  return page('Access', 'the routes of the edge', [INTRODUCTION, COLUMNS, table(head, rows)]);
}

function outcomeOf(access: RouteAccess, name: string): string {
  const { scopes = [], isAdministrator = false } = CLIENTS[name] ?? {};
  if (access === 'open') return 'yes';
  // Logins are cookies, which protocol endpoints ignore.
  const isIgnored = acceptedScopes(access).includes('mcp') && LOGINS.includes(name);
  if (name === 'anonymous' || isIgnored) return '401';
  const hasScope = acceptedScopes(access).some((scope) => scopes.includes(scope));
  const mayEnter = hasScope && (access !== 'admin' || isAdministrator);
  return mayEnter ? 'yes' : '403';
}

/** Returns all routes that the edge registers in team mode. No request is sent, so no service has to run. */
export async function servedRoutes(): Promise<readonly RegisteredRoute[]> {
  const config = { ...readSettings(settings, {}, []), authMode: 'oidc' } as const;
  const { app, routes } = await createApp(standaloneContext(), config);
  await app.close();
  return routes;
}

/** Returns the context of an edge without services: calls to them are refused. */
export function standaloneContext(): EdgeContext {
  const clock = systemClock;
  const unconnected = <C extends Contract>(contract: C): Client<C> =>
    createClient({
      contract,
      self: 'edge',
      secret: '',
      clock,
      transport: deferredTransport(() => undefined),
    });
  return {
    clock,
    ids: createIds(clock),
    log: createLog({ level: 'silent' }),
    bus: createLocalBus(() => {}),
    metrics: createMetrics(),
    tracer: silentTracer,
    sealer: createPeerSealer('edge', ''),
    deriveKey: createKeyDeriver(''),
    backends: [],
    configuration: [],
    readiness: async () => [],
    clients: {
      agents: unconnected(AgentsServiceDefinition),
      auth: unconnected(AuthServiceDefinition),
      deployments: unconnected(DeploymentsServiceDefinition),
      vaults: unconnected(VaultsServiceDefinition),
      files: unconnected(FilesServiceDefinition),
      sessions: unconnected(SessionsServiceDefinition),
    },
  };
}
