import type { McpServerFactory } from '@modelcontextprotocol/server';
import { createKeyDeriver } from '../../lib/derived-key.ts';
import { createPeerSealer } from '../../lib/grpc/sealed-for-peer.ts';
import type { ModuleManager } from '../../lib/modules.ts';
import { isPrivateHost } from '../../lib/outbound/private-hosts.ts';
import type { Tool } from '../runner/tools/tool.ts';
import { channelWorkerCheck } from './channel-worker-check.ts';
import type { Infrastructure } from './infrastructure.ts';
import { openModelTable } from './models.ts';
import { startOperationsServer } from './operations-server.ts';
import { edgeConfig, type ProcessConfig } from './process-config.ts';
import { ServiceRegistry } from './service-registry.ts';
import { type ModuleName, modulesOf } from './target.ts';
import { openProcessTls } from './tls.ts';

const GRPC_STOP_MS = 1_500;

/** What tests add to the modules. */
interface OpenOptions {
  /** The runner has these tools in addition to the built-in ones. */
  tools?: readonly Tool[];
  /** Replaces the server of MCP requests at the edge. */
  mcpServerFactory?: McpServerFactory;
}

/**
 * Opens the configured modules in dependency order. Returns the URL of the edge if it is one of them. Loads only the code
 * of the configured modules, because code costs memory and time at start.
 */
export async function openModules(
  config: ProcessConfig,
  modules: ModuleManager,
  infrastructure: Infrastructure,
  { tools, mcpServerFactory }: OpenOptions = {},
): Promise<string | undefined> {
  const tls = await openProcessTls(config, infrastructure);
  if (tls) modules.add(tls);
  const services = await ServiceRegistry.open(config, modules, tls);
  let url: string | undefined;
  const publicUrl = () => (config.edge.publicUrl ? new URL(config.edge.publicUrl).origin : (url ?? ''));
  const open: Record<ModuleName, () => Promise<void>> = {
    async auth() {
      const { openAuth } = await import('../auth/service.ts');
      const team =
        config.common.authMode === 'oidc'
          ? { sealingKeys: infrastructure.sealingKeys, publicUrl }
          : undefined;
      await services.register('auth', openAuth(infrastructure.contextOf('auth'), config.auth, team));
    },

    async agents() {
      const { openAgents } = await import('../agents/service.ts');
      const context = infrastructure.contextOf('agents');
      const { files, auth, vaults } = services.clientsFor('agents', context);
      const clients = { files: files(), auth: auth(), vaults: vaults() };
      const { outboundPrivateHosts } = config.common;
      const modelTable = await openModelTable(config);
      const agentsConfig = { ...withEndpoints(config, config.agents), outboundPrivateHosts, modelTable };
      await services.register('agents', openAgents(context, agentsConfig, clients));
    },

    async sessions() {
      const { openSessions } = await import('../sessions/service.ts');
      const context = infrastructure.contextOf('sessions');
      const { agents, files, auth } = services.clientsFor('sessions', context);
      const clients = { agents: agents(), files: files(), auth: auth() };
      await services.register('sessions', openSessions(context, config.sessions, clients));
    },

    async files() {
      const { openBlobs } = await import('../../lib/blobs/open.ts');
      const { openFiles } = await import('../files/service.ts');
      const context = infrastructure.contextOf('files');
      const { agents, sessions } = services.clientsFor('files', context);
      const blobs = await openBlobs(config.files, infrastructure.dataDir, context.log);
      // In target all, only file operations fail without the store.
      const isOptional = config.target === 'all';
      modules.add({
        name: 'file storage',
        check: () => blobs.check(),
        isOptional,
        stop: () => blobs.close(),
      });
      infrastructure.backends.push({ role: 'files', description: blobs.description });
      const clients = { agents: agents(), sessions: sessions() };
      await services.register('files', openFiles(context, config.files, clients, blobs));
    },

    async deployments() {
      const { openDeployments } = await import('../deployments/service.ts');
      const context = infrastructure.contextOf('deployments');
      const { agents, sessions, auth } = services.clientsFor('deployments', context);
      const clients = { agents: agents(), sessions: sessions(), auth: auth() };
      const { sealingKeys } = infrastructure;
      await services.register(
        'deployments',
        openDeployments(context, config.deployments, clients, sealingKeys, publicUrl),
      );
    },

    async vaults() {
      const { openVaults } = await import('../vaults/service.ts');
      const context = infrastructure.contextOf('vaults');
      const { agents, auth, sessions } = services.clientsFor('vaults', context);
      const clients = { agents: agents(), auth: auth(), sessions: sessions() };
      const { sealingKeys } = infrastructure;
      const { outboundPrivateHosts } = config.common;
      const vaultsConfig = {
        ...withEndpoints(config, config.vaults),
        outboundPrivateHosts,
        isPrivateHost: (host: string, port: number) => isPrivateHost(outboundPrivateHosts, host, port),
      };
      await services.register('vaults', openVaults(context, vaultsConfig, clients, sealingKeys, publicUrl));
    },

    async runner() {
      const { openRunner } = await import('../runner/service.ts');
      const { openSandboxes } = await import('./sandboxes.ts');
      const context = infrastructure.contextOf('runner');
      const { sessions, agents, files, vaults } = services.clientsFor('runner', context);
      const providers = await openSandboxes(config, modules, context, infrastructure.dataDir);
      const clients = { sessions: sessions(), agents: agents(), files: files(), vaults: vaults() };
      const { outboundPrivateHosts } = config.common;
      const modelTable = await openModelTable(config);
      const runnerConfig = { ...withEndpoints(config, config.runner), outboundPrivateHosts, modelTable };
      const runner = await modules.start(openRunner(context, runnerConfig, clients, { providers, tools }));
      infrastructure.backends.push(...runner.backends);
    },

    async channels() {
      const { openChannels } = await import('../channels/service.ts');
      const context = infrastructure.contextOf('channels');
      const { deployments, sessions, files } = services.clientsFor('channels', context);
      const clients = { deployments: deployments(), sessions: sessions(), files: files() };
      const channelsConfig = { ...config.channels, outboundPrivateHosts: config.common.outboundPrivateHosts };
      const channels = await modules.start(openChannels(context, channelsConfig, clients));
      infrastructure.backends.push(...channels.backends);
    },

    async edge() {
      const { openEdge } = await import('../../edge/server.ts');
      const context = infrastructure.contextOf('edge');
      const { agents, auth, sessions, files, deployments, vaults } = services.clientsFor('edge', context);
      const clients = {
        agents: agents(),
        auth: auth(),
        sessions: sessions(),
        files: files(),
        deployments: deployments(),
        vaults: vaults(),
      };
      // A process with the service deployments has its own check.
      if (!modulesOf(config.target).includes('deployments'))
        modules.add(channelWorkerCheck(clients.deployments));
      const { clock, ids, log, bus, metrics, tracer } = context;
      const sealer = createPeerSealer('edge', context.serviceSecret);
      const deriveKey = createKeyDeriver(context.serviceSecret);
      const { backends } = infrastructure;
      const readiness = () => modules.readiness();
      const { effective: configuration } = config;
      const edgeContext = {
        clock,
        ids,
        log,
        bus,
        metrics,
        tracer,
        clients,
        sealer,
        deriveKey,
        readiness,
        backends,
        configuration,
        mcpServerFactory,
      };
      url = (await modules.start(openEdge(edgeContext, edgeConfig(config)))).url;
    },
  };

  for (const name of modulesOf(config.target)) await open[name]();
  if (config.target !== 'all') {
    const { serveGrpc } = await import('../../lib/grpc/server.ts');
    const check = () => modules.checkOwn();
    const { grpcListen, grpcReflection: hasReflection } = config.common;
    const options = { credentials: tls?.server, hasReflection };
    const server = await serveGrpc(grpcListen, services.endpoints, check, options);
    modules.add({ name: 'grpc', stop: () => server.stop(GRPC_STOP_MS) });
  }
  const { metricsListen: listen } = config.common;
  // Last, because no module is ready before.
  if (listen)
    await modules.start(
      startOperationsServer({
        listen,
        metrics: infrastructure.metrics,
        readiness: () => modules.readiness(),
        backends: infrastructure.backends,
      }),
    );
  return url;
}

/** Adds the model endpoints, which several modules share, to the configuration of a module. */
function withEndpoints<Config>({ common: { modelEndpoints } }: ProcessConfig, config: Config) {
  return { ...config, modelEndpoints };
}
