import type { Metadata } from '../measurements/sessions/metadata.ts';
import { median, ms, type Row } from './rows.ts';

/** Target for the 95th percentile of a page, and for the share that the table may add to a write. */
const PAGE_MS = 50;
const WRITE_RATIO = 1.05;

/** Rows for lists and writes with metadata. */
export function metadataRows([first, ...rest]: Metadata[]): Row[] {
  const rounds = first ? [first, ...rest] : [];
  const lists = (first?.lists ?? []).map(({ what }, index): Row => {
    const p95Ms = median(rounds, ({ lists }) => lists[index]?.p95Ms ?? Number.NaN);
    const [p50Ms, plainMs] = (['p50Ms', 'plainMs'] as const).map((name) =>
      median(rounds, ({ lists }) => lists[index]?.[name] ?? Number.NaN),
    ) as [number, number];
    return {
      letter: index === 0 ? "h'" : '',
      what,
      figure: `${ms(p50Ms)}, p95 ${ms(p95Ms)}`,
      ratio: `× ${(p50Ms / plainMs).toFixed(2)}`,
      target: ['p95 at most 50 ms', p95Ms <= PAGE_MS],
    };
  });
  const writes = (first?.writes ?? []).map(({ what }, index): Row => {
    const indexedMs = median(rounds, ({ writes }) => writes[index]?.indexedMs ?? Number.NaN);
    const bareMs = median(rounds, ({ writes }) => writes[index]?.bareMs ?? Number.NaN);
    const ratio = indexedMs / bareMs;
    return {
      what,
      figure: `${ms(indexedMs)}, bare ${ms(bareMs)}`,
      ratio: `× ${ratio.toFixed(3)}`,
      target: ['at most 1.05', ratio <= WRITE_RATIO],
    };
  });
  const migration = `${(median(rounds, ({ migrationMs }) => migrationMs) / 1_000).toFixed(0)} s`;
  return [...lists, ...writes, { what: `indexing ${first?.sessions} sessions`, figure: migration }];
}
