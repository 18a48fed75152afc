import type { Access, Costs } from './access.ts';
import { median, type Row } from './rows.ts';

/** What each round has shown of who may come in; empty when it was not measured. */
export interface AccessResults {
  access: Access[];
}

/** What authentication may add to the CPU of a trivial request. */
const AIM = 0.05;

/** All is beside reading one agent in local mode, which is what a trivial request costs. */
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
  const knowing = (letter: string, what: string, addedOf: (costs: Costs) => number): Row => {
    const isReached = median(access, (one) => addedOf(one.knowing) / one.reading.localUs) <= AIM;
    const shown = row(letter, what, ({ knowing }) => addedOf(knowing));
    return { ...shown, target: [`at most ${1 + AIM}`, isReached] };
  };
  return [
    knowing('n', 'CPU to know a token', ({ tokenUs, localUs }) => tokenUs - localUs),
    knowing('', 'to know a login', ({ loginUs, localUs }) => loginUs - localUs),
    row('', 'and read for one user, token', ({ reading }) => reading.tokenUs - reading.localUs),
    row('', 'and read for one user, login', ({ reading }) => reading.loginUs - reading.localUs),
  ];
}
