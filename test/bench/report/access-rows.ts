import type { Access, AccessCosts } from '../measurements/access.ts';
import { median, type Row } from './rows.ts';

/** Results of the access measurement per round; empty if it was not measured. */
export interface AccessResults {
  access: Access[];
}

/** Target: the share that authentication may add to the CPU of a trivial request. */
const AIM = 0.05;

/** Compares with reading one agent in local mode, the trivial request. */
export function accessRows({ access }: AccessResults): Row[] {
  if (access.length === 0) return [];
  const local = median(access, ({ reading }) => reading.localUs);
  const row = (letter: string, what: string, addedOf: (round: Access) => number): Row => {
    const added = median(access, addedOf);
    const ratio = median(access, (round) => 1 + addedOf(round) / round.reading.localUs);
    return {
      letter,
      what,
      figure: `${added < 0 ? '' : '+'}${added.toFixed(1)} µs beside ${local.toFixed(0)} µs`,
      ratio: `× ${ratio.toFixed(2)}`,
    };
  };
  const identifying = (letter: string, what: string, addedOf: (costs: AccessCosts) => number): Row => {
    const isReached = median(access, (one) => addedOf(one.identifying) / one.reading.localUs) <= AIM;
    const shown = row(letter, what, ({ identifying: knowing }) => addedOf(knowing));
    return { ...shown, target: [`at most ${1 + AIM}`, isReached] };
  };
  return [
    identifying('n', 'CPU to identify a token', ({ tokenUs, localUs }) => tokenUs - localUs),
    identifying('', 'to identify a login', ({ loginUs, localUs }) => loginUs - localUs),
    row('', 'and read with row-level security, token', ({ reading }) => reading.tokenUs - reading.localUs),
    row('', 'and read with row-level security, login', ({ reading }) => reading.loginUs - reading.localUs),
  ];
}
