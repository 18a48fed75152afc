import { createClient } from '../../lib/grpc/client.ts';
import type { Client, Contract } from '../../lib/grpc/contract.ts';
import { lateTransport, localTransport } from '../../lib/grpc/local.ts';
import { openChannel } from '../../lib/grpc/network.ts';
import type { Endpoint } from '../../lib/grpc/transport.ts';
import type { House } from '../../lib/modules.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Plan } from './plan.ts';
import { type ModuleName, modulesOf, type ServiceName } from './target.ts';

/** The services as the modules of this process reach them: in this process when they run here, over the network otherwise. */
export class Neighbours {
  readonly #plan: Plan;
  readonly #house: House;
  readonly #services = new Map<ServiceName, OpenService>();

  constructor(plan: Plan, house: House) {
    this.#plan = plan;
    this.#house = house;
  }

  /** Takes in a service that runs here. */
  async serve(name: ServiceName, opening: Promise<OpenService>): Promise<void> {
    this.#services.set(name, await this.#house.start(opening));
  }

  get endpoints(): Endpoint[] {
    return [...this.#services.values()].map(({ endpoint }) => endpoint);
  }

  /** Fails when one of those that run here cannot do its work. */
  async check(): Promise<void> {
    await Promise.all([...this.#services.values()].map((service) => service.check?.()));
  }

  /** The clients of a module. One is made when it is asked for: a process needs no address of what it does not ask. */
  of(self: ModuleName, context: ServiceContext) {
    const reach = <C extends Contract>(service: ServiceName, contract: C) =>
      this.#reach(self, context, service, contract);
    return {
      agents: () => reach('agents', AgentsServiceDefinition),
      auth: () => reach('auth', AuthServiceDefinition),
      files: () => reach('files', FilesServiceDefinition),
      sessions: () => reach('sessions', SessionsServiceDefinition),
      deployments: () => reach('deployments', DeploymentsServiceDefinition),
    };
  }

  #reach<C extends Contract>(
    self: ModuleName,
    { serviceSecret: secret, clock, tracer }: ServiceContext,
    service: ServiceName,
    contract: C,
  ): Client<C> {
    const options = { contract, self, secret, clock, tracer };
    const there = this.#services.get(service);
    if (there) return createClient({ ...options, transport: localTransport(there.endpoint) });
    // Some need each other: the one that is opened first finds the other one later.
    if (modulesOf(this.#plan.target).includes(service)) {
      const find = () => this.#services.get(service)?.endpoint;
      return createClient({ ...options, transport: lateTransport(find) });
    }
    const channel = openChannel(this.#plan.house[`${service}Address`] ?? '');
    this.#house.add({
      name: service,
      check: () => channel.check(contract),
      stop: async () => channel.close(),
    });
    return createClient({ ...options, transport: channel.transport(contract) });
  }
}
