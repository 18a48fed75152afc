import { openEdge } from '../../edge/server.ts';
import { openBlobs } from '../../lib/blobs/open.ts';
import { serveGrpc } from '../../lib/grpc/network.ts';
import type { House } from '../../lib/modules.ts';
import { createSealer } from '../../lib/sealing.ts';
import { openAgents } from '../agents/service.ts';
import { openAuth } from '../auth/service.ts';
import { openDeployments } from '../deployments/service.ts';
import { openFiles } from '../files/service.ts';
import { openRunner } from '../runner/service.ts';
import { openSessions } from '../sessions/service.ts';
import type { Ground } from './ground.ts';
import { Neighbours } from './neighbours.ts';
import { serveOperations } from './operations.ts';
import { edgeConfig, type Plan } from './plan.ts';
import { openSandboxes } from './sandboxes.ts';
import { type ModuleName, modulesOf } from './target.ts';

const GRPC_STOP_MS = 1_500;

/** Opens the modules of the plan in the order in which they need each other. Returns the edge's URL, where there is one. */
export async function openModules(plan: Plan, house: House, ground: Ground): Promise<string | undefined> {
  const neighbours = new Neighbours(plan, house);
  let url: string | undefined;
  const publicUrl = () => (plan.edge.publicUrl ? new URL(plan.edge.publicUrl).origin : (url ?? ''));
  const open: Record<ModuleName, () => Promise<void>> = {
    async auth() {
      const team =
        plan.house.authMode === 'oidc' ? { sealer: createSealer(ground.sealingKey), publicUrl } : undefined;
      await neighbours.serve('auth', openAuth(ground.contextOf('auth'), plan.auth, team));
    },

    async agents() {
      const context = ground.contextOf('agents');
      const { files, auth } = neighbours.of('agents', context);
      const clients = { files: files(), auth: auth() };
      await neighbours.serve('agents', openAgents(context, withEndpoints(plan, plan.agents), clients));
    },

    async sessions() {
      const context = ground.contextOf('sessions');
      const { agents, files, auth } = neighbours.of('sessions', context);
      const clients = { agents: agents(), files: files(), auth: auth() };
      await neighbours.serve('sessions', openSessions(context, plan.sessions, clients));
    },

    async files() {
      const context = ground.contextOf('files');
      const { agents, sessions } = neighbours.of('files', context);
      const blobs = await openBlobs(plan.files, ground.dataDir, context.log);
      house.add({ name: 'blobs', stop: () => blobs.close() });
      ground.standIns.push({ role: 'files', inForce: blobs.about });
      const clients = { agents: agents(), sessions: sessions() };
      await neighbours.serve('files', openFiles(context, plan.files, clients, blobs));
    },

    async deployments() {
      const context = ground.contextOf('deployments');
      const { agents, sessions, auth } = neighbours.of('deployments', context);
      const clients = { agents: agents(), sessions: sessions(), auth: auth() };
      const sealer = createSealer(ground.sealingKey);
      await neighbours.serve(
        'deployments',
        openDeployments(context, plan.deployments, clients, sealer, publicUrl),
      );
    },

    async runner() {
      const context = ground.contextOf('runner');
      const { sessions, agents, files } = neighbours.of('runner', context);
      const providers = await openSandboxes(plan, house, context, ground.dataDir);
      const clients = { sessions: sessions(), agents: agents(), files: files() };
      const config = withEndpoints(plan, plan.runner);
      const runner = await house.start(openRunner(context, config, clients, { providers }));
      ground.standIns.push(runner.standIn);
    },

    async edge() {
      const context = ground.contextOf('edge');
      const { agents, auth, sessions, files, deployments } = neighbours.of('edge', context);
      const clients = {
        agents: agents(),
        auth: auth(),
        sessions: sessions(),
        files: files(),
        deployments: deployments(),
      };
      const { clock, ids, log, metrics, tracer } = context;
      const { standIns } = ground;
      const readiness = () => house.readiness();
      const { effective: configuration } = plan;
      const whole = { clock, ids, log, metrics, tracer, clients, readiness, standIns, configuration };
      url = (await house.start(openEdge(whole, edgeConfig(plan)))).url;
    },
  };

  for (const name of modulesOf(plan.target)) await open[name]();
  if (plan.target !== 'all') {
    const check = () => neighbours.check();
    const server = await serveGrpc(plan.house.grpcListen, neighbours.endpoints, check);
    house.add({ name: 'grpc', stop: () => server.stop(GRPC_STOP_MS) });
  }
  const { metricsListen: listen } = plan.house;
  // Last, as nothing is ready before.
  if (listen)
    await house.start(
      serveOperations({ listen, metrics: ground.metrics, readiness: () => house.readiness() }),
    );
  return url;
}

/** A configuration, with the endpoints that all who know models share. */
function withEndpoints<Config>({ house: { modelEndpoints } }: Plan, config: Config) {
  return { ...config, modelEndpoints };
}
