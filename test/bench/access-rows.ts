import type { Access } from './access.ts';
import { median, type Row } from './rows.ts';

/** What each round has shown of who may come in; empty when it was not measured. */
export interface AccessResults {
  access: Access[];
}

export function accessRows({ access }: AccessResults): Row[] {
  if (access.length === 0) return [];
  const row = (letter: string, what: string, of: (round: Access) => number): Row => {
    const ratio = median(access, (one) => of(one) / one.localUs);
    return {
      letter,
      what,
      figure: `${median(access, of).toFixed(0)} µs, local ${median(access, (one) => one.localUs).toFixed(0)}`,
      ratio: `${letter || 'n'}/local ${ratio.toFixed(2)}`,
      target: ['at most 1.05', ratio <= 1.05],
    };
  };
  return [
    row('n', 'CPU per request, with a token', ({ tokenUs }) => tokenUs),
    row('', 'with a login', ({ loginUs }) => loginUs),
  ];
}
