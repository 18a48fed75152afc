import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';

/** Resolves names and opens connections to the network of this process; tests replace it. */
export interface Dialer {
  resolve(host: string): Promise<string[]>;
  dial(address: string, port: number): Socket;
}

export const internetDialer: Dialer = {
  async resolve(host) {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  },
  dial: (address, port) => connect({ host: address, port }),
};
