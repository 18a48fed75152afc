import type { Egress } from '../measurements/egress.ts';
import { median, ms, type Row } from './rows.ts';

/** Results of the egress measurement per round; empty if it was not measured. */
export interface EgressResults {
  egress: Egress[];
}

const ADDED_KEPT_MS = 1;
const ADDED_NEW_MS = 10;
const MIN_THROUGHPUT = 0.5;
const TOLERANCE = 0.03;
const CONNECTION_KIB = 160;
const SANDBOX_MIB = 3;
const DELAY_MS = 20;

/** Compares requests to hosts with a credential with those through a tunnel. */
export function egressRows({ egress }: EgressResults): Row[] {
  if (egress.length === 0) return [];
  const of = (figureOf: (one: Egress) => number) => median(egress, figureOf);
  const addedKept = of(({ keptMs }) => keptMs.intercepted - keptMs.tunnel);
  const addedNew = of(({ newMs }) => newMs.intercepted - newMs.tunnel);
  const throughput = of(({ mibPerSecond }) => mibPerSecond.intercepted / mibPerSecond.tunnel);
  const others = of(({ otherMs }) => otherMs.tunnel / otherMs.bare);
  const [connection, sandbox, delay] = [
    of((one) => one.connectionKib),
    of((one) => one.sandboxMib),
    of((one) => one.delayMs.intercepted),
  ];
  return [
    {
      letter: "m'",
      what: 'intercepted request, kept',
      figure: ms(of(({ keptMs }) => keptMs.intercepted)),
      ratio: `+${ms(addedKept)}`,
      target: [`at most +${ADDED_KEPT_MS} ms`, addedKept <= ADDED_KEPT_MS],
    },
    {
      what: 'intercepted request, new',
      figure: ms(of(({ newMs }) => newMs.intercepted)),
      ratio: `+${ms(addedNew)}`,
      target: [`at most +${ADDED_NEW_MS} ms`, addedNew <= ADDED_NEW_MS],
    },
    {
      what: 'intercepted 64 MiB',
      figure: `${of(({ mibPerSecond }) => mibPerSecond.intercepted).toFixed(0)} MiB/s`,
      ratio: `m'/tun ${throughput.toFixed(2)}`,
      target: [`at least ${MIN_THROUGHPUT}`, throughput >= MIN_THROUGHPUT],
    },
    {
      what: 'other host, kept',
      figure: ms(of(({ otherMs }) => otherMs.tunnel)),
      ratio: `/bare ${others.toFixed(2)}`,
      target: [`at most ${1 + TOLERANCE}`, others <= 1 + TOLERANCE],
    },
    {
      what: 'memory of a connection',
      figure: `${connection.toFixed(0)} KiB`,
      target: [`at most ${CONNECTION_KIB} KiB`, connection <= CONNECTION_KIB],
    },
    {
      what: 'memory of a sandbox, 16 hosts',
      figure: `${sandbox.toFixed(2)} MiB`,
      target: [`at most ${SANDBOX_MIB} MiB`, sandbox <= SANDBOX_MIB],
    },
    {
      what: 'loop delay, 4 × 64 MiB, p99',
      figure: `${ms(delay)}, tunnel ${ms(of((one) => one.delayMs.tunnel))}`,
      target: [`at most ${DELAY_MS} ms`, delay <= DELAY_MS],
    },
  ];
}
