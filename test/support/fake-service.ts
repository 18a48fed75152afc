import { refuse } from '../../lib/errors.ts';
import { createClient } from '../../lib/grpc/client.ts';
import type { Client, Contract, Handlers, MethodName } from '../../lib/grpc/contract.ts';
import { guard } from '../../lib/grpc/guard.ts';
import { localTransport } from '../../lib/grpc/local.ts';
import type { Endpoint } from '../../lib/grpc/transport.ts';
import type { ServiceContext } from '../../lib/service.ts';

/** Returns a client of a fake service with only the given methods. `self` is the calling service. */
export function fakeService<C extends Contract>(
  contract: C,
  known: Partial<Handlers<C>>,
  self: string,
  context: Pick<ServiceContext, 'serviceSecret' | 'clock'>,
): Client<C> {
  const transport = localTransport(fakeEndpoint(contract, known, self, context));
  const { serviceSecret: secret, clock } = context;
  return createClient({ contract, transport, self, secret, clock });
}

/** The endpoint of such a fake service, for other transports. */
export function fakeEndpoint<C extends Contract>(
  contract: C,
  known: Partial<Handlers<C>>,
  self: string,
  context: Pick<ServiceContext, 'serviceSecret' | 'clock'>,
): Endpoint {
  const names: MethodName<C>[] = Object.keys(contract.methods);
  const absent = async () => {
    throw refuse('INTERNAL', 'the fake service does not implement this method');
  };
  const handlers = { ...Object.fromEntries(names.map((name) => [name, absent])), ...known } as Handlers<C>;
  const peers = {} as { [M in MethodName<C>]: readonly string[] };
  for (const name of names) peers[name] = [self];
  const { serviceSecret: secret, clock } = context;
  return guard({ contract, handlers, peers, secret, clock, observe: () => {} });
}
