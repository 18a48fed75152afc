import type { Access, ServedRoute } from '../../edge/access.ts';
import { createApp } from '../../edge/app.ts';
import { settings } from '../../edge/config.ts';
import type { EdgeContext } from '../../edge/context.ts';
import { systemClock } from '../../lib/clock.ts';
import { readSettings } from '../../lib/env.ts';
import { createClient } from '../../lib/grpc/client.ts';
import type { Client, Contract } from '../../lib/grpc/contract.ts';
import { lateTransport } from '../../lib/grpc/local.ts';
import { createIds } from '../../lib/ids.ts';
import { createLog } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { silentTracer } from '../../lib/telemetry/tracer.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { page, table } from './table.ts';

const INTRODUCTION = `Where people log in (\`SERVICE_AUTH_MODE=oidc\`) a request shows a credential: a bearer token in
\`Authorization\`, or the cookie of a login, which is not looked at beside a bearer token. Without one, or with one that
is worth nothing, the answer is 401 (\`UNAUTHENTICATED\`, \`TOKEN_EXPIRED\`) with \`WWW-Authenticate\`; with one that was not
made for this it is 403 (\`SCOPE_INSUFFICIENT\`). Both come before anything else is looked at but the path and the method.
In local mode whoever reaches the service is its administrator, and none of this is asked.

Whoever comes in is not yet allowed everything: somebody else's agents, sessions, assistants and files are answered
like those that do not exist (404), and what is for administrators is refused to others (403, \`FORBIDDEN\`).

A change that comes with the cookie needs an \`Origin\`, or \`Sec-Fetch-Site: same-origin\`, of the service itself; otherwise
it is 403 (\`CSRF_REJECTED\`). A bearer token needs neither.`;

const COLUMNS = `The columns: nobody; personal access tokens of an administrator with this scope alone (\`write\` includes
\`read\`); the logins of a member and of an administrator, who have the scopes \`read\`, \`write\` and \`admin\`. HEAD is
answered like GET. The trigger of a webhook is open because it is signed. Whoever comes to \`/auth/tokens\` with a token
and not with a login is refused there (403, \`FORBIDDEN\`).`;

/** Who comes: their scopes, and whether they are an administrator. */
const VISITORS: Record<string, { scopes: readonly string[]; isAdministrator: boolean }> = {
  nobody: { scopes: [], isAdministrator: false },
  read: { scopes: ['read'], isAdministrator: true },
  write: { scopes: ['read', 'write'], isAdministrator: true },
  admin: { scopes: ['admin'], isAdministrator: true },
  mcp: { scopes: ['mcp'], isAdministrator: true },
  member: { scopes: ['read', 'write', 'admin'], isAdministrator: false },
  administrator: { scopes: ['read', 'write', 'admin'], isAdministrator: true },
};

/** Which routes there are, and who may come in. */
export async function renderAccess(): Promise<string> {
  const routes = await servedRoutes();
  const rows = routes
    .filter(({ method }) => method !== 'HEAD')
    .map(({ method, path, access }) => [
      `\`${method} ${path}\``,
      access,
      ...Object.keys(VISITORS).map((visitor) => outcomeOf(access, visitor)),
    ]);
  const head = ['route', 'asks for', ...Object.keys(VISITORS)];
  return page('Access', 'the routes of the edge', [INTRODUCTION, COLUMNS, table(head, rows)]);
}

function outcomeOf(access: Access, name: string): string {
  const { scopes = [], isAdministrator = false } = VISITORS[name] ?? {};
  if (access === 'open') return 'yes';
  if (name === 'nobody') return '401';
  const mayEnter = scopes.includes(access) && (access !== 'admin' || isAdministrator);
  return mayEnter ? 'yes' : '403';
}

/** Everything that the edge serves where people log in, as it registers it. Nothing is asked, so nothing else is there. */
export async function servedRoutes(): Promise<readonly ServedRoute[]> {
  const config = { ...readSettings(settings, {}, []), authMode: 'oidc' } as const;
  const { app, routes } = await createApp(loneContext(), config);
  await app.close();
  return routes;
}

/** For an edge that is alone: there is nobody whom it could ask. */
export function loneContext(): EdgeContext {
  const clock = systemClock;
  const nowhere = <C extends Contract>(contract: C): Client<C> =>
    createClient({ contract, self: 'edge', secret: '', clock, transport: lateTransport(() => undefined) });
  return {
    clock,
    ids: createIds(clock),
    log: createLog({ level: 'silent', pretty: false }),
    metrics: createMetrics(),
    tracer: silentTracer,
    standIns: [],
    configuration: [],
    readiness: async () => [],
    clients: {
      agents: nowhere(AgentsServiceDefinition),
      auth: nowhere(AuthServiceDefinition),
      deployments: nowhere(DeploymentsServiceDefinition),
      files: nowhere(FilesServiceDefinition),
      sessions: nowhere(SessionsServiceDefinition),
    },
  };
}
