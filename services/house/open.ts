import { openEdge } from '../../edge/server.ts';
import { openBlobs } from '../../lib/blobs/open.ts';
import { createClient } from '../../lib/grpc/client.ts';
import type { Client, Contract } from '../../lib/grpc/contract.ts';
import { lateTransport, localTransport } from '../../lib/grpc/local.ts';
import { openChannel, serveGrpc } from '../../lib/grpc/network.ts';
import type { Endpoint } from '../../lib/grpc/transport.ts';
import type { House } from '../../lib/modules.ts';
import { createSealer } from '../../lib/sealing.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { openAgents } from '../agents/service.ts';
import { openAuth } from '../auth/service.ts';
import { openDeployments } from '../deployments/service.ts';
import { openFiles } from '../files/service.ts';
import { openRunner } from '../runner/service.ts';
import { openSessions } from '../sessions/service.ts';
import type { Ground } from './ground.ts';
import { serveOperations } from './operations.ts';
import type { Plan } from './plan.ts';
import { openSandboxes } from './sandboxes.ts';
import { type ModuleName, modulesOf, type ServiceName } from './target.ts';

const GRPC_STOP_MS = 1_500;

/** Opens the modules of the plan in the order in which they need each other. Returns the edge's URL, where there is one. */
export async function openModules(plan: Plan, house: House, ground: Ground): Promise<string | undefined> {
  const modules = modulesOf(plan.target);
  const contexts = Object.fromEntries(modules.map((name) => [name, ground.contextOf(name)])) as Record<
    ModuleName,
    ServiceContext
  >;
  const services: OpenService[] = [];
  const endpoints = new Map<ServiceName, Endpoint>();

  /** A client of a service: in this process when it runs here, over the network otherwise. */
  function reach<C extends Contract>(self: ModuleName, service: ServiceName, contract: C): Client<C> {
    const { serviceSecret: secret, clock, tracer } = contexts[self];
    const options = { contract, self, secret, clock, tracer };
    const endpoint = endpoints.get(service);
    if (endpoint) return createClient({ ...options, transport: localTransport(endpoint) });
    // Some need each other: the one that is opened first finds the other one later.
    if (modules.includes(service))
      return createClient({ ...options, transport: lateTransport(() => endpoints.get(service)) });
    const channel = openChannel(plan.house[`${service}Address`] ?? '');
    house.add({ name: service, check: () => channel.check(contract), stop: async () => channel.close() });
    return createClient({ ...options, transport: channel.transport(contract) });
  }

  async function serve(name: ServiceName, opening: Promise<OpenService>): Promise<void> {
    const service = await house.start(opening);
    services.push(service);
    endpoints.set(name, service.endpoint);
  }

  const clientsOf = (self: ModuleName) => ({
    agents: () => reach(self, 'agents', AgentsServiceDefinition),
    auth: () => reach(self, 'auth', AuthServiceDefinition),
    files: () => reach(self, 'files', FilesServiceDefinition),
    sessions: () => reach(self, 'sessions', SessionsServiceDefinition),
    deployments: () => reach(self, 'deployments', DeploymentsServiceDefinition),
  });

  const { modelEndpoints } = plan.house;
  let url: string | undefined;
  if (modules.includes('auth')) await serve('auth', openAuth(contexts.auth, plan.auth));
  if (modules.includes('agents')) {
    const { files } = clientsOf('agents');
    const config = { ...plan.agents, modelEndpoints };
    await serve('agents', openAgents(contexts.agents, config, { files: files() }));
  }
  if (modules.includes('sessions')) {
    const { agents, files } = clientsOf('sessions');
    const clients = { agents: agents(), files: files() };
    await serve('sessions', openSessions(contexts.sessions, plan.sessions, clients));
  }
  if (modules.includes('files')) {
    const { agents, sessions } = clientsOf('files');
    const { log } = contexts.files;
    const blobs = await openBlobs(plan.files, ground.dataDir, log);
    ground.standIns.push({ role: 'files', inForce: blobs.about });
    await serve(
      'files',
      openFiles(contexts.files, plan.files, { agents: agents(), sessions: sessions() }, blobs),
    );
  }
  if (modules.includes('deployments')) {
    const { agents, sessions, auth } = clientsOf('deployments');
    const clients = { agents: agents(), sessions: sessions(), auth: auth() };
    const publicUrl = () => (plan.edge.publicUrl ? new URL(plan.edge.publicUrl).origin : (url ?? ''));
    const sealer = createSealer(ground.sealingKey);
    await serve(
      'deployments',
      openDeployments(contexts.deployments, plan.deployments, clients, sealer, publicUrl),
    );
  }
  if (plan.target !== 'all') {
    const check = async () => void (await Promise.all(services.map((service) => service.check?.())));
    const server = await serveGrpc(plan.house.grpcListen, [...endpoints.values()], check);
    house.add({ name: 'grpc', stop: () => server.stop(GRPC_STOP_MS) });
  }
  if (modules.includes('runner')) {
    const { sessions, agents, files } = clientsOf('runner');
    const config = { ...plan.runner, modelEndpoints };
    const providers = await openSandboxes(plan, house, contexts.runner, ground.dataDir);
    const runner = await house.start(
      openRunner(
        contexts.runner,
        config,
        { sessions: sessions(), agents: agents(), files: files() },
        { providers },
      ),
    );
    ground.standIns.push(runner.standIn);
  }
  if (modules.includes('edge')) {
    const { clock, ids, log, metrics, tracer } = contexts.edge;
    const { agents, auth, sessions, files, deployments } = clientsOf('edge');
    const clients = {
      agents: agents(),
      auth: auth(),
      sessions: sessions(),
      files: files(),
      deployments: deployments(),
    };
    const edge = await house.start(
      openEdge(
        {
          clock,
          ids,
          log,
          metrics,
          tracer,
          clients,
          readiness: () => house.readiness(),
          standIns: ground.standIns,
        },
        plan.edge,
      ),
    );
    url = edge.url;
  }
  const { metricsListen: listen } = plan.house;
  // Last, as nothing is ready before.
  if (listen)
    await house.start(
      serveOperations({ listen, metrics: ground.metrics, readiness: () => house.readiness() }),
    );
  return url;
}
