import type { Clock } from '../../../../lib/clock.ts';
import { type HostPattern, readHostPattern } from '../../../../lib/hosts.ts';
import type { Room } from '../bubblewrap/room.ts';
import { Gate, type Outside } from './gate.ts';
import { listenIn } from './listen.ts';
import { HttpProxy } from './proxy.ts';

export interface LimitedNetworkOptions {
  room: Room;
  allowedHosts: readonly string[];
  outside: Outside;
  clock: Clock;
  onRefusal(host: string, port: number, reason: string): void;
}

/** The only way out of a room with a network: a proxy that lets through what is on its list. */
export async function openLimitedNetwork(options: LimitedNetworkOptions): Promise<Disposable> {
  const { room, allowedHosts, outside, clock, onRefusal } = options;
  const patterns = allowedHosts.flatMap((text): HostPattern[] => {
    const pattern = readHostPattern(text);
    return 'problem' in pattern ? [] : [pattern];
  });
  const proxy = new HttpProxy({ gate: new Gate(patterns, outside), clock, onRefusal });
  const server = await listenIn(room.networkEntrance, (client) => proxy.accept(client));
  return {
    [Symbol.dispose]() {
      server.close();
      proxy.close();
    },
  };
}
