import type { ChannelOptions, GrpcChannel } from '../../lib/grpc/channel.ts';
import { createClient } from '../../lib/grpc/client.ts';
import type { Client, Contract } from '../../lib/grpc/contract.ts';
import { deferredTransport, localTransport } from '../../lib/grpc/local.ts';
import type { GrpcTls } from '../../lib/grpc/tls.ts';
import type { Endpoint } from '../../lib/grpc/transport.ts';
import type { ModuleManager } from '../../lib/modules.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { type CalledContracts, loadCalledContracts } from './called-contracts.ts';
import type { ProcessConfig } from './process-config.ts';
import { type ModuleName, modulesOf, OPTIONAL_SERVICES, type ServiceName } from './target.ts';

type OpenChannel = (addresses: string, options: ChannelOptions) => GrpcChannel;

/** Creates the clients of the modules in this process: in-process for services that run here, over the network otherwise. */
export class ServiceRegistry {
  readonly #config: ProcessConfig;
  readonly #modules: ModuleManager;
  readonly #contracts: CalledContracts;
  readonly #openChannel: OpenChannel | undefined;
  readonly #services = new Map<ServiceName, OpenService>();

  private constructor(
    config: ProcessConfig,
    modules: ModuleManager,
    contracts: CalledContracts,
    openChannel: OpenChannel | undefined,
  ) {
    this.#config = config;
    this.#modules = modules;
    this.#contracts = contracts;
    this.#openChannel = openChannel;
  }

  /**
   * Loads the contracts that the modules of this process call, and the gRPC library only for a process that calls other
   * processes. Without `tls`, these calls are not encrypted.
   */
  static async open(
    config: ProcessConfig,
    modules: ModuleManager,
    tls: GrpcTls | undefined,
  ): Promise<ServiceRegistry> {
    const contracts = await loadCalledContracts(modulesOf(config.target));
    if (config.target === 'all') return new ServiceRegistry(config, modules, contracts, undefined);
    const { openChannel } = await import('../../lib/grpc/channel.ts');
    return new ServiceRegistry(config, modules, contracts, (addresses, options) =>
      openChannel(addresses, { ...options, tls }),
    );
  }

  /** Registers a service that runs in this process. */
  async register(name: ServiceName, opening: Promise<OpenService>): Promise<void> {
    const service = await this.#modules.start(opening);
    this.#services.set(name, service);
    for (const { name: part, check } of service.optionalParts ?? [])
      this.#modules.add({ name: part, check, isOptional: true, stop: async () => {} });
  }

  get endpoints(): Endpoint[] {
    return [...this.#services.values()].map(({ endpoint }) => endpoint);
  }

  /** Returns factories for the clients of a module. A process needs no address of a service that it does not call. */
  clientsFor(self: ModuleName, context: ServiceContext) {
    const contracts = this.#contracts;
    const connect = <C extends Contract>(service: ServiceName, contract: C) =>
      this.#connect(self, context, service, contract);
    return {
      agents: () => connect('agents', contracts('agents')),
      auth: () => connect('auth', contracts('auth')),
      files: () => connect('files', contracts('files')),
      sessions: () => connect('sessions', contracts('sessions')),
      deployments: () => connect('deployments', contracts('deployments')),
      vaults: () => connect('vaults', contracts('vaults')),
    };
  }

  #connect<C extends Contract>(
    self: ModuleName,
    { serviceSecret: secret, clock, tracer }: ServiceContext,
    service: ServiceName,
    contract: C,
  ): Client<C> {
    const options = { contract, self, secret, clock, tracer };
    const local = this.#services.get(service);
    if (local) return createClient({ ...options, transport: localTransport(local.endpoint) });
    // Some services call each other: the one that opens first connects to the other one later.
    if (modulesOf(this.#config.target).includes(service)) {
      const find = () => this.#services.get(service)?.endpoint;
      return createClient({ ...options, transport: deferredTransport(find) });
    }
    if (!this.#openChannel) throw new Error(`${service} runs in no process`);
    const channel = this.#openChannel(this.#config.common[`${service}Address`] ?? '', {
      clock,
      // The service sessions caches and groups the work of a runner in one of its instances.
      isSticky: self === 'runner' && service === 'sessions',
    });
    this.#modules.add({
      name: service,
      check: () => channel.check(contract),
      isOptional: OPTIONAL_SERVICES.has(service),
      isRemote: true,
      stop: async () => channel.close(),
    });
    return createClient({ ...options, transport: channel.transport(contract) });
  }
}
